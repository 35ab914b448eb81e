"""Everything that could be had were no demand made, as far as a demand can see it: of two rows of which one
breaks no more demands and takes no more of anything that is limited, the other is left out.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from solver.layout import Bools, Ints
from solver.physics.hardware import Floats
from solver.pricing.quotas import most_machines
from solver.search.candidates import NEVER, Candidates, Explorer, Market
from solver.search.explore import OBJECTIVES, either_place, floors_of, per_device_s
from solver.search.limits import Limit, integers
from solver.search.stairs import NO_LIMIT, Stairs
from solver.search.worth import Worth

BY_DEVICE_S = {quantity: name for name, quantity in OBJECTIVES.items() if name != "time"}
BLOCK = 256  # rows compared at a time with all others
POINTS = 400  # of a trade-off that are held against a market: some are enough for a bound


class Axis(NamedTuple):
    """A limit as rows see it: what they take within it does not count."""

    limit: Limit

    @property
    def quantity(self) -> str:
        return self.limit.quantity

    @property
    def none(self) -> float:
        """What a row takes that keeps the limit."""
        return NO_LIMIT if self.limit.least else 0.0

    def taken(self, table: Candidates) -> Floats:
        """The quantity of rows that break the limit; of the others none. (R,)"""
        values: Floats = getattr(table, self.quantity)
        return np.where(self.limit.kept(integers(table, self.quantity)), self.none, values)

    def of(self, table: Candidates) -> Floats:
        """Less is better. (R,)"""
        taken = self.taken(table)
        return -taken if self.limit.least else taken


class Breaks(NamedTuple):
    """The choices (lists of ids and the like) that markets (M,) and offerings (O,) break, as bits."""

    market: Ints
    offering: Ints

    def of(self, table: Candidates) -> Ints:
        """(R,)"""
        return self.market[table.pool] | self.offering[table.offering]


@dataclass
class Wide:
    """Rows found so far. marks: choices that each breaks; source: number of the explorer that it is of."""

    axes: tuple[Axis, ...]
    explorers: list[Explorer] = field(default_factory=list)
    table: Candidates = field(default_factory=Candidates.none)
    marks: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    source: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    taken: list[Floats] = field(default_factory=list)
    """Of each axis, what the rows take beyond its limit. (R,)"""
    met: set[int] = field(default_factory=set)
    """Marks of rows that keep every limit: nothing that breaks as much can be better."""

    def values(self, table: Candidates) -> Floats:
        """(R, A)"""
        columns = [axis.of(table) for axis in self.axes]
        return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0))

    def explore(self, explorer: Explorer, breaks: Breaks, broken: int) -> None:
        """Adds what an explorer finds; broken: choices that all of its rows break.

        Markets that break the fewest choices come first, then those with the best bounds.
        """
        self.explorers.append(explorer)
        rank_s = floors_of(explorer)
        marks = np.array([_least(breaks, number, m) for number, m in enumerate(explorer.markets)], np.int64)
        for number in _best_first(explorer, marks, rank_s):
            market, mark = explorer.markets[number], int(marks[number]) | broken
            if any(met & ~mark == 0 for met in self.met):
                continue
            stairs = self._stairs(explorer, market, mark)
            most = explorer.most_ranks(market) // market.pool.device.ranks
            if not _able(stairs, market, explorer.job.steps * float(rank_s[number]), most):
                continue
            judge = Worth(explorer.job.steps, (stairs,))
            table = explorer.priced(number, explorer.fastest(number, judge))
            self._add(table, breaks.of(table) | broken)

    def _add(self, table: Candidates, marks: Ints) -> None:
        new = np.flatnonzero(~beaten((self.values(table), marks), (self.values(self.table), self.marks)))
        table, marks = table.take(new), marks[new]
        own = (self.values(table), marks)
        kept = np.flatnonzero(~beaten(own, own, among_themselves=True))
        table, marks = table.take(kept), marks[kept]
        old = np.flatnonzero(~beaten((self.values(self.table), self.marks), (self.values(table), marks)))
        self.table = Candidates.joined([self.table.take(old), table])
        self.marks = np.r_[self.marks[old], marks]
        self.source = np.r_[self.source[old], np.full(len(table), len(self.explorers) - 1)]
        self.taken = [axis.taken(self.table) for axis in self.axes]
        met = np.ones(len(self.table), np.bool_)
        for axis, taken in zip(self.axes, self.taken, strict=True):
            met &= taken == axis.none
        self.met = set(self.marks[met].tolist())

    def _stairs(self, explorer: Explorer, market: Market, marks: int) -> Stairs:
        """Rows that break no more than any row of a market, seen from it."""
        rows = np.flatnonzero(self.marks & ~marks == 0)
        rows = rows[:: len(rows) // POINTS + 1]
        machine = market.pool.machine
        time_s, device_s = np.zeros(len(rows)), np.zeros(len(rows))
        least, most = np.zeros(len(rows)), np.full(len(rows), NO_LIMIT)
        for axis, taken in zip(self.axes, self.taken, strict=False):  # none is taken before there is a row
            values = taken[rows]
            if axis.quantity == "wall_clock_s":
                time_s = values
            elif axis.quantity in BY_DEVICE_S:
                rate = per_device_s(explorer, market, BY_DEVICE_S[axis.quantity])
                device_s = np.maximum(device_s, _reached(values, rate))
            elif axis.limit.least:
                most = np.minimum(most, values)
            elif axis.quantity == "devices":
                least = np.maximum(least, values)
            else:  # of whole machines: power, use of a quota
                machines = np.ceil(_reached(values, self._of_machine(explorer, market, axis.quantity)))
                least = np.maximum(least, (machines - 1) * machine.devices + 1)  # 1 or less: any count
        return Stairs(time_s, device_s, least, most)

    @staticmethod
    def _of_machine(explorer: Explorer, market: Market, quantity: str) -> float:
        """The least that a machine of a market adds to a quantity."""
        if quantity == "power_w":
            return market.pool.machine.power
        limits, machine = explorer.question.problem.limits, market.pool.machine
        offerings = [explorer.offerings[i] for i in market.offerings]
        return min(1 / max(most_machines(limits, offering, machine), NEVER) for offering in offerings)


def _reached(values: Floats, rate: float) -> Floats:
    """How much of something reaches values at a rate; nothing is reached at once, and anything else never
    where the rate is 0. (P,)
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing at no rate is nothing
        return np.where(values > 0, values / np.float64(rate), 0.0)


