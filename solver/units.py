"""Quantities as people write them: one parser and one formatter for each, SI inside.

Every parser takes a number (already in SI) or text, and raises ValueError with a sentence that shows how to write it.
"""

import math
import re
from collections.abc import Mapping

# Decimal multiples. B is "billion" in counts ("7B parameters") and never a byte here: bytes have a table of their own.
_MULTIPLES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_WORDS = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SECONDS = {
    "s": 1.0, "sec": 1.0, "second": 1.0,
    "ms": 1e-3, "us": 1e-6,
    "min": 60.0, "minute": 60.0,
    "h": 3600.0, "hr": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0,
    "w": 604800.0, "week": 604800.0,
    "month": 2629800.0, "year": 31557600.0,  # Julian year / 12, Julian year
}  # fmt: skip
_BYTES = {p + "B": f for p, f in _MULTIPLES.items() if p != "B"} | {
    p + "iB": 1024.0**i for i, p in enumerate(["K", "M", "G", "T", "P"], 1)
}
_WATTS = {p + "W": f for p, f in _MULTIPLES.items() if p != "B"}
_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_,]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", re.DOTALL)

Value = str | int | float


def _split(value: Value, what: str, example: str) -> tuple[float, str]:
    """The number and the unit text behind it."""
    refusal = f'{_shown(value)} is not {what}; write e.g. "{example}"'
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(refusal)
    match = _NUMBER.fullmatch(str(value))
    if match is None:
        raise ValueError(refusal)
    try:
        number = float(match[1].replace(",", "").replace("_", ""))
    except (ValueError, OverflowError):
        raise ValueError(refusal) from None
    if not math.isfinite(number) or number < 0:
        raise ValueError(refusal)
    return number, match[2]


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 60 else text[:57] + "..."


def _quantity(value: Value, table: Mapping[str, float], what: str, example: str) -> float:
    """A number with a unit of `table`; a bare number is taken in SI."""
    number, unit = _split(value, what, example)
    if not unit:
        return number
    for known in (unit, unit.lower(), unit.lower().rstrip("s")):
        if known in table:
            return _finite(number * table[known], value, what, example)
    raise ValueError(f'{_shown(value)} is not {what}; write e.g. "{example}"')


def _finite(number: float, value: Value, what: str, example: str) -> float:
    if not math.isfinite(number):
        raise ValueError(f'{_shown(value)} is not {what}; write e.g. "{example}"')
    return number


def seconds(value: Value) -> float:
    """A duration: "30 days", "36 hours", "90 s". [s]"""
    return _quantity(value, _SECONDS, "a duration", "30 days")


def bytes_(value: Value) -> float:
    """An amount of memory: "80 GB" (decimal), "80 GiB" (binary). [B]"""
    return _quantity(value, _BYTES, "an amount of memory", "80 GB")


def watts(value: Value) -> float:
    """A power: "2 MW", "700 W". [W]"""
    return _quantity(value, _WATTS, "a power", "2 MW")


def flops_per_s(value: Value) -> float:
    """A compute rate: "989.4 TFLOP/s". [FLOP/s]"""
    table = {p + "FLOP/s": f for p, f in _MULTIPLES.items() if p != "B"}
    return _quantity(value, table, "a compute rate", "989.4 TFLOP/s")


def bytes_per_s(value: Value) -> float:
    """A bandwidth: "3350 GB/s", "400 Gb/s" (bits). [B/s]"""
    table = {f"{unit}/s": f for unit, f in _BYTES.items()}
    bits = {p + "b/s": f / 8 for p, f in _MULTIPLES.items() if p != "B"}
    return _quantity(value, table | bits, "a bandwidth", "450 GB/s")


def count(value: Value) -> float:
    """A number of things: "15T", "7B", "1.5 billion", 4096."""
    number, unit = _split(value, "a number", "15T")
    if unit in _MULTIPLES:
        return _finite(number * _MULTIPLES[unit], value, "a number", "15T")
    if unit.lower() in _WORDS:
        return _finite(number * _WORDS[unit.lower()], value, "a number", "15T")
    raise ValueError(f'{_shown(value)} is not a number; write e.g. "15T" or 4096')


def usd(value: Value) -> float:
    """An amount of money: "3M USD", "$250k", 1000. [USD]"""
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str):
        text = re.sub(r"^\$\s*|\s*(USD|usd|dollars?|\$)$", "", text)
        if re.search(r"\b(EUR|GBP|CHF|JPY|CNY|INR|KRW|CAD|AUD)\b|[€£¥₹]", text, re.IGNORECASE):
            raise ValueError(f'{_shown(value)} is not in USD; convert it and write e.g. "3M USD"')
    try:
        return count(text)
    except ValueError:
        raise ValueError(f'{_shown(value)} is not an amount of money; write e.g. "3M USD"') from None


def usd_per_hour(value: Value) -> float:
    """A price per hour: "55.04 USD/hour", 0. [USD/h]"""
    text = re.sub(r"\s*(/|per)\s*(h|hr|hour)s?$", "", value.strip()) if isinstance(value, str) else value
    return usd(text)
