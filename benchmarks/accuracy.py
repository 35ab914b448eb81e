"""Write the tables and the plot of docs/accuracy.md, and the bands in catalogs/accuracy.csv: `python
benchmarks/accuracy.py [--check]`.

The tables stand between `<!-- name -->` and `<!-- /name -->`; what is around them is written by hand. What a
source looks like without its runs is read from catalogs/runs/left_out.csv (fit_software.py).
"""

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from constants import filled, write

from solver.catalog import load
from solver.report.accuracy import Cells, sums, table, tables
from solver.report.scatter import series_of, svg
from solver.validation import Report, bands_of, bands_text, validate
from solver.validation.bands import LEVELS, left_out, limits_of, unseen

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "catalogs" / "runs"
PAGE = ROOT / "docs" / "accuracy.md"
PLOT = ROOT / "docs" / "accuracy.svg"
ERRORS = ("mean %", "median %", "within 10 %")


class Alone(NamedTuple):
    """Runs of a source: errors of a fit to all, and of one without the source. [%]"""

    fitted: list[float]
    without: list[float]
    priors: str


def main() -> None:
    report, small = validate(RUNS / "published.csv"), validate(RUNS / "published_small.csv")
    found = report.model_dump(mode="json")
    whole = {"published.csv": found, "published_small.csv": small.model_dump(mode="json")}
    told = tables(found, "published.csv") | {
        "whole": sums("file", whole),
        "short": in_short(report),
        "against": against_table(report, small),
        "left_out": left_out_table(report, small),
        "levels": levels_table(report),
    }
    page = PAGE.read_text("utf-8")
    for name, content in told.items():
        page = filled(page, name, content)
    bands = bands_text(bands_of(report, load()))
    plot = svg(series_of(found["results"]))
    write([(PAGE, page), (PLOT, plot), (ROOT / "catalogs" / "accuracy.csv", bands)])


def against_table(report: Report, small: Report) -> str:
    """Others' figures as docs/accuracy.md says."""
    sets = (
        [r for r in report.results if r.source == "korthikanti"],
        [r for r in report.results if r.source == "vtrain"],
        small.results,
    )
    alone = left_out()
    ours = [f"{np.mean([abs(r.error_pct or 0) for r in runs]):.1f} % ({len(runs)})" for runs in sets]
    apart = [
        f"{np.mean([abs(error_pct(alone[r.id], r.measured_step_time_s)) for r in runs]):.1f} %"
        for runs in sets
    ]
    rows = [
        ("Calculon, as shipped", "3.65 % (8)", "12.9 % (109)", "39.0 %"),
        ("vTrain, after profiling every layer on the GPU", "", "14.7 % (109)", "8.4 % (1,440)"),
        ("this one", *ours),
        ("this one, fitted without the source", *apart),
    ]
    return table(
        ("model", "Korthikanti et al., Table 5 (rows)", "vTrain, several nodes", "vTrain, one node"), rows
    )


def in_short(report: Report) -> str:
    """What a reader who plans a run should know."""
    runs = unseen(report.results, load(), left_out())
    seen = errors_told([abs(r.error_pct) for r in report.results if r.error_pct is not None])
    others, moe = (
        errors_told([100 * abs(1 / u.ratio - 1) for u in runs if u.run.kind in kinds])
        for kinds in (("dense", "moe"), ("moe",))
    )
    return (
        f"- **Runs like those it was fitted on** are off by {seen}.\n"
        f"- **Runs of somebody else**, which no constant has seen, are off by {others};\n"
        f"  mixtures of experts by {moe}\n"
        "  ([each source left out](#each-source-left-out)). That is what a plan should be trusted for, and\n"
        "  what its `low_days` and `high_days` say ([what a plan is told](#what-a-plan-is-told)).\n"
    )


def errors_told(errors: Iterable[float]) -> str:
    """Middle, mean and spread in words. errors: absolute [%]"""
    values = np.array(list(errors))
    middle, mean = np.median(values), values.mean()
    within = [round(100 * (values <= most).mean()) for most in (10, 25)]
    return (
        f"{middle:.1f} % in the median, {mean:.1f} % on average ({within[0]} % of them by at most 10 %, "
        f"{within[1]} % by at most 25 %)"
    )


def left_out_table(report: Report, small: Report) -> str:
    """Each source, the largest gap last, below all of published.csv together."""
    measured = {r.id: r.measured_step_time_s for r in (*report.results, *small.results)}
    sources: dict[str, Alone] = {}
    every = Alone([], [], "")
    full = {r.id for r in report.results}
    with (RUNS / "left_out.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for one in (sources.setdefault(row["source"], Alone([], [], row["priors"])), every):
                if one is not every or row["id"] in full:
                    one.fitted.append(error_pct(row["fitted_step_time_s"], measured[row["id"]]))
                    one.without.append(error_pct(row["step_time_s"], measured[row["id"]]))
    ordered = sorted(sources.items(), key=lambda item: np.mean(item[1].without) - np.mean(item[1].fitted))
    head = (
        "source",
        "runs",
        *(f"fitted: {name}" for name in ERRORS),
        *(f"left out: {n}" for n in ERRORS),
        "priors",
    )
    return table(head, (cells(name, one) for name, one in [("published.csv", every), *ordered]))


def error_pct(predicted: str | float, measured: float | None) -> float:
    assert measured
    return 100 * abs(float(predicted) / measured - 1)


def cells(name: str, one: Alone) -> Cells:
    return name, len(one.fitted), *figures(one.fitted), *figures(one.without), one.priors


def figures(errors: Iterable[float]) -> list[str]:
    values = np.array(list(errors))
    return [f"{x:.1f}" for x in (values.mean(), np.median(values), 100 * (values <= 10).mean())]


def levels_table(report: Report) -> str:
    """Residuals out of sample by what other sources say of device and software."""
    runs = unseen(report.results, load(), left_out())
    words: Mapping[str, str] = {
        "generation": "the device with this generation of the software",
        "device": "the device, with other software",
        "family": "other devices of the family",
        "none": "nothing of the family",
    }
    rows = []
    for level in LEVELS:
        for kind in ("dense", "moe"):
            own = [u for u in runs if (u.level, u.run.kind) == (level, kind)]
            if own:
                low, high = limits_of(own)[3:]
                band = f"{100 * (low - 1):+.0f} to {100 * (high - 1):+.0f} %"
                wrong = figures(100 * abs(1 / u.ratio - 1) for u in own)
                rows.append((words[level], kind, len(own), len({u.run.source for u in own}), *wrong, band))
    head = ("others have run", "models", "runs", "sources", *ERRORS, "80 % of runs take, over predicted")
    return table(head, rows)


if __name__ == "__main__":
    main()
