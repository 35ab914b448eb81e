"""`solve` against brute force: the same best plans on small random problems, whatever the limits."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from oracle import KEY, VALUE, Row, best, everything
from strategies import SHAPES, markets, problems, small_catalog

import solver
from solver.answer import Answer
from solver.catalog import load
from solver.layout import RECOMPUTE
from solver.plan import Plan
from solver.problem import Problem
from solver.search.solve import best_plan

DAY_S = 86400.0
EXACT = 1e-9  # sums of float64 in another order
DISTINCT = st.sampled_from(["offering", "device", "layout"])


def objective_of(plan: Plan, objective: str) -> float:
    """What the oracle's VALUE says of a row."""
    return {
        "cost": plan.cost.total_usd,
        "time": plan.time.days * DAY_S,
        "energy": plan.energy.mwh * 1e6,
        "carbon": plan.energy.kg_co2e,
    }[objective]


def some_limits(draw: st.DrawFn, rows: list[Row]) -> dict[str, Any]:
    """Limits near what rows really take, so that they bind; some cannot be met together."""
    row = draw(st.sampled_from(rows))
    slack = st.sampled_from([0.999, 1.001, 1.1, 1.5, 3.0])
    limits = {
        "deadline": f"{row.wall_clock_s * draw(slack):.6f} s",
        "budget": f"{row.cost_usd * draw(slack) + 0.02:.4f} USD",
        "max_power": f"{row.power_w * draw(slack):.3f} W",
        "max_energy": f"{row.energy_wh * draw(slack):.3f} Wh",
        "max_carbon": f"{row.carbon_kg * draw(slack) + 1e-3:.6f} kg",
        "min_devices": min(row.devices, 4),
        "quotas": [{"provider": row.offering.provider, "region": row.offering.region, "machines": 1}],
    }
    names = draw(st.lists(st.sampled_from(sorted(limits)), max_size=3, unique=True))
    return {name: limits[name] for name in names}


def agrees(data: st.DataObject, nothing_fits: Callable[[Problem], bool]) -> None:
    """One random problem: same values, and every plan is one of the oracle's rows.

    nothing_fits: what is asked where the oracle finds no row
    """
    file = data.draw(problems()) | data.draw(markets())
    rows = everything(solver.load(file))
    if rows:
        file["limits"] |= data.draw(st.composite(some_limits)(rows))
    problem, distinct, top = solver.load(file), data.draw(DISTINCT), data.draw(st.integers(1, 6))
    expected = best(problem, rows, top, distinct)
    if not expected:
        assert nothing_fits(problem)
        return
    answer = solver.solve(problem, top=top, distinct=distinct)
    assert answer.status == "optimal"
    values = [objective_of(plan, problem.objective) for plan in answer.plans]
    assert values == pytest.approx([VALUE[problem.objective](row) for row in expected], rel=EXACT, abs=0)
    for plan in answer.plans:
        row = row_of(plan, rows)
        assert [plan.cost.total_usd, plan.time.days * DAY_S, plan.energy.mwh * 1e6, plan.power_kw * 1e3] == (
            pytest.approx([row.cost_usd, row.wall_clock_s, row.energy_wh, row.power_w], rel=EXACT, abs=0)
        )
    keys = [KEY[distinct](row_of(plan, rows)) for plan in answer.plans]
    assert len(set(keys)) == len(keys)


SPEED = {"tokens": "1B", "sequence_length": 512, "global_batch": "8 sequences"}


def pinned(framework: str, layout: dict[str, Any]) -> Answer:
    """A small model on one machine with some of the layout stated."""
    limits = {"machines": "h100-sxm-8", "frameworks": framework, "max_devices": 8, "layout": layout}
    file = {"model": SHAPES[0], "training": SPEED, "limits": limits, "catalog": small_catalog()}
    return solver.solve(file, top=1)


def test_sequence_parallel_can_be_pinned() -> None:
    answer = pinned("megatron-core", {"tp": 2, "sequence_parallel": False})
    assert [plan.layout.sequence_parallel for plan in answer.plans] == [False]


def test_a_framework_is_never_asked_for_a_recompute_that_it_lacks() -> None:
    assert pinned("deepspeed", {"recompute": "selective"}).status == "infeasible"


def test_a_budget_a_percent_above_the_cost_of_a_tiny_run_is_enough() -> None:
    limits = {"machines": "rtx4090-[124]"}
    training = {"steps": 20000, "sequence_length": 256, "global_batch": "2 sequences"}
    file = {"model": SHAPES[0], "training": training, "limits": limits, "catalog": small_catalog()}
    cost = solver.solve(file, top=1).plans[0].cost.total_usd
    assert cost < 1
    within = file | {"limits": limits | {"budget": f"{cost * 1.01:.6f} USD"}}
    assert solver.solve(within, top=1).status == "optimal"


def row_of(plan: Plan, rows: list[Row]) -> Row:
    """The oracle's row of a plan; there is exactly one."""
    recomputed = plan.layout.model_dump()
    found = [
        row
        for row in rows
        if (row.offering.provider, row.offering.instance, row.offering.region, row.offering.pricing)
        == (plan.provider, plan.instance, plan.region, plan.pricing)
        and (row.offering.machine, row.offering.fabric) == (plan.machine, plan.interconnect.scale_out)
        and (row.framework, row.precision, row.devices)
        == (plan.framework, plan.layout.precision, plan.devices)
        and all(recomputed[name] == value for name, value in row.layout if name != "recompute")
        and own_word(row) == plan.layout.recompute
    ]
    assert len(found) == 1
    return found[0]


def own_word(row: Row) -> str:
    """What the row's framework calls its way to recompute."""
    return load(None).frameworks[row.framework].recompute[RECOMPUTE[dict(row.layout)["recompute"]]]


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=50, suppress_health_check=QUIET)
@given(st.data())
def test_solve_is_as_good_as_brute_force(data: st.DataObject) -> None:
    # why: no conflict is told, which takes ten times the search and has its own tests
    agrees(data, lambda problem: best_plan(problem) is None)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=QUIET)
@given(st.data())
def test_solve_is_as_good_as_brute_force_on_many(data: st.DataObject) -> None:
    agrees(data, lambda problem: solver.solve(problem).status == "infeasible")
