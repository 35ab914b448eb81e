"""What decides a layer's time and memory beside the layout."""

from typing import NamedTuple

from solver.architecture.blocks import Architecture
from solver.catalog.records import Framework
from solver.physics.compute import Workload
from solver.physics.recompute import Recompute


class ByteModel(NamedTuple):
    """Bytes an element is held in: the weights that compute, gradients, float32 master copy and moments.

    gathered: of the weights as ZeRO 3 gathers them.
    """

    weight: float
    gradient: float
    optimizer: float
    gathered: float


class Schedule(NamedTuple):
    """A pipeline schedule against 1F1B, whose first stage holds pp micro-batches.

    factor, extra   micro-batches in flight: factor x those of 1F1B + extra
    shares_tables   the vocabulary tables and the logits are cut over the stages
    """

    factor: float = 1.0
    extra: int = 0
    shares_tables: bool = False


class Setting(NamedTuple):
    """The model, its precision and the framework. kinds: by the index in layout.RECOMPUTE."""

    architecture: Architecture
    work: Workload
    framework: Framework
    narrow: bool
    model: ByteModel
    kinds: tuple[Recompute, ...]
    schedule: Schedule = Schedule()
