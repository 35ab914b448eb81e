"""Why nothing fits: which demands clash, and the smallest changes that would fit.

Every row of the table of everything breaks some set of demands. The inclusion-minimal sets are all smallest
corrections; their minimal hitting sets are all minimal conflicts. Exact, as the table is complete; no solver
is needed.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from solver.layout import Ints
from solver.plan import Plan, Relaxation
from solver.pricing.quotas import raised
from solver.problem import Problem
from solver.question import Question, matches
from solver.search.candidates import Explorer
from solver.search.demands import Demand, Everything, everything
from solver.search.explore import Goal
from solver.search.limits import violated
from solver.search.plans import Seat, plan_of
from solver.search.rank import certify, survivors
from solver.search.wording import in_users_unit

MEMORY = "memory"  # what clashes where no machine that is allowed can hold the model


class Explanation(NamedTuple):
    """One minimal conflict, all others, relaxations, and what CP-SAT says of the near misses."""

    conflict: list[str]
    others: list[list[str]]
    relaxations: list[Relaxation]
    proof: list[str]


def explain(question: Question, goal: Goal, explorer: Explorer) -> Explanation:
    """A minimal conflict of the demands, and for each demand the smallest change that would fit.

    explorer: the one that found nothing.
    """
    all_rows = everything(question, goal, explorer.pinned, explorer.bench)
    bits = all_rows.broken
    corrections = minimal(np.unique(bits).tolist())
    if not corrections:
        return Explanation([MEMORY], [], [], ["exhaustion: no layout fits in the memory of any machine"])
    fields = [demand.field for demand in all_rows.demands]
    conflicts = [[fields[i] for i in members(mask)] for mask in hitting_sets(corrections)]
    choices = all(_is_choice(all_rows.demands[i]) for mask in corrections for i in members(mask))
    if choices and _offered(question):
        conflicts = [[*conflict, MEMORY] for conflict in conflicts]
    fewest = min(mask.bit_count() for mask in corrections)
    chosen = [mask for mask in corrections if mask.bit_count() == fewest]
    told = [r for mask in chosen for r in relax(question.problem, all_rows, bits, mask)]
    return Explanation(conflicts[0], conflicts[1:], told, _certified(all_rows, goal))


def _certified(all_rows: Everything, goal: Goal) -> list[str]:
    """CP-SAT on the rows that miss the limits by least, those that break a list of ids left out."""
    admitted = np.ones(len(all_rows.table), np.bool_)
    for demand in all_rows.demands:
        admitted &= demand.kept if demand.limit is None else True
    table = all_rows.table.take(np.flatnonzero(admitted))
    handed = survivors(table, violated(table, goal.limits), np.zeros(0, np.int64), goal.limits)
    verdict = certify(all_rows.explorers[0], handed, goal._replace(top=1))[0]
    return [
        f"exhaustion: none of {len(all_rows.table):,} rows, the fastest of each offering and count, fits",
        f"CP-SAT over the {len(handed.table)} candidates that miss by least: {verdict.status}",
    ]


def _offered(question: Question) -> bool:
    """Whether anything that is allowed can be had at all, be its memory enough or not."""
    return any(True for offering in question.offerings for _ in question.pools(offering))


def _is_choice(demand: Demand) -> bool:
    """Whether it chooses among what is offered, by ids."""
    return demand.needed is not None


def minimal(masks: list[int]) -> list[int]:
    """The masks that contain no other, fewest bits first."""
    kept: list[int] = []
    for mask in sorted(masks, key=lambda m: (m.bit_count(), m)):
        if not any(mask & other == other for other in kept):
            kept.append(mask)
    return kept


def members(mask: int) -> list[int]:
    """The positions of its bits."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def hitting_sets(corrections: list[int]) -> list[int]:
    """All minimal sets that meet every correction, fewest bits first: the minimal conflicts."""
    union = 0
    for mask in corrections:
        union |= mask
    positions = members(union)
    found: list[int] = []
    for size in range(1, len(positions) + 1):
        for choice in combinations(positions, size):
            mask = sum(1 << i for i in choice)
            hits = all(mask & correction for correction in corrections)
            if hits and not any(mask & other == other for other in found):
                found.append(mask)
    return found


def relax(problem: Problem, all_rows: Everything, bits: Ints, mask: int) -> list[Relaxation]:
    """The smallest change of the demands in `mask`, all others kept: those of the row that misses them by
    least.
    """
    demands = [all_rows.demands[i] for i in members(mask)]
    rows = np.flatnonzero(bits & ~mask == 0)
    table = all_rows.table.take(rows)
    excess = np.zeros(len(rows))
    for demand in demands:
        if demand.limit is not None:
            excess += np.log1p(demand.limit.excess(getattr(table, demand.limit.quantity)))
    best = int(rows[np.argmin(excess)])
    explorer = all_rows.explorers[int(all_rows.source[best])]
    plan = plan_of(Seat(explorer, {}), all_rows.table, best)
    fields = [demand.field for demand in demands]
    return [
        Relaxation(
            field=demand.field,
            from_=_written(problem, demand.field),
            to=_enough(problem, all_rows, demand, (best, plan)),
            together_with=[field for field in fields if field != demand.field],
            plan=plan,
        )
        for demand in demands
    ]


def _written(problem: Problem, field: str) -> Any:
    """What the file says of a field of the limits."""
    return problem.given["limits"][field.removeprefix("limits.")]


def _enough(problem: Problem, all_rows: Everything, demand: Demand, at: tuple[int, Plan]) -> Any:
    """The value of the demand that admits a row and its plan, as the user writes it; None: leave it out."""
    wrote = _written(problem, demand.field)
    row, plan = at
    if demand.field == "limits.layout":
        needed = plan.layout.model_dump() | {"recompute": _word(all_rows, plan)}
        return {name: _widened(values, needed[name]) for name, values in wrote.items()}
    if demand.field == "limits.quotas":
        explorer = all_rows.explorers[int(all_rows.source[row])]
        return raised(problem.limits, wrote, explorer.offerings[int(all_rows.table.offering[row])], plan)
    if demand.limit is not None:
        value = float(getattr(all_rows.table, demand.limit.quantity)[row])
        return in_users_unit(demand.limit, wrote, value)
    name = (demand.needed or [""])[row]
    globs = wrote if isinstance(wrote, list) else [wrote]
    if demand.field.startswith("limits.exclude_"):
        kind = demand.field.removeprefix("limits.exclude_")
        catalog = all_rows.explorers[0].question.catalog
        return [glob for glob in globs if name not in matches(catalog, kind, glob)] or None
    return [*globs, name] if name else None


def _word(all_rows: Everything, plan: Plan) -> str:
    """The file's word for what a plan recomputes."""
    names = all_rows.explorers[0].question.catalog.frameworks[plan.framework].recompute
    return next((word for word, own in names.items() if own == plan.layout.recompute), plan.layout.recompute)


def _widened(values: Any, needed: Any) -> list[Any]:
    """The user's values of a dimension with the one that is needed."""
    listed = values if isinstance(values, list) else [values]
    return listed if needed in listed else [*listed, needed]
