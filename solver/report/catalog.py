"""The report of `catalog`: a table a kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import heading, labelled, line, listed, table
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
        "a device": ("number", number("usd_per_device_hour", "{:,.2f}".format)),
    },
    "models": {"name": ("text", text("name")), "parameters": ("number", number("parameters"))},
    "frameworks": {"runs on": ("text", supported)},
    "providers": {"kind": ("id", text("kind")), "devices at most": ("number", number("max_devices"))},
    "stacks": {"name": ("text", text("name"))},
    "migrations": {"framework": ("text", text("framework"))},
    "sources": {"what": ("text", text("what")), "version": ("text", text("version"))},
}
UNITS: Mapping[str, Callable[[float], str]] = {  # of fields in SI, where a record is told whole
    "peak": lambda value: f"{value / 1e12:,.5g} TFLOP/s",
    "launch_year": "{:.0f}".format,
    "memory": lambda value: f"{value / 1e9:,.5g} GB",  # as marketed
    **dict.fromkeys(("usable_memory", "host_memory", "buffers", "context", "communicator"), memory),
    **dict.fromkeys(("memory_bandwidth", "host_link", "bandwidth"), rate),
    **dict.fromkeys(("tdp", "power"), watts),
    **dict.fromkeys(("latency", "start", "launch", "layer_launch", "step_overhead"), words.seconds),
}


def catalog_report(kind: str, records: Sequence[Fields]) -> Iterator[RenderableType]:
    """A line a record; every field stands in the JSON."""
    columns = {**ID, **COLUMNS[kind], **({} if kind == "sources" else DATE)}
    if kind == "offerings":
        records = sorted(records, key=lambda record: record["usd_per_device_hour"])
    rows = ([cell(record) for _, cell in columns.values()] for record in records)
    yield table({name: how for name, (how, _) in columns.items()}, rows)
    yield line(f"{len(records):,} {kind}; --json gives every field, with its source", "dim")


def check_report(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Of a catalog that keeps every rule."""
    counts = words.joined([f"{count:,} {kind}" for kind, count in found["records"].items()], "and")
    yield line(f"The catalog of {found['date']} keeps every rule: {counts}.")


def record_report(kind: str, record: Fields) -> Iterator[RenderableType]:
    """One record: every field that says something, and its sources."""
    yield heading(f"{kind}/{record['id']}")
    yield labelled((name, told) for name, value in record.items() if (told := _told(name, value)))
    if cited := record.get("sources"):
        yield heading("Sources")
        yield labelled((name, _source(fields)) for name, fields in cited.items())


def _told(name: str, value: Any, unit: str = "") -> str:
    """A value in words; nothing for what is not stated."""
    unit = unit or name
    if value is None or value in ("", [], {}) or name in ("id", "sources"):
        return ""
    if isinstance(value, Mapping):
        told = {key: _told(key, item, unit if name in UNITS else key) for key, item in value.items()}
        nested = {key: f"({told[key]})" if isinstance(value[key], Mapping) else told[key] for key in told}
        return "; ".join(f"{key} {item}" for key, item in nested.items() if item)
    if isinstance(value, list):
        return "; ".join(_told(name, item) for item in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return UNITS[unit](float(value)) if unit in UNITS else f"{value:,.12g}"


def _source(fields: Fields) -> str:
    parts = [fields.get(name) for name in ("what", "where", "version")]
    return "; ".join(str(part) for part in parts if part)


def difference_report(found: Fields) -> Iterator[RenderableType]:
    """What two catalogs do not share."""
    stamps = [f"{found[end]['date']} ({found[end]['hash']})" for end in ("old", "new")]
    yield line(f"From the catalog of {stamps[0]} to that of {stamps[1]}")
    for kind, told in found["kinds"].items():
        yield heading(kind)
        yield listed(f"{what} {name}" for what in ("added", "removed") for name in told[what])
        yield labelled((c["id"], f"{c['field']}: {c['from']} -> {c['to']}") for c in told["changed"])
    if found["prices"]:
        yield heading("Prices, USD an hour")
        yield labelled((p["id"], _moved(p)) for p in found["prices"])
    if not found["kinds"]:
        yield line("They hold the same records.")


def _moved(price: Fields) -> str:
    change = price["change_pct"]
    told = f"{price['from_usd']:,.4g} -> {price['to_usd']:,.4g}"
    return told if change is None else f"{told} ({change:+.1f}%)"
