"""The report of `validate`: predicted against measured, in sum, by device and row by row."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from solver.report import words
from solver.report.page import heading, indented, labelled, listed, table
from solver.report.words import Fields

GROUPS = {"device": "id", "rows": "number", "step time": "number", "median": "number", "bias": "number"}
ROWS = {"run": "text", "predicted": "number", "measured": "number", "error": "number", "memory": "number"}


def validation_report(found: Fields) -> Iterator[RenderableType]:
    """Every row first, sums last: where a terminal stops."""
    yield heading("Run by run (memory: error of the predicted peak)")
    yield indented(table(ROWS, (_row(result) for result in found["results"])))
    if found["skipped"]:
        yield heading("Skipped")
        yield listed(_reasons(found["skipped"]))
    yield heading("By device (mean and median absolute error, mean error)")
    yield indented(table(GROUPS, (_group(name, group) for name, group in found["by_device"].items())))
    yield heading(f"{found['evaluated']:,} of {found['rows']:,} runs evaluated")
    yield labelled(_sums(found))


def _reasons(skipped: Sequence[Fields]) -> Iterator[str]:
    """Each reason with the runs that it stands for."""
    runs: dict[str, list[str]] = {}
    for one in skipped:
        runs.setdefault(one["reason"], []).append(one["id"])
    return (f"{reason}: {words.joined(ids, 'and')}" for reason, ids in runs.items())


def _sums(found: Fields) -> Iterator[tuple[str, str]]:
    yield "step time", f"{_pct(found['step_time_mape_pct'])} mean absolute error"
    yield "", f"{_pct(found['step_time_median_ape_pct'])} median, {_pct(found['within_10_pct'])} within 10%"
    yield "memory", f"{_pct(found['memory_mape_pct'])} mean absolute error"


def _pct(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}%"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}%"


def _group(name: str, group: Fields) -> tuple[str, ...]:
    mean, median = _pct(group["step_time_mape_pct"]), _pct(group["step_time_median_ape_pct"])
    return name, f"{group['rows']:,}", mean, median, _signed(group["step_time_bias_pct"])


def _row(result: Fields) -> tuple[str, ...]:
    measured = result["measured_step_time_s"]
    return (
        result["id"],
        words.seconds(result["step_time_s"]),
        "-" if measured is None else words.seconds(measured),
        _signed(result["error_pct"]),
        _signed(result["memory_error_pct"]),
    )
