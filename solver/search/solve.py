"""From a problem to an answer."""

import time
from typing import NamedTuple

from solver.layout import RECOMPUTE
from solver.plan import Answer, CatalogStamp, Plan, Search, Status
from solver.problem import LayoutLimits, Problem
from solver.question import Question, ask
from solver.search.candidates import SLACK, Candidates, Explorer
from solver.search.conflict import Explanation, explain
from solver.search.explore import Goal, cheapest_regions, explore
from solver.search.limits import limits_of
from solver.search.plans import Seat, plans_of
from solver.search.rank import Choice, choose
from solver.search.space import Pins
from solver.search.tell import band_is_assumed, proof, warnings


class Found(NamedTuple):
    """Plans, what CP-SAT said of each, and how many candidates it saw."""

    plans: list[Plan]
    choice: Choice


def solve_problem(
    problem: Problem, top: int = 5, distinct: str = "offering", time_limit_s: float | None = None
) -> Answer:
    """The `top` best plans, no two of one device, offering or layout; or the conflict. Raises InputError."""
    started = time.perf_counter()
    question = ask(problem)
    goal = Goal(problem.objective, limits_of(problem.limits), top, distinct)
    explorer, also_in = explorer_of(question, goal)
    table = explore(explorer, goal)
    found = find(explorer, table, goal, (also_in, time_limit_s))
    status = status_of(found.choice)
    why = explain(question, goal, explorer.pinned) if status == "infeasible" else Explanation([], [], [], [])
    from solver import __version__

    return Answer(
        status=status,
        objective=problem.objective,
        question=problem.question(),
        assumptions=[*question.assumptions, band_is_assumed(question)],
        warnings=warnings(question, found.plans),
        catalog=CatalogStamp(date=question.catalog.date, hash=question.catalog.hash),
        version=__version__,
        plans=found.plans,
        search=search_of(explorer, goal, found, (why.proof, time.perf_counter() - started)),
        conflict=why.conflict,
        other_conflicts=why.others,
        relaxations=why.relaxations,
    )


def explorer_of(question: Question, goal: Goal) -> tuple[Explorer, dict[str, list[str]]]:
    """The search's view of a question, and the regions that were left out as dearer."""
    offerings, also_in = cheapest_regions(question)
    most = max(int(limit.bound * SLACK) for limit in goal.limits if limit.field == "limits.max_devices")
    pins = pinned(question.problem.limits.layout)
    kept = goal.top if goal.distinct == "layout" else 1
    return Explorer(question, offerings, most, kept, pins), also_in


def pinned(layout: LayoutLimits) -> Pins:
    """The user's values of each dimension, as numbers."""
    stated = {name: getattr(layout, name) for name in type(layout).model_fields}
    stated["recompute"] = tuple(RECOMPUTE.index(word) for word in layout.recompute)
    return tuple((name, tuple(int(v) for v in values)) for name, values in stated.items() if values)


def find(
    explorer: Explorer, table: Candidates, goal: Goal, how: tuple[dict[str, list[str]], float | None]
) -> Found:
    """The best distinct plans of a ranked table."""
    also_in, time_limit_s = how
    choice = choose(explorer, table, goal, time_limit_s)
    return Found(plans_of(Seat(explorer, also_in), choice.table, goal), choice)


def status_of(choice: Choice) -> Status:
    """The answer's word for CP-SAT's verdict on the best plan."""
    first = choice.verdicts[0].status
    words: dict[str, Status] = {"OPTIMAL": "optimal", "FEASIBLE": "feasible", "INFEASIBLE": "infeasible"}
    return words.get(first, "unknown")


def search_of(explorer: Explorer, goal: Goal, found: Found, end: tuple[list[str], float]) -> Search:
    """What was looked at and what is proved."""
    bound = found.choice.bound
    gap = None
    if bound is not None and found.plans:
        reached = float(getattr(found.choice.table, goal.quantity)[0])
        gap = (reached - bound) / reached if reached else 0.0
    return Search(
        configurations=explorer.counters.configurations,
        excluded_by_bound=explorer.counters.excluded,
        candidates=found.choice.handed,
        seconds=end[1],
        bound_usd=bound if goal.objective == "cost" else None,
        gap=gap,
        proof=end[0] or proof(explorer, goal, found.choice),
    )
