"""How far a batch is, on a terminal; nothing where nobody looks."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(TextColumn):
    """Variants a second."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def progress(total: int, done: int) -> Iterator[Callable[[str], None]]:
    """Call what it gives with the line of each record. total, done: variants in all, and before the start."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    counts: Counter[str] = Counter()
    with Progress(*columns, console=Console(file=sys.stderr, stderr=True)) as bar:
        task = bar.add_task("", total=total, completed=done, counts="")

        def tell(line: str) -> None:
            counts[json.loads(line)["status"]] += 1
            words = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
            bar.update(task, advance=1, counts=words)

        yield tell
