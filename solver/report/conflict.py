"""Why nothing fits: the demands that clash, and the smallest changes that would give a plan."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from solver.report import words
from solver.report.binding import PARSERS
from solver.report.market import quota
from solver.report.page import heading, line, listed
from solver.report.words import Fields

FAR = 10  # times a limit: a plan that needs as much is proved, yet seldom meant
LONG_DAYS = 2 * 365


def conflict_parts(answer: Fields) -> Iterator[RenderableType]:
    """Of an answer without plans."""
    if answer["status"] == "unknown":
        yield heading("No plan was found within the time limit; nothing is proved")
        return
    yield heading("No plan exists (proved)")
    if answer["conflict"]:
        yield line(_clash(answer["conflict"], answer["question"]))
    for other in answer["other_conflicts"]:
        yield line(f"Nor: {_clash(other, answer['question'])}")
    for sentence in answer["explanation"]:
        yield line(f"{sentence}.")
    told = [*map(_relaxation, answer["relaxations"]), *_offload(answer)]
    if told:
        yield heading("What would give a plan")
        yield listed(told)


def _offload(answer: Fields) -> Iterator[str]:
    """What is not tried unless it is asked for, where memory is what lacks."""
    asked = "offload" in answer["question"]["limits"].get("layout", {})
    if answer["explanation"] and not asked:
        yield (
            "perhaps: limits.layout.offload: [none, optimizer, parameters], which keeps state in host memory "
            "and was not tried; trainplan fit tells what it takes"
        )


def _clash(fields: list[str], question: Fields) -> str:
    told = [_demand(field, question) for field in fields]
    verb = "cannot be met" if len(told) == 1 else "cannot be met together"
    return f"{words.joined(told, 'and')} {verb}."


def _demand(field: str, question: Fields) -> str:
    """A field of the file with its value."""
    value = question
    for key in field.split("."):
        value = value.get(key, {}) if isinstance(value, dict) else {}
    return f"{field} {_told(field, value)}" if value else field


def _told(field: str, value: Any) -> str:
    """A value of the file in words."""
    if field == "limits.quotas":
        items = value if isinstance(value, list) else [value]
        return words.joined([quota(item) for item in items], "and")
    return words.joined(value, "and" if field.startswith("limits.exclude_") else "or")


def _relaxation(item: Fields) -> str:
    change = f"{item['field']}: {_told(item['field'], item['from'])} -> {_told(item['field'], item['to'])}"
    others = (
        f", together with {words.joined(item['together_with'], 'and')}:" if item["together_with"] else ":"
    )
    return f"{change}{others}{_gives(item['plan'])}{_far(item)}"


def _far(item: Fields) -> str:
    """What is told of a limit that would have to be many times as large, and of a plan that takes years."""
    parse = PARSERS.get(item["field"].removeprefix("limits."))
    before = parse(item["from"]) if parse else 0.0
    times = parse(item["to"]) / before if parse and before else 0.0
    if times >= FAR:
        return f"; {times:,.0f} times what is asked, so hardly a practical way"
    takes_years = item["plan"] and item["plan"]["time"]["days"] > LONG_DAYS
    return "; it takes years, so hardly a practical way" if takes_years else ""


def _gives(plan: Fields | None) -> str:
    if plan is None:
        return ""
    took, usd = words.days(plan["time"]["days"]), words.usd(plan["cost"]["total_usd"])
    return f" {words.hardware(plan)}, {took}, {usd}"