def _least(breaks: Breaks, number: int, market: Market) -> int:
    """What every row of a market breaks."""
    return int(breaks.market[number] | np.bitwise_and.reduce(breaks.offering[list(market.offerings)]))


def _best_first(explorer: Explorer, marks: Ints, rank_s: Floats) -> list[int]:
    broken = [int(mark).bit_count() for mark in marks]
    order = np.lexsort((either_place(explorer, rank_s), np.array(broken)))
    return [int(number) for number in order if rank_s[number] < np.inf]


def _able(stairs: Stairs, market: Market, run_rank_s: float, most: int) -> bool:
    """Whether some count of a market may add a row, by its compute alone: as many devices as there are, or
    one fewer than a row needs to count.
    """
    counts = np.unique(np.r_[stairs.least - 1, most].clip(1, most)).astype(np.int64)
    seconds = run_rank_s / (counts * market.pool.device.ranks)
    return bool(stairs.admits(seconds, counts).any())


def beaten(
    rows: tuple[Floats, Ints], others: tuple[Floats, Ints], *, among_themselves: bool = False
) -> Bools:
    """Rows (values, marks) than which another breaks no more and is as good in every axis; of equals, among
    themselves, the first stays. (R,)
    """
    (values, marks), (other_values, other_marks) = rows, others
    result = np.zeros(len(values), np.bool_)
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        below = other_marks[:, None] & ~marks[part] == 0
        for column, other_column in zip(values[part].T, other_values.T, strict=True):
            below &= other_column[:, None] <= column
        if among_themselves:
            below &= _not_itself(rows, part)
        result[part] = below.any(axis=0)
    return result


def _not_itself(rows: tuple[Floats, Ints], part: slice) -> Bools:
    """Of two equal rows the first may beat the second, but not the other way; no row beats itself."""
    values, marks = rows
    same = marks[:, None] == marks[part]
    for column in values.T:
        same &= column[:, None] == column[part]
    place = np.arange(len(marks))
    first: Bools = ~same | (place[:, None] < place[part])
    return first
