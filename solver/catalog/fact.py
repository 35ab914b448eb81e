"""What every record of the catalog is made of: quantities in SI, a source and a date."""

import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from solver import units

Bytes = Annotated[float, BeforeValidator(units.bytes_)]
BytesPerS = Annotated[float, BeforeValidator(units.bytes_per_s)]
FlopsPerS = Annotated[float, BeforeValidator(units.flops_per_s)]
Seconds = Annotated[float, BeforeValidator(units.seconds)]
Usd = Annotated[float, BeforeValidator(units.usd)]
Watts = Annotated[float, BeforeValidator(units.watts)]
Positive = Field(gt=0, allow_inf_nan=False)
Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]


def day(value: object) -> str:
    """A date as sources print it: 2026-12-01, 2026-12 or 2026."""
    text = str(value)
    parts = text.split("-")
    try:
        datetime.date(*(int(part) for part in [*parts, "1", "1"][:3]))
    except ValueError:
        parts = []
    if len(parts) not in (1, 2, 3) or len(parts[0]) != 4:
        raise ValueError(f"{units.shown(text)} is not a date; write e.g. 2026-12-01, 2026-12 or 2026")
    return text


Day = Annotated[str, BeforeValidator(day)]


class Record(BaseModel):
    """Frozen, and unknown fields are refused.

    Why: built when first read, as a catalog from the store of compiled ones (store.py) needs no reader.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Origin(Record):
    """Where one field comes from, where that is not where its record comes from."""

    source: list[str]
    date: Day


class Fact(Record):
    """A record that does not load without source and date. The id is the file name."""

    id: str
    source: list[str] = Field(min_length=1)
    date: Day
    notes: str = ""
    estimated: list[str] = []
    """Fields that no source states: recalled, or taken from a neighbour; the notes say how."""
    origins: dict[str, Origin] = {}
    """By field: those that the file writes as {value, source, date}."""
