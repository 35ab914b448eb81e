"""Why a plan is not the first: causes that are computed, each where it is the one thing that differs."""

from typing import Any

import pytest
from strategies import small_catalog

import solver
from solver.plan import Plan
from solver.search.causes import Case, why_not_first

FILE: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"steps": 5000, "sequence_length": 4096, "global_batch": "16 sequences"},
    "limits": {"max_devices": 8},
    "catalog": small_catalog(),
}
HOUR_USD = 2.5


@pytest.fixture(scope="module")
def plan() -> Plan:
    (found,) = solver.solve(FILE, top=1).plans
    return found


def changed(plan: Plan, usd: float, **fields: Any) -> Plan:
    """At a cost in proportion, as if nothing but these fields were other."""
    parts = {name: value * usd for name, value in plan.cost.parts.items()}
    cost = plan.cost.model_copy(update={"total_usd": plan.cost.total_usd * usd, "parts": parts})
    return plan.model_copy(update={"cost": cost} | fields)


def told(plan: Plan, first: Plan, price: float = HOUR_USD, first_price: float = HOUR_USD) -> str:
    return why_not_first(Case(plan, price), Case(first, first_price), "cost")


@pytest.fixture
def first(plan: Plan) -> Plan:
    """Of which the machines' part of the bill is what its hours cost at HOUR_USD."""
    hours = plan.devices_paid * plan.time.days * 24
    cost = plan.cost.model_copy(
        update={"total_usd": HOUR_USD * hours, "parts": {"accelerators": HOUR_USD * hours}}
    )
    return plan.model_copy(update={"cost": cost})


def test_a_dearer_hour(first: Plan) -> None:
    sentence = told(changed(first, 2.0), first, price=2 * HOUR_USD)
    assert sentence == "cost +100.0%: a device-hour is 5.00 against 2.50 USD (+100%)"


def test_whole_machines(first: Plan) -> None:
    sentence = told(changed(first, 2.0, devices=first.devices // 2, time=half_as_long(first)), first)
    assert "of the devices that are paid are idle (+100%)" in sentence


def half_as_long(plan: Plan) -> Any:
    """Steps of twice the time on half the devices: the same device-time."""
    return plan.time.model_copy(update={"step_s": 2 * plan.time.step_s, "days": 2 * plan.time.days})


def test_a_term_that_outlasts_the_run(first: Plan) -> None:
    assert told(changed(first, 3.0), first) == (
        "cost +200.0%: more of the term that is paid lies idle (+200%)"
    )


def test_failures(first: Plan) -> None:
    slow = first.time.model_copy(update={"days": 1.5 * first.time.days})
    assert "failures, restarts and checkpoints take more (+50%)" in told(
        changed(first, 1.5, time=slow), first
    )


def test_a_slower_step_names_the_part_that_makes_it_slow(first: Plan) -> None:
    parts = first.time.parts | {"pipeline_bubble": first.time.parts["pipeline_bubble"] + first.time.step_s}
    slow = {"step_s": 2 * first.time.step_s, "days": 2 * first.time.days, "parts": parts}
    sentence = told(changed(first, 2.0, time=first.time.model_copy(update=slow)), first)
    assert sentence == "cost +100.0%: a step takes 100% more device-time, mostly pipeline bubble"


def test_a_difference_within_the_error_band_is_told_as_a_tie(first: Plan) -> None:
    near = told(changed(first, 1.02), first, price=1.02 * HOUR_USD)
    assert near.endswith("; a tie within the error band")
    assert "tie" not in told(changed(first, 2.0), first, price=2 * HOUR_USD)
