"""The requirements file: what to train, within which limits; read, checked and typed.

file or dict -> plain values (yaml_file, plain) -> fields (quantities, shape, batch) -> Problem, or all faults
"""

from solver.problem.fields import MAX_DEVICES, LayoutLimits, Limits, Problem
from solver.problem.market import Bill, Holding, Ownership, Quota
from solver.problem.reading import read_problem, read_run
from solver.problem.run import Run, RunHardware, RunLayout, Software
from solver.problem.schema import schema
from solver.problem.shape import Attention, InlineModel, ModelName, ModelPath, SizeModel
from solver.problem.training import Training

__all__ = [
    "MAX_DEVICES",
    "Attention",
    "Bill",
    "Holding",
    "InlineModel",
    "LayoutLimits",
    "Limits",
    "ModelName",
    "ModelPath",
    "Ownership",
    "Problem",
    "Quota",
    "Run",
    "RunHardware",
    "RunLayout",
    "SizeModel",
    "Software",
    "Training",
    "read_problem",
    "read_run",
    "schema",
]
