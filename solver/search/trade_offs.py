"""The answer of `frontier`, as JSON has it."""

from typing import Any

from solver.answer import Relaxation, Search, Status
from solver.plan import CatalogStamp, Part, Plan


class Frontier(Part):
    """Every trade-off that no other plan beats in all of `axes`, the fastest plan first.

    axes: fields of a plan; knee: of `plans`, see frontier.knee_of. Without plans: as an Answer.
    """

    status: Status
    objective: str
    axes: list[str]
    question: dict[str, Any]
    assumptions: list[str]
    warnings: list[str]
    catalog: CatalogStamp
    version: str
    plans: list[Plan]
    knee: int | None
    search: Search
    conflict: list[str]
    other_conflicts: list[list[str]]
    relaxations: list[Relaxation]
    explanation: list[str]
