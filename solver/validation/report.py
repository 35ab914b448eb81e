"""What `validate` prints: every run predicted, and how far off the predictions are in sum."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, PlainSerializer

from solver.catalog import Catalog, load
from solver.validation.predict import Skip, predict
from solver.validation.ranking import Timed, key_of, order_of
from solver.validation.rows import Row, read

Rounded = Annotated[float, PlainSerializer(lambda x: float(f"{x:.9g}"), return_type=float)]


class Entry(BaseModel):
    """Frozen, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Skipped(Entry):
    id: str
    reason: str


class Result(Entry):
    """One run. Errors are predicted over measured, less one; None where nothing was measured."""

    id: str
    device: str
    framework: str
    source: str
    model: str
    precision: str
    step_time_s: Rounded
    measured_step_time_s: Rounded | None
    error_pct: Rounded | None
    peak_mem_gib: Rounded
    measured_peak_mem_gib: Rounded | None
    memory_error_pct: Rounded | None
    parts: dict[str, Rounded]


class Summary(Entry):
    """Errors of a group of runs in per cent; of step time unless said."""

    rows: int
    step_time_mape_pct: Rounded | None
    step_time_median_ape_pct: Rounded | None
    step_time_bias_pct: Rounded | None
    within_10_pct: Rounded | None
    memory_mape_pct: Rounded | None


class Ordering(Entry):
    """Of groups of runs that share model, devices, batch and software, and differ in their layout."""

    groups: int
    pairs: int
    pairs_right_pct: Rounded | None
    regret_mean_pct: Rounded | None
    regret_worst_pct: Rounded | None


class Report(Entry):
    rows: int
    evaluated: int
    skipped: list[Skipped]
    step_time_mape_pct: Rounded | None
    step_time_median_ape_pct: Rounded | None
    step_time_bias_pct: Rounded | None
    within_10_pct: Rounded | None
    memory_mape_pct: Rounded | None
    by_device: dict[str, Summary]
    by_framework: dict[str, Summary]
    by_model: dict[str, Summary]
    by_precision: dict[str, Summary]
    by_source: dict[str, Summary]
    ordering: Ordering
    ordering_by_source: dict[str, Ordering]
    results: list[Result]


def validate(path: str | Path, catalog: Catalog | None = None) -> Report:
    """Every run of a runs file, predicted. Raises InputError where the file cannot be read."""
    rows, known = read(path), catalog or load(None)
    skipped: list[Skipped] = []
    results: list[Result] = []
    for row in rows:
        try:
            results.append(result_of(row, known))
        except Skip as skip:
            skipped.append(Skipped(id=row.id, reason=str(skip)))
    return report_of(rows, skipped, results)


def ordering(rows: Iterable[Row], results: Iterable[Result]) -> Ordering:
    keys = {row.id: key_of(row.cells) for row in rows}
    groups: dict[tuple[str, ...], list[Timed]] = {}
    for result in results:
        if result.measured_step_time_s is not None:
            run = Timed(result.step_time_s, result.measured_step_time_s)
            groups.setdefault(keys[result.id], []).append(run)
    found = order_of(groups.values())
    regret = 100 * np.array(found.regret)
    return Ordering(
        groups=found.groups,
        pairs=found.pairs,
        pairs_right_pct=100 * found.right / found.pairs if found.pairs else None,
        regret_mean_pct=float(regret.mean()) if len(regret) else None,
        regret_worst_pct=float(regret.max()) if len(regret) else None,
    )


def result_of(row: Row, catalog: Catalog) -> Result:
    """Raises Skip."""
    time_s, memory = row.number("step_time_s"), row.number("peak_mem_gib")
    if time_s is None and memory is None:
        raise Skip("neither a step time nor a peak memory was measured")
    predicted = predict(row, catalog)
    return Result(
        id=row.id,
        device=row.text("device"),
        framework=predicted.framework,
        source=row.id.split("-")[0],
        model=row.text("arch_key") or row.text("model_name"),
        precision=row.text("precision"),
        step_time_s=predicted.step_time_s,
        measured_step_time_s=time_s,
        error_pct=_error_pct(predicted.step_time_s, time_s),
        peak_mem_gib=predicted.peak_mem_gib,
        measured_peak_mem_gib=memory,
        memory_error_pct=_error_pct(predicted.peak_mem_gib, memory),
        parts={name: float(values[0]) for name, values in predicted.step.parts().items()},
    )


def _error_pct(predicted: float, measured: float | None) -> float | None:
    return 100 * (predicted / measured - 1) if measured else None


def report_of(rows: list[Row], skipped: list[Skipped], results: list[Result]) -> Report:
    total = summary(results)
    groups = {
        f"by_{name}": {
            key: summary(r for r in results if getattr(r, name) == key) for key in _keys(results, name)
        }
        for name in ("device", "framework", "model", "precision", "source")
    }
    figures = total.model_dump(exclude={"rows"})
    by_source = {
        name: ordering(rows, [r for r in results if r.source == name]) for name in _keys(results, "source")
    }
    return Report(
        rows=len(rows),
        evaluated=len(results),
        skipped=skipped,
        results=results,
        ordering=ordering(rows, results),
        ordering_by_source={name: found for name, found in by_source.items() if found.groups},
        **figures,
        **groups,
    )


def _keys(results: list[Result], name: str) -> list[str]:
    return sorted({getattr(result, name) for result in results})


def summary(results: Iterable[Result]) -> Summary:
    """None where a group has no measured value of a kind."""
    found = list(results)
    errors = np.array([r.error_pct for r in found if r.error_pct is not None])
    memory = np.array([r.memory_error_pct for r in found if r.memory_error_pct is not None])
    timed = len(errors) > 0
    return Summary(
        rows=len(found),
        step_time_mape_pct=float(np.abs(errors).mean()) if timed else None,
        step_time_median_ape_pct=float(np.median(np.abs(errors))) if timed else None,
        step_time_bias_pct=float(errors.mean()) if timed else None,
        within_10_pct=float(100 * (np.abs(errors) <= 10).mean()) if timed else None,
        memory_mape_pct=float(np.abs(memory).mean()) if len(memory) else None,
    )
