"""What recomputation keeps of a layer's activations, and what it computes twice."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block, Shard
from solver.layout import RECOMPUTE


class Recompute(NamedTuple):
    """Shares of a layer that are computed again in the backward pass, and what stays in memory meanwhile.

    matmul, attention, elementwise   share of the forward pass that runs again
    communication                    share of the forward tensor and expert communication that runs again
    inputs                           share of the matmul inputs and norm inputs kept
    outputs                          share of the matmul outputs kept
    scores                           share of unfused attention's score matrices kept
    sums                             share of the row-cut matmuls' outputs kept whole, before tp sums them
    ends_early                       share of the layer's last matmul that does not run again
    entry                            share of the layer's input kept besides, where inputs are dropped
    """

    matmul: float
    attention: float
    elementwise: float
    communication: float
    inputs: float
    outputs: float
    scores: float
    sums: float = 0.0
    ends_early: float = 0.0
    entry: float = 1.0


KINDS = {  # by the names that frameworks' records use
    "none": Recompute(0, 0, 0, 0, 1, 1, 1),
    # The layer's input is kept, the whole layer runs again (Chen et al. 2016, arXiv 1604.06174).
    "full": Recompute(1, 1, 1, 1, 0, 0, 0),
    # The same until all is there that the backward pass needs: the last matmul's output, and its sum over tp,
    # are not (PyTorch, torch.utils.checkpoint, use_reentrant=False; XLA removes what nothing reads).
    "full_but_last": Recompute(1, 1, 1, 0.5, 0, 0, 0, ends_early=1),
    # Scores and context run again (Korthikanti et al. 2022, arXiv 2205.05198, sec. 5).
    "core_attention": Recompute(0, 1, 0, 0, 1, 1, 0),
    # Every second matmul's output is kept, attention's too; the rest runs again (torchtitan repository).
    # Of the two row-cut matmuls of a layer the second is kept.
    "every_second_matmul": Recompute(0.5, 0, 1, 0.5, 0.3, 0.5, 0, 0.5),
    # Outputs of matmuls are kept, what lies between runs again (MaxText, layers/decoders.py, minimal_policy).
    # Those of the two row-cut ones are a quarter of what the matmuls and norms of a gated layer read.
    "between_matmuls": Recompute(0, 1, 1, 0, 0.24, 1, 0),
}


def kinds_of(names: Mapping[str, str]) -> tuple[Recompute, ...]:
    """What a framework recomputes under each word of RECOMPUTE; nothing where it has no such word."""
    return tuple(KINDS[names.get(word, "none")] for word in RECOMPUTE)


@lru_cache(maxsize=256)
def last_share(architecture: Architecture) -> float:
    """FLOPs of the last matmuls of all layers over those of all matmuls.

    Of routed experts none: their gates' gradient needs what they put out.
    """
    last = sum(count * _last(block) for block, count in architecture.blocks)
    return last / sum(
        count * matmul.flops for block, count in architecture.blocks for matmul in block.matmuls
    )


def _last(block: Block) -> float:
    """FLOPs of the matmul that ends a block."""
    return sum(m.flops for m in block.matmuls[-1:] if m.shard is Shard.ROW and not m.routed)
