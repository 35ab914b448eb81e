"""Why a group has no plan, in one sentence: not offered, no framework, no memory, or a limit it misses."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from solver import units
from solver.comparing.leaders import NAMES, Walk, kept, unbound
from solver.question import Question
from solver.search.candidates import SLACK, Candidates, Explorer
from solver.search.explore import Goal, in_order, per_device_s
from solver.search.limits import Limit, violated
from solver.search.worth import Cap, Worth

SHOWN = {  # a quantity of the candidates -> how much of it a plan takes, in words
    "wall_clock_s": lambda value: f"takes {units.format_duration(value, 3)}",
    "cost_usd": lambda value: f"costs {value:,.0f} USD",
    "energy_wh": lambda value: f"takes {value / 1e6:,.4g} MWh",
    "carbon_kg": lambda value: f"emits {value / 1000:,.4g} t CO2e",
    "quota_use": lambda value: f"takes {value:,.2f} of the quota",
    "power_w": lambda value: f"draws {units.format_watts(value, 3)}",
    "devices": lambda value: f"takes {value:,.0f} devices",
}


class Reason(NamedTuple):
    """Why a group has no plan, and the candidate that comes nearest to one."""

    told: str
    nearest: Candidates | None = None

    def cured_by_price(self, goal: Goal) -> bool:
        """Whether the nearest candidate breaks nothing but what it costs."""
        return self.nearest is not None and bool(kept(self.nearest, goal, but=("cost_usd",))[0])


def reason(walk: Walk, by: str, name: str) -> Reason:
    """Of a group without a plan."""
    question = walk.explorer.question
    if name not in walk.groups:
        return Reason(not_offered(question, by, name))
    numbers = walk.markets_of(name)
    if not numbers:
        return Reason(unsupported(question, walk, name))
    row = nearest_row(walk, name)
    if row is not None:
        return Reason(missed(walk, row), row)
    markets = [walk.explorer.markets[number] for number in numbers]
    most = max(walk.explorer.most_ranks(market) // market.pool.device.ranks for market in markets)
    devices = "1 device" if most == 1 else f"{most:,} devices"
    return Reason(f"memory: no legal layout fits in the {devices} that a job can have at most")


def not_offered(question: Question, by: str, name: str) -> str:
    """Nothing of the group is among the offerings that the limits leave."""
    every = [o for o in question.catalog.offerings if NAMES[by](question, o) == name]
    if not every:
        return "no offering: the catalog knows nobody who rents it out at a known price"
    kinds = sorted({o.pricing for o in every} - set(question.problem.limits.pricing))
    if kinds and not any(o.pricing in question.problem.limits.pricing for o in every):
        return f"limits.pricing: offered as {', '.join(kinds)} only"
    return "limits: its offerings are left out by machine, provider, region, fabric or kind of price"


def unsupported(question: Question, walk: Walk, name: str) -> str:
    """No framework trains on any device of the group in a permitted precision."""
    devices = {
        question.device(o).id: question.device(o)
        for o, group in zip(walk.explorer.offerings, walk.groups, strict=True)
        if group == name
    }
    asked = question.problem.training.precision
    without = [p for p in asked if not any(p in device.peak for device in devices.values())]
    if len(without) == len(asked):
        return f"precision: {_either(asked)} is not among what the device computes in"
    return f"frameworks: none that is allowed trains on it in {_either(asked)}"


def _either(words: Iterable[str]) -> str:
    return " or ".join(words)


def nearest_row(walk: Walk, name: str) -> Candidates | None:
    """The candidate of a group that breaks the fewest limits, and these by least; None: nothing fits at all.

    First among the counts of the search; those that it leaves out break the deadline by more than its slack.
    """
    found = Nearest()
    for explorer in (walk.explorer, unbound(walk.explorer)):
        if found.measure > (1, SLACK - 1):
            found = nearest_on(walk, explorer, name, found)
    return found.row


class Nearest(NamedTuple):
    """Limits that are broken, by how much in sum, and the row."""

    measure: tuple[float, float] = (np.inf, np.inf)
    row: Candidates | None = None


def nearest_on(walk: Walk, explorer: Explorer, name: str, found: Nearest) -> Nearest:
    """Markets come in the order of what they must break at best, so that few are looked at."""
    for breaks, excess, number in sorted(least_breach(walk, name)):
        if (breaks, excess) >= found.measure:
            break
        caps = ceilings(walk, number, found.measure[1]) if found.measure[0] == 1 else ()
        table = explorer.priced(number, explorer.fastest(number, Worth(explorer.job.steps, caps)))
        table = table.take(np.flatnonzero([walk.groups[o] == name for o in table.offering.tolist()]))
        if len(table):
            row, measure = least_breaking(table, walk.goal.limits)
            found = min(found, Nearest(measure, row), key=lambda nearest: nearest.measure)
    return found


def ceilings(walk: Walk, number: int, excess: float) -> tuple[Cap, ...]:
    """What a row must stay below that breaks one limit alone, by no more than a share of it."""
    bounds = {limit.quantity: (1 + excess) * limit.bound for limit in walk.goal.limits if not limit.least}
    caps = {
        "wall_clock_s": Cap(1.0, 0.0, bounds.get("wall_clock_s", np.inf)),
        "cost_usd": Cap(
            0.0,
            per_device_s(walk.explorer, walk.explorer.markets[number], "cost"),
            bounds.get("cost_usd", np.inf),
        ),
    }
    return tuple(cap for quantity, cap in caps.items() if quantity in bounds)


def least_breach(walk: Walk, name: str) -> Iterator[tuple[int, float, int]]:
    """For each market of a group, a lower bound: limits that are broken, by how much in sum; its number."""
    explorer = walk.explorer
    _, cost_usd = in_order(explorer, walk.goal._replace(objective="cost"), walk.rank_s)
    _, wall_s = in_order(explorer, walk.goal._replace(objective="time"), walk.rank_s)
    floors = {"cost_usd": cost_usd, "wall_clock_s": wall_s}
    limits = [limit for limit in walk.goal.limits if limit.quantity in floors]
    for number in walk.markets_of(name):
        values = np.array([floors[limit.quantity][number] for limit in limits])
        over = [float(limit.excess(value)) for limit, value in zip(limits, values, strict=True)]
        yield sum(excess > 0 for excess in over), sum(over), number


def least_breaking(table: Candidates, limits: list[Limit]) -> tuple[Candidates, tuple[float, float]]:
    """The row that breaks the fewest limits, and these by least; and how many, by how much."""
    excess = sum((limit.excess(getattr(table, limit.quantity)) for limit in limits), np.zeros(len(table)))
    breaks = np.array([mask.bit_count() for mask in violated(table, limits).tolist()])
    first = np.lexsort((excess, breaks))[:1]
    return table.take(first), (float(breaks[first[0]]), float(excess[first[0]]))


def missed(walk: Walk, row: Candidates) -> str:
    """The limits that a row breaks, and by what."""
    limits = walk.goal.limits
    bits = int(violated(row, limits)[0])
    broken = [limit for position, limit in enumerate(limits) if bits >> position & 1]
    machine = walk.explorer.markets[int(row.pool[0])].pool.machine.id
    fields = " and ".join(dict.fromkeys(limit.field for limit in broken))
    told = " and ".join(_taken(limit, row) for limit in broken)
    return f"{fields}: the plan that misses by least, {int(row.machines[0]):,} x {machine}, {told}"


def _taken(limit: Limit, row: Candidates) -> str:
    value = float(getattr(row, limit.quantity)[0])
    return SHOWN[limit.quantity](value)
