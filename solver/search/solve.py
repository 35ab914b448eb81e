"""From a problem to an answer."""

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from solver.answer import Answer, Search, Status
from solver.layout import OFFLOAD, RECOMPUTE, Wanted
from solver.plan import CatalogStamp, Plan
from solver.problem import LayoutLimits, Problem
from solver.problem.ranges import Span
from solver.question import Question, ask
from solver.search.bench import Benches
from solver.search.buying import rent_or_buy
from solver.search.candidates import SLACK, Explorer
from solver.search.conflict import Explanation, explain
from solver.search.explore import Goal, cheapest_regions, explore
from solver.search.limits import limits_of
from solver.search.plans import Seat, plans_of
from solver.search.rank import Choice, choose
from solver.search.sensitivity import sensitivity
from solver.search.space import Pins
from solver.search.tell import how_sure, proof, warnings


class Found(NamedTuple):
    """Plans, what CP-SAT said of each, and how many candidates it saw."""

    plans: list[Plan]
    choice: Choice


def solve_problem(
    problem: Problem,
    top: int = 5,
    distinct: str = "offering",
    time_limit_s: float | None = None,
    benches: Benches | None = None,
) -> Answer:
    """The `top` best plans, no two of one device, offering or layout; or the conflict. Raises InputError.

    benches: what other questions of the same job have looked at already, and this one adds to; the answer is
    the same but for the counts of its search.
    """
    started = time.perf_counter()
    question = ask(problem)
    until = np.inf if time_limit_s is None else started + time_limit_s
    goal = Goal(problem.objective, limits_of(problem.limits), top, distinct, until)
    explorer, also_in = explorer_of(question, goal)
    explorer.bench = benches.bench(question) if benches else None
    table = explore(explorer, goal)
    choice = choose(explorer, table, goal)
    found = Found(plans_of(Seat(explorer, also_in), choice.table, goal), choice)
    status = status_of(explorer, found, goal)
    why = explain(question, goal, explorer) if status == "infeasible" else Explanation([], [], [], [], [])
    from solver import __version__

    return Answer(
        status=status,
        objective=problem.objective,
        question=problem.question(),
        assumptions=[*question.assumptions, *how_sure(found.plans)],
        warnings=warnings(question, found.plans),
        catalog=CatalogStamp(date=question.catalog.date, hash=question.catalog.hash),
        version=__version__,
        plans=found.plans,
        search=search_of(explorer, goal, found, (why.proof, time.perf_counter() - started)),
        conflict=why.conflict,
        other_conflicts=why.others,
        relaxations=why.relaxations,
        explanation=why.words,
        sensitivity=sensitivity(explorer, goal, table, found.plans),
        rent_or_buy=rent_or_buy(question, found.plans, best_plan),
    )


def best_plan(problem: Problem) -> Plan | None:
    """The best plan alone, if there is one."""
    question = ask(problem)
    goal = Goal(problem.objective, limits_of(problem.limits), 1, "offering")
    explorer, also_in = explorer_of(question, goal)
    table = choose(explorer, explore(explorer, goal), goal).table
    return next(iter(plans_of(Seat(explorer, also_in), table, goal)), None)


def explorer_of(question: Question, goal: Goal) -> tuple[Explorer, dict[str, list[str]]]:
    """The search's view of a question, and the regions that were left out as dearer."""
    offerings, also_in = cheapest_regions(question)
    pins = pinned(question.problem.limits.layout)
    least = max(
        (int(limit.bound / SLACK) for limit in goal.limits if limit.field == "limits.min_devices"), default=1
    )
    kept = goal.top if goal.distinct == "layout" else 1
    return Explorer(question, offerings, int(goal.most_devices * SLACK), kept, pins, least), also_in


def pinned(layout: LayoutLimits) -> Pins:
    """What the user wants of each dimension, in numbers."""
    stated = {name: getattr(layout, name) for name in type(layout).model_fields if name != "schedule"}
    stated["recompute"] = tuple(RECOMPUTE.index(word) for word in layout.recompute)
    stated["offload"] = tuple(OFFLOAD.index(word) for word in layout.offload)
    return tuple((name, wanted(values)) for name, values in stated.items() if values)


def wanted(values: Iterable[int | Span]) -> Wanted:
    """What a list of values and spans asks for."""
    spans = [value for value in values if isinstance(value, Span)]
    return Wanted(
        tuple(int(value) for value in values if not isinstance(value, Span)),
        tuple((span.least, span.most) for span in spans if not span.excluded),
        tuple((span.least, span.most) for span in spans if span.excluded),
    )


def status_of(explorer: Explorer, found: Found, goal: Goal) -> Status:
    """CP-SAT's verdict on the best plan, unless time ended before every market was judged."""
    words: dict[str, Status] = {"OPTIMAL": "optimal", "FEASIBLE": "feasible", "INFEASIBLE": "infeasible"}
    verdict = words.get(found.choice.verdicts[0].status, "unknown")
    if not found.plans:
        return "unknown" if explorer.unexplored < np.inf else verdict
    return "feasible" if explorer.unexplored < reached(found, goal) else verdict


def reached(found: Found, goal: Goal) -> float:
    """The objective of the best plan."""
    return float(getattr(found.choice.table, goal.quantity)[0])


def search_of(explorer: Explorer, goal: Goal, found: Found, end: tuple[list[str], float]) -> Search:
    """What was looked at and what is proved."""
    bound, gap = None, None
    if found.choice.bound is not None and found.plans:
        best = reached(found, goal)
        bound = min(found.choice.bound, explorer.unexplored)
        gap = (best - bound) / best if best else 0.0
    return Search(
        configurations=explorer.counters.configurations,
        excluded_by_bound=explorer.counters.excluded,
        candidates=found.choice.handed,
        seconds=end[1],
        bound_usd=bound if goal.objective == "cost" else None,
        gap=gap,
        proof=end[0] or proof(explorer, goal, found.choice),
    )
