"""One model by itself, as `trainplan model` counts it: what is named, and how long its sequences are."""

import re
from dataclasses import replace

from solver.architecture.blocks import Architecture
from solver.architecture.summary import Summary, summary
from solver.catalog import load
from solver.errors import Fault, InputError
from solver.problem import read_problem
from solver.question import resolve_model

USUAL_SEQUENCE = 8192  # tokens; shorter where the model's positions end before
SIZE = re.compile(r"[\d.]+ ?[kKmMbBtT]")


def size_of(model: str, sequence_length: int | None = None) -> Summary:
    """The counts of a catalog id, of a config.json or of a bare size. Raises InputError."""
    architecture = _resolved(model, sequence_length or USUAL_SEQUENCE)
    longest = architecture.max_sequence or USUAL_SEQUENCE
    return summary(architecture, sequence_length or min(longest, USUAL_SEQUENCE))


def _resolved(model: str, sequence_length: int) -> Architecture:
    """What a requirements file of this model would train."""
    spec = {"parameters": model} if SIZE.fullmatch(model.strip()) else model
    training = {"sequence_length": sequence_length, "global_batch": "1 sequence", "steps": 1}
    problem = read_problem({"model": spec, "training": training})
    faults: list[Fault] = []
    resolved = resolve_model(problem.model, load(), problem.training, faults)
    if resolved is None:
        raise InputError(model, faults)
    architecture, notes = resolved
    return replace(architecture, name=architecture.name or model, notes=(*architecture.notes, *notes))
