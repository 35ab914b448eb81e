"""One rule: what it looks at, when it is broken, how that is told."""

from collections.abc import Callable
from typing import NamedTuple

from solver.layout import Bools, Layouts
from solver.rules.case import Case


class Rule(NamedTuple):
    """fields: the columns it looks at, the one to change first; violated: True where it is broken."""

    fields: tuple[str, ...]
    violated: Callable[[Case, Layouts], Bools]
    message: str
