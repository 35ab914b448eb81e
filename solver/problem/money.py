"""Types of the fields about money: prices, percentages and what they are of."""

import datetime
import re
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainValidator
from pydantic import WithJsonSchema as Json

from solver import units
from solver.units import shown


def _positive(parse: Callable[[units.Value], float], example: str) -> BeforeValidator:
    """An amount above zero."""

    def read(value: units.Value) -> float:
        amount = parse(value)
        if amount == 0:
            raise ValueError(f'{shown(value)} is not above zero; write e.g. "{example}", or leave it out')
        return amount

    return BeforeValidator(read)


def _per(parse: Callable[[units.Value], float], behind: str, example: str) -> Callable[[units.Value], float]:
    """An amount with a unit behind it, e.g. of /kWh; `behind`: its pattern."""
    tail = re.compile(rf"\s*(?:/|per\b)\s*(?:{behind})$", re.IGNORECASE)

    def read(value: units.Value) -> float:
        bare = tail.sub("", value.strip()) if isinstance(value, str) and len(value) < 200 else value
        try:
            return parse(bare)
        except ValueError as error:
            what = str(error).partition(";")[0].partition(" is ")[2] or "is not read"
            raise ValueError(f'{shown(value)} is {what}; write e.g. "{example}"') from None

    return read


def _share(value: object) -> float:
    """15, "15%", "15 % off": percent as a share. [0 to 1]"""
    text = re.sub(r"\s*(?:%|percent)\s*(?:off)?$", "", value.strip()) if isinstance(value, str) else value
    try:
        number = float(text) if isinstance(text, str | int | float) and not isinstance(text, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not 0 <= number <= 100:
        raise ValueError(f'{shown(value)} is not a percentage from 0 to 100; write e.g. "15%"')
    if 0 < number < 1 and text is value:
        raise ValueError(f'{shown(value)} could be a share or a percentage; write e.g. "15%" or "0.15%"')
    return number / 100


def _ratio(value: object) -> float:
    """Power at the meter over power at the machines."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 5:
        raise ValueError(f"{shown(value)} is not a power usage effectiveness from 1 to 5; write e.g. 1.3")
    return float(value)


def _further(value: units.Value) -> float | Literal["on-demand"]:
    """What a further machine costs: the provider's price on demand, or one that is stated."""
    if isinstance(value, str) and value.strip().lower() == "on-demand":
        return "on-demand"
    try:
        usd = units.usd_per_hour(value)
    except ValueError:
        usd = 0.0
    if usd == 0:
        told = "is neither on-demand nor a price above zero"
        raise ValueError(f'{shown(value)} {told}; write on-demand or e.g. "30 USD/hour"')
    return usd


def _until(value: units.Value | datetime.date) -> float | datetime.date:
    """How long from the start of the run, or the day on which it ends."""
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        pass
    try:
        seconds = units.seconds(str(value) if isinstance(value, datetime.date) else value)
    except ValueError:
        told = "is neither a duration nor a day"
        raise ValueError(f'{shown(value)} {told}; write e.g. "90 days" or 2027-03-01') from None
    if seconds == 0:
        raise ValueError(f'{shown(value)} is not above zero; write e.g. "90 days", or leave it out')
    return seconds


def _examples(*examples: object) -> Json:
    return Json({"type": ["string", "number"], "examples": list(examples)})


_CARBON = _per(units.kilograms, "kWh|MWh", "200 g/kWh")


def _intensity(value: units.Value) -> float:
    """Carbon dioxide of a kWh: "200 g/kWh", "0.2 kg/kWh"; a bare number is in kg. [kg/kWh]"""
    text = value.strip() if isinstance(value, str) else value
    per_mwh = isinstance(text, str) and text.lower().endswith("mwh")
    return _CARBON(re.sub(r"\s*CO2(?:e|eq)?", "", text) if isinstance(text, str) else text) / (
        1000.0 if per_mwh else 1.0
    )


Share = Annotated[float, BeforeValidator(_share), _examples("15%", 15)]
PriceOfMachine = Annotated[
    float, _positive(units.usd_per_hour, "55.04 USD/hour"), _examples("55.04 USD/hour", 55.04)
]
FreePrice = Annotated[float, BeforeValidator(units.usd_per_hour), _examples("0 USD/hour", 1.5)]
Capex = Annotated[float, _positive(units.usd, "310k USD"), _examples("310k USD")]
UsdPerKwh = Annotated[
    float, BeforeValidator(_per(units.usd, "kWh", "0.08 USD/kWh")), _examples("0.08 USD/kWh", 0.08)
]
UsdPerKwMonth = Annotated[
    float,
    BeforeValidator(_per(units.usd, r"kW[\s/-]*(?:and\s+)?month", "195 USD/kW-month")),
    _examples("195 USD/kW-month"),
]
UsdPerTb = Annotated[float, BeforeValidator(_per(units.usd, "TB", "100 USD/TB")), _examples("100 USD/TB")]
Stored = Annotated[float, BeforeValidator(units.bytes_), _examples("15 TB", "0 GB")]
Intensity = Annotated[float, BeforeValidator(_intensity), _examples("200 g/kWh")]
Further = Annotated[
    float | Literal["on-demand"], PlainValidator(_further), _examples("on-demand", "30 USD/hour")
]
Until = Annotated[float | datetime.date, PlainValidator(_until), _examples("90 days", "2027-03-01")]
Pue = Annotated[float, BeforeValidator(_ratio), Json({"type": "number", "minimum": 1, "maximum": 5})]
