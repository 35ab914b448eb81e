"""The points of a trade-off found so far, as a ceiling on what a layout must not exceed to add one."""

from dataclasses import dataclass, field

import numpy as np

from solver.catalog.records import Offering
from solver.layout import Bools, Ints, numbered
from solver.physics.hardware import Floats
from solver.search.candidates import Candidates
from solver.search.explore import ranked
from solver.search.hunt import ROUNDING

NO_LIMIT = 1e18  # devices


def undominated(values: Floats) -> Ints:
    """Rows that no other row is as good as in every axis; of equals the first. values: (R, A)

    Sorted by the first axis, then compared with all: a row can be beaten by those before it alone.
    """
    order = np.lexsort((np.arange(len(values)), *values.T[::-1]))
    ascending = values[order]
    if values.shape[1] == 2:  # what is not below the least before it is beaten
        least = np.minimum.accumulate(ascending[:, 1])
        kept = np.r_[True, ascending[1:, 1] < least[:-1]] if len(order) else np.zeros(0, np.bool_)
        return np.sort(order[kept])
    alive: list[int] = []
    for row in range(len(ascending)):
        if not alive or not (ascending[alive] <= ascending[row]).all(axis=1).any():
            alive.append(row)
    return np.sort(order[np.array(alive, np.int64)])


@dataclass(frozen=True)
class Stairs:
    """P points of a trade-off, seen from one market, where devices and seconds decide everything.

    time_s     (P,)  wall clock of a point
    device_s   (P,)  device-seconds with which the market reaches the point in every other axis
    least, most (P,) devices from which on, and up to which, the point counts
    """

    time_s: Floats
    device_s: Floats
    least: Floats
    most: Floats

    def admits(self, seconds: Floats, devices: Ints) -> Bools:
        """Rows whose lower bounds no point beats. (N,)

        On n devices a row is beaten where its device-seconds are at least max(device_s, n time_s) of a point.
        """
        if len(self.time_s) == 0 or len(devices) == 0:
            return np.ones(len(devices), np.bool_)
        counts, place = numbered(devices)
        reached = np.maximum(self.device_s[:, None], self.time_s[:, None] * counts)
        reached[(counts < self.least[:, None]) | (counts > self.most[:, None])] = np.inf
        admitted: Bools = seconds * devices * (1 - ROUNDING) <= reached.min(axis=0)[place]
        return admitted


@dataclass
class Front:
    """The rows of a trade-off found so far. axes: quantities of Candidates, the wall clock first.

    offerings: what the rows point into; their ids decide between equals, as in a ranking.
    """

    axes: tuple[str, ...]
    offerings: tuple[Offering, ...]
    table: Candidates = field(default_factory=Candidates.none)

    def values(self, table: Candidates) -> Floats:
        """(R, A)"""
        return np.stack([getattr(table, axis) for axis in self.axes], axis=1)

    def add(self, table: Candidates) -> None:
        """Takes in rows that keep the limits."""
        if len(table):
            joined = ranked(Candidates.joined([self.table, table]), self.offerings, self.axes[0])
            self.table = joined.take(undominated(self.values(joined)))

    def stairs(self, per_device_s: tuple[float, ...]) -> Stairs:
        """As a ceiling in a market where a device-second adds so much to each axis but the first."""
        values = self.values(self.table)
        with np.errstate(divide="ignore", invalid="ignore"):  # nothing at no rate is nothing
            each = [
                np.where(values[:, 1 + i] > 0, values[:, 1 + i] / np.float64(rate), 0.0)
                for i, rate in enumerate(per_device_s)
            ]
        always = np.zeros(len(values))
        return Stairs(values[:, 0], np.max(each, axis=0), always, always + NO_LIMIT)
