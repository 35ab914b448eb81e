"""What recomputation keeps of a layer's activations, and what it computes twice."""

from collections.abc import Mapping
from typing import NamedTuple

from solver.layout import RECOMPUTE


class Recompute(NamedTuple):
    """Shares of a layer that are computed again in the backward pass, and what stays in memory meanwhile.

    matmul, attention, elementwise   share of the forward pass that runs again
    communication                    share of the forward tensor and expert communication that runs again
    inputs                           share of the matmul inputs and norm inputs kept
    outputs                          share of the matmul outputs kept
    scores                           share of unfused attention's score matrices kept
    sums                             share of the row-cut matmuls' outputs kept whole, before tp sums them
    """

    matmul: float
    attention: float
    elementwise: float
    communication: float
    inputs: float
    outputs: float
    scores: float
    sums: float = 0.0


KINDS = {  # by the names that frameworks' records use
    "none": Recompute(0, 0, 0, 0, 1, 1, 1),
    # The layer's input is kept, the whole layer runs again (Chen et al. 2016, arXiv 1604.06174).
    "full": Recompute(1, 1, 1, 1, 0, 0, 0),
    # Scores and context run again (Korthikanti et al. 2022, arXiv 2205.05198, sec. 5).
    "core_attention": Recompute(0, 1, 0, 0, 1, 1, 0),
    # Every second matmul's output is kept, attention's too; the rest runs again (torchtitan repository).
    # Of the two row-cut matmuls of a layer the second is kept.
    "every_second_matmul": Recompute(0.5, 0, 1, 0.5, 0.3, 0.5, 0, 0.5),
    # Outputs of matmuls are kept, what lies between them runs again (MaxText, remat_policy minimal).
    "between_matmuls": Recompute(0, 1, 1, 0, 0.3, 1, 0),
}


def kinds_of(names: Mapping[str, str]) -> tuple[Recompute, ...]:
    """What a framework recomputes under each word of RECOMPUTE; nothing where it has no such word."""
    return tuple(KINDS[names.get(word, "none")] for word in RECOMPUTE)
