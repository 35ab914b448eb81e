"""The report of `evaluate`: a stated layout's time and memory, or the rules it breaks."""

from collections.abc import Iterator

from rich.console import RenderableType

from solver.report import words
from solver.report.page import heading, labelled, line, listed
from solver.report.parts import memory, step
from solver.report.words import Fields


def evaluation_report(evaluation: Fields) -> Iterator[RenderableType]:
    """Legal and measured out, or illegal and why."""
    place = f"{words.plural(evaluation['devices'], 'device')} of {evaluation['machine']}"
    yield heading(f"{evaluation['framework']} on {place}: {_verdict(evaluation)}")
    if evaluation["legal"]:
        yield labelled(_figures(evaluation))
        yield from step(evaluation)
        yield from memory(evaluation["memory"])
    else:
        yield listed(_refusal(violation) for violation in evaluation["violations"])
    for title in ("assumptions", "warnings"):
        if evaluation[title]:
            yield heading(title.capitalize())
            yield listed(evaluation[title])
    stamp = evaluation["catalog"]
    yield line("")
    yield line(f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {evaluation['version']}", "dim")


def _verdict(evaluation: Fields) -> str:
    if not evaluation["legal"]:
        return "the framework would refuse this layout"
    return "legal, and it fits" if evaluation["fits"] else "legal, but too large for the memory"


def _figures(evaluation: Fields) -> Iterator[tuple[str, str]]:
    time = evaluation["time"]
    yield "layout", words.layout_words(evaluation["layout"])
    yield "step", f"{words.seconds(time['step_s'])}, {time['mfu_pct']:.1f}% MFU"
    yield "speed", f"{time['tokens_per_s']:,.0f} tokens/s, {time['tokens_per_s_per_device']:,.0f} a device"
    if time["steps"] > 1:
        goodput = f"{words.percent(time['goodput_pct'])} goodput"
        yield "run", f"{time['steps']:,} steps at {goodput}: {words.days(time['days'])} ({words.band(time)})"


def _refusal(violation: Fields) -> str:
    legal = violation["legal_values"]
    told = ", ".join(f"{value:,}" if isinstance(value, int) else value for value in legal)
    values = f"; legal: {told}" if legal else ""
    source = f" [{violation['source']}]" if violation["source"] else ""
    return f"{violation['rule']}: {violation['message']}{values}{source}"
