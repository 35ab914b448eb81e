"""A relaxed limit as text that can be pasted back, in the unit that the user wrote."""

import math
import re

from solver import units
from solver.search.limits import RESOLUTION, Limit

PARSERS = {
    "wall_clock_s": units.seconds,
    "cost_usd": units.usd,
    "power_w": units.watts,
    "energy_wh": units.watt_hours,
    "carbon_kg": units.kilograms,
    "devices": units.count,
}
FINENESS = 200  # steps between the old limit and the new: the text is at most half a percent above the need
_NUMBER = re.compile(r"^(\s*\$?\s*)([\d.,_]+(?:[eE][+-]?\d+)?)(.*)$", re.DOTALL)


def in_users_unit(limit: Limit, wrote: str | float, value: float, fineness: int = FINENESS) -> str | float:
    """The least rounded text in the user's unit at which `value` keeps the limit.

    Rounded away from the old bound in units of the model, so that the pasted limit really admits the plan.
    """
    if limit.quantity == "devices":
        return round(value)
    before, unit = "", ""
    if isinstance(wrote, str) and (match := _NUMBER.match(wrote)):
        before, unit = match[1], match[3]
    parse = PARSERS[limit.quantity]
    factor = parse(f"{before}1{unit}" if isinstance(wrote, str) else 1)
    whole = math.ceil(value * RESOLUTION[limit.quantity])
    need = whole / RESOLUTION[limit.quantity]
    quantum = 10.0 ** math.floor(math.log10(max(abs(need - limit.bound) / factor, 1e-12) / fineness))
    digits = max(0, -math.floor(math.log10(quantum)))
    least = math.ceil(need / factor / quantum)
    for steps in (least, least + 1):
        text = f"{steps * quantum:.{digits}f}"
        told = f"{before}{text}{_plural(unit, steps * quantum)}" if isinstance(wrote, str) else float(text)
        if limit._replace(bound=parse(told)).integer >= whole:
            break  # else the text in binary is a hair less
    return told


def multiplied(wrote: str | float, factor: float) -> str | float:
    """A limit as the user wrote it, so many times as large."""
    match = _NUMBER.match(wrote) if isinstance(wrote, str) else None
    if isinstance(wrote, str) and match:
        return f"{match[1]}{units.count(match[2]) * factor:.12g}{match[3]}"
    return int(wrote * factor) if isinstance(wrote, int) else float(wrote) * factor


def _plural(unit: str, number: float) -> str:
    """Day -> days."""
    words = ("day", "hour", "week", "month", "year", "minute", "second")
    return unit + "s" if unit.strip() in words and number != 1 else unit
