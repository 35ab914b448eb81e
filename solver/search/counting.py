"""How many layouts are legal, without laying them out."""

from functools import lru_cache, reduce
from math import prod
from typing import TypeVar

import numpy as np

from solver.layout import Ints, Layouts
from solver.physics.hardware import Floats
from solver.search.space import (
    DIMENSIONS,
    MESH,
    ORDER,
    SHARING,
    Frame,
    decided,
    kept,
    meshes_of,
    resolved,
    ways_of,
)

Array = TypeVar("Array", Ints, Floats)


@lru_cache(maxsize=1024)
def legal_layouts(frame: Frame) -> int:
    """How many layouts of a frame are legal, counted without laying them out.

    Each rule is a table over the few dimensions that it looks at; the number of layouts that keep them all is
    the sum over all dimensions of the product of the tables, taken one dimension at a time.
    """
    known = ways_of(frame).columns | {name: meshes_of(frame).columns[name] for name in MESH}
    values = {name: frame.values(name) if name in SHARING else np.unique(known[name]) for name in DIMENSIONS}
    columns = {name: _along(values[name], axis) for axis, name in enumerate(DIMENSIONS)}
    columns["grad_accum"] = frame.case.global_batch // (columns["dp"] * columns["micro_batch"])
    columns["shard"] = resolved(frame, columns["shard"], columns["tp"])
    layouts = Layouts.of(columns)
    tables = [_along(np.ones(len(values[name])), axis) for axis, name in enumerate(DIMENSIONS)]
    for name in decided(frame.rules, frozenset(), frozenset(ORDER)):
        table = kept(frame, name, layouts)
        if not table.all():
            tables.append(table.astype(np.float64))
    return _summed(tables)


def _along(values: Array, axis: int) -> Array:
    return values.reshape([-1 if axis == place else 1 for place in range(len(DIMENSIONS))])


def _summed(tables: list[Floats]) -> int:
    """The sum of the product of tables that have an axis for each dimension; whole numbers, exact to 2^53."""
    left = set(range(len(DIMENSIONS)))
    while left:
        spans = {axis: _product_size([t for t in tables if t.shape[axis] > 1]) for axis in left}
        axis = min(left, key=lambda a: (spans[a], a))
        along = [table for table in tables if table.shape[axis] > 1]
        if along:
            tables = [table for table in tables if table.shape[axis] == 1]
            tables.append(reduce(np.multiply, sorted(along, key=np.size)).sum(axis=axis, keepdims=True))
        left.remove(axis)
    return round(float(reduce(np.multiply, tables).sum()))


def _product_size(tables: list[Floats]) -> int:
    return prod(max(sizes) for sizes in zip(*(table.shape for table in tables), strict=True))
