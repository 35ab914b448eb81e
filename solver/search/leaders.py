"""The best of each group, equals told apart in the same way however they were found."""

from collections.abc import Sequence

import numpy as np

from solver.layout import Ints, Layouts
from solver.physics.hardware import Floats
from solver.search.space import ORDER


def leaders(group: Ints, value: Floats, most: int, equals: Sequence[Ints] = ()) -> Ints:
    """Indices of the `most` smallest values of each group; by group, then value, then the last of the keys
    that decide between equals.
    """
    order = np.lexsort((*equals, value, group))
    ordered = group[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    place = np.arange(len(order))
    return order[place - np.maximum.accumulate(np.where(first, place, 0)) < most]


def in_order(layouts: Layouts) -> tuple[Ints, Ints]:
    """Indices of the different layouts, sorted by their columns; and the place of each layout among them."""
    columns = np.stack(ties(layouts))
    order = np.lexsort(columns)
    ranged = columns[:, order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (ranged[:, 1:] != ranged[:, :-1]).any(axis=0)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(first) - 1
    return order[first], place


def ties(layouts: Layouts) -> list[Ints]:
    """Keys by which equals are told apart in the same way however they were found; the last counts most."""
    return [layouts.columns[name] for name in reversed(ORDER)]
