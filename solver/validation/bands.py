"""Error bands for plans: where measured step times lie around predictions that never saw them.

A run whose id stands in catalogs/runs/left_out.csv takes the time predicted there by constants that were
fitted without its source; no constant was fitted on any other run, and its plain prediction stands. How much
such a band can be taken for is a matter of evidence: what other sources say of the device and the software of
the run. A plan is one more source, and takes the band of the same evidence.
"""

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from io import StringIO
from typing import NamedTuple

import numpy as np

from solver.catalog import Catalog
from solver.catalog.accuracy import ANY, KINDS, LEVELS, NOISE
from solver.physics.hardware import Floats
from solver.record_files import shipped_folder
from solver.validation.generations import CURRENT
from solver.validation.report import Report, Result

LEAST, SOURCES = 12, 5  # runs, and sources of them, that make a band of their own
INSIDE = (0.1, 0.9)  # four of five runs lie between these quantiles
UNKNOWN = 0.25  # to either side at least, where no run is of a device's family, or of a level
ORIGIN = "published-runs"
MODELS: Mapping[tuple[str, ...], str] = {("dense",): "dense", ("moe",): "MoE"}
SCOPES = {
    "generation": "where others had run this software on the device",
    "device": "where others had run the device, but not this software on it",
    "family": "where others had run devices of its family alone",
    "none": "where nobody else had run a device of its family",
}


class Unseen(NamedTuple):
    """A run as predicted without its source. ratio: measured over predicted; level: of LEVELS."""

    run: Result
    family: str
    ratio: float
    level: str


class Limits(NamedTuple):
    """Of so many runs and sources, measured over predicted: four of five lie between low and high."""

    runs: int
    sources: int
    models: str
    low: float
    high: float


class Band(NamedTuple):
    """A row of catalogs/accuracy.csv; see solver.catalog.accuracy.Band."""

    id: str
    level: str
    scope: str
    runs: int
    sources: int
    low: float
    high: float
    source: str
    date: str


@cache
def left_out() -> Mapping[str, float]:
    """Step time of each run by a fit without its source. [s]"""
    path = shipped_folder() / "runs" / "left_out.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: float(row["step_time_s"]) for row in csv.DictReader(file)}


def unseen(results: Iterable[Result], catalog: Catalog, alone: Mapping[str, float]) -> list[Unseen]:
    """Every timed run, with what the other sources say of its device and software. alone: see left_out."""
    timed = [r for r in results if r.measured_step_time_s]
    family = {r.device: catalog.devices[r.device].family for r in timed}
    who: dict[tuple[str, ...], set[str]] = {}
    for r in timed:
        for key in _keys(r, family):
            who.setdefault(key, set()).add(r.source)
    found = []
    for r in timed:
        ratio = (r.measured_step_time_s or 0.0) / alone.get(r.id, r.step_time_s)
        spoken = (len(who[key]) > 1 for key in _keys(r, family))  # by more than its own source
        level = next((level for level, others in zip(LEVELS, spoken, strict=False) if others), LEVELS[-1])
        found.append(Unseen(r, family[r.device], ratio, level))
    return found


def _keys(run: Result, family: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """What a run is evidence of, in the order of LEVELS."""
    return (run.device, run.framework, run.generation), (run.device,), ("", family[run.device])


def bands_of(report: Report, catalog: Catalog) -> list[Band]:
    """For each device and framework with runs of today's generation, each device, each family, and any."""
    runs = unseen(report.results, catalog, left_out())
    pairs = {(u.run.device, u.run.framework) for u in runs if u.run.generation == CURRENT}
    whose = {
        "generation": {f"{device}/{framework}" for device, framework in pairs},
        "device": {f"{u.run.device}/{ANY}" for u in runs},
        "family": {f"{u.family}/{ANY}" for u in runs},
        "none": {f"{ANY}/{ANY}"},
    }
    found = []
    for kind in KINDS:
        pooled = pooled_by_level(runs, kind)
        for level, name in ((level, name) for level, names in whose.items() for name in sorted(names)):
            own = _own(runs, name, kind) if level == LEVELS[0] else []
            limits = limits_of(own) if own else pooled[level]
            where = f"on {name.replace('/', ' with ')}" if own else SCOPES[level]
            scope = f"of {limits.models} models {where}"
            figures = (limits.runs, limits.sources, limits.low, limits.high)
            found.append(Band(f"{name}/{kind}", level, scope, *figures, ORIGIN, catalog.date))
    return found


def _own(runs: Iterable[Unseen], pair: str, kind: str) -> list[Unseen]:
    """A device's own runs with a framework that others speak of too, where there are enough of them."""
    own = [u for u in runs if f"{u.run.device}/{u.run.framework}/{u.run.kind}" == f"{pair}/{kind}"]
    return enough([u for u in own if u.level == LEVELS[0]])


def enough(runs: list[Unseen]) -> list[Unseen]:
    """The runs, if they make a band; else none."""
    return runs if len(runs) >= LEAST and len({u.run.source for u in runs}) >= SOURCES else []


def pooled_by_level(runs: list[Unseen], kind: str) -> dict[str, Limits]:
    """Of all runs of a level and kind, or of both kinds; less evidence never makes a band narrower."""
    found: dict[str, Limits] = {}
    low, high = 1.0, 1.0
    for level in LEVELS:
        both = [u for u in runs if u.level == level]
        own = enough([u for u in both if u.run.kind == kind]) or both
        limits = limits_of(own) if own else Limits(0, 0, "all", low, high)
        spare = UNKNOWN if level == LEVELS[-1] or not own else 0.0
        low, high = min(low, limits.low, 1 - spare), max(high, limits.high, 1 + spare)
        found[level] = limits._replace(low=low, high=high)
    return found


def limits_of(runs: list[Unseen]) -> Limits:
    """At least the noise to either side. A source weighs as the square root of its runs."""
    sources = [u.run.source for u in runs]
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    low, high = quantiles(np.array([u.ratio for u in runs]), weights)
    models = MODELS.get(tuple({u.run.kind for u in runs}), "all")
    return Limits(len(runs), len(set(sources)), models, min(low, 1 - NOISE), max(high, 1 + NOISE))


def quantiles(values: Floats, weights: Floats) -> tuple[float, float]:
    """Of weighted values, to a thousandth: each stands in the middle of its weight."""
    order = np.argsort(values, kind="stable")
    ranks = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    low, high = np.interp(INSIDE, ranks, values[order])
    return round(float(low), 3), round(float(high), 3)


def bands_text(bands: Iterable[Band]) -> str:
    """As catalogs/accuracy.csv has them."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Band._fields)
    writer.writerows(bands)
    return text.getvalue()
