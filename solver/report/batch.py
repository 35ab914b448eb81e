"""The report of `batch`: each variant with its best plan, those without one and why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import RenderableType

from solver.report import words
from solver.report.page import heading, indented, line, table
from solver.report.words import Fields

WORDS = ("null", "true", "false")
SHOWN = 60  # variants that a terminal is asked to take
COLUMNS = {
    "variant": "text",
    "best": "text",
    "devices": "number",
    "time": "number",
    "USD": "number",
    "MFU": "number",
}


class Best(NamedTuple):
    """The first plan of a variant."""

    device: str
    provider: str
    devices: int
    days: float
    usd: float
    mfu_pct: float


class Row(NamedTuple):
    """What a summary keeps of a record. best: None where there is no plan; why: what stands in its place."""

    problem: str
    name: str
    set: Mapping[str, str]
    status: str
    best: Best | None
    why: str


def row_of(record: Fields) -> Row:
    """A record in short."""
    given = dict(record["set"])
    return Row(
        record["problem"], record.get("name", ""), given, record["status"], _best(record), _why(record)
    )


def _best(record: Fields) -> Best | None:
    plans = record.get("answer", {}).get("plans")
    if not plans:
        return None
    plan = plans[0]
    numbers = (plan["time"]["days"], plan["cost"]["total_usd"], plan["time"]["mfu_pct"])
    return Best(plan["device"], plan["provider"], plan["devices"], *numbers)


def _why(record: Fields) -> str:
    if record["status"] == "error":
        error = record["error"]
        more = len(record.get("faults", ())) - 1
        told = ": ".join(part for part in (error["field"], error["message"]) if part)
        return f"{told} (and {more} more)" if more > 0 else told
    conflict = record["answer"]["conflict"]
    return f"clash: {words.joined(conflict, 'and')}" if conflict else ""


def labels(rows: Sequence[Row]) -> list[str]:
    """What to call each variant: its name and settings; its problem too where there are several."""
    several = len({row.problem for row in rows}) > 1
    return [_label(row, several=several) for row in rows]


def _label(row: Row, *, several: bool) -> str:
    given = ", ".join(_told(field, text) for field, text in row.set.items())
    own = [part for part in (row.name, given) if part]
    return ": ".join([row.problem] * (several or not own) + own)


def _told(field: str, text: str) -> str:
    """A setting; what names its unit or is a word needs no field before it."""
    return text if text.rstrip()[-1:].isalpha() and text not in WORDS else f"{short(field)} {text}"


def short(field: str) -> str:
    """limits.max_devices -> max devices."""
    return field.rpartition(".")[2].replace("_", " ")


def counted(rows: Iterable[Row]) -> str:
    """40 optimal, 8 infeasible, 1 error."""
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{count:,} {status}" for status, count in counts.most_common())


def batch_report(rows: Sequence[Row], where: str) -> Iterator[RenderableType]:
    """where: the file that holds every record."""
    named = list(zip(labels(rows), rows, strict=True))
    planned = [(label, row.best) for label, row in named if row.best]
    if planned:
        yield heading("Best plans")
        yield indented(table(COLUMNS, (_cells(label, best) for label, best in planned[:SHOWN])))
        yield from _rest(len(planned))
    without = [(label, row.why or row.status) for label, row in named if row.best is None]
    if without:
        yield heading("Without a plan")
        yield indented(table({"variant": "text", "why": "text"}, without[:SHOWN]))
        yield from _rest(len(without))
    yield heading(f"{words.plural(len(rows), 'variant')}: {counted(rows)}; in {where}")


def _rest(count: int) -> Iterator[RenderableType]:
    if count > SHOWN:
        yield line(f"... and {count - SHOWN:,} more")


def _cells(label: str, best: Best) -> tuple[str, ...]:
    return (
        label,
        f"{best.device}, {best.provider}",
        f"{best.devices:,}",
        words.days(best.days),
        words.money(best.usd),
        words.percent(best.mfu_pct),
    )


def fields_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The swept fields, each with its values in the order in which they were given first."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for field, text in {"problem": row.problem, **row.set}.items():
            found.setdefault(field, {})[text] = None
    return {field: list(texts) for field, texts in found.items() if len(texts) > 1}
