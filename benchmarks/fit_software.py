"""Refit the constants of time that published runs speak of, from a neutral start, on those runs alone.

    python benchmarks/fit_software.py                            fit, and compare with the catalog
    python benchmarks/fit_software.py --leave-out [SOURCE ...]   predict sources by fits without them

Least squares of ln(predicted / measured), soft beyond 5 % (a run that is far off pulls as one that is less
so); a source weighs as the square root of its runs, lest tables of two hundred drown those of eight.
Constants start at software.RANGES and are held there weakly (a factor e counts as one run that is 5 % off),
so that those of which no run speaks stay there.

The fit is kept in benchmarks/fitted.csv. Leaving out starts from it: constants of which no other source
speaks fall back to the mean of their like in other generations of the framework (else in any, else to
neutral), and those of which the source speaks are refitted on runs of the others that
speak of them too (at most 48 of a source), by the slopes at the fit; the rest keep their fitted values, in
which what is left of the source is of second order. (Started from neutral with slopes of their own the
sources come out within a point of this, for ten times the time.) Results are kept in
catalogs/runs/left_out.csv as they come, one row a run, with the fit that they started from; sources that
stand there under the kept fit are not fitted again unless they are named. The fit takes four minutes of a
core, leaving out two. benchmarks/accuracy.py makes the table of docs/accuracy.md and the bands of plans of
them.
"""

import argparse
import csv
import hashlib
import sys
import time
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parent))

from software import RANGES, constants_of, places_of, with_values

from solver.catalog import Catalog, load
from solver.physics.hardware import Floats
from solver.validation.predict import predict
from solver.validation.rows import Row, read

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "catalogs" / "runs"
LEFT_OUT = RUNS / "left_out.csv"
FITTED = ROOT / "benchmarks" / "fitted.csv"
PAGE = ROOT / "docs" / "accuracy.md"
SOFT = 0.05  # relative error beyond which a run pulls less
DELTA = 0.02  # of a logarithm, for slopes
STEPS = 6  # of Gauss-Newton
MOST = 48  # runs of a source that speak when another is left out, evenly taken


class Run(NamedTuple):
    """A run with a measured step time. constants: places in the vector that it speaks of."""

    row: Row
    source: str
    measured_s: float
    constants: frozenset[int]


