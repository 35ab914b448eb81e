"""Write the table of measured against predicted orders in docs/accuracy.md: `python benchmarks/cases.py`.

The runs of catalogs/runs/cases.csv, each case in the order in which its layouts were measured.
"""

import re
from itertools import combinations, groupby
from pathlib import Path

from solver.catalog import Catalog, load
from solver.validation.predict import predict
from solver.validation.rows import Row, read

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "catalogs" / "runs" / "cases.csv"
PAGE = ROOT / "docs" / "accuracy.md"
GROUPS = {"C138": "C138, C139", "C139": "C138, C139"}  # one question in two threads


def main() -> None:
    catalog = load()
    text = "| case | layout | measured tokens/s a device | predicted |\n| --- | --- | ---: | ---: |\n"
    found: list[str] = []
    for name, rows in groupby(read(RUNS), group_of):
        rates = sorted((rates_of(row, catalog) for row in rows), reverse=True)
        text += "".join(f"| {name} | {layout} | {m:,.0f} | {p:,.0f} |\n" for m, p, layout in rates)
        pairs = list(combinations(rates, 2))
        right = sum(first[1] > second[1] for first, second in pairs)
        found.append(f"{name}: {right} of {len(pairs)}")
    page = PAGE.read_text("utf-8")
    text += f"\nPairs in the measured order: {'; '.join(found)}.\n"
    page = re.sub(r"(<!-- cases -->\n).*?(<!-- /cases -->)", rf"\g<1>{text}\g<2>", page, flags=re.DOTALL)
    PAGE.write_text(page, "utf-8")


def group_of(row: Row) -> str:
    case = row.text("case")
    return GROUPS.get(case, case)


def rates_of(row: Row, catalog: Catalog) -> tuple[float, float, str]:
    """Tokens a second and device, measured and predicted; the layout."""
    tokens = row.integer("global_batch_seq") * row.integer("seq_len") / row.integer("devices")
    measured = row.number("step_time_s") or 0.0
    return tokens / measured, tokens / predict(row, catalog).step_time_s, row.text("layout")


if __name__ == "__main__":
    main()
