"""What the rules look at beside the layout."""

from typing import NamedTuple

from solver.layout import OFFLOAD

GRAIN = 16  # of 8-bit matmuls: Transformer Engine, pytorch/utils.py assert_dim_for_fp8_exec
GRAINS = {"mxfp8": 32}  # where blocks of elements share a scale: OCP Microscaling Formats 1.0, sec. 5.2
TWIN = 2  # cores of a chip in the first generation


class Case(NamedTuple):
    """What the rules look at beside the layout: the model, the batch and the machine, as whole numbers.

    heads, kv_heads, experts  0 where the model has none
    expert_layers             layers with routed experts
    tied                      the output table is the input table
    block, chip               ranks of the smallest group that can be taken, and of one device
    narrow                    matmuls in 8 bits or fewer
    zero                      stages that the framework has
    workers                   that train apart; local_sgd: whether the framework can let them
    schedule                  of the pipeline, where it is a named one; schedules: that the framework has
    chunks                    virtual stages that the schedule must have (0: any)
    grain                     what the sides of a narrow matmul are multiples of
    hosted                    the optimizer can run on a host
    offload                   what it can keep in host memory, as indices into layout.OFFLOAD
    """

    heads: int
    kv_heads: int
    layers: int
    experts: int
    hidden: int
    ffn: int
    sequence: int
    global_batch: int
    block: int
    narrow: bool
    zero: tuple[int, ...]
    expert_layers: int = 0
    vocab: int = 0
    tied: bool = False
    chip: int = 1
    grain: int = GRAIN
    offload: tuple[int, ...] = (0,)
    hosted: bool = True
    schedule: str = ""
    schedules: tuple[str, ...] = ()
    chunks: int = 0
    workers: int = 1
    local_sgd: bool = False

    @property
    def pipelined_layers(self) -> int:
        """The layers that a pipeline of equal layers runs over: those with experts where there are any."""
        return self.expert_layers or self.layers

    @property
    def core_counts(self) -> tuple[int, ...]:
        """Groups of cores that have collectives: on chips of two cores, and on larger ones."""
        return (1, 2, 8, 32) if self.chip == TWIN else (1, 2, 4, 8, 16, 32, 64)

    @property
    def facts(self) -> dict[str, object]:
        """By the names that messages use."""
        return self._asdict() | {
            "schedule_words": ", ".join(("1f1b", *self.schedules)),
            "offload_words": ", ".join(OFFLOAD[index] for index in self.offload),
            "zero_stages": " ".join(str(stage) for stage in self.zero),
            "pipelined_layers": self.pipelined_layers,
            "core_counts": ", ".join(str(count) for count in self.core_counts),
        }
