"""Quantities as people write them: one parser and one formatter for each, SI inside.

Every parser takes a number (already in SI) or text, and raises ValueError with a sentence that shows how
to write it. Every formatter gives text that its parser reads back.
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

Value = str | int | float

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
YEAR_S = 365.25 * DAY_S  # Julian
MONTH_S = YEAR_S / 12
GIB = 2.0**30  # bytes

# Decimal multiples. B is "billion" in counts ("7B parameters"); bytes have a table of their own.
_MULTIPLES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_COUNTS = _MULTIPLES | {"K": 1e3, "B": 1e9, "m": 1e6, "b": 1e9, "t": 1e12, "bn": 1e9}
_COUNTS |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SECONDS = {
    "s": 1.0, "sec": 1.0, "second": 1.0,
    "ms": 1e-3, "us": 1e-6,
    "min": 60.0, "minute": 60.0,
    "h": HOUR_S, "hr": HOUR_S, "hour": HOUR_S,
    "d": DAY_S, "day": DAY_S,
    "w": 7 * DAY_S, "week": 7 * DAY_S,
    "month": MONTH_S, "year": YEAR_S,
}  # fmt: skip
_BINARY = {prefix + "iB": 1024.0**power for power, prefix in enumerate("KMGTP", 1)}
_BYTES = {prefix + "B": factor for prefix, factor in _MULTIPLES.items()} | {"KB": 1e3} | _BINARY
# why: "80 gb" of memory can only be bytes; a mixed "Gb" is bits by convention and stays refused.
_BYTES |= {unit.lower(): factor for unit, factor in _BYTES.items()} | {"byte": 1.0, "bytes": 1.0}
_WATTS = {prefix + "W": factor for prefix, factor in _MULTIPLES.items()}
_WATTS |= {"KW": 1e3, "kw": 1e3, "w": 1.0, "watt": 1.0, "watts": 1.0}
_WATT_HOURS = {unit + "h": factor for unit, factor in _WATTS.items() if unit.lower().endswith("w")}
_GRAMS = {"g": 1e-3, "kg": 1.0, "t": 1e3, "kt": 1e6, "Mt": 1e9, "ton": 1e3, "tonne": 1e3}  # in kilograms
_FLOPS = {prefix + word: f for prefix, f in _MULTIPLES.items() for word in ("FLOP/s", "FLOPS", "FLOPs")}
_BYTE_RATES = {prefix + word: f for prefix, f in _MULTIPLES.items() for word in ("B/s", "Bps")}
_BYTE_RATES |= {f"{unit}/s": factor for unit, factor in _BINARY.items()}
_BYTE_RATES |= {
    prefix + word: factor / 8 for prefix, factor in _MULTIPLES.items() for word in ("b/s", "bit/s", "bps")
}


class _Kind(NamedTuple):
    """What a quantity is called, how to write one, and the units it may have."""

    what: str
    example: str
    units: Mapping[str, float]
    words: bool = False
    """Units are words: in any case, with a plural s."""


_DURATION = _Kind("a duration", '30 days", "36 hours", "90 s', _SECONDS, words=True)
_COUNT = _Kind("a number", "15T", _COUNTS, words=True)
_MEMORY = _Kind("an amount of memory", "80 GB", _BYTES)
_POWER = _Kind("a power", "2 MW", _WATTS)
_ENERGY = _Kind("an amount of energy", "500 MWh", _WATT_HOURS)
_MASS = _Kind("a mass of carbon dioxide", "20 t CO2e", _GRAMS | {f"{unit}s": f for unit, f in _GRAMS.items()})
_COMPUTE = _Kind("a compute rate", "989.4 TFLOP/s", _FLOPS)
_BANDWIDTH = _Kind("a bandwidth", "450 GB/s", _BYTE_RATES)
_MONEY = _Kind("an amount of money", "3M USD", _COUNTS, words=True)
_PRICE = _Kind("a price per hour", "55.04 USD/hour", _COUNTS, words=True)

_NUMBER = re.compile(
    r"\s*([+-]?(?:(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d[\d_]*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*",
    re.DOTALL | re.ASCII,
)
_OTHER_MONEY = re.compile(
    r"(?:\b|\d[kMBT]?)(EUR|GBP|CHF|JPY|CNY|RMB|INR|KRW|CAD|AUD|euros?|yen)\b|[€£¥₹]", re.IGNORECASE
)
_DOLLARS = re.compile(r"^(?:US)?\$\s*|^USD\s+|\s*(?:USD|dollars?|(?:US)?\$)$", re.IGNORECASE)
_PER_HOUR = re.compile(r"\s*(?:/|per\b)\s*(?:h|hr|hour)s?$", re.IGNORECASE)
_CO2 = re.compile(r"\s*(?:of\s+)?CO2(?:e|eq)?$", re.IGNORECASE)
_LONGEST = 200  # characters: no quantity needs more, and no pattern has to fear a megabyte of blanks


def shown(value: object) -> str:
    """A value as a message shows it: in one line, quoted if text, at most some 60 characters."""
    if isinstance(value, str):
        start = value[:_LONGEST]
        text = start if start.isprintable() else start.encode("unicode_escape").decode("ascii")
        return f'"{text}"' if len(text) <= 60 else f'"{text[:55]}..."'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else "a number of more than 40 digits"
    if isinstance(value, float):
        return f"{value:.15g}"
    kind = type(value).__name__[:40]
    names = {"NoneType": "nothing", "list": "a list", "tuple": "a list", "dict": "a mapping"}
    return names.get(kind, f"a value of type {kind}")


def seconds(value: Value) -> float:
    """A duration: "30 days", "36 hours", "90 s". [s]"""
    return _parse(value, _DURATION)


def bytes_(value: Value) -> float:
    """An amount of memory: "80 GB" (decimal), "80 GiB" (binary). [B]"""
    return _parse(value, _MEMORY)


def watts(value: Value) -> float:
    """A power: "2 MW", "700 W". [W]"""
    return _parse(value, _POWER)


def watt_hours(value: Value) -> float:
    """An amount of energy: "500 MWh". [Wh]"""
    return _parse(value, _ENERGY)


def kilograms(value: Value) -> float:
    """A mass of carbon dioxide: "20 t CO2e", "300 kg". [kg]"""
    bare = _CO2.sub("", value.strip()) if _is_short(value) else value
    return _parse(bare, _MASS, written=value)


def flops_per_s(value: Value) -> float:
    """A compute rate: "989.4 TFLOP/s". [FLOP/s]"""
    return _parse(value, _COMPUTE)


def bytes_per_s(value: Value) -> float:
    """A bandwidth: "3350 GB/s", "400 Gb/s" (bits). [B/s]"""
    return _parse(value, _BANDWIDTH)


def count(value: Value) -> float:
    """A number of things: "15T", "7B", "1.5 billion", 4096."""
    return _parse(value, _COUNT)


def usd(value: Value) -> float:
    """An amount of money: "3M USD", "$250k", 1000. [USD]"""
    return _parse(_dollars(value, value, _MONEY), _MONEY, written=value)


def usd_per_hour(value: Value) -> float:
    """A price per hour: "55.04 USD/hour", 0. [USD/h]"""
    bare = _PER_HOUR.sub("", value.strip()) if _is_short(value) else value
    return _parse(_dollars(bare, value, _PRICE), _PRICE, written=value)


def _is_short(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= _LONGEST


def _dollars(bare: Value, written: Value, kind: _Kind) -> Value:
    """The amount without its currency."""
    if not _is_short(bare):
        return bare
    if _OTHER_MONEY.search(bare):
        raise ValueError(f'{shown(written)} is not in USD; convert it and write e.g. "{kind.example}"')
    return _DOLLARS.sub("", bare.strip())


def _parse(value: Value, kind: _Kind, written: Value | None = None) -> float:
    """The quantity in SI. `written` is what the user wrote, where `value` is only a part of it."""
    text = shown(value if written is None else written)
    number, unit = _split(value)
    factor = _factor(unit, kind)
    if number is None or factor is None or not math.isfinite(number * factor):
        raise ValueError(f'{text} is not {kind.what}; write e.g. "{kind.example}"')
    if number < 0:
        raise ValueError(f'{text} is negative; write e.g. "{kind.example}"')
    return number * factor


def _split(value: object) -> tuple[float | None, str]:
    """The number and the unit behind it; no number where there is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None, ""
    if not isinstance(value, str):
        return (float(value) if abs(value) < 1e308 else None), ""
    match = _NUMBER.fullmatch(value) if len(value) <= _LONGEST else None
    return (float(match[1].replace(",", "").replace("_", "")), match[2]) if match else (None, "")