class Fit:
    """Runs, constants, and the logarithms of the latter as a vector (C,)."""

    def __init__(self, rows: Iterable[Row], catalog: Catalog) -> None:
        self.catalog = catalog
        everything = constants_of(catalog)
        spoken = [(row, places_of(row, catalog)) for row in rows if row.number("step_time_s")]
        every = set().union(*(places for _, places in spoken))
        self.constants = [c for c in everything if every & set(c.places)]
        self.silent = [c for c in everything if not every & set(c.places)]
        number = {place: i for i, c in enumerate(self.constants) for place in c.places}
        self.runs = [
            Run(
                row,
                row.source,
                float(row.text("step_time_s")),
                frozenset(number[p] for p in places & number.keys()),
            )
            for row, places in spoken
        ]

    @cached_property
    def start(self) -> Floats:
        return np.log([RANGES[c.field].start for c in self.constants])

    @cached_property
    def shipped(self) -> Floats:
        return np.log([c.value for c in self.constants])

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        ranges = [RANGES[c.field] for c in self.constants]
        return np.log([r.least for r in ranges]), np.log([r.most for r in ranges])

    def predicted_s(self, x: Floats, runs: Iterable[Run]) -> Floats:
        """Of the solver's own functions."""
        values = dict(zip(self.constants, np.exp(x).tolist(), strict=True))
        catalog = with_values(self.catalog, values)
        return np.array([predict(run.row, catalog).step_time_s for run in runs])

    def missed(self, x: Floats, runs: list[Run]) -> Floats:
        """ln(predicted / measured). (R,)"""
        return np.log(self.predicted_s(x, runs) / [run.measured_s for run in runs])

    def slopes(self, x: Floats, free: list[int], runs: list[Run], at: Floats) -> Floats:
        """Of `missed` by the free logarithms; a run counts for the constants it speaks of. (R, F)"""
        found = np.zeros((len(runs), len(free)))
        for column, constant in enumerate(free):
            mine = [i for i, run in enumerate(runs) if constant in run.constants]
            inward = -DELTA if x[constant] + DELTA > self.bounds[1][constant] else DELTA
            moved = x.copy()
            moved[constant] += inward
            found[mine, column] = (self.missed(moved, [runs[i] for i in mine]) - at[mine]) / inward
        return found

    def fitted(self, x: Floats, free: list[int], runs: list[Run], known: Floats | None = None) -> Floats:
        """The vector with its `free` entries fitted to the runs, the others as they are.

        known   slopes (R, F) that are taken at every step; None: computed anew
        """
        counts = {s: sum(run.source == s for run in runs) for s in {run.source for run in runs}}
        weight = np.array([counts[run.source] ** -0.25 for run in runs])
        prior = self.start[free]
        x = x.copy()

        def at(part: Floats) -> Floats:
            whole = x.copy()
            whole[free] = part
            return whole

        def cost(part: Floats) -> Floats:
            return np.concatenate([weight * self.missed(at(part), runs) / SOFT, part - prior])

        def slope(part: Floats) -> Floats:
            whole = at(part)
            inner = self.slopes(whole, free, runs, self.missed(whole, runs)) if known is None else known
            return np.vstack([weight[:, None] * inner / SOFT, np.eye(len(free))])

        bounds = tuple(side[free] for side in self.bounds)
        begun = np.clip(x[free], bounds[0] + 1e-6, bounds[1] - 1e-6)
        best = least_squares(
            cost, begun, jac=slope, bounds=bounds, loss="soft_l1", max_nfev=STEPS, ftol=2e-3, xtol=1e-3
        )
        return at(best.x)


class Leaving:
    """Fits without a source, from the fit to all of them: `fitted` (C,).

    Slopes are those at the fit, computed once; what is missed is computed anew at each step.
    """

    def __init__(self, fit: Fit, fitted: Floats) -> None:
        self.fit, self.fitted = fit, fitted
        self.speakers = thinned(fit.runs)
        every = list(range(len(fit.constants)))
        self.slopes = fit.slopes(fitted, every, self.speakers, fit.missed(fitted, self.speakers))

    def without(self, source: str) -> tuple[Floats, int]:
        """Predicted times of a source by a fit without it, and of how many constants nobody else speaks."""
        own = [run for run in self.fit.runs if run.source == source]
        free = set().union(*(run.constants for run in own))
        rows = [i for i, run in enumerate(self.speakers) if run.source != source and run.constants & free]
        others = [self.speakers[i] for i in rows]
        heard = sorted(free & set().union(*(run.constants for run in others)))
        silent = sorted(free - set(heard))
        x = self.fitted.copy()
        x[silent] = [self.of_relatives(constant, silent) for constant in silent]
        if heard:
            x = self.fit.fitted(x, heard, others, self.slopes[np.ix_(rows, heard)])
        return self.fit.predicted_s(x, own), len(silent)

    def of_relatives(self, constant: int, silent: list[int]) -> float:
        """The mean of its like: of generations of its frameworks, else of any; else neutral.

        Of matmuls 1, the rate of the kernel tables: hardly any generation states another.
        """
        own, known = self.fit.constants[constant], enumerate(self.fit.constants)
        if own.field == "matmul":
            return 0.0
        like = [
            (not set(c.owners).isdisjoint(own.owners), self.fitted[i])
            for i, c in known
            if c.field == own.field and i not in silent
        ]
        nearest = [value for near, value in like if near] or [value for _, value in like]
        return float(np.mean(nearest)) if nearest else float(self.fit.start[constant])


