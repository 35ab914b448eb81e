"""The exhaustive part of the search: every market, in the order of its lower bound, until none can matter."""

import heapq
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from solver.catalog.records import Offering
from solver.layout import Ints
from solver.physics.hardware import Floats
from solver.pricing import Deal, carbon_kg, least_wh
from solver.pricing.quotas import speaks_of
from solver.question import Question
from solver.search.bounds import market_floors
from solver.search.candidates import SLACK, Candidates, Explorer, Market
from solver.search.finds import NO_PACE, Timed
from solver.search.hunt import ROUNDING, Hunt
from solver.search.limits import Limit, violated
from solver.search.worth import Cap, Worth
from solver.units import HOUR_S

OBJECTIVES = {  # -> quantity of Candidates
    "cost": "cost_usd",
    "time": "wall_clock_s",
    "energy": "energy_wh",
    "carbon": "carbon_kg",
}


class Goal(NamedTuple):
    """What is sought: the `top` best by `objective` within the limits, no two of one `distinct` key.

    until: the moment (time.perf_counter) at which the search stops with what it has.
    """

    objective: str
    limits: list[Limit]
    top: int
    distinct: str
    until: float = np.inf

    @property
    def quantity(self) -> str:
        return OBJECTIVES[self.objective]

    @property
    def most_devices(self) -> float:
        """Of the largest job that the limits allow."""
        return next(limit.bound for limit in self.limits if limit.field == "limits.max_devices")


def offering_key(offering: Offering) -> tuple[str, str, str, str]:
    """What makes two offerings the same but for the region."""
    return (offering.provider, offering.instance, offering.fabric or "", offering.pricing)


def cheapest_regions(question: Question) -> tuple[tuple[Offering, ...], dict[str, list[str]]]:
    """The offerings to look at, one for each price list, and by their id the other regions that have it.

    why: a dearer region of the same offering with no more machines is never better in anything, but where its
    power is cleaner or a quota speaks of it.
    """
    groups: dict[tuple[object, ...], list[Offering]] = {}
    for offering in question.offerings:
        terms = (offering.max_days, offering.term_days, offering.weeks_beyond, offering.least_days)
        counts = (offering.machine, offering.max_devices, offering.least_machines, offering.overflow)
        alike = (*offering_key(offering), *terms, *counts, *_regional(question, offering))
        groups.setdefault(alike, []).append(offering)
    ordered = [sorted(group, key=lambda o: (o.usd_per_hour, o.id)) for group in groups.values()]
    return tuple(group[0] for group in ordered), {g[0].id: [o.region for o in g[1:]] for g in ordered}


def _regional(question: Question, offering: Offering) -> tuple[object, ...]:
    """What limits and objective see of a region beside its price."""
    problem, machine = question.problem, question.machine(offering)
    quotas = tuple(speaks_of(quota, offering, machine) for quota in problem.limits.quotas)
    return (offering.site.carbon if problem.counts_carbon else None, quotas, offering.owned is not None)


def ranked(table: Candidates, offerings: tuple[Offering, ...], quantity: str) -> Candidates:
    """Rows in the order of preference: objective, sound before fragile, cost, time, energy, devices, ids."""
    names = np.array([o.id for o in offerings], dtype=np.str_)
    place = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    keys = (
        table.layout,
        table.pool,
        place[table.offering],
        table.devices,
        table.energy_wh,
        table.wall_clock_s,
        table.cost_usd,
        table.fragile,
        getattr(table, quantity),
    )
    return table.take(np.lexsort(keys))


@dataclass
class Best:
    """The best value found under each distinct key; the bound that a newcomer must beat."""

    top: int
    values: dict[object, float] = field(default_factory=dict)
    ceiling: float = np.inf
    """The top-th best value; infinite while there are fewer."""

    def add(self, keys: Iterable[object], values: Floats) -> None:
        for key, value in zip(keys, values.tolist(), strict=True):
            if value < self.values.get(key, np.inf):
                self.values[key] = value
        if len(self.values) >= self.top:
            self.ceiling = heapq.nsmallest(self.top, self.values.values())[-1]


def explore(explorer: Explorer, goal: Goal) -> Candidates:
    """Every candidate that can be among the answer, priced. The rest is excluded by a bound, and counted."""
    rank_s = floors_of(explorer)
    best = Best(goal.top)
    tables, skipped = [Candidates.none()], []
    order, values = in_order(explorer, goal.objective, rank_s)
    for number in order:
        if values[number] * (1 - ROUNDING) > best.ceiling or not reachable(explorer, number, goal, rank_s):
            skipped.append(number)
        elif time.perf_counter() > goal.until:
            explorer.unexplored = min(explorer.unexplored, values[number])
        else:
            tables.append(look(explorer, number, goal, best))
    count_skipped(explorer, skipped)
    return ranked(Candidates.joined(tables), explorer.offerings, goal.quantity)


def floors_of(explorer: Explorer) -> Floats:
    """The least rank-seconds of a step in each market: of the bench, where there is one. [s], (M,)"""
    return explorer.bench.market_floors(explorer) if explorer.bench else market_floors(explorer)


