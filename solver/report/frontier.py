"""The report of `frontier`: every trade-off of time and cost in a line or two, the knee marked."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.console import RenderableType

from solver import units
from solver.report import conflict, words
from solver.report.page import heading, indented, labelled, line, listed, table
from solver.report.question import question_rows
from solver.report.words import Fields

COLUMNS = {"": "id", "hardware": "text", "layout": "text", "time": "number", "USD": "number"}
SOONER = "a day sooner"
MWH = "MWh"
AXIS_WORDS = {"time.days": "time", "cost.total_usd": "cost", "energy.mwh": "energy"}


def frontier_report(found: Fields) -> Iterator[RenderableType]:
    """Everything that a frontier holds for a person."""
    yield heading("Question")
    yield labelled([row for row in question_rows(found["question"]) if row[0] != "least"])
    if found["plans"]:
        yield from _trade_offs(found)
    else:
        yield from conflict.conflict_parts(found)
    if found["warnings"]:
        yield heading("Mind")
        yield listed(words.grouped(found["warnings"]))
    yield heading("Proof")
    yield listed(found["search"]["proof"])
    yield line("")
    stamp, took = found["catalog"], f"{found['search']['seconds']:.1f} s"
    yield line(f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {found['version']}, {took}", "dim")


def _trade_offs(found: Fields) -> Iterator[RenderableType]:
    plans, energy = found["plans"], "energy.mwh" in found["axes"]
    axes = words.joined([AXIS_WORDS[axis] for axis in found["axes"]], "and")
    yield heading(
        f"{words.plural(len(plans), 'trade-off')} of {axes}, the fastest first (all there are: proved)"
    )
    last = MWH if energy else SOONER
    marginal = [""] * len(plans) if energy else sooner(plans)
    rows = (
        (
            *_row(plan, knee=number == found["knee"]),
            units.format_number(plan["energy"]["mwh"], 4) if energy else price,
        )
        for number, (plan, price) in enumerate(zip(plans, marginal, strict=True))
    )
    yield indented(table(COLUMNS | {last: "number"}, rows))
    yield listed(sentences(found))


def sooner(plans: Sequence[Fields]) -> list[str]:
    """What a day less costs, against the next slower plan; nothing for the cheapest."""
    told = [
        words.money(
            (fast["cost"]["total_usd"] - slow["cost"]["total_usd"])
            / max(slow["time"]["days"] - fast["time"]["days"], 1e-9)
        )
        for fast, slow in pairwise(plans)
    ]
    return [*told, "-"]


def _row(plan: Fields, *, knee: bool) -> tuple[str, ...]:
    hardware = (words.counted(plan["devices"], plan["device"]), f"{plan['provider']}, {plan['pricing']}")
    layout = f"{plan['framework']} {plan['layout']['precision']}\n{words.layout_words(plan['layout'])}"
    place = f"{plan['rank']}\nknee" if knee else str(plan["rank"])
    cost = words.money(plan["cost"]["total_usd"])
    return place, "\n".join(hardware), layout, words.days(plan["time"]["days"]), cost


def sentences(found: Fields) -> list[str]:
    """The ends and the knee, and which limits cut the set off."""
    plans = found["plans"]
    fastest, cheapest = plans[0], min(plans, key=lambda plan: plan["cost"]["total_usd"])
    told = [f"Fastest: {_brief(fastest)}.", f"Cheapest: {_brief(cheapest)}."]
    knee = plans[found["knee"]]
    if len(plans) > 2 and knee not in (fastest, cheapest):
        told.insert(1, f"Knee: {_brief(knee)}; faster plans pay most for a day, slower ones save least.")
    limits = found["question"]["limits"]
    cut = [f"{name} {limits[name]}" for name in ("deadline", "budget") if name in limits]
    return [*told, f"Plans beyond the {words.joined(cut, 'and')} are left out."] if cut else told


def _brief(plan: Fields) -> str:
    took, usd = words.days(plan["time"]["days"]), words.usd(plan["cost"]["total_usd"])
    return f"{took} for {usd}, {words.hardware(plan)}"
