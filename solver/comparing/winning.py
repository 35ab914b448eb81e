"""What would make a group win: the price of a device-hour at which it draws level, or how much faster its
steps would have to be. Both exact: found on every count of the group's market, not on its best plan alone.
"""

from copy import copy

import numpy as np

from solver.comparing.leaders import kept
from solver.comparing.record import ToWin
from solver.physics.hardware import Floats
from solver.search.candidates import Candidates, Explorer
from solver.search.explore import Goal, worth
from solver.search.finds import Timed
from solver.search.worth import Cap, Ceiling, Worth
from solver.units import HOUR_S

HALVINGS = 30  # of the interval in which a speed-up is sought
MOST_SPEEDUP = 1e4
NEARLY = 1 + 1e-9  # rows that draw level are not lost to rounding


def to_win(bounded: Explorer, goal: Goal, row: Candidates, target: float) -> ToWin:
    """row: the group's best, one row. target: the objective of the winner.

    What the row alone would need bounds what any other count can need less, so that few are looked at.
    """
    index, number = int(row.offering[0]), int(row.pool[0])
    explorer = listed_alone(bounded, index)
    timed = Timed(row.layout, row.devices, row.step_s, row.fragile)
    offering, alone = explorer.offerings[index], (number, timed)
    price = break_even(explorer, goal, alone, target) if goal.objective == "cost" else 0.0
    gain = least_speedup(explorer, goal, alone, (target, MOST_SPEEDUP))
    for market in (number for number, m in enumerate(explorer.markets) if m.offerings):
        if price:
            cap = Cap(0.0, price / HOUR_S, target * NEARLY)
            timed = explorer.fastest(market, Worth(explorer.job.steps, (cap,)))
            price = max(price, break_even(explorer, goal, (market, timed), target))
        caps = slower(worth(explorer, explorer.markets[market], goal, target), gain)
        timed = explorer.fastest(market, Worth(explorer.job.steps, caps))
        gain = least_speedup(explorer, goal, (market, timed), (target, gain))
    now = explorer.question.catalog.device_hour_usd(offering)
    return ToWin(
        offering=offering.id,
        price_usd_per_device_hour=price or None,
        price_now_usd_per_device_hour=now or None,
        price_change_pct=100 * (price / now - 1) if price and now else None,
        speedup=gain if gain < MOST_SPEEDUP else None,
    )


Place = tuple[int, Timed]  # a market, and its timed layouts


def slower(known: Worth, times: float) -> tuple[Ceiling, ...]:
    """The caps on rows whose steps are about to be so many times as fast."""
    return tuple(cap._replace(most=cap.most * times) if isinstance(cap, Cap) else cap for cap in known.caps)


def listed_alone(explorer: Explorer, index: int) -> Explorer:
    """The explorer with nothing on its markets but what stands under the price of one offering: the machines
    of an instance in a region under a kind.
    """
    of = explorer.offerings[index]
    same = (of.provider, of.instance, of.region, of.pricing, of.fabric)
    alike = {
        number
        for number, o in enumerate(explorer.offerings)
        if (o.provider, o.instance, o.region, o.pricing, o.fabric) == same
    }
    alone = copy(explorer)
    alone.markets = [
        market._replace(offerings=tuple(number for number in market.offerings if number in alike))
        for market in explorer.markets
    ]
    return alone


def break_even(explorer: Explorer, goal: Goal, place: Place, target_usd: float) -> float:
    """The highest price at which some count costs no more than the target; 0: none. [USD per device-hour]

    A row costs a p + b at the price p, so it draws level at (target - b) / a. A budget is kept by whoever
    costs no more than the winner.
    """
    number, timed = place
    one, two = (priced_at(explorer, number, usd).priced(number, timed) for usd in (1.0, 2.0))
    fine = np.flatnonzero(kept(one, goal, but=("cost_usd",)))
    slope = two.cost_usd[fine] - one.cost_usd[fine]
    rest = one.cost_usd[fine] - slope
    level = np.divide(target_usd - rest, slope, out=np.zeros(len(fine)), where=slope > 0)
    return float(level.max(initial=0.0))


def priced_at(explorer: Explorer, number: int, usd_per_device_hour: float) -> Explorer:
    """The explorer with one price for all offerings of a market."""
    market = explorer.markets[number]
    usd = usd_per_device_hour * market.pool.machine.devices
    offerings = list(explorer.offerings)
    for index in market.offerings:
        offerings[index] = offerings[index].model_copy(update={"usd_per_hour": usd})
    other = copy(explorer)
    other.offerings = tuple(offerings)
    return other


def least_speedup(explorer: Explorer, goal: Goal, place: Place, ends: tuple[float, float]) -> float:
    """How many times as fast the steps must be for some count to keep the limits and reach the target.

    ends: the target of the objective, and the speed-up that is known to do: what is found is no larger.
    """
    target, high = ends
    if not _reaches(explorer, goal, place, (high, target)):
        return high
    low = 1.0
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        if _reaches(explorer, goal, place, (middle, target)):
            high = middle
        else:
            low = middle
    return high


def _reaches(explorer: Explorer, goal: Goal, place: Place, wanted: tuple[float, float]) -> bool:
    """wanted: speed-up, target."""
    (number, timed), (speedup, target) = place, wanted
    table = explorer.priced(number, timed._replace(step_s=timed.step_s / speedup))
    values: Floats = getattr(table, goal.quantity)[kept(table, goal)]
    return bool((values <= target).any())
