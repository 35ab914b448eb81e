"""The report of `fit`: advice for each device, and the layouts that it rests on."""

from collections.abc import Iterator

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import heading, indented, labelled, line, listed, table
from solver.report.words import Fields

COLUMNS = {
    "": "id",
    "devices": "number",
    "with": "text",
    "of memory": "number",
    "largest part of it": "text",
    "tokens/s each": "number",
}
OVERVIEW = {
    "device": "id",
    "usable": "number",
    "as it is": "number",
    "at the fewest": "number",
    "with": "text",
}
MARKS = "abcdefghijklmnopqrstuvwxyz"  # of the options of a device, which its layouts repeat


def fit_report(answer: Fields) -> Iterator[RenderableType]:
    """Short text, then a table, for each device."""
    size = units.format_count(answer["total_parameters"], 3)
    batch = words.plural(answer["global_batch"], "sequence")
    yield heading(
        f"Training {answer['model']} ({size} parameters) in {', '.join(answer['precision'])} with "
        f"{answer['optimizer']}: {batch} of {answer['sequence_length']:,} tokens a step"
    )
    if len(answer["devices"]) > 1:
        yield line("")
        yield indented(table(OVERVIEW, (_row(device) for device in answer["devices"])))
    for device in answer["devices"]:
        yield heading(f"{device['device']}, {words.gib(device['usable_gib'])} usable{_verdict(device)}")
        yield listed(device["advice"])
        if device["options"]:
            yield line("")
            marked = list(zip(MARKS, device["options"], strict=False))
            yield indented(table(COLUMNS, (_option(mark, option) for mark, option in marked)))
            yield labelled((mark, _layout(option)) for mark, option in marked)
    if answer["assumptions"]:
        yield heading("Assumptions")
        yield listed(answer["assumptions"])
    stamp = answer["catalog"]
    yield line("")
    yield line(f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {answer['version']}", "dim")


def _row(device: Fields) -> tuple[str, ...]:
    """A device in the overview."""
    counts = [f"{device[name]:,}" if device[name] else "-" for name in ("as_is", "smallest")]
    fewest = min(device["options"], key=lambda option: int(option["devices"]), default=None)
    changes = "; ".join(fewest["changes"]) or "nothing changed" if fewest else "it does not fit"
    return (device["device"], words.gib(device["usable_gib"]), *counts, changes)


def _verdict(device: Fields) -> str:
    """: 16 as it is, 8 at the fewest."""
    as_is, smallest = device["as_is"], device["smallest"]
    told = [f"{as_is:,} as it is"] if as_is else []
    told += [f"{smallest:,} at the fewest"] if smallest and smallest != as_is else []
    return f": {', '.join(told) or 'it does not fit'}"


def _option(mark: str, option: Fields) -> tuple[str, ...]:
    memory, biggest = option["memory"], option["biggest_part"]
    tight = " (tight)" if memory["fragile"] else ""
    stage = f" of the {memory['stage']} stage" if option["layout"]["pp"] > 1 else ""
    return (
        mark,
        f"{option['devices']:,}",
        "; ".join(option["changes"]) or "nothing changed",
        f"{memory['peak_gib'] / memory['usable_gib']:.0%}{tight}",
        f"{biggest.replace('_', ' ')} {words.gib(memory['parts'][biggest])}{stage}",
        f"{option['tokens_per_s_per_device']:,.0f}",
    )


def _layout(option: Fields) -> str:
    host = option["memory"]["host_gib"]
    away = f"; {host:,.0f} GiB of host memory" if option["layout"]["offload"] != "none" else ""
    fabric = f" over {option['fabric']}" if option["fabric"] else ""
    place = f"{option['machines']:,} x {option['machine']}{fabric}"
    return f"{option['framework']} on {place}: {words.layout_words(option['layout'])}{away}"