def _factor(unit: str, kind: _Kind) -> float | None:
    if not unit:
        return 1.0
    known = [unit]
    if kind.words:
        known += [unit.lower(), unit.lower().removesuffix("s")]
    return next((kind.units[name] for name in known if name and name in kind.units), None)


def format_duration(value_s: float, digits: int = 4) -> str:
    """12.5 days, 36 hours, 90 s, 1.5 ms."""
    for unit, name, fewest in (
        ("day", "days", 2),
        ("hour", "hours", 2),
        ("min", "min", 2),
        ("s", "s", 1),
        ("ms", "ms", 1),
    ):
        if value_s >= fewest * _SECONDS[unit]:
            return f"{format_number(value_s / _SECONDS[unit], digits)} {name}"
    return f"{format_number(value_s / _SECONDS['us'], digits)} us"


def format_count(value: float, digits: int = 4) -> str:
    """15T, 7.242B, 4,096."""
    return _scaled(value, {"": 1.0, "M": 1e6, "B": 1e9, "T": 1e12}, digits)


def format_usd(value_usd: float, digits: int = 4) -> str:
    """1,234.5 USD, 2.345M USD."""
    return f"{_scaled(value_usd, {'': 1.0, 'M': 1e6, 'B': 1e9}, digits)} USD"


