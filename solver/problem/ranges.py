"""Whole numbers as people narrow them: 8, "up to 8", "2-16", ">= 2", "not 4"."""

import re
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator
from pydantic import WithJsonSchema as Json

from solver import units
from solver.units import shown

MOST = 10**7
HINT = 'write e.g. 8, "up to 8", "2-16", ">= 2" or "not 4"'
_NUMBER = r"(\d[\d,_]*k?)"
_FORMS = (  # pattern; where the span starts and ends: the number of a group, or None for the end of the scale
    (re.compile(rf"(?:up to|at most|<=|≤)\s*{_NUMBER}"), None, 1),
    (re.compile(rf"(?:from|at least|>=|≥)\s*{_NUMBER}"), 1, None),
    (re.compile(rf"{_NUMBER}\s*(?:or more|\+)"), 1, None),
    (re.compile(rf"(?:from\s+)?{_NUMBER}\s*(?:-|–|to|\.\.)\s*{_NUMBER}"), 1, 2),  # noqa: RUF001, typed by people
    (re.compile(_NUMBER), 1, 1),
)
_BUT = re.compile(r"(?:not|but|except|!=|≠)\s*(.*)")


class Span(NamedTuple):
    """Numbers from `least` to `most`; excluded: those are not wanted."""

    least: int
    most: int
    excluded: bool = False


def read(value: object) -> int | Span:
    """A whole number of ways, or a span of them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip().lower() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if but := _BUT.fullmatch(text):
        return _span(but[1], value)._replace(excluded=True)
    span = _span(text, value)
    return span.least if _FORMS[-1][0].fullmatch(text) else span


def _span(text: str, value: object) -> Span:
    for pattern, first, last in _FORMS:
        if found := pattern.fullmatch(text):
            least = int(units.count(found[first])) if first else 1
            most = int(units.count(found[last])) if last else MOST
            if min(least, most) < 1 or max(least, most) > MOST:
                low = min(least, most) < 1
                beyond = "below 1" if low else f"above {MOST:.0e}, more than can be believed"
                raise ValueError(f"{shown(value)} is {beyond}; {HINT}")
            if least > most:
                raise ValueError(f'{shown(value)} runs from more to less; write "{most}-{least}"')
            return Span(least, most)
    raise ValueError(f"{shown(value)} is neither a number of ways nor a range of them; {HINT}")


Ways = Annotated[
    int | Span,
    BeforeValidator(read),
    Json(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "examples": ["up to 8", "2-16", ">= 2", "not 4"]},
            ]
        }
    ),
]
