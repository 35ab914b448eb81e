"""A frontier as one HTML file: the drawing, a table, and the plan that is pointed at. It loads nothing."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from solver import units
from solver.report import words
from solver.report.chart import Chart, svg, told
from solver.report.frontier import sentences, sooner
from solver.report.question import question_rows
from solver.report.words import Fields

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem }
body { color: #222; background: #fff }
h1 { font-size: 1.35rem } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem }
.two { display: flex; flex-wrap: wrap; gap: 1.5rem } .two > :first-child { flex: 3 1 34rem }
.two > :last-child { flex: 1 1 18rem } svg { width: 100%; height: auto }
table { border-collapse: collapse } th, td { padding: .2rem .6rem; text-align: left; vertical-align: top }
th { font-weight: 600; border-bottom: 1px solid #999 } td { border-bottom: 1px solid #eee }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr[data-plan], .plan { cursor: pointer } tr.on { background: #eef4fb }
circle.on { stroke: #000; stroke-width: 2 }
dl { display: grid; grid-template-columns: auto 1fr; gap: .15rem .8rem; margin: 0 }
dt { color: #666 } dd { margin: 0 }
ul { padding-left: 1.2rem } .scroll { overflow-x: auto }
"""
SCRIPT = """
const plans = JSON.parse(document.getElementById("plans").textContent);
let fixed = false;
function show(number) {
  for (const e of document.querySelectorAll("[data-plan]"))
    e.classList.toggle("on", Number(e.dataset.plan) === number);
  document.getElementById("title").textContent = plans[number].title;
  const list = document.getElementById("detail");
  list.replaceChildren();
  for (const [name, value] of plans[number].rows) {
    list.append(Object.assign(document.createElement("dt"), {textContent: name}));
    list.append(Object.assign(document.createElement("dd"), {textContent: value}));
  }
}
for (const e of document.querySelectorAll("[data-plan]")) {
  const number = Number(e.dataset.plan);
  e.addEventListener("mouseenter", () => { if (!fixed) show(number); });
  e.addEventListener("click", event => { fixed = true; show(number); event.stopPropagation(); });
}
document.addEventListener("click", () => { fixed = false; });
document.addEventListener("keydown", event => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (!step) return;
  const now = Number(document.querySelector("tr.on").dataset.plan);
  show(Math.min(Math.max(now + step, 0), plans.length - 1));
  event.preventDefault();
});
"""


def frontier_page(found: Fields, chart: Chart) -> str:
    """The whole file."""
    count = words.plural(len(chart.plans), "trade-off")
    title = f"{dict(question_rows(found['question']))['train'].split(',')[0]}: {count} of time and cost"
    asked = "".join(
        f"<li>{escape(f'{name}: {text}')}</li>" for name, text in question_rows(found["question"])[:-1]
    )
    ends = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences(found))
    mind = "".join(f"<li>{escape(text)}</li>" for text in words.grouped(found["warnings"]))
    proof = "".join(f"<li>{escape(text)}</li>" for text in found["search"]["proof"])
    # why: a "</script>" inside of a text would end the block that holds it
    data = json.dumps([_detail(plan) for plan in chart.plans]).replace("<", "\\u003c")
    stamp = found["catalog"]
    made = f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {found['version']}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n<body>'
        f"<h1>{escape(title)}</h1><ul>{asked}</ul>\n"
        f'<div class="two"><div>{svg(chart)}</div>'
        '<div><h2 id="title"></h2><dl id="detail"></dl></div></div>\n'
        f"<ul>{ends}</ul>\n{''.join(_table(found, chart))}"
        f"<h2>Mind</h2><ul>{mind}</ul><h2>Proof</h2><ul>{proof}</ul>\n"
        f"<p>{escape(made)}</p>\n"
        f'<script type="application/json" id="plans">{data}</script>\n'
        f"<script>{SCRIPT}show({chart.knee});</script></body></html>\n"
    )


def _table(found: Fields, chart: Chart) -> Iterator[str]:
    head = ("", "hardware", "provider", "pricing", "time", "USD", "a day sooner", "MWh", "MFU", "layout")
    right = {4, 5, 6, 7, 8}
    yield '<h2>Plans</h2><div class="scroll"><table><tr>'
    yield "".join(f"<th{_kind(column in right)}>{name}</th>" for column, name in enumerate(head))
    yield "</tr>\n"
    for number, (plan, price) in enumerate(zip(chart.plans, sooner(chart.plans), strict=True)):
        mark = f"{number + 1}{' knee' if number == found['knee'] else ''}"
        cells = (mark, *_cells(plan, price))
        row = "".join(f"<td{_kind(c in right)}>{escape(cell)}</td>" for c, cell in enumerate(cells))
        yield f'<tr data-plan="{number}">{row}</tr>\n'
    yield "</table></div>\n"


def _kind(number: bool) -> str:  # noqa: FBT001 - a column is one or the other
    return ' class="n"' if number else ""


def _cells(plan: Fields, price: str) -> tuple[str, ...]:
    return (
        words.counted(plan["devices"], plan["device"]),
        plan["provider"],
        plan["pricing"],
        words.days(plan["time"]["days"]),
        words.money(plan["cost"]["total_usd"]),
        price,
        units.format_number(plan["energy"]["mwh"], 4),
        words.percent(plan["time"]["mfu_pct"]),
        f"{plan['framework']} {plan['layout']['precision']} {words.layout_words(plan['layout'])}",
    )


def _detail(plan: Fields) -> dict[str, Any]:
    """What the panel says of a plan."""
    time, used = plan["time"], plan["memory"]
    place = f"{plan['provider']} in {plan['region']}, {plan['pricing']}, price of {plan['price_date']}"
    rows = [
        ("rent", f"{words.counted(plan['machines'], plan['machine'])} ({plan['instance']})"),
        ("from", place),
        ("train", f"{plan['framework']}, {plan['layout']['precision']}"),
        ("layout", words.layout_words(plan["layout"])),
        ("that is", words.layout_spelled(plan["layout"])),
        ("time", f"{time['steps']:,} steps of {words.seconds(time['step_s'])}: {words.days(time['days'])}"),
        ("band", words.band(time)),
        ("speed", f"{time['tokens_per_s']:,.0f} tokens/s, {time['mfu_pct']:.1f}% MFU"),
        ("memory", f"{words.gib(used['peak_gib'])} of {words.gib(used['usable_gib'])}"),
        ("cost", f"{words.usd(plan['cost']['total_usd'])}, {words.usd(plan['cost']['per_hour_usd'])}/hour"),
        ("energy", f"{words.energy(plan['energy']['mwh'])}, {words.power(plan['power_kw'])}"),
        ("spent on", plan["bottleneck"]),
    ]
    return {"title": told(plan), "rows": rows}
