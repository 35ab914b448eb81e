"""The report of `solve`: question, ranked plans, the first in detail, what binds, proof; or why nothing."""

from collections.abc import Iterator

from rich.console import RenderableType

from solver import units
from solver.report import binding, conflict, words
from solver.report.beside import beside
from solver.report.holds import holds
from solver.report.market import rent_or_buy
from solver.report.page import heading, indented, labelled, line, listed, table
from solver.report.parts import costs, memory, step
from solver.report.question import question_rows
from solver.report.words import Fields

NEARLY_WHOLE = 99  # per cent
COLUMNS = {
    "": "id",
    "hardware": "text",
    "layout": "text",
    "time": "number",
    "MFU": "number",
    "GiB": "number",
    "USD": "number",
}


def answer_report(answer: Fields) -> Iterator[RenderableType]:
    """Everything that the answer holds for a person, from the top of a page."""
    yield heading("Question")
    yield labelled(question_rows(answer["question"]))
    if answer["assumptions"]:
        yield heading("Assumed")
        yield listed(answer["assumptions"])
    if answer["plans"]:
        yield from _plans(answer)
    else:
        yield from conflict.conflict_parts(answer)
    if answer["warnings"]:
        yield heading("Mind")
        yield listed(words.grouped(answer["warnings"]))
    yield from _proof(answer)


def _plans(answer: Fields) -> Iterator[RenderableType]:
    plans = answer["plans"]
    yield heading(_title(answer))
    yield indented(table(COLUMNS, (_row(plan, answer["objective"]) for plan in plans)))
    if told := list(beside(answer)):
        yield line("")
        yield listed(told)
    yield from _first(plans[0])
    yield from rent_or_buy(answer)
    yield heading("What binds")
    rows = binding.distances(answer["question"], plans[0])
    columns = {"": "id", "used": "number", "limit": "number", "to spare": "number"}
    yield indented(table(columns, ((d.name, d.used, d.limit, d.verdict) for d in rows)))
    yield listed(binding.sentences(answer["question"], plans[0]))
    if len(plans) > 1:
        yield heading("Why not the others")
        yield labelled((f"plan {plan['rank']}", plan["why_not_first"]) for plan in plans[1:])
    if ranges := holds(answer):
        yield heading("How far this holds")
        yield labelled(ranges)


def _title(answer: Fields) -> str:
    count, objective = len(answer["plans"]), answer["objective"]
    best = "1 plan" if count == 1 else f"The {count} best plans"
    proved = "proved optimal" if answer["status"] == "optimal" else "not proved: stopped by the time limit"
    return f"{best}, least {objective} first ({proved})"


def _row(plan: Fields, objective: str) -> tuple[str, ...]:
    """A plan in three lines: what is rented and from whom, how it trains, what it takes."""
    time, used = plan["time"], plan["memory"]
    hardware = (words.counted(plan["devices"], plan["device"]), f"{plan['provider']} {plan['instance']}")
    layout = words.layout_words(plan["layout"])
    return (
        str(plan["rank"]),
        "\n".join((*hardware, f"{plan['region']}, {plan['pricing']}")),
        f"{plan['framework']} {plan['layout']['precision']}\n{layout}",
        f"{words.days(time['days'])}\n{words.band(time).rsplit(' ', 1)[0]}",
        words.percent(time["mfu_pct"]),
        f"{used['peak_gib']:.1f}\nof {used['usable_gib']:.1f}" + ("\n(tight)" if used["fragile"] else ""),
        "\n".join((words.money(plan["cost"]["total_usd"]), *_least(plan, objective))),
    )


def _least(plan: Fields, objective: str) -> Iterator[str]:
    """What is made least, where the table does not tell it as time or cost."""
    if objective == "energy":
        yield words.energy(plan["energy"]["mwh"])
    if objective == "carbon":
        yield units.format_kilograms(plan["energy"]["kg_co2e"], 3)


def _first(plan: Fields) -> Iterator[RenderableType]:
    yield heading("The first plan")
    yield labelled(_rented(plan))
    yield from step(plan)
    yield from memory(plan["memory"])
    yield from costs(plan)


def _rented(plan: Fields) -> Iterator[tuple[str, str]]:
    time, wires, cost = plan["time"], plan["interconnect"], plan["cost"]
    yield _machines(plan)
    if plan["devices_paid"] != plan["devices"]:
        yield "paid", f"{plan['devices_paid']:,} devices, of which {plan['devices']:,} are used"
    if plan["also_in"]:
        yield "also in", f"{words.joined(plan['also_in'], 'and')}, at this price or a higher one"
    outside = f", {wires['scale_out']} between them" if plan["machines"] > 1 else ""
    yield "links", f"{wires['scale_up']} inside a machine{outside}"
    layout = plan["layout"]
    yield "train", f"{plan['framework']}, {layout['precision']}, {words.layout_words(layout)}"
    yield "that is", words.layout_spelled(layout)
    per_step = words.seconds(time["step_s"])
    goodput = f"{_goodput(time['goodput_pct'])} goodput"
    yield "time", f"{time['steps']:,} steps of {per_step} at {goodput}: {words.days(time['days'])}"
    yield "band", words.band(time)
    rate = f"{time['tokens_per_s']:,.0f} tokens/s, {time['tokens_per_s_per_device']:,.0f} a device"
    yield "speed", f"{rate}, {time['mfu_pct']:.1f}% MFU"
    yield "spent on", plan["bottleneck"]
    yield "cost", f"{words.usd(cost['total_usd'])}, {words.usd(cost['per_hour_usd'])}/hour"
    energy, power = plan["energy"], words.power(plan["power_kw"])
    yield "energy", f"{words.energy(energy['mwh'])}, at most {power}, {words.carbon(energy['kg_co2e'])}"


def _goodput(percent: float) -> str:
    """98%, 99.9%: near the whole with a digit more, as some time is lost in every run."""
    return f"{percent:.1f}%" if percent >= NEARLY_WHOLE else words.percent(percent)


def _machines(plan: Fields) -> tuple[str, str]:
    """What is bought, used or rented, and from whom."""
    instance = "" if plan["instance"] == plan["machine"] else f" ({plan['instance']})"
    machines = f"{words.counted(plan['machines'], plan['machine'])}{instance}"
    if plan["provider"] == "bought":
        return "buy", f"{machines}, price of {plan['price_date']}"
    if len(plan["cost"]["rent"]) > 1:
        return "use", f"{machines} of {plan['provider']} in {plan['region']}, partly reserved"
    if plan["pricing"] == "owned":
        return "use", f"{machines} that you have"
    place = f"{plan['provider']} in {plan['region']}, {plan['pricing']}"
    (each,) = plan["cost"]["rent"]
    price = f"{units.format_usd_per_hour(each['usd_per_hour'])} each, price of {plan['price_date']}"
    return "rent", f"{machines} from {place}, {price}"


def _proof(answer: Fields) -> Iterator[RenderableType]:
    search, stamp = answer["search"], answer["catalog"]
    yield heading("Proof")
    yield listed(search["proof"])
    yield line("")
    took = f"{search['seconds']:.1f} s"
    yield line(f"Catalog of {stamp['date']} ({stamp['hash']}), trainplan {answer['version']}, {took}", "dim")
