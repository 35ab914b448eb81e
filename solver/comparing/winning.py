"""What would make a group win: the price of a device-hour at which it draws level, or how much faster its
steps would have to be. Both exact: found on every count of the group's market, not on its best plan alone.
"""

from copy import copy

import numpy as np

from solver.comparing.leaders import Unbound, kept
from solver.comparing.record import ToWin
from solver.physics.hardware import Floats
from solver.search.candidates import Candidates, Explorer, Timed
from solver.search.explore import Goal

HALVINGS = 30  # of the interval in which a speed-up is sought
MOST_SPEEDUP = 1e4


def to_win(unbound: Unbound, goal: Goal, row: Candidates, target: float) -> ToWin:
    """row: the group's best, one row. target: the objective of the winner."""
    index = int(row.offering[0])
    explorer = listed_alone(unbound.explorer, index)
    offering = explorer.offerings[index]
    timed = {number: unbound.timed(number) for number, m in enumerate(explorer.markets) if m.offerings}
    price = None
    if goal.objective == "cost":
        prices = [break_even(explorer, goal, (number, rows), target) for number, rows in timed.items()]
        price = max((usd for usd in prices if usd > 0), default=None)
    now = offering.usd_per_hour / explorer.markets[int(row.pool[0])].pool.machine.devices
    gain = MOST_SPEEDUP
    for number, rows in timed.items():
        gain = least_speedup(explorer, goal, (number, rows), (target, gain))
    return ToWin(
        offering=offering.id,
        price_usd_per_device_hour=price,
        price_now_usd_per_device_hour=now or None,
        price_change_pct=100 * (price / now - 1) if price and now else None,
        speedup=gain if gain < MOST_SPEEDUP else None,
    )


Place = tuple[int, Timed]  # a market, and its timed layouts


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
