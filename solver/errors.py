"""The one error a user can cause: bad input, told fault by fault."""

from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong with an input: where it stands, and what is wrong, allowed and how to fix it."""

    field: str
    message: str


class InputError(Exception):
    """Bad input. `faults` holds every fault found, in the order of the file."""

    def __init__(self, source: str, faults: list[Fault]) -> None:
        self.source = source
        self.faults = faults
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One sentence a fault: file, field, message."""
        return [f"{self.source}: {f.field}: {f.message}" if f.field else f"{self.source}: {f.message}" for f in self.faults]
