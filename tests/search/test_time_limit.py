"""A search that time cuts short: what it says of its best plan, and of none."""

import math

import pytest

import solver
from solver.problem import read_problem
from solver.question import ask
from solver.search import solve_problem
from solver.search.explore import Goal, explore
from solver.search.limits import limits_of
from solver.search.rank import choose
from solver.search.solve import explorer_of

FILE = {
    "model": "llama-3.1-8b",
    "training": {"tokens": "1B", "sequence_length": 4096, "global_batch": "16 sequences"},
    "limits": {"machines": ["h100-sxm-8", "a100-80-sxm-8"], "max_devices": 16},
}


def test_without_time_nothing_is_known() -> None:
    answer = solve_problem(read_problem(FILE), time_limit_s=0.0)
    assert (answer.status, answer.plans, answer.conflict) == ("unknown", [], [])
    assert any("time was up" in line for line in answer.search.proof)


class Clock:
    """A clock that stands until it was asked so often, and is past every limit from then on."""

    def __init__(self, asked: int) -> None:
        self.left = asked

    def perf_counter(self) -> float:
        self.left -= 1
        return 0.0 if self.left >= 0 else 1e9


@pytest.mark.parametrize("asked", [2, 3, 6, 30])
def test_a_search_cut_short_is_feasible_with_a_true_bound(
    monkeypatch: pytest.MonkeyPatch, asked: int
) -> None:
    whole = solver.solve(FILE, top=1)
    monkeypatch.setattr("solver.search.explore.time", Clock(asked))
    monkeypatch.setattr("solver.search.rank.time", Clock(10**9))
    question = ask(read_problem(FILE))
    goal = Goal("cost", limits_of(question.problem.limits), 1, "offering", until=1.0)
    explorer, _ = explorer_of(question, goal)
    table = explore(explorer, goal)
    choice = choose(explorer, table, goal)
    best, found = whole.plans[0].cost.total_usd, float(choice.table.cost_usd[0])
    assert best <= found * (1 + 1e-9)
    assert min(explorer.unexplored, found) <= best * (1 + 1e-9)  # the bound that is told
    assert explorer.unexplored < math.inf or found == pytest.approx(best, rel=1e-9)
