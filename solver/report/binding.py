"""How far the best plan stays from each limit: what binds, and what does not."""

from collections.abc import Callable
from typing import NamedTuple

from solver import units
from solver.report import words
from solver.report.words import Fields

Parse = Callable[[units.Value], float]
Tell = Callable[[float], str]

PARSERS: dict[str, Parse] = {  # of the limits on numbers, as the file states them
    "budget": units.usd,
    "deadline": units.seconds,
    "max_devices": units.count,
    "max_power": units.watts,
    "max_energy": units.watt_hours,
    "max_carbon": units.kilograms,
}
AT_LIMIT = 0.02  # share of a limit: what leaves less than this of it binds


class Distance(NamedTuple):
    """A quantity of the plan against its limit."""

    name: str
    used: str
    limit: str
    spare: float

    @property
    def verdict(self) -> str:
        return "binds" if self.spare < AT_LIMIT else f"{self.spare:.0%}"


def distances(question: Fields, plan: Fields) -> list[Distance]:
    """Of each limit that the question states, and of the device's memory; the closest first."""
    memory = plan["memory"]
    quantities: dict[str, tuple[float, Tell]] = {
        "budget": (plan["cost"]["total_usd"], words.usd),
        "deadline": (plan["time"]["days"] * units.DAY_S, _days),
        "max_devices": (plan["devices"], "{:,.0f}".format),
        "max_power": (plan["power_kw"] * 1e3, _power),
        "max_energy": (plan["energy"]["mwh"] * 1e6, _energy),
        "max_carbon": (plan["energy"]["kg_co2e"], words.carbon),
    }
    limits = question["limits"]
    found = [_distance(name, limits[name], how) for name, how in quantities.items() if name in limits]
    peak, usable = memory["peak_gib"], memory["usable_gib"]
    found.append(Distance("memory of a device", words.gib(peak), words.gib(usable), 1 - peak / usable))
    return sorted(found, key=lambda distance: distance.spare)


def _distance(name: str, given: units.Value, how: tuple[float, Tell]) -> Distance:
    used, tell = how
    limit = PARSERS[name](given)
    told = "number of devices" if name == "max_devices" else name.replace("max_", "")
    return Distance(told, tell(used), tell(limit), 1 - used / limit)


def _days(seconds: float) -> str:
    return words.days(seconds / units.DAY_S)


def _power(watts: float) -> str:
    return units.format_watts(watts, 3)


def _energy(watt_hours: float) -> str:
    return units.format_watt_hours(watt_hours, 3)


def sentences(question: Fields, plan: Fields) -> list[str]:
    """What is at its limit or closest to it, and whether the deadline may be missed all the same."""
    found = distances(question, plan)
    at_limit = [distance.name for distance in found if distance.spare < AT_LIMIT]
    told = [f"No limit is reached; the closest is the {found[0].name}."]
    if at_limit:
        told = [f"At its limit: {words.joined(at_limit, 'and')}."]
    deadline, late = question["limits"].get("deadline"), plan["time"]["high_days"]
    if deadline is not None and late * units.DAY_S > units.seconds(deadline):
        told.append(f"The slow end of the band, {words.days(late)}, misses the deadline.")
    return told
