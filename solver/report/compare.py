"""The report of `compare`: who can, what would make the others win, the way there, why the rest cannot."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import heading, indented, labelled, line, listed, table
from solver.report.question import question_rows
from solver.report.words import Fields

COLUMNS = {
    "": "id",
    "rented": "text",
    "days": "number",
    "MWh": "number",
    "GiB free": "number",
    "USD": "number",
    "USD/PFLOP-h": "number",
}
WINNING = {
    "": "id",
    "USD/device-h": "number",
    "to win": "number",
    "change": "number",
    "or faster by": "number",
}


def _groups(number: int, by: str) -> str:
    """1 device, 7 families."""
    return (
        f"{number:,} {by}"
        if number == 1
        else f"{number:,} {by.removesuffix('y')}{'ies' if by.endswith('y') else 's'}"
    )


def comparison_report(found: Fields) -> Iterator[RenderableType]:
    """Everything that the comparison holds for a person."""
    groups = found["groups"]
    able = [group for group in groups if group["plan"]]
    yield heading("Question")
    yield labelled(question_rows(found["question"]))
    if able:
        yield heading(f"{_groups(len(able), found['by'])} can, least {found['objective']} first")
        yield indented(table(COLUMNS, map(_row, able)))
        if titled := [(group["name"], group["title"]) for group in groups if group["title"] != group["name"]]:
            yield heading("Families")
            yield labelled(titled)
        yield from _winning([group for group in groups if group["to_win"]], found["objective"])
        yield from _software(able, found["reference_stack"])
        yield from _mind(able)
    if without := [group for group in groups if not group["plan"]]:
        yield heading("No plan")
        yield listed(f"{', '.join(names)}: {why}" for why, names in _alike(without).items())
    stamp, search = found["catalog"], found["search"]
    yield heading("Proof")
    yield listed(search["proof"])
    yield line("")
    yield line(f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {found['version']}", "dim")


def _row(group: Fields) -> Sequence[str]:
    plan = group["plan"]
    layout = f"{plan['framework']} {plan['layout']['precision']}"
    return (
        group["name"],
        f"{words.counted(plan['devices'], plan['device'])}, {plan['provider']} {plan['instance']}\n{layout}",
        f"{plan['time']['days']:.1f}",
        units.format_number(plan["energy"]["mwh"], 3),
        f"{group['memory_slack_gib']:.1f}",
        words.money(plan["cost"]["total_usd"]),
        f"{group['usd_per_effective_pflop_hour']:.2f}",
    )


def _winning(others: Sequence[Fields], objective: str) -> Iterator[RenderableType]:
    """Price or speed alone that would put each of the others first."""
    if not others:
        return
    yield heading(f"What alone would make another the least {objective}: a price, or a speed")
    yield indented(table(WINNING, (_needs(group["name"], group["to_win"], objective) for group in others)))


def _needs(name: str, wins: Fields, objective: str) -> Sequence[str]:
    none = "no price" if objective == "cost" else "-"
    price, now = wins["price_usd_per_device_hour"], wins["price_now_usd_per_device_hour"]
    change, speedup = wins["price_change_pct"], wins["speedup"]
    return (
        name,
        f"{now:,.3f}" if now else "-",
        f"{price:,.3f}" if price else none,
        f"{change:+.1f}%" if change is not None else "-",
        f"{100 * (speedup - 1):,.1f}%" if speedup else "no speed",
    )


def _software(able: Iterable[Fields], start: str) -> Iterator[RenderableType]:
    """Once a stack: who needs it, and what a move there takes."""
    users: dict[str, list[str]] = {}
    moves: dict[str, Fields] = {}
    for group in able:
        stack = group["software"]["stack"] or group["software"]["framework"]
        users.setdefault(stack, []).append(group["name"])
        if group["migration"]:
            moves[stack] = group["migration"]
    yield heading(f"Software, for a code that runs on {start}")
    for stack, names in users.items():
        yield labelled([(stack, words.joined(names, "and"))])
        if stack in moves:
            yield indented(labelled(_move(moves[stack])))
        else:
            yield indented(line("the same stack" if stack == start else "no record of a move", "dim"))


def _move(move: Fields) -> Iterator[tuple[str, str]]:
    yield "framework", move["framework"]
    if move["missing"]:
        yield "is missing", "; ".join(move["missing"])
    yield "to port", "; ".join(move["port"])


def _alike(without: Iterable[Fields]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for group in without:
        told.setdefault(group["reason"], []).append(group["name"])
    return told


def _mind(able: Iterable[Fields]) -> Iterator[RenderableType]:
    """Notes on availability, gaps and estimates, the same ones told once."""
    told: dict[str, list[str]] = {}
    for group in able:
        guesses = [f"estimated: {', '.join(group['estimated'])}"] if group["estimated"] else []
        for sentence in (*group["availability"], *group["lacks"], *guesses):
            told.setdefault(sentence, []).append(group["name"])
    if told:
        yield heading("Mind")
        yield listed(f"{', '.join(names)}: {sentence}" for sentence, names in told.items())
