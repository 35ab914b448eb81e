"""Error bands: how far measured times lie from predicted ones, by family of devices and framework."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from solver.catalog import Catalog
from solver.validation.report import Report, Result

ANY = "*"
LEAST = 6  # runs that make a band of their own
INSIDE = (10.0, 90.0)  # percentiles: four of five runs lie inside


class Band(NamedTuple):
    """Measured over predicted step time, as shares: four of five runs lie between low and high.

    family, framework   of the runs; `*`: all of them
    """

    family: str
    framework: str
    runs: int
    low: float
    high: float


def bands(report: Report, catalog: Catalog) -> list[Band]:
    """A band for each family and framework with enough runs, for each family, each framework, and for all."""
    timed = [r for r in report.results if r.measured_step_time_s is not None]
    family = {r.device: catalog.devices[r.device].family for r in timed}
    keys = {(f, w) for r in timed for f in (family[r.device], ANY) for w in (r.framework, ANY)}
    found = []
    for group, framework in sorted(keys):
        inside = [r for r in timed if group in (ANY, family[r.device]) and framework in (ANY, r.framework)]
        if len(inside) >= LEAST:
            found.append(Band(group, framework, len(inside), *_limits(inside)))
    return found


def _limits(results: Iterable[Result]) -> tuple[float, float]:
    ratios = [(r.measured_step_time_s or 0.0) / r.step_time_s for r in results]
    low, high = np.percentile(ratios, INSIDE)
    return round(float(low), 3), round(float(high), 3)


def write(path: Path, found: Iterable[Band]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Band._fields)
        writer.writerows(found)
