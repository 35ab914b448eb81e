"""What `validate` prints: every run predicted, and how far off the predictions are in sum."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from solver.catalog import Catalog, load
from solver.plan import Number, Part, Parts
from solver.validation.doubts import doubts
from solver.validation.generations import generation_of
from solver.validation.predict import Skip, predict
from solver.validation.ranking import Timed, key_of, order_of
from solver.validation.rows import Row, read

GROUPS = ("device", "framework", "family", "model", "kind", "precision", "source")


class Skipped(Part):
    id: str
    reason: str


class Result(Part):
    """One run. Errors are predicted over measured, less one; None where nothing was measured.

    generation   of the framework: an era of its record, or `current`
    source       whose runs these are: what the id begins with
    family       of the model: the first word of its name; kind: dense, or moe
    """

    id: str
    device: str
    framework: str
    generation: str
    source: str
    model: str
    family: str
    kind: str
    precision: str
    step_time_s: Number
    measured_step_time_s: Number | None
    error_pct: Number | None
    peak_mem_gib: Number
    measured_peak_mem_gib: Number | None
    memory_error_pct: Number | None
    parts: Parts


class Summary(Part):
    """Errors of a group of runs in per cent; of step time unless said. timed: runs with a step time."""

    rows: int
    timed: int
    step_time_mape_pct: Number | None
    step_time_median_ape_pct: Number | None
    step_time_bias_pct: Number | None
    within_10_pct: Number | None
    within_25_pct: Number | None
    memory_mape_pct: Number | None


class Ordering(Part):
    """Of groups of runs that share model, devices, batch and software, and differ in their layout."""

    groups: int
    pairs: int
    pairs_right_pct: Number | None
    regret_mean_pct: Number | None
    regret_worst_pct: Number | None


class Report(Summary):
    """Of all runs. rows: those of the file, evaluated or skipped."""

    evaluated: int
    skipped: list[Skipped]
    by_device: dict[str, Summary]
    by_framework: dict[str, Summary]
    by_family: dict[str, Summary]
    by_model: dict[str, Summary]
    by_kind: dict[str, Summary]
    by_precision: dict[str, Summary]
    by_source: dict[str, Summary]
    order: Ordering
    order_by_source: dict[str, Ordering]
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
    if odd := list(doubts(row)):
        raise Skip("; ".join(odd))
    predicted = predict(row, catalog)
    model = row.text("arch_key") or row.text("model_name")
    return Result(
        id=row.id,
        device=row.text("device"),
        framework=predicted.framework,
        generation=generation_of(row, catalog),
        source=row.source,
        model=model,
        family=family_of(model),
        kind="moe" if row.integer("experts", 0) > 1 else "dense",
        precision=row.text("precision"),
        step_time_s=predicted.step_time_s,
        measured_step_time_s=time_s,
        error_pct=_error_pct(predicted.step_time_s, time_s),
        peak_mem_gib=predicted.peak_mem_gib,
        measured_peak_mem_gib=memory,
        memory_error_pct=_error_pct(predicted.peak_mem_gib, memory),
        parts={name: float(values[0]) for name, values in predicted.step.parts().items()},
    )


def family_of(model: str) -> str:
    """The first word of a model's name."""
    word = re.search(r"[a-z]+", model.lower())
    return word.group() if word else "unnamed"


def _error_pct(predicted: float, measured: float | None) -> float | None:
    return 100 * (predicted / measured - 1) if measured else None


def report_of(rows: list[Row], skipped: list[Skipped], results: list[Result]) -> Report:
    figures = summary(results).model_dump(exclude={"rows"})
    groups = {f"by_{name}": summaries(results, name) for name in GROUPS}
    order = {name: ordering(rows, own) for name, own in grouped(results, "source").items()}
    return Report(
        rows=len(rows),
        evaluated=len(results),
        skipped=skipped,
        results=results,
        order=ordering(rows, results),
        order_by_source={name: found for name, found in order.items() if found.groups},
        **figures,
        **groups,
    )


def grouped(results: Iterable[Result], name: str) -> dict[str, list[Result]]:
    """Results by what stands in a field, in the order of their names."""
    found: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        found[getattr(result, name)].append(result)
    return dict(sorted(found.items()))


def summaries(results: Iterable[Result], name: str) -> dict[str, Summary]:
    return {key: summary(group) for key, group in grouped(results, name).items()}


def summary(results: Iterable[Result]) -> Summary:
    """None where a group has no measured value of a kind."""
    found = list(results)
    errors = np.array([r.error_pct for r in found if r.error_pct is not None])
    memory = np.array([r.memory_error_pct for r in found if r.memory_error_pct is not None])
    timed = len(errors) > 0
    return Summary(
        rows=len(found),
        timed=len(errors),
        step_time_mape_pct=float(np.abs(errors).mean()) if timed else None,
        step_time_median_ape_pct=float(np.median(np.abs(errors))) if timed else None,
        step_time_bias_pct=float(errors.mean()) if timed else None,
        within_10_pct=_within(errors, 10),
        within_25_pct=_within(errors, 25),
        memory_mape_pct=float(np.abs(memory).mean()) if len(memory) else None,
    )


def _within(errors: npt.NDArray[np.float64], most: float) -> float | None:
    """Share of errors of at most so many per cent. [%]"""
    return float(100 * (np.abs(errors) <= most).mean()) if len(errors) else None
