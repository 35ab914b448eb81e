"""Questions that share a bench have the answers that they have alone."""

from typing import Any

import pytest

from solver.answer import Answer
from solver.problem import read_problem
from solver.search import solve_problem
from solver.search.bench import Bench, Benches, Recent

PROBLEM = {
    "model": "llama-3.1-8b",
    "training": {"tokens": "1B", "sequence_length": 131072, "global_batch": "4 sequences"},
    "limits": {"machines": ["h100-sxm-8", "l40s-8", "tpu-v5e*"]},
}
VARIANTS: list[dict[str, Any]] = [
    {"training.tokens": "1B", "limits.deadline": "12 hours"},
    {"training.tokens": "2B", "limits.deadline": "10 days", "limits.max_devices": 16},
    {"training.tokens": "2B", "limits.deadline": "12 hours", "objective": "time"},
    {"limits.layout": {"tp": [2, 4], "recompute": "full"}, "limits.deadline": "20 days"},
    {"limits.layout": {"pp": 4}, "limits.budget": "5 USD"},
    {"limits.budget": "20 USD"},
    {"limits.budget": "20 USD", "training.precision": "fp8"},
    {"hardware": {"machine": "h100-sxm-8", "count": 16}, "limits.pricing": "owned"},
]


def told(answer: Answer) -> dict[str, Any]:
    """An answer without the counts of its search."""
    return answer.model_dump(mode="json", exclude={"search"})


@pytest.mark.parametrize("distinct", ["offering", "layout"])
def test_answers_on_a_bench_are_those_of_questions_alone(distinct: str) -> None:
    benches, statuses = Benches(), set()
    for given in VARIANTS if distinct == "offering" else VARIANTS[-2:]:
        problem = read_problem(PROBLEM, given)
        shared = solve_problem(problem, 3, distinct, benches=benches)
        assert told(shared) == told(solve_problem(problem, 3, distinct))
        statuses.add(shared.status)
    assert statuses == {"optimal", "infeasible"}


def test_questions_of_other_jobs_do_not_share_a_bench() -> None:
    benches = Benches()
    changes: list[dict[str, Any]] = [
        {"training.global_batch": "2 sequences"},
        {"training.sequence_length": 16384},
        {},
    ]
    for given in changes:
        problem = read_problem(PROBLEM, given)
        assert told(solve_problem(problem, benches=benches)) == told(solve_problem(problem))
    assert len(benches.recent) == 2  # the last two


def test_a_market_is_looked_at_again_only_for_larger_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = Bench._look

    def noted(*args: Any) -> Any:
        looks.append(args[2])
        return look(*args)

    monkeypatch.setattr(Bench, "_look", noted)
    benches = Benches()
    for most, fresh in ((32, True), (16, False), (128, True), (128, False)):
        before = len(looks)
        solve_problem(
            read_problem(PROBLEM, {"limits.max_devices": most, "objective": "time"}), benches=benches
        )
        assert (len(looks) > before) == fresh


def test_recent_keeps_what_was_used_last_within_its_size() -> None:
    recent: Recent[str, int] = Recent(10, lambda size: size)
    made = [recent.recall(name, lambda size=size: size) for name, size in (("a", 4), ("b", 5), ("a", 9))]  # type: ignore[misc]
    assert made == [4, 5, 4]
    recent["c"] = 3
    assert list(recent) == ["a", "c"]
    recent["huge"] = 99
    assert list(recent) == ["huge"]
