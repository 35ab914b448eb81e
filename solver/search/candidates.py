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
from solver.layout import Ints, Layouts
from solver.physics.hardware import Floats
from solver.physics.layer import Compute, LayerCost
from solver.pricing import Deal, carbon_kg, cost_parts, energy_wh
from solver.pricing.quotas import most_machines
from solver.question import Question
from solver.search.counting import legal_layouts
from solver.search.field import Field, field_of, recomputable, worthy
from solver.search.finds import NO_PACE, Counters, Found, Pace, Timed
from solver.search.hunt import ROUNDING, Ground, Hunt
from solver.search.leaders import in_order, leaders, ties
from solver.search.space import SMALL, Frame, Pins, ways_of, ways_within
from solver.search.worth import Worth
from solver.units import DAY_S

if TYPE_CHECKING:
    from solver.search.bench import Bench

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


def pool_key(pool: Pool) -> tuple[str, str, str]:
    """Device, framework and precision: what a bound on compute depends on."""
    return (pool.device.id, pool.framework.id, pool.precision)


class Rough(NamedTuple):
    """Ways to cut a layer, as one device does it: lower bounds of the rank-seconds of a step (K,).

    compute: of all devices that were looked at side by side, of which it is the one at `place`.
    """

    ways: Layouts
    rank_s: Floats
    compute: Compute
    place: int


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
    least_devices: int = 1
    """Counts below are not looked at either."""
    counters: Counters = field(default_factory=Counters)
    rough: dict[tuple[str, str, str], Rough] = field(default_factory=dict)
    """By pool_key, what is known of compute alone."""
    fields: dict[tuple[Frame, str, str], tuple[Field, Ints]] = field(default_factory=dict)
    """By frame, framework and precision: what is laid out there, and which of the rough ways each way is."""
    frames: dict[tuple[int | str, ...], Frame] = field(default_factory=dict)
    """By all that a frame takes from its market."""
    found: dict[int, Found] = field(default_factory=dict)
    """By market, the layouts that the search keeps of it."""
    paces: dict[tuple[int, ...], Pace] = field(default_factory=dict)
    """Of markets with the same offerings, the fastest steps found in any framework and precision."""
    told: dict[tuple[int, int], tuple[Space, LayerCost]] = field(default_factory=dict)
    """By market and number of layouts found there: what these take."""
    legal: dict[Frame, int] = field(default_factory=dict)
    """How many layouts are legal, where they were counted."""
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

    def frame(self, number: int) -> Frame:
        """What decides the layouts of market `number`."""
        market = self.markets[number]
        pool, most = market.pool, self.most_ranks(market)
        key = (*pool.geometry, most)
        if key not in self.frames:
            self.frames[key] = Frame(
                case_of(self.job, pool),
                rules_of(pool.framework),
                pool.domain_ranks,
                most,
                recomputable(pool, self.pinned),
                self.job.architecture.total_parameters < SMALL,
                self.pinned,
                (pool.machine.devices * pool.device.ranks, self.question.problem.limits.machines_step),
                self.least_devices * pool.device.ranks,
            )
        return self.frames[key]

    def hunt(self, number: int, worth: Worth, pace: Pace = NO_PACE) -> Hunt:
        """A search of market `number` for what may be worth it, by ways whose compute alone may be.

        pace: steps that are to be beaten, counts as ranks.
        """
        ground = Ground(self.job, self.markets[number].pool, self.frame(number), self.unhurried(number))
        rough = self.rough.get(pool_key(ground.pool))
        if rough is None:
            return Hunt(ground, field_of(ground.frame, ways_of(ground.frame)), self.kept, (pace, None))
        key = (ground.frame, *pool_key(ground.pool)[1:])
        if key not in self.fields:
            ways, of = ways_within(ground.frame, rough.ways)
            self.fields[key] = field_of(ground.frame, ways), of
        field, of = self.fields[key]
        floors = (1 - ROUNDING) * rough.rank_s[of]
        order = np.argsort(floors, kind="stable")
        ceilings = pace.among(field.ranks).ceilings(len(field.ranks), self.kept)
        able = worthy(worth, floors[order], field.ranks, ground.pool.device.ranks, ceilings)
        chosen = order[:able]
        compute = rough.compute.at(rough.place, of[chosen])
        return Hunt(ground, field.take(chosen), self.kept, (pace, compute))

    def unhurried(self, number: int) -> bool:
        """Whether a run of a day costs no more than one of a second, at any offering of market `number`."""
        pool, one = self.markets[number].pool, np.ones(2, np.int64)
        offered = (self.offerings[i] for i in self.markets[number].offerings)
        bills = (
            cost_parts(Deal(self.job, offering, pool), one, np.array([1.0, DAY_S]))
            for offering in offered
            if offering.usd_per_hour == 0 or offering.term_days or offering.least_days
        )
        totals = [sum(bill.values(), np.zeros(2)) for bill in bills]
        return any(bool(total[1] <= total[0]) for total in totals)

    def layouts(self, number: int) -> Layouts:
        """The layouts of market `number` that its timed layouts point into."""
        return self.bench.look(self, number).layouts if self.bench else self.found[number].layouts

    def known(self, number: int) -> Space:
        """These layouts, with what they hold."""
        return self._told(number)[0]

    def cost(self, number: int) -> LayerCost:
        """Of each way in which these cut a layer. (K,)"""
        return self._told(number)[1]

    def _told(self, number: int) -> tuple[Space, LayerCost]:
        pool = self.markets[number].pool
        layouts = self.layouts(number)
        key = (number, len(layouts))
        if key not in self.told:
            space = Space.of(setting_of(self.job, pool.framework, pool.precision), layouts)
            self.told[key] = (space, space.layer_cost(pool))
        return self.told[key]

    def fastest(self, number: int, worth: Worth) -> Timed:
        """The `kept` fastest layouts of each count that fit in memory and may be worth it."""
        if self.bench is not None:
            return self.bench.fastest(self, number, worth)
        hunt = self.hunt(number, worth)
        timed = Timed.joined([Timed.none(), *hunt.finds(lambda: worth)])
        best, layout = self.settled(number, hunt, (timed.devices, timed))
        return timed.take(best)._replace(layout=layout)

    def settled(self, number: int, hunt: Hunt, rows: tuple[Ints, Timed]) -> tuple[Ints, Ints]:
        """Ends a search. Of rows, each of a group, the `kept` fastest of each; and where their layouts are
        kept: in an order that does not depend on how they were found.
        """
        group, timed = rows
        legal = self.legal_in(hunt.frame)
        self.counters.add(legal, legal - hunt.counted)
        layouts = hunt.found.layouts.take(timed.layout)
        group = hunt.apart(group, timed.fragile)
        best = leaders(group, timed.step_s, self.kept, (*ties(layouts), timed.fragile))
        order, layout = in_order(layouts.take(best))
        return best, self.found.setdefault(number, Found()).add(layouts.take(best[order]))[layout]

    def legal_in(self, frame: Frame) -> int:
        """How many layouts are legal there."""
        if frame not in self.legal:
            self.legal[frame] = legal_layouts(frame)
        return self.legal[frame]

    def priced(self, number: int, timed: Timed) -> Candidates:
        """The timed layouts of market `number` at each of its offerings' prices."""
        if len(timed.layout) == 0:
            return Candidates.none()
        return Candidates.joined([self.priced_at(i, number, timed) for i in self.markets[number].offerings])

    def priced_at(self, index: int, number: int, timed: Timed) -> Candidates:
        """The same at the prices of one of them."""
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
            fragile=timed.fragile[keep],
        )
        allowed = wall <= (offering.max_days or np.inf) * DAY_S
        return table.take(np.flatnonzero(allowed))
