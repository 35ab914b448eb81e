"""What a search of a market finds and keeps: layouts with their times, counters, the pace to beat."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from solver.layout import Ints, Layouts
from solver.physics.hardware import Floats
from solver.search.leaders import leaders

NOTHING = Layouts.of({}).take(np.zeros(0, np.int64))


class Timed(NamedTuple):
    """Fastest layouts of a market: index into those that were found there, devices, step time, 1 where its
    memory may turn out too small. (M,)
    """

    layout: Ints
    devices: Ints
    step_s: Floats
    fragile: Ints

    def take(self, index: Ints) -> Self:
        return type(self)(self.layout[index], self.devices[index], self.step_s[index], self.fragile[index])

    @classmethod
    def none(cls) -> Self:
        whole = np.zeros(0, np.int64)
        return cls(whole, whole, np.zeros(0), whole)

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Found:
    """Layouts of one market, in the order of their finding."""

    def __init__(self) -> None:
        self.parts: list[Layouts] = [NOTHING]
        self.rows = 0

    def add(self, layouts: Layouts) -> Ints:
        """Keeps them; returns where they stand."""
        start, self.rows = self.rows, self.rows + len(layouts)
        self.parts.append(layouts)
        return np.arange(start, self.rows)

    @property
    def layouts(self) -> Layouts:
        """All of them."""
        if len(self.parts) > 1:
            columns = [part.columns for part in self.parts]
            joined = {name: np.concatenate([c[name] for c in columns]) for name in columns[0]}
            self.parts = [Layouts.of(joined)]
        return self.parts[0]


@dataclass
class Counters:
    """Legal layouts on pools: looked at, and excluded by a bound; pools that were excluded whole.

    Of a pool excluded whole, layouts count where another pool of the same geometry was looked at.
    """

    configurations: int = 0
    excluded: int = 0
    pools: int = 0

    def add(self, layouts: int, excluded: int) -> None:
        """Layouts of a pool, and how many of them a bound excluded."""
        self.configurations += layouts
        self.excluded += excluded


class Pace(NamedTuple):
    """The fastest steps known of each count, which any other must beat. (R,)"""

    group: Ints
    step_s: Floats

    def among(self, ranks: Ints) -> Self:
        """Counts as places among `ranks`, ascending; those that are not among them left out."""
        place = np.searchsorted(ranks, self.group)
        inside = np.flatnonzero(np.append(ranks, -1)[place] == self.group)
        return type(self)(place[inside], self.step_s[inside])

    def joined(self, other: Self, kept: int) -> Self:
        """The `kept` fastest of both at each count."""
        count = np.concatenate((self.group, other.group))
        step_s = np.concatenate((self.step_s, other.step_s))
        best = leaders(count, step_s, kept)
        return type(self)(count[best], step_s[best])

    def ceilings(self, counts: int, kept: int) -> Floats:
        """What a step of each count must not exceed to be one of its `kept` fastest. (C,)"""
        slowest = np.zeros(counts)
        np.maximum.at(slowest, self.group, self.step_s)
        full = np.bincount(self.group, minlength=counts) >= kept
        return np.where(full, slowest, np.inf)


NO_PACE = Pace(np.zeros(0, np.int64), np.zeros(0))
