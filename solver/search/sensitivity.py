"""How far the answer holds: for each limit, price and speed the range in which the first plan stays first.

All of it is read from the table of the search, which holds, of every offering and count, the fastest layout
whose objective is at most that of the last plan told and that breaks each limit by at most a quarter. What
lies beyond is not told, so what is told is exact.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from solver.answer import Brief, LimitRange, PriceRange, Sensitivity, SpeedRange, Step
from solver.layout import Bools, Ints
from solver.physics.hardware import Floats
from solver.plan import Plan
from solver.search.candidates import SLACK, Candidates, Explorer
from solver.search.explore import Goal, offering_key
from solver.search.finds import Timed
from solver.search.limits import RESOLUTION, Limit, integers, violated
from solver.search.rank import scan
from solver.search.wording import FINENESS, PARSERS, in_users_unit, multiplied
from solver.units import DAY_S

STEPS = 3  # larger limits that are told, each with what it brings
SLOWER, FASTER = 4.0, 0.2  # times of a step that are tried: as multiples of the predicted one
GRID, ROUNDS = 257, 3  # a search by halves, many at a time: to 1e-7 of a step


class Seen(NamedTuple):
    """The table of a search, best first. rows: those of the plans; bits: limits that each row breaks."""

    explorer: Explorer
    goal: Goal
    table: Candidates
    bits: Ints
    rows: list[int]

    @property
    def values(self) -> Floats:
        """The objective. (R,)"""
        values: Floats = getattr(self.table, self.goal.quantity)
        return values

    @property
    def known_to(self) -> float:
        """The objective up to which no row is missing."""
        full = len(self.rows) == self.goal.top
        return float(self.values[self.rows[-1]]) if full else np.inf


def sensitivity(explorer: Explorer, goal: Goal, table: Candidates, plans: list[Plan]) -> Sensitivity | None:
    """Of the first of some plans; None where there is none, or where time ended before all was seen."""
    if not plans or explorer.unexplored < np.inf:
        return None
    bits = violated(table, goal.limits)
    seen = Seen(explorer, goal, table, bits, scan(explorer, table, bits, goal).tolist())
    return Sensitivity(
        limits=list(_limits(seen)), prices=list(_prices(seen, plans)), speeds=list(_speeds(seen, plans))
    )


def _limits(seen: Seen) -> Iterator[LimitRange]:
    """Of each limit on a number that the file states."""
    wrote = seen.explorer.question.problem.given.get("limits", {})
    for place, limit in enumerate(seen.goal.limits):
        text = wrote.get(limit.field.removeprefix("limits."))
        if text is not None and limit.quantity in PARSERS:
            yield _range(seen, place, text)


def _range(seen: Seen, place: int, wrote: Any) -> LimitRange:
    """Of one limit; wrote: its value in the file."""
    limit = seen.goal.limits[place]

    def told(value: float) -> Any:
        above = max(value, 1 / RESOLUTION[limit.quantity])  # what costs nothing leaves any limit far behind
        return in_users_unit(limit, wrote, value, int(FINENESS * max(1.0, abs(value - limit.bound) / above)))

    own = told(float(getattr(seen.table, limit.quantity)[seen.rows[0]]))
    looser = list(_looser(seen, place, told))
    other = looser[0].to if looser else None
    return LimitRange(
        field=limit.field,
        value=wrote,
        stands_from=other if limit.least else own,
        stands_to=own if limit.least else other,
        looked_to=None if limit.least else multiplied(wrote, SLACK),
        tighter=_tighter(seen, limit),
        looser=looser[:STEPS],
    )


def _looser(seen: Seen, place: int, told: Callable[[float], Any]) -> Iterator[Step]:
    """Better plans that break this limit alone: those that break it by least first, each better yet."""
    limit = seen.goal.limits[place]
    rows = np.flatnonzero(seen.bits == 1 << place)
    values = getattr(seen.table, limit.quantity)
    rows = rows[limit.excess(values[rows]) <= SLACK - 1]  # beyond, rows are missing
    needed = values[rows]
    best = first = float(seen.values[seen.rows[0]])
    for row in rows[np.lexsort((seen.values[rows], limit.excess(needed)))].tolist():
        if seen.values[row] < best:
            best = float(seen.values[row])
            to = told(float(getattr(seen.table, limit.quantity)[row]))
            yield Step(to=to, objective=best, saves=first - best, plan=_brief(seen, row))


def _tighter(seen: Seen, limit: Limit) -> Brief | None:
    """The best plan that keeps a limit which the first just misses; None: all are below the last told."""
    whole = integers(seen.table, limit.quantity)
    within = whole > whole[seen.rows[0]] if limit.least else whole < whole[seen.rows[0]]
    rows = np.flatnonzero(within & (seen.bits == 0) & (seen.values <= seen.known_to))
    return _brief(seen, int(rows[0])) if len(rows) else None


def _prices(seen: Seen, plans: list[Plan]) -> Iterator[PriceRange]:
    """Prices of a device-hour at which another plan would be the first; only where cost decides."""
    if seen.goal.objective != "cost":
        return
    costs = seen.values
    first, rival = float(costs[seen.rows[0]]), _rival(seen)
    for row, plan in zip(seen.rows, plans, strict=True):
        rent = _rent_usd(seen, plan)
        if not rent:
            continue
        offering = seen.explorer.offerings[int(seen.table.offering[row])]
        now = seen.explorer.question.catalog.device_hour_usd(offering)
        goal = rival if plan.rank == 1 else first
        turn = now * (1 + (goal - float(costs[row])) / rent) if goal is not None else None
        yield PriceRange(
            rank=plan.rank,
            usd_per_device_hour=now,
            stands_from=turn if plan.rank > 1 and turn is not None and turn > 0 else None,
            stands_to=turn if plan.rank == 1 else None,
        )


def _rent_usd(seen: Seen, plan: Plan) -> float:
    """What grows with the price of an hour; nothing of machines that one has."""
    share = seen.explorer.job.bill.evaluation or 0.0
    return 0.0 if plan.pricing == "owned" else plan.cost.parts["accelerators"] * (1 + share)


def _rival(seen: Seen) -> float | None:
    """The best objective of another offering than the first plan's; None: not known."""
    keys = [offering_key(offering) for offering in seen.explorer.offerings]
    own = keys[int(seen.table.offering[seen.rows[0]])]
    other = np.array([key != own for key in keys])[seen.table.offering]
    rows = np.flatnonzero(other & (seen.bits == 0) & (seen.values <= seen.known_to))
    return float(seen.values[rows[0]]) if len(rows) else None