def reachable(explorer: Explorer, number: int, goal: Goal, rank_s: Floats) -> bool:
    """Whether a market, at its best on all its ranks, can keep the limits at all."""
    market = explorer.markets[number]
    ranks = explorer.most_ranks(market)
    most = ranks // market.pool.device.ranks
    judge = worth(explorer, market, goal, np.inf)
    able = judge.able(rank_s[number : number + 1] / ranks, np.array([most]))
    return most >= explorer.least_devices and bool(able[0])


def look(explorer: Explorer, number: int, goal: Goal, best: Best) -> Candidates:
    """What one market has, priced; `best` learns of it, and the search of what it has learned."""
    market = explorer.markets[number]

    def judge() -> Worth:
        return worth(explorer, market, goal, best.ceiling)

    def learned(timed: Timed) -> Candidates:
        table = explorer.priced(number, timed)
        fine = table.take(np.flatnonzero(violated(table, goal.limits) == 0))
        best.add(distinct_keys(explorer, fine, goal.distinct), getattr(fine, goal.quantity))
        return table

    if explorer.bench is not None:
        return learned(explorer.fastest(number, judge()))
    pace = explorer.paces.get(market.offerings, NO_PACE)
    hunt = explorer.hunt(number, judge(), pace)
    tables = [Candidates.none(), *(learned(timed) for timed in hunt.finds(judge))]
    explorer.paces[market.offerings] = hunt.pace
    return settled(explorer, number, hunt, Candidates.joined(tables))


def settled(explorer: Explorer, number: int, hunt: Hunt, table: Candidates) -> Candidates:
    """Of rows that a search found, the fastest of each offering and count."""
    group = table.offering * (int(table.devices.max(initial=0)) + 1) + table.devices
    timed = Timed(table.layout, table.devices, table.step_s, table.fragile)
    best, layout = explorer.settled(number, hunt, (group, timed))
    return replace(table.take(best), layout=layout)


def count_skipped(explorer: Explorer, markets: list[int]) -> None:
    """Counts markets that were excluded whole, and their layouts where they are known."""
    explorer.counters.pools += len(markets)
    for number in markets if explorer.legal else ():
        legal = explorer.legal.get(explorer.frame(number), 0)
        explorer.counters.add(legal, legal)


def in_order(explorer: Explorer, objective: str, rank_s: Floats) -> tuple[list[int], list[float]]:
    """Markets by a lower bound of the objective, so that good plans are found first; and the bounds. (M,)"""
    values = []
    for seconds, market in zip((rank_s * explorer.job.steps).tolist(), explorer.markets, strict=True):
        if objective == "time":
            values.append(seconds / explorer.most_ranks(market))
        else:
            each = per_device_s(explorer, market, objective)
            values.append(seconds * each / market.pool.device.ranks)
    return sorted(range(len(values)), key=lambda number: (values[number], number)), values


def either_place(explorer: Explorer, rank_s: Floats) -> Ints:
    """The better of a market's places by lower bounds of time and of cost: both ends come early. (M,)"""
    by_time, by_cost = (np.argsort(in_order(explorer, name, rank_s)[0]) for name in ("time", "cost"))
    return np.minimum(by_time, by_cost)


def per_device_s(explorer: Explorer, market: Market, objective: str) -> float:
    """The least that a device-second adds to the objective: of its cheapest offering, or its machine's energy
    and carbon dioxide where these are least.
    """
    machine = market.pool.machine
    if objective != "cost":
        deals = [Deal(explorer.job, explorer.offerings[i], market.pool) for i in market.offerings]
        energy = [least_wh(deal) for deal in deals]
        if objective == "carbon":
            energy = [float(carbon_kg(deal, np.array(wh))) for deal, wh in zip(deals, energy, strict=True)]
        return min(energy) / machine.devices
    return min(explorer.offerings[i].usd_per_hour for i in market.offerings) / machine.devices / HOUR_S


def worth(explorer: Explorer, market: Market, goal: Goal, ceiling: float) -> Worth:
    """What a row of a market must stay below: the ceiling found so far, and each limit with some slack."""
    bounds = {limit.quantity: SLACK * limit.bound for limit in goal.limits if not limit.least}
    bounds[goal.quantity] = min(bounds.get(goal.quantity, np.inf), ceiling)
    caps = [
        Cap(0.0, per_device_s(explorer, market, name), bounds[quantity])
        for name, quantity in OBJECTIVES.items()
        if name != "time" and quantity in bounds
    ]
    if "wall_clock_s" in bounds:
        caps.append(Cap(1.0, 0.0, bounds["wall_clock_s"]))
    return Worth(explorer.job.steps, tuple(caps))


def distinct_keys(explorer: Explorer, table: Candidates, distinct: str) -> list[object]:
    """What two plans must not share: device, offering but for its region, or everything."""
    offerings, place = np.unique(table.offering, return_inverse=True)
    known = [_key(explorer, index, distinct) for index in offerings.tolist()]
    keys = [known[i] for i in place.tolist()]
    if distinct == "layout":
        return list(zip(keys, table.pool.tolist(), table.layout.tolist(), strict=True))
    return keys


def _key(explorer: Explorer, index: int, distinct: str) -> object:
    offering = explorer.offerings[index]
    return explorer.question.machine(offering).device if distinct == "device" else offering_key(offering)
