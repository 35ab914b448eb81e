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
from solver.catalog.accuracy import ANY, LEVELS, NOISE
from solver.physics.hardware import Floats
from solver.record_files import shipped_folder
from solver.validation.generations import CURRENT
from solver.validation.report import Report, Result

LEAST = 12  # runs, of two sources or more, that make a band of their own
INSIDE = (0.1, 0.9)  # four of five runs lie between these quantiles
UNKNOWN = 0.25  # to either side at least, where no run is of a device's family
ORIGIN = "published-runs"
SCOPES = {
    "generation": "of devices with software that others had run on them",
    "device": "of devices with software that nobody else had run on them",
    "family": "of devices that nobody else had run, but for others of their family",
    "none": "of devices of which nobody else had run any of the family",
}


class Unseen(NamedTuple):
    """A run as predicted without its source. ratio: measured over predicted; level: of LEVELS."""

    run: Result
    family: str
    ratio: float
    level: str


class Limits(NamedTuple):
    """Measured over predicted: four of five runs lie between low and high."""

    low: float
    high: float
    runs: int
    sources: int


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


def unseen(report: Report, catalog: Catalog) -> list[Unseen]:
    """Every timed run, with what the other sources say of its device and software."""
    timed = [r for r in report.results if r.measured_step_time_s]
    family = {r.device: catalog.devices[r.device].family for r in timed}
    who: dict[tuple[str, ...], set[str]] = {}
    for r in timed:
        for key in _keys(r, family):
            who.setdefault(key, set()).add(r.source)
    alone = left_out()
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
    """A band for each device and framework with runs of today's generation, each device, family, and any."""
    runs = unseen(report, catalog)
    pooled = pooled_by_level(runs)
    pairs = sorted({(u.run.device, u.run.framework) for u in runs if u.run.generation == CURRENT})
    scopes = [("device", {u.run.device for u in runs}), ("family", {u.family for u in runs}), ("none", {ANY})]
    found = [
        (f"{device}/{framework}", "generation", *_of_pair(runs, (device, framework), pooled["generation"]))
        for device, framework in pairs
    ] + [
        (f"{name}/{ANY}", level, SCOPES[level], pooled[level])
        for level, names in scopes
        for name in sorted(names)
    ]
    return [
        Band(name, level, scope, own.runs, own.sources, own.low, own.high, ORIGIN, catalog.date)
        for name, level, scope, own in found
    ]


def _of_pair(runs: Iterable[Unseen], pair: tuple[str, str], pooled: Limits) -> tuple[str, Limits]:
    """Of a device's own runs with a framework that others speak of, where there are enough; else of all."""
    own = [u for u in runs if (u.run.device, u.run.framework) == pair and u.level == "generation"]
    if len(own) >= LEAST and len({u.run.source for u in own}) > 1:
        return f"of {pair[0]} with {pair[1]}", limits_of(own)
    return SCOPES["generation"], pooled


def pooled_by_level(runs: Iterable[Unseen]) -> dict[str, Limits]:
    """Of all runs of a level; less evidence never makes a band narrower."""
    runs = list(runs)
    found: dict[str, Limits] = {}
    low, high = 1.0, 1.0
    for level in LEVELS:
        own = [u for u in runs if u.level == level]
        limits = limits_of(own) if own else Limits(low, high, 1, 1)
        spare = UNKNOWN if level == "none" else 0.0
        low, high = min(low, limits.low, 1 - spare), max(high, limits.high, 1 + spare)
        found[level] = limits._replace(low=low, high=high)
    return found


def limits_of(runs: list[Unseen]) -> Limits:
    """At least the noise to either side. A source weighs as the square root of its runs."""
    sources = [u.run.source for u in runs]
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    low, high = quantiles(np.array([u.ratio for u in runs]), weights)
    return Limits(min(low, 1 - NOISE), max(high, 1 + NOISE), len(runs), len(set(sources)))


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
