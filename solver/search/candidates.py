"""From a question to priced candidates: the fastest layouts of every count on every pool of machines.

For one offering and one count, cost, energy and power grow with the step time alone; so of all layouts of a
count only the fastest can matter to any limit or objective. Pools are visited in the order of a lower bound
of what they can cost, and left out once the bound exceeds what has been found.
"""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from solver.catalog.records import Offering
from solver.estimate import Job, Pool, Space, case_of, rules_of, run_of, setting_of
from solver.layout import RECOMPUTE, Ints, numbered
from solver.physics.hardware import Floats
from solver.physics.layer import LayerCost
from solver.pricing import HOUR_S, Deal, carbon_kg, cost_parts, energy_wh
from solver.pricing.quotas import most_machines
from solver.question import Question
from solver.search.space import SMALL, Frame, Pins, layouts_of
from solver.search.worth import Worth

if TYPE_CHECKING:
    from solver.search.bench import Bench

ROUNDING = 1e-12  # what float64 sums in another order may differ by, relative
TRIES = 4  # layouts of each count that are timed first
NEVER = 1e-9  # machines of a quota that leaves no whole one
SLACK = 1.25  # rows beyond a limit by up to this are kept: near misses, so that limits bind in the model


@dataclass(frozen=True)
class Candidates:
    """R rows, each (R,). offering: index into the explorer's offerings; pool, layout: which layout of which
    pool; fragile: 1 where it fits by less than its memory may be off.
    """

    offering: Ints
    pool: Ints
    layout: Ints
    devices: Ints
    machines: Ints
    step_s: Floats
    wall_clock_s: Floats
    cost_usd: Floats
    energy_wh: Floats
    carbon_kg: Floats
    power_w: Floats
    quota_use: Floats
    """Machines over the most that quotas allow: above 1 they are exceeded."""
    fragile: Ints

    def __len__(self) -> int:
        return len(self.offering)

    def take(self, index: Ints) -> Self:
        return type(self)(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    @classmethod
    def none(cls) -> Self:
        return cls(*(cast("Any", np.zeros(0, np.int64)) for _ in fields(cls)))

    @classmethod
    def joined(cls, tables: list[Self]) -> Self:
        return cls(**{f.name: np.concatenate([getattr(t, f.name) for t in tables]) for f in fields(cls)})


class Market(NamedTuple):
    """Offerings of one machine on one fabric: the same physics at different prices."""

    offerings: tuple[int, ...]
    pool: Pool


@dataclass
class Counters:
    """Legal layouts on pools: looked at, and excluded by a bound; pools that were excluded whole.

    Of a pool excluded whole, layouts count where another pool of the same geometry was looked at.
    """

    configurations: int = 0
    excluded: int = 0
    pools: int = 0

    def add(self, layouts: int, excluded: int) -> None:
        """Layouts of a pool, and how many of them a bound excluded."""
        self.configurations += layouts
        self.excluded += excluded


def pool_key(pool: Pool) -> tuple[str, str, str]:
    """Device, framework and precision: what a bound on compute depends on."""
    return (pool.device.id, pool.framework.id, pool.precision)


class Timed(NamedTuple):
    """The fastest layouts of a pool: index into its space, devices, step time. (M,)"""

    layout: Ints
    devices: Ints
    step_s: Floats


@dataclass
class Explorer:
    """The search's view of a question: its markets, the layouts of each, what has been timed so far.

    most_devices: counts beyond are not looked at; kept: layouts kept for each count.
    """

    question: Question
    offerings: tuple[Offering, ...]
    most_devices: int
    kept: int = 1
    pinned: Pins = ()
    counters: Counters = field(default_factory=Counters)
    spaces: dict[tuple[Frame, str, str], Space] = field(default_factory=dict)
    costs: dict[int, LayerCost] = field(default_factory=dict)
    least: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """By pool_key: ranks without which no limit on time can be kept."""
    unexplored: float = np.inf
    """The least lower bound of the objective among markets that no time was left for."""
    bench: "Bench | None" = None
    """What other questions of the same job have looked at; None: this one stands alone."""

    @property
    def job(self) -> Job:
        return self.question.job

    @cached_property
    def markets(self) -> list[Market]:
        """Every pool with an offering, in the order of the catalog."""
        classes: dict[tuple[str, str | None], list[int]] = {}
        for index, offering in enumerate(self.offerings):
            classes.setdefault((offering.machine, offering.fabric), []).append(index)
        return [
            Market(tuple(members), pool)
            for members in classes.values()
            for pool in self.question.pools(self.offerings[members[0]])
        ]

    @cached_property
    def market_keys(self) -> list[tuple[str, str | None, str, str]]:
        """Machine, fabric, framework and precision of each market. (M,)"""
        pools = [market.pool for market in self.markets]
        return [(p.machine.id, p.fabric.id if p.fabric else None, p.framework.id, p.precision) for p in pools]

    def most_ranks(self, market: Market) -> int:
        """Of the largest job that the market's offerings and the limits allow."""
        pool = market.pool
        largest = max(self.offerings[i].max_devices for i in market.offerings)
        alone = largest <= pool.machine.devices
        return (
            min(pool.machine.devices if alone else self.most_devices, self.most_devices) * pool.device.ranks
        )

    def frame(self, market: Market) -> Frame:
        """What decides the layouts of a market."""
        pool = market.pool
        return Frame(
            case_of(self.job, pool),
            rules_of(pool.framework),
            pool.domain_ranks,
            self.least.get(pool_key(pool), 1),
            self.most_ranks(market),
            recomputable(pool, self.pinned),
            self.job.architecture.total_parameters < SMALL,
            self.pinned,
        )

    def space_key(self, market: Market) -> tuple[Frame, str, str]:
        """What markets with the same layouts share."""
        return (self.frame(market), *pool_key(market.pool)[1:])

    def space(self, market: Market) -> Space:
        """The legal layouts of a market; shared by all of the same geometry."""
        pool, key = market.pool, self.space_key(market)
        if key not in self.spaces:
            setting = setting_of(self.job, pool.framework, pool.precision)
            self.spaces[key] = Space.of(setting, layouts_of(key[0]))
        return self.spaces[key]

    def cost(self, number: int) -> LayerCost:
        """Of each way to cut a layer, in market `number`. (K,)"""
        if number not in self.costs:
            self.costs[number] = self.known(number).layer_cost(self.markets[number].pool)
        return self.costs[number]

    def known(self, number: int) -> Space:
        """The layouts of market `number` that its timed layouts point into."""
        if self.bench is not None:
            return self.bench.look(self, number).space
        return self.space(self.markets[number])

    def way_floors(self, number: int) -> Floats:
        """A lower bound of the rank-seconds of a step for each way to cut a layer in market `number`. [s],
        (K,)

        As bounds.rank_seconds, communication within a layer included.
        """
        cost, ways = self.cost(number), self.space(self.markets[number]).cuts.ways
        passes = self.job.architecture.layers * cost.total + cost.embedding + cost.loss
        return (1 - ROUNDING) * ways.tp * ways.cp * self.job.global_batch / ways.micro_batch * passes

    def fastest(self, number: int, worth: Worth) -> Timed:
        """The `kept` fastest layouts of each count that fit in memory and may be worth it.

        A few layouts of each count are timed first; of the others, only those whose lower bound (first a
        rough one by the way a layer is cut, then that of the pipeline) is below what these reach.
        """
        if self.bench is not None:
            return self.bench.fastest(self, number, worth)
        market, cost = self.markets[number], self.cost(number)
        pool, space = market.pool, self.space(market)
        devices = space.layouts.ranks // pool.device.ranks
        rough = self.way_floors(number)[space.cuts.of] / space.layouts.ranks
        able = np.flatnonzero(worth.able(rough, devices))
        fits = able[space.fits(pool, able)]
        place = numbered(devices[fits])[1]

        def exact(rows: Ints) -> Floats:
            return space.take(fits[rows]).step(pool, cost).step_s

        tried = leaders(place, rough[fits], max(self.kept, TRIES))
        ceiling = reached(place[tried], exact(tried), self.kept)
        left = np.flatnonzero(rough[fits] <= ceiling[place])
        floor = space.take(fits[left]).step(pool, cost).floor_s * (1 - ROUNDING)
        left = left[(floor <= ceiling[place[left]]) & worth.able(floor, devices[fits[left]])]
        left = left[np.argsort(~space.sound(pool, fits[left]), kind="stable")]  # of equals the sound ones
        times = exact(left)
        self.counters.add(len(devices), len(devices) - len(able) + len(fits) - len(left))
        best = leaders(place[left], times, self.kept)
        best = best[np.isfinite(times[best])]
        return Timed(fits[left][best], devices[fits[left]][best], times[best])

    def priced(self, number: int, timed: Timed) -> Candidates:
        """The timed layouts of market `number` at each of its offerings' prices."""
        return Candidates.joined([self._at(i, number, timed) for i in self.markets[number].offerings])

    def _at(self, index: int, number: int, timed: Timed) -> Candidates:
        offering, pool = self.offerings[index], self.markets[number].pool
        machine, deal = pool.machine, Deal(self.job, offering, pool)
        keep = np.flatnonzero(timed.devices <= offering.max_devices)
        devices, step_s = timed.devices[keep], timed.step_s[keep]
        machines = -(-devices // machine.devices)
        on = (machine, self.markets[number].pool.device)
        run = run_of(self.job, step_s, devices, on, spot=offering.pricing == "spot")
        wall = run.wall_clock_s
        energy = energy_wh(deal, machines, wall)
        allowed_machines = most_machines(self.question.problem.limits, offering, machine)
        table = Candidates(
            offering=np.full(len(keep), index),
            pool=np.full(len(keep), number),
            layout=timed.layout[keep],
            devices=devices,
            machines=machines,
            step_s=step_s,
            wall_clock_s=wall,
            cost_usd=sum(cost_parts(deal, machines, wall).values(), np.zeros(len(keep))),
            energy_wh=energy,
            carbon_kg=carbon_kg(deal, energy),
            power_w=machine.power * machines.astype(np.float64),
            quota_use=machines / max(allowed_machines, NEVER),
            fragile=1 - self.known(number).sound(pool, timed.layout[keep]),
        )
        allowed = wall <= (offering.max_days or np.inf) * 24 * HOUR_S
        return table.take(np.flatnonzero(allowed))


def recomputable(pool: Pool, pins: Pins) -> tuple[str, ...]:
    """Words of recompute to try: the user's that the framework has, or else those that can pay.

    why: with flash attention the core keeps nothing, so redoing it saves none.
    """
    names = pool.framework.recompute
    stated = dict(pins).get("recompute")
    if stated is not None:
        return tuple(RECOMPUTE[index] for index in stated if RECOMPUTE[index] in names)
    return tuple(word for word in RECOMPUTE if names.get(word, "core_attention") != "core_attention")


def reached(group: Ints, times: Floats, most: int) -> Floats:
    """The `most`-th best time of each group; infinite where it has fewer. (groups,)"""
    best = leaders(group, times, most)
    groups = int(group.max(initial=-1)) + 1
    ceiling = np.zeros(groups)
    np.maximum.at(ceiling, group[best], times[best])
    return np.where(np.bincount(group[best], minlength=groups) < most, np.inf, ceiling)


def leaders(group: Ints, value: Floats, most: int) -> Ints:
    """Indices of the `most` smallest values of each group, of equals the first; by group, then value."""
    order = np.lexsort((value, group))  # stable
    sorted_group = group[order]
    starts = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]]) if len(order) else order
    position = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return order[position < most]