def format_usd_per_hour(value: float, digits: int = 4) -> str:
    """55.04 USD/hour."""
    return f"{format_number(value, digits)} USD/hour"


def format_bytes(value_bytes: float, digits: int = 4) -> str:
    """74.51 GiB: binary, as memory is counted."""
    return _scaled(
        value_bytes, {" B": 1.0} | {f" {unit}": factor for unit, factor in _BINARY.items()}, digits
    )


def format_watts(value_w: float, digits: int = 4) -> str:
    """2 MW, 700 W."""
    return _scaled(value_w, _spaced("W"), digits)


def format_watt_hours(value_wh: float, digits: int = 4) -> str:
    """500 MWh."""
    return _scaled(value_wh, _spaced("Wh"), digits)


def format_kilograms(value_kg: float, digits: int = 4) -> str:
    """20 t, 300 kg."""
    return _scaled(value_kg, {" kg": 1.0, " t": 1e3}, digits)


def format_flops_per_s(value: float, digits: int = 4) -> str:
    """989.4 TFLOP/s."""
    return _scaled(value, _spaced("FLOP/s"), digits)


def format_bytes_per_s(value: float, digits: int = 4) -> str:
    """450 GB/s: decimal, as links are sold."""
    return _scaled(value, _spaced("B/s"), digits)


def _spaced(word: str) -> dict[str, float]:
    return {f" {prefix}{word}": factor for prefix, factor in _MULTIPLES.items()}


def _scaled(value: float, units: Mapping[str, float], digits: int) -> str:
    """In the largest of `units` (smallest first) that leaves at least 1 before the point."""
    smallest = next(iter(units))
    unit = max((u for u in units if value >= units[u]), key=units.__getitem__, default=smallest)
    return f"{format_number(value / units[unit], digits)}{unit}"


def format_number(value: float, digits: int = 4) -> str:
    """With `digits` significant digits (all those before the point), thousands parted, no trailing zeros."""
    if value == 0 or not 1e-6 <= value < 1e15:
        return f"{value:.{digits}g}"
    places = max(0, digits - 1 - math.floor(math.log10(value)))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded(value: float) -> float | None:
    """To 9 significant digits; what is not finite is no number in JSON."""
    return float(f"{value:.9g}") if abs(value) != float("inf") and value == value else None
