"""Why a group has no plan, in one sentence: not offered, no framework, no memory, or a limit it misses."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from solver import units
from solver.comparing.leaders import NAMES, Walk, kept
from solver.layout import Bools, Ints
from solver.physics.hardware import Floats
from solver.question import Question
from solver.search.candidates import Candidates
from solver.search.explore import Goal, in_order, per_device_s
from solver.search.limits import Limit, violated
from solver.search.worth import Cap, Worth

SHOWN = {  # a quantity of the candidates -> how much of it a plan takes, in words
    "wall_clock_s": lambda value: f"takes {units.format_duration(value, 3)}",
    "cost_usd": lambda value: f"costs {value:,.0f} USD",
    "energy_wh": lambda value: f"takes {units.format_number(value / 1e6)} MWh",
    "carbon_kg": lambda value: f"emits {units.format_number(value / 1000)} t CO2e",
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
    row = Nearest(walk, name).look()
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


@dataclass
class Nearest:
    """The candidate of a group that breaks the fewest limits, and these by least; None: nothing fits at all.

    breaks, excess: how many it breaks, by how much in sum.
    """

    walk: Walk
    group: str
    breaks: float = np.inf
    excess: float = np.inf
    row: Candidates | None = None

    def look(self) -> Candidates | None:
        """Markets come in the order of what they must break at best, so that few are looked at."""
        explorer = self.walk.explorer
        for breaks, excess, number in sorted(least_breach(self.walk, self.group)):
            if (breaks, excess) >= (self.breaks, self.excess):
                break
            caps = caps_of(self.walk, number)
            hunt = explorer.hunt(number, self._judge(caps))
            for timed in hunt.finds(partial(self._judge, caps)):
                self._learn(explorer.priced(number, timed))
        return self.row

    def _judge(self, caps: tuple[Cap, ...]) -> Worth:
        return Worth(self.walk.explorer.job.steps, (Nearer(caps, self.breaks, self.excess),))

    def _learn(self, table: Candidates) -> None:
        own = [self.walk.groups[offering] == self.group for offering in table.offering.tolist()]
        table, limits = table.take(np.flatnonzero(own)), self.walk.goal.limits
        if not len(table):
            return
        excess = sum((limit.excess(getattr(table, limit.quantity)) for limit in limits), np.zeros(len(table)))
        breaks = np.array([mask.bit_count() for mask in violated(table, limits).tolist()])
        first = int(np.lexsort((excess, breaks))[0])
        if (breaks[first], excess[first]) < (self.breaks, self.excess):
            self.breaks, self.excess = float(breaks[first]), float(excess[first])
            self.row = table.take(np.array([first]))


class Nearer(NamedTuple):
    """Rows that may break fewer limits than `breaks`, or as many by no more than `excess` in sum.

    caps: of each limit on time or cost.
    """

    caps: tuple[Cap, ...]
    breaks: float
    excess: float

    def admits(self, seconds: Floats, devices: Ints) -> Bools:
        """Rows whose lower bounds of a run [s] do. (N,)"""
        taken = [seconds * (cap.per_s + cap.per_device_s * devices) / cap.most for cap in self.caps]
        over = [np.maximum(share - 1, 0.0) for share in taken]
        breaks = sum(((excess > 0).astype(np.int64) for excess in over), np.zeros(len(devices), np.int64))
        excess = sum(over, np.zeros(len(devices)))
        nearer: Bools = (breaks < self.breaks) | ((breaks == self.breaks) & (excess <= self.excess))
        return nearer


def caps_of(walk: Walk, number: int) -> tuple[Cap, ...]:
    """The limits on time and cost, in a market."""
    usd_s = per_device_s(walk.explorer, walk.explorer.markets[number], "cost")
    each = {"wall_clock_s": (1.0, 0.0), "cost_usd": (0.0, usd_s)}
    return tuple(
        Cap(*each[limit.quantity], limit.bound) for limit in walk.goal.limits if limit.quantity in each
    )


def least_breach(walk: Walk, name: str) -> Iterator[tuple[int, float, int]]:
    """For each market of a group, a lower bound: limits that are broken, by how much in sum; its number."""
    explorer = walk.explorer
    _, cost_usd = in_order(explorer, "cost", walk.rank_s)
    _, wall_s = in_order(explorer, "time", walk.rank_s)
    floors = {"cost_usd": cost_usd, "wall_clock_s": wall_s}
    limits = [limit for limit in walk.goal.limits if limit.quantity in floors]
    for number in walk.markets_of(name):
        values = np.array([floors[limit.quantity][number] for limit in limits])
        over = [float(limit.excess(value)) for limit, value in zip(limits, values, strict=True)]
        yield sum(excess > 0 for excess in over), sum(over), number


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
