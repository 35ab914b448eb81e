"""trainplan: which hardware to rent or buy to train a model, and how to lay the training out on it."""

from typing import TYPE_CHECKING, Any, Literal

from solver.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from solver.answer import Answer
    from solver.comparing import Comparison
    from solver.plan import Evaluation
    from solver.problem import Problem
    from solver.search.trade_offs import Frontier

__version__ = "0.1.0"
__all__ = ["InputError", "batch", "compare", "evaluate", "frontier", "load", "solve"]


def load(source: "str | Path | Mapping[str, Any]") -> "Problem":
    """The problem in a requirements file, or in a dict of the same shape. Raises InputError."""
    from solver.question import understand

    return understand(source)


def solve(
    problem: "Problem | str | Path | Mapping[str, Any]", top: int = 5, distinct: str = "offering"
) -> "Answer":
    """The `top` best plans, each distinct from the others, with their proof; or why nothing fits."""
    from solver.problem import Problem
    from solver.search import solve_problem

    return solve_problem(
        problem if isinstance(problem, Problem) else load(problem), top=top, distinct=distinct
    )


def frontier(
    problem: "Problem | str | Path | Mapping[str, Any]",
    *,
    energy: bool = False,
) -> "Frontier":
    """Every trade-off of time and cost, the fastest plan first; energy: as a third axis."""
    from solver.problem import Problem
    from solver.search.frontier import frontier_of

    return frontier_of(problem if isinstance(problem, Problem) else load(problem), energy=energy)


def evaluate(run: "str | Path | Mapping[str, Any]") -> "Evaluation":
    """One stated layout on stated hardware: its estimate, or every rule it breaks. Raises InputError."""
    from solver.evaluation import evaluate_run
    from solver.problem import read_run

    return evaluate_run(read_run(run))


def compare(
    problem: "Problem | str | Path | Mapping[str, Any]",
    by: Literal["device", "family", "provider"] = "device",
    start: str | None = None,
) -> "Comparison":
    """The best plan of each device, family or provider, what would make it win, and the way there.

    start: the stack that moves are told from; None: the reference of the catalog. Raises InputError.
    """
    from solver.comparing import compare_problem
    from solver.problem import Problem

    return compare_problem(problem if isinstance(problem, Problem) else load(problem), by, start)


def batch(
    problems: "Problem | str | Path | Mapping[str, Any] | Iterable[Problem | str | Path | Mapping[str, Any]]",
    sets: "Mapping[str, Iterable[object]] | None" = None,
    sweep: "Path | None" = None,
    top: int = 5,
    jobs: int | None = None,
    engine: str = "local",
) -> "Iterator[Answer | InputError]":
    """The answers of many variants, in their order; for one that is bad input, the InputError in its place.

    sets: values by dotted field, {"limits.deadline": ["30 days", "60 days"]}, every one with every other; the
    last field changes fastest. sweep: a file of variants. jobs: how many at a time, None: one a core.
    """
    from solver.batches import Seats, answers

    return answers(problems, sets or {}, sweep, top, Seats(jobs, engine))
