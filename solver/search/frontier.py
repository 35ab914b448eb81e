"""The whole trade-off of time and cost: every plan that no other is as good as in both, and none left out."""

import time

import numpy as np

from solver.answer import Search
from solver.plan import CatalogStamp, Plan
from solver.problem import Problem
from solver.question import Question, ask
from solver.search.bounds import market_floors
from solver.search.candidates import Candidates, Explorer, Market
from solver.search.conflict import Explanation, explain
from solver.search.explore import (
    OBJECTIVES,
    Goal,
    cheapest_regions,
    count_skipped,
    either_place,
    per_device_s,
    worth,
)
from solver.search.limits import limits_of, violated
from solver.search.plans import Seat, plan_of
from solver.search.solve import pinned
from solver.search.stairs import Front
from solver.search.tell import how_sure, warnings
from solver.search.trade_offs import Frontier
from solver.search.worth import Worth

TINY = 1e-12
FIELDS = {"time": "time.days", "cost": "cost.total_usd", "energy": "energy.mwh"}  # -> field of a plan


def frontier_of(problem: Problem, *, energy: bool = False) -> Frontier:
    """Every trade-off of time and cost (and energy) within the limits. Raises InputError."""
    started = time.perf_counter()
    question = ask(problem)
    goal = Goal(problem.objective, limits_of(problem.limits), 1, "layout")
    explorer, also_in = _explorer(question, goal)
    axes = ("time", "cost", *(("energy",) if energy else ()))
    table = trade_offs(explorer, goal, axes)
    plans = [plan_of(Seat(explorer, also_in), table, row) for row in range(len(table))]
    why = Explanation([], [], [], [], []) if plans else explain(question, goal, explorer)
    from solver import __version__

    return Frontier(
        status="optimal" if plans else "infeasible",
        objective=problem.objective,
        axes=[FIELDS[axis] for axis in axes],
        question=problem.question(),
        assumptions=[*question.assumptions, *how_sure(plans)],
        warnings=warnings(question, plans),
        catalog=CatalogStamp(date=question.catalog.date, hash=question.catalog.hash),
        version=__version__,
        plans=plans,
        knee=knee_of(plans),
        search=_search(explorer, axes, len(table), (why.proof, time.perf_counter() - started)),
        conflict=why.conflict,
        other_conflicts=why.others,
        relaxations=why.relaxations,
        explanation=why.words,
    )


def _explorer(question: Question, goal: Goal) -> tuple[Explorer, dict[str, list[str]]]:
    """As solve's, but no count beyond the limit: near misses are no trade-off."""
    offerings, also_in = cheapest_regions(question)
    pins = pinned(question.problem.limits.layout)
    return Explorer(question, offerings, int(goal.most_devices), 1, pins), also_in


def trade_offs(explorer: Explorer, goal: Goal, axes: tuple[str, ...]) -> Candidates:
    """The rows that keep the limits and that no other row is as good as in every axis, the fastest first.

    A market, and then each layout of it, is passed over where the lower bounds of its time, cost and energy
    are beaten together by one plan that has been found.
    """
    rank_s = market_floors(explorer)
    front = Front(tuple(OBJECTIVES[axis] for axis in axes), explorer.offerings)
    skipped = []
    for number in np.argsort(either_place(explorer, rank_s), kind="stable").tolist():
        market = explorer.markets[number]
        judge = _judge(explorer, market, goal, front, axes)
        if not _able(explorer, market, judge, float(rank_s[number])):
            skipped.append(number)
            continue
        table = explorer.priced(number, explorer.fastest(number, judge))
        front.add(table.take(np.flatnonzero(violated(table, goal.limits) == 0)))
    count_skipped(explorer, skipped)
    return front.table


def _judge(explorer: Explorer, market: Market, goal: Goal, front: Front, axes: tuple[str, ...]) -> Worth:
    """What a row must stay below: the limits, and the trade-offs found so far."""
    within = worth(explorer, market, goal, np.inf)
    rates = tuple(per_device_s(explorer, market, axis) for axis in axes[1:])
    return Worth(within.steps, (*within.caps, front.stairs(rates)))


def _able(explorer: Explorer, market: Market, judge: Worth, rank_s: float) -> bool:
    """Whether its largest job may be a trade-off, by the lower bound of compute: a smaller one is slower, and
    as dear.
    """
    most = explorer.most_ranks(market)
    return bool(judge.able(np.array([rank_s / most]), np.array([most // market.pool.device.ranks]))[0])


def knee_of(plans: list[Plan]) -> int | None:
    """The plan farthest below the straight line from the fastest to the cheapest, both axes scaled to 0 .. 1;
    of equals the one whose cost x days is least.

    Source: Satopaa et al. 2011, Finding a "Kneedle" in a Haystack.
    """
    if not plans:
        return None
    days, usd = (
        np.array(values) for values in ([p.time.days for p in plans], [p.cost.total_usd for p in plans])
    )
    below = -(days - days.min()) / max(np.ptp(days), TINY) - (usd - usd.min()) / max(np.ptp(usd), TINY)
    return int(np.lexsort((days * usd, -below.round(9)))[0])


def _search(explorer: Explorer, axes: tuple[str, ...], rows: int, end: tuple[list[str], float]) -> Search:
    counters, pools = explorer.counters, len(explorer.markets)
    told = " and ".join((", ".join(axes[:-1]), axes[-1]))
    proof = [
        f"exhaustion: of {counters.configurations:,} legal layouts on {pools} pools, all were looked at that "
        "no bound excludes",
        f"bound: {counters.pools} pools and {counters.excluded:,} layouts were excluded, as lower bounds of "
        f"their {told} exceed a limit or are beaten together by a plan that is told, or as another layout of "
        "the same count is faster",
        "dominance: for one offering and count the fastest layout is best in cost, time, energy and power",
    ]
    return Search(
        configurations=counters.configurations,
        excluded_by_bound=counters.excluded,
        candidates=rows,
        seconds=end[1],
        bound_usd=None,
        gap=None,
        proof=end[0] or proof,
    )