def thinned(runs: list[Run]) -> list[Run]:
    """At most MOST of each source, in their order."""
    by_source: dict[str, list[Run]] = {}
    for run in runs:
        by_source.setdefault(run.source, []).append(run)
    return [run for own in by_source.values() for run in own[:: -(-len(own) // MOST)]]


def write_fit(fit: Fit, x: Floats) -> None:
    """Every constant: as the catalog has it, as fitted."""
    with FITTED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("constant", "catalog", "fitted"))
        for constant, value in zip(fit.constants, np.exp(x), strict=True):
            writer.writerow((constant.name, f"{constant.value:.4g}", f"{value:.4g}"))


def read_fit(fit: Fit) -> Floats | None:
    """The kept fit, if it is of the constants that the catalog has today."""
    if not FITTED.exists():
        return None
    with FITTED.open(encoding="utf-8", newline="") as file:
        kept = {row["constant"]: float(row["fitted"]) for row in csv.DictReader(file)}
    names = [constant.name for constant in fit.constants]
    return np.log([kept[name] for name in names]) if kept.keys() == set(names) else None


def compare(fit: Fit, x: Floats) -> None:
    """Errors of the catalog's constants and of the fitted, and the constants that moved by a tenth."""
    for name, vector in (("neutral", fit.start), ("catalog", fit.shipped), ("fitted", x)):
        error = 100 * np.abs(np.expm1(fit.missed(vector, fit.runs)))
        within = 100 * (error <= 10).mean()
        print(
            f"{name}: {error.mean():.1f} % mean, {np.median(error):.1f} % median, {within:.0f} % within 10 %"
        )
    print(f"{len(fit.constants)} constants, {len(fit.runs)} runs; {len(fit.silent)} of which no run speaks")
    for constant, was, now in zip(fit.constants, np.exp(fit.shipped), np.exp(x), strict=True):
        if abs(now / was - 1) > 0.1:
            print(f"{constant.name}: {was:.4g} -> {now:.4g}")


def leave_out(fit: Fit, x: Floats, sources: list[str]) -> None:
    """Each source without its runs; kept as they come."""
    kept = {row["id"]: row for row in table()}
    leaving = Leaving(fit, x)
    stamp = hashlib.sha256(FITTED.read_bytes()).hexdigest()[:8]
    known = {row["source"] for row in kept.values() if row.get("fit") == stamp}
    for source in sources or sorted({run.source for run in fit.runs} - known):
        began = time.process_time()
        own = [run for run in fit.runs if run.source == source]
        seconds, silent = leaving.without(source)
        fitted = fit.predicted_s(x, own)
        kept |= {
            run.row.id: {
                "id": run.row.id,
                "source": source,
                "step_time_s": f"{alone:.5g}",
                "fitted_step_time_s": f"{whole:.5g}",
                "priors": str(silent),
                "fit": stamp,
            }
            for run, alone, whole in zip(own, seconds, fitted, strict=True)
        }
        write_table(kept.values())
        print(f"{source}: {len(own)} runs, {time.process_time() - began:.0f} s", flush=True)


def table() -> list[dict[str, str]]:
    """The kept predictions."""
    if not LEFT_OUT.exists():
        return []
    with LEFT_OUT.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_table(rows: Iterable[dict[str, str]]) -> None:
    with LEFT_OUT.open("w", encoding="utf-8", newline="") as file:
        names = ("id", "source", "step_time_s", "fitted_step_time_s", "priors", "fit")
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["source"], row["id"])))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--leave-out", nargs="*", metavar="SOURCE", help="none named: those not kept yet")
    parser.add_argument("--refit", action="store_true", help="fit anew, whatever is kept")
    asked = parser.parse_args()
    rows = [*read(RUNS / "published.csv"), *read(RUNS / "published_small.csv")]
    fit = Fit(rows, load())
    x = None if asked.refit else read_fit(fit)
    if x is None:
        every = list(range(len(fit.constants)))
        x = fit.fitted(fit.start, every, fit.runs)
        write_fit(fit, x)
    if asked.leave_out is None:
        compare(fit, x)
    else:
        leave_out(fit, x, asked.leave_out)


if __name__ == "__main__":
    main()
