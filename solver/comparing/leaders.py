"""The best candidate of every group, by one walk over the markets with a ceiling for each group."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from solver.catalog.records import Offering
from solver.layout import Bools
from solver.physics.hardware import Floats
from solver.question import Question, admitted
from solver.search.bounds import market_floors
from solver.search.candidates import Candidates, Explorer
from solver.search.explore import Goal, in_order, ranked, reachable, settled, worth
from solver.search.hunt import ROUNDING
from solver.search.limits import violated
from solver.search.worth import Worth

Naming = Callable[[Question, Offering], str]
NAMES: dict[str, Naming] = {  # --by -> the group of an offering
    "device": lambda question, offering: question.device(offering).id,
    "family": lambda question, offering: question.device(offering).family,
    "provider": lambda _question, offering: offering.provider,
}


def admitted_groups(question: Question, by: str) -> list[str]:
    """Every group that the lists of the limits leave, offered or not, by name."""
    catalog, limits = question.catalog, question.problem.limits
    kind = "providers" if by == "provider" else "devices"
    ids = admitted(catalog, limits, kind) & admitted(catalog, limits, f"exclude_{kind}")
    if by == "family":
        ids = {catalog.devices[name].family for name in ids}
    return sorted(ids | {NAMES[by](question, offering) for offering in question.offerings})


@dataclass
class Walk:
    """Markets in the order of their lower bounds, and what was found on them.

    groups     of each offering of the explorer, its name
    best       of each group, the least objective found so far
    """

    explorer: Explorer
    goal: Goal
    groups: list[str]
    best: dict[str, float] = field(default_factory=dict)
    looked_at: int = 0
    rank_s: Floats = field(default_factory=lambda: np.zeros(0))
    """The least rank-seconds of a step in each market. (M,)"""

    def leaders(self) -> Candidates:
        """The best row of each group that keeps every limit, the best first."""
        explorer, goal = self.explorer, self.goal
        rank_s = self.rank_s = market_floors(explorer)
        order, bounds = in_order(explorer, goal.objective, rank_s)
        tables = [Candidates.none()]
        for number in order:
            close = bounds[number] * (1 - ROUNDING) <= self._ceiling(number)
            if close and reachable(explorer, number, goal, rank_s):
                tables.append(self._look(number))
        table = ranked(Candidates.joined(tables), explorer.offerings, goal.quantity)
        names = [self.groups[offering] for offering in table.offering.tolist()]
        _, first = np.unique(np.array(names, np.str_), return_index=True)
        return table.take(np.sort(first))

    def markets_of(self, name: str) -> list[int]:
        """The markets that offer anything of a group."""
        return [number for number in range(len(self.explorer.markets)) if name in self._names(number)]

    def _names(self, number: int) -> set[str]:
        return {self.groups[offering] for offering in self.explorer.markets[number].offerings}

    def _ceiling(self, number: int) -> float:
        """What a row of the market must not exceed to be the best of any group there."""
        return max(self.best.get(name, np.inf) for name in self._names(number))

    def _look(self, number: int) -> Candidates:
        """What a market has within the limits; each find lowers the ceiling of what is still looked for."""
        explorer, goal, market = self.explorer, self.goal, self.explorer.markets[number]
        self.looked_at += 1

        def judge() -> Worth:
            return worth(explorer, market, goal, self._ceiling(number))

        hunt, tables = explorer.hunt(number, judge()), [Candidates.none()]
        for timed in hunt.finds(judge):
            tables.append(explorer.priced(number, timed))
            self._learn(tables[-1])
        table = settled(explorer, number, hunt, Candidates.joined(tables))
        return table.take(np.flatnonzero(kept(table, goal)))

    def _learn(self, table: Candidates) -> None:
        table = table.take(np.flatnonzero(kept(table, self.goal)))
        values = getattr(table, self.goal.quantity).tolist()
        for offering, value in zip(table.offering.tolist(), values, strict=True):
            name = self.groups[offering]
            self.best[name] = min(self.best.get(name, np.inf), value)


def kept(table: Candidates, goal: Goal, but: tuple[str, ...] = ()) -> Bools:
    """Rows that keep every limit, those on the quantities `but` aside. (R,)"""
    fine: Bools = violated(table, [limit for limit in goal.limits if limit.quantity not in but]) == 0
    return fine
