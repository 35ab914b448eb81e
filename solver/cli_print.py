"""How every command prints: a report for people, or one JSON document."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def print_document(document: Any, report: "Callable[[Any], Iterable[RenderableType]]", *, json: bool) -> None:
    """As JSON, or as the report that is rendered from it."""
    if json:
        print_json(document)
        return
    from solver.report import show

    show(report(document))


def print_json(document: Any) -> None:
    """ASCII, so that every terminal and pipe takes it; numbers with 9 significant digits."""
    from json import dumps

    sys.stdout.write(dumps(plain(document), indent=2, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """A document with its numbers as the interface has them."""
    from solver.units import rounded

    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return rounded(value) if isinstance(value, float) else value
