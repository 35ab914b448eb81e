"""What questions of one job share, whatever their tokens, prices and limits: the fastest layouts of each
market and count, looked up once without any limit. For many questions in a row.

Why: a question alone looks at some twenty of eight hundred markets, as its limits and its best plan exclude
the others; one that cannot be met looks at them all, which takes thirty times as long. On a bench each market
is looked at once, and the questions after the first are only priced, filtered and certified.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass, field, fields
from math import ceil, log2
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from solver.layout import Layouts
from solver.physics.hardware import Floats
from solver.question import Question
from solver.search.bounds import market_floors
from solver.search.candidates import SLACK, Explorer
from solver.search.finds import Counters, Timed
from solver.search.space import meshes_of, ways_of
from solver.search.worth import Worth

TABLES_KEPT = 2
BENCHES_KEPT = 2
FLOORS_KEPT = 100_000
FREE = ("steps", "operations")  # of a job: what looks do not depend on, and what the catalog's hash covers

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def shared_by(question: Question) -> Hashable:
    """What two questions must have in common to use one bench."""
    told = {f.name: getattr(question.job, f.name) for f in fields(question.job) if f.name not in FREE}
    return (*told.values(), question.catalog.hash)


class Looked(NamedTuple):
    """A market looked at whole, for jobs up to so many ranks.

    layouts: the fastest alone, which `timed` points into; legal, excluded: as Counters has them.
    """

    most_ranks: int
    layouts: Layouts
    timed: Timed
    legal: int
    excluded: int


class Recent(OrderedDict[Key, Value], Generic[Key, Value]):
    """The entries used last, as many as their sizes allow."""

    def __init__(self, most: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        super().__init__()
        self.most = most
        self.size = size

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        while len(self) > 1 and sum(map(self.size, self.values())) > self.most:
            self.popitem(last=False)

    def recall(self, key: Key, make: Callable[[], Value]) -> Value:
        """The entry, made where there is none."""
        if key not in self:
            self[key] = make()
        self.move_to_end(key)
        return self[key]


@dataclass
class Bench:
    """The markets that have been looked at, their bounds, and the last tables of everything (see demands)."""

    looked: dict[Hashable, Looked] = field(default_factory=dict)
    floors: dict[Hashable, float] = field(default_factory=dict)
    tables: Recent[Hashable, Any] = field(default_factory=lambda: Recent(TABLES_KEPT))

    def look(self, explorer: Explorer, number: int) -> Looked:
        """Market `number` of an explorer, looked at now or before."""
        key = (
            *wanted(explorer),
            explorer.kept,
            explorer.market_keys[number],
            explorer.unhurried(number),
        )
        most = explorer.most_ranks(explorer.markets[number])
        known = self.looked.get(key)
        if known is None or known.most_ranks < most:
            known = self.looked[key] = self._look(explorer, number)
        return known

    def _look(self, explorer: Explorer, number: int) -> Looked:
        alone = copy(explorer)  # the same question, without a limit
        alone.bench, alone.counters = None, Counters()
        alone.frames, alone.found, alone.told = {}, {}, {}
        alone.most_devices, alone.least_devices = roomy(explorer.most_devices), 1
        timed = alone.fastest(number, Worth(1, ()))
        layouts = alone.found[number].layouts
        rows, place = np.unique(timed.layout, return_inverse=True)
        return Looked(
            alone.most_ranks(alone.markets[number]),
            layouts.take(rows),
            timed._replace(layout=place),
            alone.counters.configurations,
            alone.counters.excluded,
        )

    def fastest(self, explorer: Explorer, number: int, worth: Worth) -> Timed:
        """As Explorer.fastest, of the layouts that are known."""
        known, market = self.look(explorer, number), explorer.markets[number]
        explorer.counters.add(known.legal, known.excluded)
        timed = known.timed
        small = timed.devices * market.pool.device.ranks <= explorer.most_ranks(market)
        looked = small & (timed.devices >= explorer.least_devices)
        return timed.take(np.flatnonzero(looked & worth.able(timed.step_s, timed.devices)))

    def market_floors(self, explorer: Explorer) -> Floats:
        """As bounds.market_floors, each market once."""
        own = wanted(explorer)
        keys = [
            (own, key, explorer.most_ranks(market))
            for key, market in zip(explorer.market_keys, explorer.markets, strict=True)
        ]
        if not self.floors.keys() >= set(keys):
            if len(self.floors) > FLOORS_KEPT:
                self.floors.clear()
            self.floors |= dict(zip(keys, market_floors(explorer).tolist(), strict=True))
        return np.array([self.floors[key] for key in keys])


def wanted(explorer: Explorer) -> tuple[Hashable, ...]:
    """What a user wants of layouts: limits that a look does depend on."""
    return explorer.pinned, explorer.question.problem.limits.machines_step


def roomy(devices: int) -> int:
    """As many devices or more, the same number for many: a look for the most that one question allows, with
    its slack, serves those that allow less.
    """
    return int(SLACK * 2 ** ceil(log2(devices / SLACK)))


class Benches:
    """The benches of the jobs asked about last."""

    def __init__(self) -> None:
        self.recent: Recent[Hashable, Bench] = Recent(BENCHES_KEPT)

    def bench(self, question: Question) -> Bench:
        return self.recent.recall(shared_by(question), Bench)


def forget() -> None:
    """Gives up what the last question laid out; the next one is of another job."""
    meshes_of.cache_clear()
    ways_of.cache_clear()