def _speeds(seen: Seen, plans: list[Plan]) -> Iterator[SpeedRange]:
    """Times of a step at which another plan would be the first: of the first slower, of the others faster."""
    first, rival = float(seen.values[seen.rows[0]]), _rival(seen)
    for row, plan in zip(seen.rows, plans, strict=True):
        if plan.rank > 1:
            turn = _turn(seen, row, (1.0, FASTER), lambda table: _value(seen, table) > first)
        else:
            turn = _turn(seen, row, (1.0, SLOWER), lambda table: _holds(seen, table, rival))
        yield SpeedRange(
            rank=plan.rank,
            step_s=plan.time.step_s,
            stands_from_s=turn and turn * plan.time.step_s if plan.rank > 1 else None,
            stands_to_s=turn and turn * plan.time.step_s if plan.rank == 1 else None,
        )


def _value(seen: Seen, table: Candidates) -> Floats:
    values: Floats = getattr(table, seen.goal.quantity)
    return values


def _holds(seen: Seen, table: Candidates, rival: float | None) -> Bools:
    """Rows that keep the limits and beat the rival."""
    kept: Bools = violated(table, seen.goal.limits) == 0
    return kept if rival is None else kept & (_value(seen, table) <= rival)


def _turn(
    seen: Seen, row: int, ends: tuple[float, float], holds: Callable[[Candidates], Bools]
) -> float | None:
    """The multiple of a row's step, from one end on, up to which something holds; None: to the other."""
    low, high = ends
    for _ in range(ROUNDS):
        factors = np.linspace(low, high, GRID)
        fails = np.flatnonzero(~_held(seen, row, factors, holds))
        if len(fails) == 0:
            return None
        low, high = float(factors[max(fails[0] - 1, 0)]), float(factors[fails[0]])
    return low


def _held(seen: Seen, row: int, factors: Floats, holds: Callable[[Candidates], Bools]) -> Bools:
    """Whether it holds at each multiple of the row's step; not where the offering does not last so long."""
    table, number = seen.table, int(seen.table.pool[row])
    many = np.ones(len(factors), np.int64)
    devices, step_s = table.devices[row] * many, table.step_s[row] * factors
    timed = Timed(table.layout[row] * many, devices, step_s, table.fragile[row] * many)
    own = seen.explorer.priced_at(int(table.offering[row]), number, timed)
    held: Bools = np.isin(timed.step_s, own.step_s[holds(own)])
    return held


def _brief(seen: Seen, row: int) -> Brief:
    table, offering = seen.table, seen.explorer.offerings[int(seen.table.offering[row])]
    return Brief(
        provider=offering.provider,
        pricing=offering.pricing,
        device=seen.explorer.question.machine(offering).device,
        devices=int(table.devices[row]),
        days=float(table.wall_clock_s[row]) / DAY_S,
        total_usd=float(table.cost_usd[row]),
        fragile=bool(table.fragile[row]),
    )
