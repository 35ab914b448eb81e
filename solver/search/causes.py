"""Why a plan is not the first: the ratio of their objectives as a product of causes, the largest told."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from solver.plan import Plan
from solver.units import DAY_S

TOLD = 3  # causes that are told
SEEN = 0.005  # changes below this are not told
FEWEST = 1e-12


class Case(NamedTuple):
    """A plan, and the list price of a machine's device-hour; 0 where the machine is one's own."""

    plan: Plan
    device_hour_usd: float


class Cause(NamedTuple):
    """A factor of the objective, and what it is in words."""

    factor: float
    words: str


def why_not_first(mine: Case, first: Case, objective: str) -> str:
    """The difference to the first plan and its causes; whether it is inside the error band."""
    plan, best = mine.plan, first.plan
    value, least = _value(plan, objective), _value(best, objective)
    if value == least:
        sound = plan.memory.fragile and not best.memory.fragile
        by = "as its memory may turn out too small" if sound else "by cost, time, energy, devices and name"
        return f"equal in the objective; placed after it {by}"
    name = {"cost": "cost", "time": "days", "energy": "energy", "carbon": "carbon dioxide"}[objective]
    if least == 0:
        return f"{name} above nothing: the first is paid for already"
    more = value / least - 1
    band = best.time.high_days / best.time.days - 1
    tie = "; a tie within the error band" if more < band else ""
    return f"{name} {more:+.1%}: {', '.join(_told(mine, first, objective))}{tie}"


def _value(plan: Plan, objective: str) -> float:
    return {
        "cost": plan.cost.total_usd,
        "time": plan.time.days,
        "energy": plan.energy.mwh,
        "carbon": plan.energy.kg_co2e,
    }[objective]


def _told(mine: Case, first: Case, objective: str) -> list[str]:
    """The causes that matter, those that make it worse first; what makes up for some of it is told too."""
    of = {"cost": _of_cost, "time": _of_time}.get(objective, _of_energy)
    causes = [cause for cause in of(mine, first) if abs(cause.factor - 1) > SEEN]
    largest = sorted(causes, key=lambda cause: -abs(math.log(cause.factor)))[:TOLD]
    worse = [cause.words for cause in largest if cause.factor > 1]
    better = [cause.words for cause in largest if cause.factor < 1]
    return [*worse, *(f"though {words}" if worse and not i else words for i, words in enumerate(better))] or [
        "many small differences"
    ]


def _of_cost(mine: Case, first: Case) -> Iterator[Cause]:
    """Price x (paid / used hours) x (paid / used devices) x (run / steady time) x device-time x rest."""
    plan, best = mine.plan, first.plan
    if not mine.device_hour_usd or not first.device_hour_usd:  # one's own have no list price
        own, other = _all_in(plan), _all_in(best)
        yield Cause(own / other, f"a device-hour is {own:.2f} against {other:.2f} USD, all in")
        yield from _of_devices(plan, best)
        return
    price = mine.device_hour_usd / first.device_hour_usd
    prices = f"{mine.device_hour_usd:.2f} against {first.device_hour_usd:.2f} USD"
    yield Cause(price, f"a device-hour is {prices} ({price - 1:+.0%})")
    term = _term(mine) / _term(first)
    yield Cause(term, f"{_more(term)} of the term that is paid lies idle ({term - 1:+.0%})")
    yield from _of_devices(plan, best)
    rest = _rest(plan) / _rest(best)
    yield Cause(rest, f"storage and other parts of the bill ({rest - 1:+.0%})")


def _of_devices(plan: Plan, best: Plan) -> Iterator[Cause]:
    """What makes more paid device-hours: whole machines, and a longer run."""
    whole = plan.devices_paid / plan.devices / (best.devices_paid / best.devices)
    yield Cause(whole, f"{_more(whole)} of the devices that are paid are idle ({whole - 1:+.0%})")
    yield from _of_run(plan, best)


def _of_run(plan: Plan, best: Plan) -> Iterator[Cause]:
    """What makes a run of so many devices long: failures, and the device-time of a step."""
    good = _overhead(plan) / _overhead(best)
    yield Cause(good, f"failures, restarts and checkpoints take {_more(good)} ({good - 1:+.0%})")
    work = plan.devices * plan.time.step_s / (best.devices * best.time.step_s)
    much = f"{abs(work - 1):.0%} {_more(work)}"
    yield Cause(work, f"a step takes {much} device-time, mostly {_part(plan, best, grows=work > 1)}")


def _of_time(mine: Case, first: Case) -> Iterator[Cause]:
    """Device-time of a step / devices x (run / steady time)."""
    plan, best = mine.plan, first.plan
    fewer = best.devices / plan.devices
    yield Cause(fewer, f"{plan.devices:,} against {best.devices:,} devices")
    yield from _of_run(plan, best)


def _of_energy(mine: Case, first: Case) -> Iterator[Cause]:
    """Power of a paid device x paid device-hours; carbon dioxide: x that of a kWh."""
    plan, best = mine.plan, first.plan
    power = _watts(plan) / _watts(best)
    yield Cause(power, f"a device draws {power - 1:+.0%} power")
    yield from _of_devices(plan, best)
    grid = _intensity(plan) / _intensity(best)
    yield Cause(grid, f"the grid gives off {grid - 1:+.0%} carbon dioxide")


def _more(factor: float) -> str:
    return "more" if factor > 1 else "less"


def _term(case: Case) -> float:
    """Paid over used hours: above 1 where a commitment outlasts the run."""
    plan = case.plan
    used = case.device_hour_usd * plan.devices_paid * plan.time.days * 24
    return plan.cost.parts["accelerators"] / max(used, FEWEST)


def _rest(plan: Plan) -> float:
    return plan.cost.total_usd / max(plan.cost.parts["accelerators"], FEWEST)


def _overhead(plan: Plan) -> float:
    """The run over its steady steps."""
    return plan.time.days * DAY_S / (plan.time.steps * plan.time.step_s)


def _watts(plan: Plan) -> float:
    """Mean power at the meter of a device that is paid. [MW]"""
    return max(plan.energy.mwh, FEWEST) / (plan.devices_paid * plan.time.days * 24)


def _intensity(plan: Plan) -> float:
    """1 where nothing is known of either."""
    return max(plan.energy.kg_co2e, FEWEST) / max(plan.energy.mwh, FEWEST)


def _part(plan: Plan, best: Plan, *, grows: bool) -> str:
    """The part of a step in which most device-time is lost, or saved."""
    change = {
        name: plan.devices * seconds - best.devices * best.time.parts.get(name, 0.0)
        for name, seconds in plan.time.parts.items()
    }
    name = max(change, key=lambda part: change[part] if grows else -change[part])
    return name.replace("_", " ")


def _all_in(plan: Plan) -> float:
    """The whole bill by the device-hour. [USD]"""
    return max(plan.cost.total_usd, FEWEST) / (plan.devices_paid * plan.time.days * 24)
