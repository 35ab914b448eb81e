"""The page that reports stand on: headings, labelled lines, tables, bars; plain where nobody sees colours."""

import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

BAR = 28  # characters of a whole
SMALL = 0.005  # of the whole: parts below it are told as one


def show(parts: Iterable[RenderableType]) -> None:
    """Prints a report, as wide as the terminal, without blanks at the ends of lines."""
    console = Console(markup=False, highlight=False, emoji=False)
    with console.capture() as page:
        for part in parts:
            console.print(part)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in page.get().splitlines()))


def heading(text: str) -> RenderableType:
    return Padding(Text(text, style="bold"), (1, 0, 0, 0))


def line(text: str, style: str = "") -> RenderableType:
    """A sentence below a heading."""
    return Padding(Text(text, style=style), (0, 0, 0, 2))


def listed(sentences: Iterable[str]) -> RenderableType:
    """Sentences one below the other, each marked."""
    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row(Text("-"), Text(sentence))
    return Padding(grid, (0, 0, 0, 2))


def labelled(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Values behind their names."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(name), Text(value))
    return Padding(grid, (0, 0, 0, 2))


def table(columns: Mapping[str, str], rows: Iterable[Sequence[str]]) -> Table:
    """columns: heading -> "text" (may be folded), "number" (right, never broken), "id" (never broken)."""
    result = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name, kind in columns.items():
        right, whole = kind == "number", kind != "text"
        result.add_column(name, justify="right" if right else "left", no_wrap=whole, overflow="fold")
    for row in rows:
        result.add_row(*(Text(cell) for cell in row))
    return result


def indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2))


def bars(parts: Mapping[str, float], whole: float, words: Sequence[str]) -> RenderableType:
    """A bar for each part, the longest first; words: the value of each part, told with its unit."""
    grid = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right", "right"):
        grid.add_column(justify=justify, no_wrap=True)
    shares = [value / whole if whole else 0.0 for value in parts.values()]
    for (name, share), word in zip(zip(parts, shares, strict=True), words, strict=True):
        grid.add_row(Text(name), Text(_bar(share), style="cyan"), Text(word), Text(f"{share:.0%}"))
    return Padding(grid, (0, 0, 0, 2))


def _bar(share: float) -> str:
    block = "\N{FULL BLOCK}" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    return block * round(share * BAR)


def large(parts: Mapping[str, float], whole: float) -> dict[str, float]:
    """The parts that can be seen, the longest first, and what the others come to."""
    seen = {n: v for n, v in sorted(parts.items(), key=lambda item: -item[1]) if v > SMALL * whole}
    rest = {name: value for name, value in parts.items() if name not in seen and value}
    told = {name.replace("_", " "): value for name, value in seen.items()}
    return told | (rest if len(rest) < 2 else {f"{len(rest)} smaller": sum(rest.values())})
