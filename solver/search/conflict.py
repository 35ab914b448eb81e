"""Why nothing fits: which demands clash, and the smallest changes that would fit.

Every row of the table of everything breaks some set of demands. The inclusion-minimal sets are all smallest
corrections; their minimal hitting sets are all minimal conflicts. Exact, as the table is complete; no solver
is needed.
"""

from collections.abc import Mapping
from itertools import combinations
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from solver.answer import Relaxation
from solver.plan import Plan
from solver.pricing.quotas import raised
from solver.problem import Problem
from solver.question import Question, matches
from solver.search.candidates import Candidates, Explorer
from solver.search.demands import LAYOUT, STEP, Demand, Everything, everything, freed, id_of
from solver.search.explore import Goal, explore
from solver.search.limits import violated
from solver.search.plans import Seat, plan_of
from solver.search.rank import certify, survivors
from solver.search.tightest import does_not_fit
from solver.search.wording import PARSERS, in_users_unit

QUOTAS = "limits.quotas"
MEMORY = "memory"  # what clashes where no machine that is allowed can hold the model
MARGIN = "limits.memory_margin"  # the same where the user keeps some of it free


class Explanation(NamedTuple):
    """One minimal conflict, all others, relaxations, what CP-SAT says of the near misses, and by how much
    memory is missed.
    """

    conflict: list[str]
    others: list[list[str]]
    relaxations: list[Relaxation]
    proof: list[str]
    words: list[str]


class Asked(NamedTuple):
    """What was asked, and everything that could be had. explorer: the one that found nothing."""

    question: Question
    goal: Goal
    explorer: Explorer
    all_rows: Everything


class Chosen(NamedTuple):
    """A row that a relaxation admits."""

    explorer: Explorer
    table: Candidates
    row: int


def explain(question: Question, goal: Goal, explorer: Explorer) -> Explanation:
    """A minimal conflict of the demands, and for each demand the smallest change that would fit.

    explorer: the one that found nothing.
    """
    all_rows = everything(question, goal, explorer.pinned, explorer.bench)
    corrections = minimal(np.unique(all_rows.broken).tolist())
    held = MARGIN if question.problem.limits.memory_margin else MEMORY
    words = does_not_fit(question, goal, explorer.pinned)
    if not corrections:
        return Explanation([held], [], [], ["exhaustion: no layout fits in the memory of any machine"], words)
    sets = hitting_sets(corrections)
    conflicts = [[all_rows.demands[i].field for i in members(mask)] for mask in sets]
    choices = all(all_rows.demands[i].listed for mask in corrections for i in members(mask))
    if choices and _offered(question):
        conflicts = [[*conflict, held] for conflict in conflicts]
    asked = Asked(question, goal, explorer, all_rows)
    told = [r for mask in told_of(corrections, sets[0]) for r in relax(asked, mask)]
    return Explanation(conflicts[0], conflicts[1:], told, _certified(all_rows, goal), words)


def told_of(corrections: list[int], conflict: int) -> list[int]:
    """The corrections of fewest demands, and for each demand of a conflict the first that changes it."""
    fewest = corrections[0].bit_count()
    told = [mask for mask in corrections if mask.bit_count() == fewest]
    for demand in members(conflict):
        if not any(mask >> demand & 1 for mask in told):
            told.append(next(mask for mask in corrections if mask >> demand & 1))
    return told


def _certified(all_rows: Everything, goal: Goal) -> list[str]:
    """CP-SAT on the rows that miss the limits by least, those that break a choice left out."""
    admitted = np.ones(len(all_rows.table), np.bool_)
    for demand in all_rows.demands:
        admitted &= demand.kept if demand.limit is None else True
    exhausted = _exhausted(len(all_rows.table))
    table = all_rows.table.take(np.flatnonzero(admitted))
    if len(table) == 0:
        return [exhausted, "CP-SAT: not asked, as no candidate keeps the lists, precision and layout stated"]
    handed = survivors(table, violated(table, goal.limits), np.zeros(0, np.int64), goal.limits)
    verdict = certify(all_rows.explorers[0], handed, goal._replace(top=1))[0]
    count = (
        "the candidate that misses"
        if len(handed.table) == 1
        else f"the {len(handed.table)} candidates that miss"
    )
    return [exhausted, f"CP-SAT over {count} by least: {verdict.status}"]


def _exhausted(nearest: int) -> str:
    """What is proved by looking at everything. nearest: rows of which none is better than another."""
    told = (
        "one comes nearest to fitting and breaks" if nearest == 1 else f"{nearest:,} come nearest and break"
    )
    beside = "it" if nearest == 1 else "one of these"
    return (
        f"exhaustion: of all layouts, counts and offerings {told} a demand; every other breaks at least as "
        f"much as {beside}"
    )


def _offered(question: Question) -> bool:
    """Whether anything that is allowed can be had at all, be its memory enough or not."""
    return any(True for offering in question.offerings for _ in question.pools(offering))


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


