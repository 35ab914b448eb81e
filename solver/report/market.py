"""Prices, quotas and machines of the user's own, and whether to rent or to buy."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from solver.report import words
from solver.report.page import heading, labelled
from solver.report.words import Fields, joined

LISTS = {"offers": "offered", "reservations": "reserved", "already_owned": "standing", "buy": "may buy"}
MAPPINGS = {"prices": "own prices", "discounts": "discounts"}


def market_rows(question: Fields) -> Iterator[tuple[str, str]]:
    """Label and sentence of each part of the market that the file states."""
    for name, label in MAPPINGS.items():
        if stated := question.get(name):
            yield label, ", ".join(f"{key} {value}" for key, value in stated.items())
    for name, label in LISTS.items():
        if stated := question.get(name):
            yield label, "; ".join(_machines(item) for item in stated)
    for name in ("ownership", "bill"):
        if stated := question.get(name):
            yield name, ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in stated.items())


def _machines(item: Mapping[str, Any]) -> str:
    """8 x machine of acme at 18 USD/hour, joined by a fabric, for 90 days."""
    count = f"{item['count']} x " if "count" in item else ""
    return " ".join([f"{count}{item['machine']}", *_told(OF_MACHINES, item)])


OF_MACHINES = {
    "provider": "of",
    "region": "in",
    "price": "at",
    "fabric": "joined by",
    "until": "for",
    "min_term": "billed for at least",
    "min_count": "billed for machines at least",
    "overflow": "others beside them at",
}
OF_QUOTA = {"device": "with", "machine": "of", "provider": "from", "region": "in", "pricing": "as"}
ANY = ("*", "any", None, 0.0)  # what says nothing


def _told(words: Mapping[str, str], item: Mapping[str, Any]) -> list[str]:
    return [f"{word} {item[name]}" for name, word in words.items() if item.get(name) not in ANY]


def quota(item: Mapping[str, Any]) -> str:
    """At most 16 machines from acme in us-east."""
    most = f"{item['machines']} machines" if "machines" in item else f"{item['devices']} devices"
    return " ".join([f"at most {most}", *_told(OF_QUOTA, item)])


def rent_or_buy(answer: Fields) -> Iterator[RenderableType]:
    """The two plans and the use at which both cost the same; nothing where machines may not be bought."""
    found = answer.get("rent_or_buy")
    if not found:
        return
    use = f"in use {found['utilisation_pct']:.3g}% of the hours; to pay: {words.usd(found['capex_usd'])}"
    yield heading("Rent or buy")
    yield labelled(
        [
            ("buy", f"{words.usd(found['buy_usd'])} for {found['bought']}, {use}"),
            ("else", f"{words.usd(found['rent_usd'])} for {found['rented']}"),
            ("even", _even(found["break_even_utilisation_pct"])),
        ]
    )


def _even(percent: float | None) -> str:
    if percent is None:
        return "at no use: the power alone costs more"
    if percent > 100:
        return f"at no use: it would take {percent:.4g}% of the hours of the life"
    return f"at a use of {percent:.4g}% of the hours of the life; above it buying is cheaper"


def joined_limits(name: str, value: Any) -> str:
    """A limit of the question in a few words."""
    if name == "quotas":
        return ", ".join(quota(item) for item in value)
    return f"{name.replace('_', ' ')} {joined(value)}"
