"""What must be seen beside the table of plans before signing: room in memory, money paid up front."""

from collections.abc import Iterator

from solver.report import words
from solver.report.words import Fields


def beside(answer: Fields) -> Iterator[str]:
    """Of the first plan; nothing where it has room to spare and is rented."""
    first, found = answer["plans"][0], answer["rent_or_buy"]
    if first["memory"]["fragile"]:
        yield f"plan 1 is tight: it may not start; {_sound(answer['plans'])}"
    if first["provider"] == "bought" and found:
        share, price = words.usd(first["cost"]["total_usd"]), words.usd(found["capex_usd"])
        yield f"plan 1 is bought: {price} to pay first; {share} is this run's share, running costs included"


def _sound(plans: list[Fields]) -> str:
    """The first of some plans that has room to spare."""
    sound = next((plan for plan in plans if not plan["memory"]["fragile"]), None)
    if sound is None:
        return "none of these has room to spare: see limits.memory_margin below"
    return f"the first with room to spare is plan {sound['rank']}, {words.usd(sound['cost']['total_usd'])}"
