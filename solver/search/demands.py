"""What a user demands, as bits over one table of everything that could be had: which rows break which
demands.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from solver.catalog.records import Offering
from solver.estimate import Pool
from solver.layout import Bools, Ints
from solver.question import LISTS, Question, admitted, ask
from solver.search.bench import Bench
from solver.search.candidates import Candidates, Explorer
from solver.search.explore import Goal, explore
from solver.search.limits import Limit, integers
from solver.search.space import Pins

OF_POOL: dict[str, Callable[[Pool], str]] = {  # what a list of ids in the limits speaks of
    "devices": lambda pool: pool.device.id,
    "machines": lambda pool: pool.machine.id,
    "fabrics": lambda pool: pool.fabric.id if pool.fabric else "",
    "frameworks": lambda pool: pool.framework.id,
}
OF_OFFERING: dict[str, Callable[[Offering], str]] = {
    "providers": lambda offering: offering.provider,
    "regions": lambda offering: offering.region,
    "pricing": lambda offering: offering.pricing,
}


class Demand(NamedTuple):
    """field: of the requirements file. kept: rows that meet it. limit, or the ids that a row would need
    instead.
    """

    field: str
    kept: Bools
    limit: Limit | None
    needed: list[str] | None


@dataclass(frozen=True)
class Everything:
    """Rows for everything that could be had were no demand made, best objective first, and the demands.

    explorers: one that keeps the user's layout, where he states one, and one that is free; source: whose each
    row is. Both have the same markets.
    """

    explorers: tuple[Explorer, ...]
    source: Ints
    table: Candidates
    demands: list[Demand]

    @property
    def broken(self) -> Ints:
        """The demands that each row breaks, as bits in their order. (R,)"""
        bits = np.zeros(len(self.table), np.int64)
        for position, demand in enumerate(self.demands):
            bits |= (~demand.kept).astype(np.int64) << position
        return bits


class Wide(NamedTuple):
    """Everything that could be had, before any demand is told: see Everything."""

    explorers: tuple[Explorer, ...]
    source: Ints
    table: Candidates


def everything(question: Question, goal: Goal, pins: Pins, bench: Bench | None = None) -> Everything:
    """The table without any stated demand, and the demands over it. pins: the user's values of the layout."""
    problem = question.problem
    wrote = problem.given.get("limits", {})
    stated = [field for field in (*LISTS, "pricing") if field in wrote]
    most = max(int(limit.bound) for limit in goal.limits if limit.field == "limits.max_devices")
    most = max(most, MOST_DEVICES)

    def make() -> Wide:
        return _wide(question, stated, (goal.objective, most, pins, bench))

    asked = (problem.steps, problem.training.precision, problem.market, problem.limits.quotas)
    key = (*asked, goal.objective, most, pins, *stated)
    explorers, source, table = bench.tables.recall(key, make) if bench else make()
    demands = [
        *_numeric(table, goal, wrote),
        *(_listed(question, explorers[0], table, field) for field in stated),
    ]
    if pins:
        demands.append(Demand("limits.layout", source == 0, None, None))
    return Everything(explorers, source, table, demands)


def _wide(question: Question, stated: list[str], how: tuple[str, int, Pins, Bench | None]) -> Wide:
    """how: objective, most devices, the user's values of the layout, the bench."""
    objective, most, pins, bench = how
    limits = question.problem.limits
    limits = limits.model_copy(update=dict.fromkeys(stated, ()) | _all_pricing(stated))
    wide = ask(question.problem.model_copy(update={"limits": limits}))
    free = Goal(objective, [], 10**9, "layout")
    explorers = tuple(
        Explorer(wide, wide.offerings, most, 1, kept, bench=bench) for kept in ((pins, ()) if pins else ((),))
    )
    if bench:
        for explorer in explorers:
            bench.look_at_all(explorer)
    tables = [explore(explorer, free) for explorer in explorers]
    joined, source = Candidates.joined(tables), np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    order = np.argsort(getattr(joined, free.quantity), kind="stable")
    return Wide(explorers, source[order], joined.take(order))


MOST_DEVICES = 16_384  # counts beyond are not looked at when limits are relaxed


def _all_pricing(stated: Iterable[str]) -> dict[str, Any]:
    from typing import get_args

    from solver.catalog.records import Pricing

    return {"pricing": get_args(Pricing)} if "pricing" in stated else {}


def _numeric(table: Candidates, goal: Goal, wrote: dict[str, Any]) -> list[Demand]:
    """The stated limits on numbers; the default of max_devices is no demand."""
    limits = [limit for limit in goal.limits if limit.field.removeprefix("limits.") in wrote]
    return [Demand(limit.field, limit.kept(integers(table, limit.quantity)), limit, None) for limit in limits]


def _listed(question: Question, explorer: Explorer, table: Candidates, field: str) -> Demand:
    """A list of ids; kept: rows whose id it admits."""
    kind = field.removeprefix("exclude_")
    limits = question.problem.limits
    allowed = set(limits.pricing) if kind == "pricing" else admitted(question.catalog, limits, field)
    names = names_of(explorer, table, kind)
    kept = np.isin(names, sorted(allowed)) if len(names) else np.zeros(0, np.bool_)
    return Demand(f"limits.{field}", kept, None, names)


def names_of(explorer: Explorer, table: Candidates, kind: str) -> list[str]:
    """The id of each row that a list of this kind speaks of."""
    if kind in OF_POOL:
        pools = [OF_POOL[kind](market.pool) for market in explorer.markets]
        return [pools[number] for number in table.pool.tolist()]
    offerings = [OF_OFFERING[kind](offering) for offering in explorer.offerings]
    return [offerings[number] for number in table.offering.tolist()]
