"""What a step, a device's memory and a bill are made of, as bars."""

from collections.abc import Iterator

from rich.console import RenderableType

from solver.report import words
from solver.report.page import bars, heading, labelled, large
from solver.report.words import Fields


def step(plan: Fields) -> Iterator[RenderableType]:
    """Exposed seconds of a step."""
    time = plan["time"]
    shown = large(time["parts"], time["step_s"])
    yield heading(f"Time of a step: {words.seconds(time['step_s'])}")
    yield bars(shown, time["step_s"], [words.seconds(value) for value in shown.values()])


def memory(used: Fields) -> Iterator[RenderableType]:
    """GiB on the fullest device, and what it leaves free."""
    usable, peak = used["usable_gib"], used["peak_gib"]
    shown = large(used["parts"], peak) | ({"free": usable - peak} if usable > peak else {})
    yield heading(f"Memory of the fullest device: {words.gib(peak)} of {words.gib(usable)}")
    yield bars(shown, max(usable, peak), [words.gib(value) for value in shown.values()])
    loading = f", {words.gib(used['loading_host_gib'])} to load one"
    saved = f"{words.gib(used['saving_host_gib'])} of a host's memory{loading}"
    yield labelled([("holds", used["byte_model"]), ("checkpoints", saved)])


def costs(plan: Fields) -> Iterator[RenderableType]:
    """USD of the whole run."""
    cost = plan["cost"]
    if not cost["total_usd"]:
        return
    shown = large(cost["parts"], cost["total_usd"])
    yield heading(f"Cost: {words.usd(cost['total_usd'])}")
    yield bars(shown, cost["total_usd"], [words.usd(value) for value in shown.values()])
    yield labelled([("buys", _split(cost))])


def _split(cost: Fields) -> str:
    """What the money buys: accelerators 49%, host 31%, ..."""
    shares = {name: 100 * value / cost["total_usd"] for name, value in cost["split"].items()}
    return ", ".join(f"{name} {words.percent(share)}" for name, share in shares.items() if share >= 0.5)
