"""The report of `validate`: predicted against measured, in sum, by device and row by row."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from solver.report import words
from solver.report.page import heading, indented, labelled, listed, table
from solver.report.words import Fields

COLUMNS = {"runs": "number", "step time": "number", "median": "number", "bias": "number"}
SUMS = {
    "by_device": "By device",
    "by_framework": "By framework",
    "by_family": "By model family",
    "by_kind": "Dense models and mixtures of experts",
    "by_precision": "By precision",
    "by_source": "By source",
}
ROWS = {"run": "text", "predicted": "number", "measured": "number", "error": "number", "memory": "number"}


def validation_report(found: Fields) -> Iterator[RenderableType]:
    """Every row first, sums last: where a terminal stops."""
    yield heading("Run by run (memory: error of the predicted peak)")
    yield indented(table(ROWS, (_row(result) for result in found["results"])))
    if found["skipped"]:
        yield heading("Skipped")
        yield listed(_reasons(found["skipped"]))
    for name, groups in found.items():
        if name in SUMS:
            yield heading(f"{SUMS[name]} (mean and median absolute error, mean error)")
            columns = {name.removeprefix("by_"): "id", **COLUMNS}
            yield indented(table(columns, (_group(key, group) for key, group in groups.items())))
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
    yield "", f"{_signed(found['step_time_bias_pct'])} mean error: above 0, predictions are too slow"
    yield "memory", f"{_pct(found['memory_mape_pct'])} mean absolute error"
    if (order := found["order"])["pairs"]:
        right = (
            f"{_pct(order['pairs_right_pct'])} of {order['pairs']:,} pairs of layouts in the measured order"
        )
        yield "order", right
        mean, worst = _pct(order["regret_mean_pct"]), _pct(order["regret_worst_pct"])
        yield (
            "regret",
            f"{mean} mean, {worst} worst, of the layout predicted fastest in {order['groups']} groups",
        )


def _pct(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}%"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}%"


def _group(name: str, group: Fields) -> tuple[str, ...]:
    mean, median = _pct(group["step_time_mape_pct"]), _pct(group["step_time_median_ape_pct"])
    return name, f"{group['timed']:,}", mean, median, _signed(group["step_time_bias_pct"])


def _row(result: Fields) -> tuple[str, ...]:
    measured = result["measured_step_time_s"]
    return (
        result["id"],
        words.seconds(result["step_time_s"]),
        "-" if measured is None else words.seconds(measured),
        _signed(result["error_pct"]),
        _signed(result["memory_error_pct"]),
    )
