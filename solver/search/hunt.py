"""The layouts of one market, looked at by the way they cut a layer: those of the least bound first.

For one offering and one count, cost, energy and power grow with the step time alone; so of all layouts of a
count only the fastest can matter to any limit or objective. A way whose bound is above what has been found is
never laid out; that it was legal is counted (space.legal_layouts).
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import Cuts, Ints, Layouts, numbered
from solver.physics.hardware import Floats
from solver.physics.layer import Compute, LayerCost, layer_cost
from solver.physics.memory import LayerMemory, layer_memory
from solver.search.field import Field, worthy
from solver.search.finds import NO_PACE, Found, Pace, Timed
from solver.search.leaders import leaders, ties
from solver.search.space import Frame, meshed, shared
from solver.search.worth import Worth

ROUNDING = 1e-12  # what float64 sums in another order may differ by, relative
TRIES = 4  # layouts of each count that are timed first
WAYS_FIRST = 16  # laid out together at first, and more where they make
PAIRS_FIRST = 12000  # no more pairs of a way and a mesh than this
FEW = 1500  # rows that are judged at once: to sort some of them out first would take longer
GROWTH = 4  # and how many times as many each time after


def way_floors(job: Job, ways: Layouts, cost: LayerCost) -> Floats:
    """A lower bound of the rank-seconds of a step for each way to cut a layer. [s], (K,)

    As bounds.rank_seconds, communication within a layer included.
    """
    passes = job.architecture.layers * cost.total + cost.embedding + cost.loss
    floors: Floats = (1 - ROUNDING) * ways.tp * ways.cp * job.global_batch / ways.micro_batch * passes
    return floors


class Rows(NamedTuple):
    """N layouts that a search looks at, each (N,): its way, its count, a lower bound of its step; fragile: 1
    where its memory may turn out too small, once that is known.
    """

    layouts: Layouts
    way: Ints
    group: Ints
    floor_s: Floats
    fragile: Ints

    def take(self, index: Ints) -> Self:
        way, group = self.way[index], self.group[index]
        return type(self)(self.layouts.take(index), way, group, self.floor_s[index], self.fragile[index])


class Ground(NamedTuple):
    """Where a search looks: what is trained, on which pool, in which frame.

    unhurried: a longer run may cost no more, so that of each count the fastest sound layout is kept, too.
    """

    job: Job
    pool: Pool
    frame: Frame
    unhurried: bool = False


class Hunt:
    """One search of a market. kept: layouts kept for each count.

    field       its ways by their bounds `floors`, the least first; cost, memory: of a layer in each
    ceilings    what a step of each count must not exceed [s] (C,)
    counted     layouts that were timed, or found not to fit
    known       counts (by their place in field.ranks) and times of the fastest so far
    """

    def __init__(
        self, ground: Ground, field: Field, kept: int, known: tuple[Pace, Compute | None] = (NO_PACE, None)
    ) -> None:
        job, self.pool, self.frame, self.unhurried = ground
        self.kept, self.found = kept, Found()
        self.setting = setting_of(job, self.pool.framework, self.pool.precision)
        pace, compute = known
        cost = layer_cost(self.setting, self.pool.rank, self.pool.network, field.ways, compute)
        floors = way_floors(job, field.ways, cost)
        order = np.argsort(floors, kind="stable")
        self.field, self.cost, self.floors = field.take(order), cost.take(order), floors[order]
        self.devices = field.ranks // self.pool.device.ranks
        self.known = pace.among(field.ranks)
        self.ceilings = self.known.ceilings(len(field.ranks), kept)
        self.counted = 0
        self.next, self.size = 0, max(WAYS_FIRST, int(PAIRS_FIRST / (1 + field.pairs)))

    @cached_property
    def memory(self) -> LayerMemory:
        """Of a layer in each way. (K,)"""
        return layer_memory(self.setting, self.field.ways)

    def look(self, worth: Worth) -> Timed | None:
        """The fastest layouts of some more ways, as far as they may be worth it; None: no way is left."""
        while len(ways := self._more(worth)):
            rows = self._pairs(ways, worth)
            rows = self._paced(rows, worth) if len(rows.way) else rows
            if len(rows.way):
                return self._fastest(self._shared(rows), worth)
        return None

    def finds(self, judge: Callable[[], Worth]) -> Iterator[Timed]:
        """What every look finds; each is judged anew, as what was found before may make less worth it."""
        while (timed := self.look(judge())) is not None:
            yield timed

    def _more(self, worth: Worth) -> Ints:
        """The next ways that may be worth it."""
        each = self.pool.device.ranks
        end = min(self.next + self.size, worthy(worth, self.floors, self.field.ranks, each, self.ceilings))
        ways = np.arange(self.next, end)
        self.next, self.size = max(self.next, end), self.size * GROWTH
        return ways

    def _able(self, rows: Rows, worth: Worth) -> Ints:
        """The rows that the bounds leave."""
        below = rows.floor_s <= self.ceilings[rows.group]
        return np.flatnonzero(worth.able(rows.floor_s, self.devices[rows.group]) & below)

    def _pairs(self, ways: Ints, worth: Worth) -> Rows:
        """Ways, each on every mesh on which it is legal and may be worth it by its own bound."""
        field, meshes = self.field, self.field.meshes
        batches, batch = numbered(field.ways.micro_batch[ways])
        whole = self.frame.case.global_batch % (batches[:, None] * meshes.dp) == 0
        counts = field.table[field.inside[ways]][:, field.outside]
        way, mesh = np.nonzero(whole[batch] & (counts >= 0))
        count, way = counts[way, mesh], ways[way]
        rows = Rows(meshes, way, count, self.floors[way] / field.ranks[count], mesh)
        able = self._able(rows, worth)
        way, mesh, count = way[able], mesh[able], count[able]
        pairs = meshed(self.frame, field.ways.take(way), meshes.take(mesh))
        return Rows(
            pairs.layouts, way[pairs.of], count[pairs.of], rows.floor_s[able][pairs.of], mesh[pairs.of]
        )

    def _paced(self, rows: Rows, worth: Worth) -> Rows:
        """Those that the bound of the pipeline leaves."""
        paced = self._space(rows).step(self.pool, self.cost).floor_s * (1 - ROUNDING)
        rows = rows._replace(floor_s=paced)
        return rows.take(self._able(rows, worth))

    def _space(self, rows: Rows) -> Space:
        return Space(self.setting, rows.layouts, Cuts(self.field.ways, rows.way), self.memory)

    def _shared(self, rows: Rows) -> Rows:
        """Each with every way to share its state."""
        whole = shared(self.frame, rows.layouts)
        return rows.take(whole.of)._replace(layouts=whole.layouts)

    def _fastest(self, rows: Rows, worth: Worth) -> Timed:
        """Of each count the `kept` fastest that fit in memory."""
        rows, times = self._few(rows, worth) if len(rows.way) <= FEW else self._many(rows, worth)
        group = self.apart(rows.group, rows.fragile)
        best = leaders(group, times, self.kept, (*ties(rows.layouts), rows.fragile))
        best = best[np.isfinite(times[best])]
        best = best[times[best] <= self.ceilings[rows.group[best]]]
        chosen = rows.take(best)
        self.known = self._lower(chosen, times[best])
        return Timed(self.found.add(chosen.layouts), self.devices[chosen.group], times[best], chosen.fragile)

    def _few(self, rows: Rows, worth: Worth) -> tuple[Rows, Floats]:
        """All are timed; of those that may be worth it, the ones that fit, and their times."""
        self.counted += len(rows.way)
        times = self._exact(rows)
        able = self._able(rows._replace(floor_s=times * (1 - ROUNDING)), worth)
        if len(able) == 0:
            return rows.take(able), times[able]
        fits, fragile = self._held(fast := rows.take(able))
        return fast._replace(fragile=fragile).take(fits), times[able][fits]

    def _many(self, rows: Rows, worth: Worth) -> tuple[Rows, Floats]:
        """Of those that fit, a few of each count are timed first; of the others, those whose bound is below.

        Those whose first stage does not fit are left out before the other stages are looked at.
        """
        seen = len(rows.way)
        rows = rows.take(np.flatnonzero(self._space(rows).first_stage_fits(self.pool)))
        fits, fragile = self._held(rows)
        rows = rows._replace(fragile=fragile).take(fits)
        first = rows.take(leaders(rows.group, rows.floor_s, max(self.kept, TRIES)))
        self._lower(first, self._exact(first))
        left = rows.take(self._able(rows, worth))
        self.counted += seen - len(rows.way) + len(left.way)
        return left, self._exact(left)

    def _held(self, rows: Rows) -> tuple[Ints, Ints]:
        """Which rows fit in memory; and of all rows, 1 where it may turn out too small."""
        space, every = self._space(rows), np.arange(len(rows.way))
        return np.flatnonzero(space.fits(self.pool, every)), 1 - space.sound(self.pool, every)

    def _exact(self, rows: Rows) -> Floats:
        return self._space(rows).step(self.pool, self.cost).step_s

    def apart(self, group: Ints, fragile: Ints) -> Ints:
        """Groups of which each the fastest are kept: sound ones beside those that may not start. (N,)"""
        return 2 * group + fragile if self.unhurried else group

    def _lower(self, rows: Rows, times: Floats) -> Pace:
        """Brings the ceilings down to the `kept`-th best time of each count, known and new; returns these.

        What may not start sets none where a sound one that is slower may be as good.
        """
        counted = np.flatnonzero((rows.fragile == 0) | (not self.unhurried))
        pace = self.known.joined(Pace(rows.group[counted], times[counted]), self.kept)
        self.ceilings = pace.ceilings(len(self.devices), self.kept)
        return pace

    @property
    def pace(self) -> Pace:
        """The fastest so far, counts as ranks."""
        return Pace(self.field.ranks[self.known.group], self.known.step_s)
