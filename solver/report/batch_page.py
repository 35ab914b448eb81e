"""The summary of a batch as one HTML file: best plans, heat maps of cost, variants without a plan."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import combinations

from solver.report import words
from solver.report.batch import Best, Row, counted, fields_of, labels, short

MAPS = 6  # pairs of fields that are mapped
ROWS = 5_000  # of a table
STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
body { color: #222; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } th, td { padding: .25rem .6rem; text-align: left; vertical-align: top }
th { font-weight: 600; border-bottom: 1px solid #999 } td { border-bottom: 1px solid #e4e4e4 }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.map td { text-align: right; border: 2px solid #fff } .map th { border: 0 }
.none { color: #888; background: #f3f3f3 }
.scroll { overflow-x: auto } p { max-width: 60rem }
"""


def batch_page(rows: Sequence[Row], where: str) -> str:
    """The whole file. where: the file that holds every record."""
    title = f"{words.plural(len(rows), 'variant')}: {counted(rows)}"
    body = "".join((*_maps(rows), *_plans(rows), *_without(rows)))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1><p>Every record stands in {escape(where)}.</p>\n"
        f"{body}</body></html>\n"
    )


def _table(head: Sequence[str], cells: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """cells: text; numbers: columns of figures."""
    kinds = [' class="n"' if place in numbers else "" for place in range(len(head))]
    top = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, head, strict=True))
    lines = (
        "<tr>"
        + "".join(f"<td{k}>{escape(cell)}</td>" for k, cell in zip(kinds, row, strict=True))
        + "</tr>\n"
        for row in cells[:ROWS]
    )
    more = f"<p>... and {len(cells) - ROWS:,} more</p>" if len(cells) > ROWS else ""
    return f'<div class="scroll"><table><tr>{top}</tr>\n{"".join(lines)}</table></div>{more}\n'


def _plans(rows: Sequence[Row]) -> Iterator[str]:
    found = [(label, row.best) for label, row in zip(labels(rows), rows, strict=True) if row.best]
    if not found:
        return
    head = ("variant", "device", "provider", "devices", "time", "USD", "MFU")
    yield "<h2>Best plan of each variant</h2>\n"
    yield _table(head, [(label, *_figures(best)) for label, best in found], (3, 4, 5, 6))


def _figures(best: Best) -> tuple[str, ...]:
    took, usd, mfu = words.days(best.days), words.money(best.usd), words.percent(best.mfu_pct)
    return (best.device, best.provider, f"{best.devices:,}", took, usd, mfu)


def _without(rows: Sequence[Row]) -> Iterator[str]:
    found = [(label, row) for label, row in zip(labels(rows), rows, strict=True) if row.best is None]
    if not found:
        return
    yield "<h2>Variants without a plan</h2>\n"
    yield _table(("variant", "status", "why"), [(label, row.status, row.why) for label, row in found])


def _maps(rows: Sequence[Row]) -> Iterator[str]:
    """A heat map of cost for each pair of swept fields."""
    fields = fields_of(rows)
    pairs = list(combinations(fields, 2))[:MAPS]
    if pairs:
        yield "<h2>Cost over two fields</h2>\n"
        told = "Each cell holds the least cost in USD over all other fields; the darker, the dearer."
        yield f"<p>{told}</p>\n"
    for down, across in pairs:
        yield _map(rows, (down, fields[down]), (across, fields[across]))


def _map(rows: Sequence[Row], down: tuple[str, list[str]], across: tuple[str, list[str]]) -> str:
    """down, across: a field and its values."""
    least: dict[tuple[str, str], float] = {}
    for row in rows:
        texts = {"problem": row.problem, **row.set}
        if row.best and down[0] in texts and across[0] in texts:
            key = (texts[down[0]], texts[across[0]])
            least[key] = min(least.get(key, math.inf), row.best.usd)
    head = "".join(f"<th>{escape(text)}</th>" for text in across[1])
    lines = "".join(
        f"<tr><th>{escape(text)}</th>{''.join(_cell(least, (text, other)) for other in across[1])}</tr>\n"
        for text in down[1]
    )
    corner = f"<th>{escape(short(down[0]))} \\ {escape(short(across[0]))}</th>"
    return f'<div class="scroll"><table class="map"><tr>{corner}{head}</tr>\n{lines}</table></div><br>\n'


def _cell(least: Mapping[tuple[str, str], float], key: tuple[str, str]) -> str:
    if key not in least:
        return '<td class="none">none</td>'
    low, high = (math.log1p(value) for value in (min(least.values()), max(least.values())))
    heat = (math.log1p(least[key]) - low) / (high - low) if high > low else 0.0
    ink = "#fff" if heat > 0.6 else "#222"
    colour = f"hsl({45 - 35 * heat:.0f} 90% {92 - 55 * heat:.0f}%)"
    return f'<td style="background:{colour};color:{ink}">{escape(words.money(least[key]))}</td>'
