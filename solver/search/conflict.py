"""Why nothing fits: the demands that clash, and the smallest changes that would fit."""

from solver.plan import Relaxation
from solver.question import Question
from solver.search.explore import Goal


def explain(
    question: Question, goal: Goal, also_in: dict[str, list[str]]
) -> tuple[list[str], list[Relaxation]]:
    """A minimal conflict, and relaxations."""
    return [], []
