"""Does the prediction put layouts in the order in which they were measured?"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

COLUMNS = (
    "source",
    "date",
    "model_name",
    "layers",
    "device",
    "devices",
    "seq_len",
    "global_batch_seq",
    "precision",
)
NEAR = 0.02  # measured times closer than this are a tie: no order to be right about


class Timed(NamedTuple):
    """A run of a group: seconds a step, as predicted and as measured."""

    predicted: float
    measured: float


class Order(NamedTuple):
    """Of groups of runs that differ in their layout alone.

    pairs, right      pairs of runs more than 2 % apart, and those put in the measured order
    regret            measured time of the run predicted fastest over that of the fastest, less one; by group
    """

    groups: int
    pairs: int
    right: int
    regret: tuple[float, ...]


def key_of(cells: Mapping[str, str]) -> tuple[str, ...]:
    """What runs must share to be compared: all but the layout."""
    return tuple(cells.get(name, "") for name in COLUMNS)


def order_of(groups: Iterable[list[Timed]]) -> Order:
    several = [group for group in groups if len(group) > 1]
    pairs = [
        (a, b)
        for group in several
        for a, b in combinations(group, 2)
        if abs(a.measured / b.measured - 1) > NEAR
    ]
    right = sum((a.predicted < b.predicted) == (a.measured < b.measured) for a, b in pairs)
    return Order(len(several), len(pairs), right, tuple(_regret(group) for group in several))


def _regret(group: list[Timed]) -> float:
    chosen = group[int(np.argmin([run.predicted for run in group]))]
    return chosen.measured / min(run.measured for run in group) - 1
