"""The one error a user can cause: bad input, told fault by fault."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

MAX_LINES = 40
MAX_CHARACTERS = 2_500
_LONGEST_LINE = 600


class Fault(NamedTuple):
    """One thing that is wrong with an input: where it stands, and what is wrong and how to fix it."""

    field: str
    message: str


class InputError(Exception):
    """Bad input. `faults` holds every fault found, in the order of the file; `given`: what the file says."""

    def __init__(self, source: str, faults: list[Fault], given: Mapping[str, Any] | None = None) -> None:
        self.source = source
        self.faults = faults
        self.given = given or {}
        super().__init__(source, faults, given)  # what pickle gives back to __init__

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """One printable sentence a fault: file, field, message; beyond what can be read, how many more."""
        lines = [_line(self.source, fault) for fault in self.faults]
        kept = _that_fit(lines)
        return lines if kept == len(lines) else [*lines[:kept], f"... and {len(lines) - kept:,} more"]


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Tells what keeps a file from being written as bad input."""
    try:
        yield
    except OSError as error:
        raise InputError(str(file), [Fault("", f"could not be written: {error.strerror}")]) from None


def _line(source: str, fault: Fault) -> str:
    text = ": ".join(part for part in (source[-200:], fault.field[:200], fault.message) if part)
    text = text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 3] + "..."


def _that_fit(lines: list[str]) -> int:
    """How many of the lines stay within the limits, with room for the line that counts the others."""
    if len(lines) <= MAX_LINES and sum(len(line) + 1 for line in lines) <= MAX_CHARACTERS:
        return len(lines)
    total = len("... and 999,999 more") + 1
    for index, line in enumerate(lines[: MAX_LINES - 1]):
        total += len(line) + 1
        if total > MAX_CHARACTERS:
            return index
    return min(len(lines), MAX_LINES - 1)
