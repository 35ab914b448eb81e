"""What decides a layer's time and memory beside the layout."""

from typing import NamedTuple, Self

from solver.architecture.blocks import Architecture
from solver.catalog.records import Framework
from solver.physics.compute import Workload
from solver.physics.optimizers import OPTIMIZERS, Optimizer
from solver.physics.recompute import Recompute

HALF = 2.0  # bytes of a 16-bit element
WORD = 4.0  # bytes of a 32-bit element


class ByteModel(NamedTuple):
    """Bytes an element is held in: the weights that compute, gradients, float32 master copy, optimizer state.

    moments    of the matrices of layers; outside: of vocabulary tables and vectors
    gathered   of the weights as ZeRO 3 gathers them
    """

    weight: float
    gradient: float
    master: float
    moments: float
    outside: float
    gathered: float

    @classmethod
    def of(cls, framework: Framework, gradient: float, optimizer: Optimizer, *, wide: bool) -> Self:
        """wide: trained in 32 bits, where the weights are their own master copy and nothing is narrower."""
        state = optimizer.matrices, optimizer.outside
        if wide:
            return cls(WORD, WORD, 0.0, *state, WORD)
        return cls(framework.weight_bytes, gradient, framework.master_bytes, *state, framework.gathered_bytes)

    @property
    def optimizer(self) -> float:
        """Master copy and state of the matrices of layers."""
        return self.master + self.moments


class HostRates(NamedTuple):
    """How fast a host updates parameters [1/s], and which share of the sheet rate copies to it reach."""

    updates_per_s: float = 1.0
    link_share: float = 1.0


class Schedule(NamedTuple):
    """A pipeline schedule against 1F1B, whose first stage holds pp micro-batches.

    name            of physics.schedules.NAMED; "" for 1F1B, interleaved or not
    factor, extra   micro-batches in flight: factor x those of 1F1B + extra
    shares_tables   the vocabulary tables and the logits are cut over the stages
    chunks          virtual stages it must have, on a V: the first rank has the first and the last; 0: any
    """

    name: str = ""
    factor: float = 1.0
    extra: int = 0
    shares_tables: bool = False
    chunks: int = 0


class Local(NamedTuple):
    """Workers that train apart, steps between two averages of their weights, rate between two [B/s].

    bytes_per_s   one way; 0: that of the fabric
    """

    workers: int = 1
    steps: int = 1
    bytes_per_s: float = 0.0


class Images(NamedTuple):
    """Images of a sequence, on average, and the patches of one where its tower takes any size."""

    each: float = 0.0
    patches: int = 0


class Room(NamedTuple):
    """Shares: of the usable memory, that must stay free; of a peak, by which it may be above the estimate."""

    free: float = 0.0
    error: float = 0.0


NO_IMAGES = Images()
TOGETHER = Local()
ONE_F_ONE_B = Schedule()


class Setting(NamedTuple):
    """The model, its precision and the framework.

    narrow   matmuls in 8 bits or fewer; wide: everything in 32
    kinds    by the index in layout.RECOMPUTE
    """

    architecture: Architecture
    work: Workload
    framework: Framework
    narrow: bool
    model: ByteModel
    kinds: tuple[Recompute, ...]
    schedule: Schedule = ONE_F_ONE_B
    wide: bool = False
    host: HostRates = HostRates()
    images: Images = NO_IMAGES
    local: Local = TOGETHER
    optimizer: Optimizer = OPTIMIZERS["adamw"]
    room: Room = Room()

    @property
    def element(self) -> float:
        """Bytes of an activation that no 8-bit matmul reads."""
        return WORD if self.wide else HALF
