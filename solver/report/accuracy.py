"""Predicted against measured as tables of a document (Markdown), of what `validate --json` prints."""

from collections.abc import Iterable, Iterator, Mapping
from math import log

from solver.report.words import Fields

Cells = Iterable[object]
SUMS = ("runs", "mean %", "median %", "bias %", "within 10 %")
ORDER = ("source", "groups", "pairs", "right %", "regret mean %", "worst %")
LARGEST = ("run", "model", "device", "precision", "measured s", "predicted s", "error %")
MOST = 25  # runs of the table of largest errors
GROUPS = {
    "device": "By device",
    "framework": "By framework",
    "family": "By model family",
    "kind": "Dense models and mixtures of experts",
    "precision": "By precision",
    "source": "By source",
}
HEADINGS = {
    "whole": "How far off",
    **GROUPS,
    "order": "Order of layouts",
    "largest": "Largest errors",
    "skipped": "Skipped",
}


def tables(found: Fields, name: str) -> dict[str, str]:
    """Each table by what it is about; name: of the file, in the table of the whole."""
    return {
        "whole": sums("whole", {name: found}),
        **{group: sums(group, found[f"by_{group}"]) for group in GROUPS},
        "order": table(ORDER, order_rows(found["order_by_source"])),
        "largest": table(LARGEST, largest_rows(found["results"])),
        "skipped": table(("run", "reason"), ((one["id"], one["reason"]) for one in found["skipped"])),
    }


def accuracy_page(found: Fields, name: str) -> str:
    """A document of those tables that hold something."""
    text = f"# Predicted against measured: {name}\n\nErrors are predicted over measured, less one.\n"
    filled = {key: content for key, content in tables(found, name).items() if content.count("\n") > 2}
    return text + "".join(f"\n## {HEADINGS[key]}\n\n{content}" for key, content in filled.items())


def table(head: Cells, rows: Iterable[Cells]) -> str:
    """A table with its heading."""
    names = list(head)
    return _line(names) + _line(["---"] * len(names)) + "".join(_line(cells) for cells in rows)


def _line(cells: Cells) -> str:
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |\n"


def sums(name: str, groups: Mapping[str, Fields]) -> str:
    """Groups with a measured step time."""
    return table(
        (name, *SUMS), (_sums(key, g) for key, g in groups.items() if g["step_time_mape_pct"] is not None)
    )


def _sums(key: str, group: Fields) -> Cells:
    names = ("step_time_mape_pct", "step_time_median_ape_pct", "step_time_bias_pct", "within_10_pct")
    return key, group["timed"], *(f"{group[name]:.1f}" for name in names)


def order_rows(groups: Mapping[str, Fields]) -> Iterator[Cells]:
    for key, o in groups.items():
        right = "-" if o["pairs_right_pct"] is None else f"{o['pairs_right_pct']:.0f}"
        regret = (f"{o['regret_mean_pct']:.1f}", f"{o['regret_worst_pct']:.1f}")
        yield key, o["groups"], o["pairs"], right, *regret


def largest_rows(results: Iterable[Fields]) -> Iterator[Cells]:
    """Runs that are furthest off, whether too fast or too slow."""
    timed = [r for r in results if r["measured_step_time_s"]]
    timed.sort(key=lambda r: -abs(log(r["step_time_s"] / r["measured_step_time_s"])))
    for r in timed[:MOST]:
        figures = (f"{r['measured_step_time_s']:.4g}", f"{r['step_time_s']:.4g}", f"{r['error_pct']:+.0f}")
        yield r["id"], r["model"], r["device"], r["precision"], *figures
