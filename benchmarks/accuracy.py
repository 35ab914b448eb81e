"""Write the tables and the plot of docs/accuracy.md, and the bands in catalogs/accuracy.csv: `python
benchmarks/accuracy.py [--check]`.

The tables stand between `<!-- name -->` and `<!-- /name -->`; what is around them is written by hand.
"""

import re
import sys
from collections.abc import Iterable
from math import log10
from pathlib import Path

from solver.catalog import load
from solver.validation import Report, bands, validate
from solver.validation.bands import write
from solver.validation.report import Ordering, Summary

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "catalogs" / "runs"
PAGE = ROOT / "docs" / "accuracy.md"
PLOT = ROOT / "docs" / "accuracy.svg"
HEAD = ("runs", "mean %", "median %", "bias %", "within 10 %")


def main() -> None:
    report, small = validate(RUNS / "published.csv"), validate(RUNS / "published_small.csv")
    page = PAGE.read_text("utf-8")
    for name, table in tables(report, small).items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", rf"\g<1>{table}\g<2>", page, flags=re.DOTALL
        )
    if "--check" in sys.argv:
        sys.exit(page != PAGE.read_text("utf-8"))
    PAGE.write_text(page, "utf-8")
    PLOT.write_text(scatter(report), "utf-8")
    write(ROOT / "catalogs" / "accuracy.csv", bands(report, load()))


def tables(report: Report, small: Report) -> dict[str, str]:
    whole = {"published.csv": total(report), "published_small.csv": total(small)}
    groups = {
        "whole": whole,
        "device": report.by_device,
        "framework": report.by_framework,
        "source": report.by_source,
        "precision": report.by_precision,
    }
    found = {name: table(name, rows) for name, rows in groups.items()}
    return found | {"order": order(report.ordering_by_source), "largest": largest(report)}


def total(report: Report) -> Summary:
    return Summary(
        **{name: getattr(report, name) for name in Summary.model_fields if name != "rows"}, rows=report.rows
    )


def row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def table(name: str, groups: dict[str, Summary]) -> str:
    """Groups with a measured step time, by name."""
    text = row((name, *HEAD)) + row(["---"] * (len(HEAD) + 1))
    for key, s in groups.items():
        if s.step_time_mape_pct is not None:
            values = (s.step_time_mape_pct, s.step_time_median_ape_pct, s.step_time_bias_pct, s.within_10_pct)
            text += row((key, s.rows, *(f"{value:.1f}" for value in values)))
    return text


def order(groups: dict[str, Ordering]) -> str:
    text = row(("source", "groups", "pairs", "right %", "regret mean %", "worst %")) + row(["---"] * 6)
    for key, o in groups.items():
        right = "-" if o.pairs_right_pct is None else f"{o.pairs_right_pct:.0f}"
        text += row((key, o.groups, o.pairs, right, f"{o.regret_mean_pct:.1f}", f"{o.regret_worst_pct:.1f}"))
    return text


def largest(report: Report, most: int = 25) -> str:
    timed = [r for r in report.results if r.measured_step_time_s is not None]
    timed.sort(key=lambda r: -abs(log10(r.step_time_s / (r.measured_step_time_s or 1))))
    text = row(("run", "model", "device", "precision", "measured s", "predicted s", "error %")) + row(
        ["---"] * 7
    )
    for r in timed[:most]:
        figures = (f"{r.measured_step_time_s:.4g}", f"{r.step_time_s:.4g}", f"{r.error_pct:+.0f}")
        text += row((r.id, r.model, r.device, r.precision, *figures))
    return text


def scatter(report: Report, size: int = 560, margin: int = 50) -> str:
    """Predicted over measured seconds of a step, both logarithmic, with the lines of 10 %."""
    low, high = -1.5, 2.8

    def at(seconds: float) -> float:
        return margin + (log10(seconds) - low) / (high - low) * (size - 2 * margin)

    def line(factor: float, dash: str) -> str:
        ends = (10**low, 10**high)
        points = " ".join(f"{at(x):.1f},{size - at(x * factor):.1f}" for x in ends)
        return f'<polyline points="{points}" fill="none" stroke="#888" stroke-dasharray="{dash}"/>'

    dots = "".join(
        f'<circle cx="{at(r.measured_step_time_s):.1f}" cy="{size - at(r.step_time_s):.1f}" r="2.5" '
        f'fill="#1f77b4" fill-opacity="0.45"><title>{r.id} {r.error_pct:+.0f} %</title></circle>'
        for r in report.results
        if r.measured_step_time_s is not None
    )
    labels = "".join(
        f'<text x="{at(10.0**p):.0f}" y="{size - margin + 18}" text-anchor="middle">{10.0**p:g}</text>'
        f'<text x="{margin - 8}" y="{size - at(10.0**p) + 4:.0f}" text-anchor="end">{10.0**p:g}</text>'
        for p in (-1, 0, 1, 2)
    )
    axes = (
        f'<text x="{size / 2}" y="{size - 10}" text-anchor="middle">measured [s]</text>'
        f'<text x="14" y="{size / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {size / 2})">predicted [s]</text>'
    )
    lines = line(1, "") + line(1.1, "4") + line(0.9, "4")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>{lines}{dots}{labels}{axes}</svg>\n'
    )


if __name__ == "__main__":
    main()
