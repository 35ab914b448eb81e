"""What a search lays out in a market: ways to cut a layer, each on every mesh, and the counts they make."""

from typing import NamedTuple, Self

import numpy as np

from solver.estimate import Pool
from solver.layout import RECOMPUTE, Ints, Layouts, numbered
from solver.physics.hardware import Floats
from solver.search.space import Frame, Pins, in_steps, meshes_of
from solver.search.worth import Worth


class Field(NamedTuple):
    """What is laid out there: ways to cut a layer (K,), meshes (M,), and the counts that they make together.

    ranks           of each count, ascending (C,)
    table           which count it is: by the ranks inside a replica's stage, and outside; -1: not allowed
    inside, outside its row for each way (K,), its column for each mesh (M,)
    """

    ways: Layouts
    meshes: Layouts
    ranks: Ints
    table: Ints
    inside: Ints
    outside: Ints

    @property
    def pairs(self) -> float:
        """Meshes that a way has on average."""
        return float((self.table >= 0)[:, self.outside].sum()) / max(len(self.table), 1)

    def take(self, ways: Ints) -> Self:
        """With some of its ways."""
        return self._replace(ways=self.ways.take(ways), inside=self.inside[ways])


def field_of(frame: Frame, ways: Layouts) -> Field:
    """Of some ways on every mesh of a frame."""
    meshes = meshes_of(frame)
    inside, way = numbered(ways.tp * ways.cp)
    outside, mesh = numbered(meshes.pp * meshes.dp)
    products = inside[:, None] * outside
    allowed = (products >= frame.least_ranks) & (products <= frame.most_ranks)
    allowed &= (products % frame.case.block == 0) & in_steps(frame, products)
    ranks = np.unique(products[allowed])
    return Field(ways, meshes, ranks, np.where(allowed, np.searchsorted(ranks, products), -1), way, mesh)


def worthy(worth: Worth, floors: Floats, ranks: Ints, each: int, ceilings: Floats | None = None) -> int:
    """How many of some ways, in the order of their rank-seconds, may be worth it on some count of ranks.

    By halving: what is worth it on a count is so with fewer seconds, too.
    """
    low, high, devices = 0, len(floors), ranks // each
    while low < high:
        middle = (low + high) // 2
        seconds = floors[middle] / ranks
        able = worth.able(seconds, devices)
        if ceilings is not None:
            able &= seconds <= ceilings
        low, high = (middle + 1, high) if able.any() else (low, middle)
    return low


def recomputable(pool: Pool, pins: Pins) -> tuple[str, ...]:
    """Words of recompute to try: the user's that the framework has, or else those that can pay.

    why: with flash attention the core keeps nothing, so redoing it saves none.
    """
    names = pool.framework.recompute
    own = [word for word in RECOMPUTE if names.get(word, "core_attention") != "core_attention"]
    wanted = dict(pins).get("recompute")
    if wanted is None:
        return tuple(own)
    tried = wanted.among(RECOMPUTE.index(word) for word in own)
    return tuple(RECOMPUTE[index] for index in tried if RECOMPUTE[index] in names)