def relax(asked: Asked, mask: int) -> list[Relaxation]:
    """The smallest change of the demands in `mask`, all others kept: first the numbers, of the row that
    misses them by least; then, as proof, the best plan with these numbers, which names the ids it needs.
    """
    demands = [asked.all_rows.demands[i] for i in members(mask)]
    problem, fields = asked.question.problem, [demand.field for demand in demands]
    nearest = _nearest(asked.all_rows, demands, mask)
    numbers = {demand.field: _number(problem, demand, nearest) for demand in demands if demand.limit}
    chosen = nearest if QUOTAS in fields else _best(asked, demands, numbers)
    plan = plan_of(Seat(chosen.explorer, {}), chosen.table, chosen.row).model_copy(update={"rank": 1})
    return [
        Relaxation(
            field=demand.field,
            from_=_written(problem, demand.field),
            to=numbers.get(demand.field) or _choice(problem, demand.field, chosen, plan),
            together_with=[field for field in fields if field != demand.field],
            plan=plan,
        )
        for demand in demands
    ]


def _nearest(all_rows: Everything, demands: list[Demand], mask: int) -> Chosen:
    """The row that misses the limits in `mask` by least."""
    rows = np.flatnonzero(all_rows.broken & ~mask == 0)
    table = all_rows.table.take(rows)
    excess = np.zeros(len(rows))
    for demand in demands:
        if demand.limit is not None:
            excess += np.log1p(demand.limit.excess(getattr(table, demand.limit.quantity)))
    best = int(rows[np.argmin(excess)])
    return Chosen(all_rows.explorers[int(all_rows.source[best])], all_rows.table, best)


def _best(asked: Asked, demands: list[Demand], numbers: Mapping[str, Any]) -> Chosen:
    """The best plan with other numbers and without some choices, by a search of its own."""
    limits = [
        limit._replace(bound=PARSERS[limit.quantity](numbers[limit.field]))
        if limit.field in numbers
        else limit
        for limit in asked.goal.limits
    ]
    goal = asked.goal._replace(limits=limits, top=1, distinct="offering")
    choices = [demand.field for demand in demands if demand.limit is None]
    for explorer in freed(asked.question, choices, asked.explorer, int(goal.most_devices)):
        table = explore(explorer, goal)
        if len(fine := np.flatnonzero(violated(table, limits) == 0)):
            return Chosen(explorer, table, int(fine[0]))
    raise AssertionError("a correction admits no plan")


def _written(problem: Problem, field: str) -> Any:
    """What the file says of a field."""
    value: Any = problem.given
    for key in field.split("."):
        value = value[key]
    return value


def _number(problem: Problem, demand: Demand, nearest: Chosen) -> Any:
    """The limit at which a row keeps it, as the user writes it."""
    wrote, row = _written(problem, demand.field), nearest.row
    if demand.field == QUOTAS:
        offering = nearest.explorer.offerings[int(nearest.table.offering[row])]
        machine, machines = nearest.explorer.question.machine(offering), int(nearest.table.machines[row])
        needed = {"machines": machines, "devices": machines * machine.devices}
        return raised(problem.limits, wrote, (offering, machine), needed)
    assert demand.limit is not None
    return in_users_unit(demand.limit, wrote, float(getattr(nearest.table, demand.limit.quantity)[row]))


def _choice(problem: Problem, field: str, chosen: Chosen, plan: Plan) -> Any:
    """The list that admits a row and its plan, as the user writes it; None: leave it out."""
    wrote, explorer = _written(problem, field), chosen.explorer
    if field == STEP:
        return gcd(problem.limits.machines_step, plan.machines)
    if field.startswith(LAYOUT):
        return _widest(field, wrote, plan, explorer)
    name = id_of(explorer, chosen.table, chosen.row, field)
    globs = wrote if isinstance(wrote, list) else [wrote]
    if field.startswith("limits.exclude_"):
        kind = field.removeprefix("limits.exclude_")
        return [glob for glob in globs if name not in matches(explorer.question.catalog, kind, glob)] or None
    return [*globs, name] if name else None


def _widest(field: str, wrote: Any, plan: Plan, explorer: Explorer) -> Any:
    """The user's values of one dimension, or of all that he states, with those of a plan."""
    needed = plan.layout.model_dump() | {"recompute": _word(explorer, plan)}
    if field == LAYOUT:
        return {name: _widened(values, needed[name]) for name, values in wrote.items()}
    return _widened(wrote, needed[field.removeprefix(f"{LAYOUT}.")])


def _word(explorer: Explorer, plan: Plan) -> str:
    """The file's word for what a plan recomputes."""
    names = explorer.question.catalog.frameworks[plan.framework].recompute
    return next((word for word, own in names.items() if own == plan.layout.recompute), plan.layout.recompute)


def _widened(values: Any, needed: Any) -> list[Any]:
    """The user's values of a dimension with the one that is needed."""
    listed = values if isinstance(values, list) else [values]
    return listed if needed in listed else [*listed, needed]
