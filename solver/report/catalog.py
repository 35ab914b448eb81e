"""The report of `catalog`: a table a kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import line, table
from solver.report.words import Fields

Cell = Callable[[Fields], str]


def text(name: str) -> Cell:
    """A field as it stands; a dash where there is none."""
    return lambda record: str(record.get(name) or "-")


def number(name: str, tell: Callable[[float], str] = "{:,.0f}".format) -> Cell:
    """A field in units."""
    return lambda record: tell(record[name]) if record.get(name) else "-"


def peak(precision: str) -> Cell:
    """TFLOP/s of a device in a precision."""
    return lambda record: f"{record['peak'][precision] / 1e12:,.0f}" if precision in record["peak"] else "-"


def supported(record: Fields) -> str:
    return "; ".join(f"{', '.join(s['families'])}: {' '.join(s['precisions'])}" for s in record["supports"])


def memory(value: float) -> str:
    return units.format_bytes(value, 3)


def watts(value: float) -> str:
    return units.format_watts(value, 3)


def rate(value: float) -> str:
    return units.format_bytes_per_s(value, 3)


ID, DATE = {"id": ("text", text("id"))}, {"date": ("id", text("date"))}
COLUMNS: Mapping[str, Mapping[str, tuple[str, Cell]]] = {
    "devices": {
        "bf16 TFLOP/s": ("number", peak("bf16")),
        "fp8": ("number", peak("fp8")),
        "memory": ("number", number("usable_memory", memory)),
        "bandwidth": ("number", number("memory_bandwidth", rate)),
        "power": ("number", number("tdp", watts)),
    },
    "machines": {
        "devices": ("number", number("devices")),
        "links": ("text", text("scale_up")),
        "usual fabric": ("text", text("default_fabric")),
        "power": ("number", number("power", watts)),
    },
    "fabrics": {
        "scope": ("id", text("scope")),
        "bandwidth": ("number", number("bandwidth", rate)),
        "of it": ("number", number("efficiency", "{:.0%}".format)),
        "latency": ("number", number("latency", words.seconds)),
    },
    "offerings": {
        "machine": ("id", text("machine")),
        "USD/hour": ("number", number("usd_per_hour", "{:,.2f}".format)),
    },
    "models": {"name": ("text", text("name")), "parameters": ("number", number("parameters"))},
    "frameworks": {"runs on": ("text", supported)},
}


def catalog_report(kind: str, records: Sequence[Fields]) -> Iterator[RenderableType]:
    """A line a record; every field stands in the JSON."""
    columns = {**ID, **COLUMNS[kind], **DATE}
    rows = ([cell(record) for _, cell in columns.values()] for record in records)
    yield table({name: how for name, (how, _) in columns.items()}, rows)
    yield line(f"{len(records):,} {kind}; --json gives every field, with its source", "dim")


def check_report(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Of a catalog that keeps every rule."""
    counts = words.joined([f"{count:,} {kind}" for kind, count in found["records"].items()], "and")
    yield line(f"The catalog of {found['date']} keeps every rule: {counts}.")
