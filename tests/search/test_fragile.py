"""A plan that fits by less than its memory may be off ranks behind a sound one that is as good."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from solver.catalog import load
from solver.errors import InputError
from solver.problem import read_problem
from solver.search.candidates import Candidates
from solver.search.explore import ranked
from solver.search.solve import solve_problem

SMALL: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"tokens": "1B", "sequence_length": 4096, "global_batch": "64 sequences"},
    "hardware": {"machine": "h100-sxm-8", "count": 1, "price": "20 USD/hour"},
    "limits": {"pricing": ["owned"], "frameworks": ["megatron-core"], "layout": {"recompute": ["none"]}},
}


def rows(**columns: list[float]) -> Candidates:
    """Candidates of ones but for some columns."""
    count = len(next(iter(columns.values())))
    told: dict[str, Any] = {field.name: np.ones(count, np.int64) for field in fields(Candidates)}
    told |= {"offering": np.zeros(count, np.int64)} | {n: np.array(v) for n, v in columns.items()}
    return Candidates(**told)


def test_of_equal_cost_the_sound_one_is_first_though_it_be_slower_or_larger() -> None:
    offering: Any = type("Offering", (), {"id": "a"})()
    table = rows(
        cost_usd=[5.0, 5.0, 4.0], fragile=[1, 0, 1], wall_clock_s=[1.0, 2.0, 9.0], devices=[8, 16, 8]
    )
    best = ranked(table, (offering,), "cost_usd")
    assert best.cost_usd.tolist() == [4.0, 5.0, 5.0]  # the objective goes first
    assert best.fragile.tolist() == [1, 0, 1]


def plans(**limits: object) -> list[Any]:
    problem = read_problem(SMALL | {"limits": SMALL["limits"] | limits})
    return list(solve_problem(problem, top=5, distinct="layout").plans)


def test_what_a_margin_leaves_free_no_plan_takes() -> None:
    tight = [plan.memory for plan in plans()]
    assert any(memory.peak_gib > 0.6 * memory.usable_gib for memory in tight)
    roomy = [plan.memory for plan in plans(memory_margin="40%")]
    assert roomy
    assert all(memory.peak_gib <= 0.6 * memory.usable_gib for memory in roomy)


def test_a_plan_is_fragile_where_the_memory_error_would_not_fit() -> None:
    error = load().operations["operations"].memory_error
    found = [plan.memory for plan in plans()]
    told = [memory.fragile for memory in found]
    assert told == [(1 + error) * memory.peak_gib > memory.usable_gib for memory in found]


def test_a_margin_is_a_percentage() -> None:
    with pytest.raises(InputError, match="memory_margin"):
        read_problem(SMALL | {"limits": {"memory_margin": "much"}})


def test_a_margin_that_leaves_no_room_is_named() -> None:
    problem = read_problem(SMALL | {"limits": SMALL["limits"] | {"memory_margin": "95%"}})
    answer = solve_problem(problem)
    assert answer.status == "infeasible"
    assert "limits.memory_margin" in answer.conflict


def test_the_peak_of_each_stage_is_told_and_the_fullest_is_the_plans() -> None:
    for plan in plans(layout={"pp": [1, 2, 4]}):
        memory = plan.memory
        assert len(memory.stage_gib) == min(plan.layout.pp, 3)
        assert memory.stage_gib[memory.stage] == max(memory.stage_gib.values()) == memory.peak_gib
