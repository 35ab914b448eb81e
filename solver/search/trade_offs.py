"""The answer of `frontier`, as JSON has it."""

from solver.answer import Reply


class Frontier(Reply):
    """Every trade-off that no other plan beats in all of `axes`, the fastest plan first.

    axes: fields of a plan; knee: of `plans`, see frontier.knee_of.
    """

    axes: list[str]
    knee: int | None
