"""How far an answer holds, against new searches on either side of each end of a range."""

from typing import Any

import pytest
from strategies import small_catalog

import solver
from solver.answer import Answer
from solver.plan import Plan
from solver.problem import read_problem

FILE: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"steps": 5000, "sequence_length": 4096, "global_batch": "16 sequences"},
    "catalog": small_catalog(),
}
LIMITS = {"deadline": "0.05 days", "budget": "900 USD", "max_devices": 16}
OFFERING = {"slow": "north:slow:*:on-demand", "big": "north:big:*:on-demand", "old": "west:old*:on-demand"}


def solved(changes: dict[str, Any], top: int = 5) -> Answer:
    return solver.solve(read_problem(FILE | {"limits": LIMITS}, changes), top=top)


@pytest.fixture(scope="module")
def answer() -> Answer:
    return solved({})


def what(plan: Plan) -> tuple[str, str, int, str]:
    return (plan.provider, plan.instance, plan.devices, plan.framework)


def test_a_larger_deadline_saves_what_is_told_and_a_smaller_one_nothing(answer: Answer) -> None:
    (found,) = (
        [r for r in answer.sensitivity.limits if r.field == "limits.deadline"] if answer.sensitivity else []
    )
    best = answer.plans[0]
    (step, *_) = found.looser
    assert found.stands_to == step.to
    after = solved({found.field: step.to}).plans[0]
    assert best.cost.total_usd - after.cost.total_usd == pytest.approx(step.saves)
    assert (after.provider, after.devices) == (step.plan.provider, step.plan.devices)
    before, bound = 0.05, float(str(step.to).split()[0])
    short = f"{before + 0.95 * (bound - before):.9g} days"
    assert what(solved({found.field: short}).plans[0]) == what(best)


def test_a_smaller_deadline_keeps_the_first_plan_to_the_end_of_its_range(answer: Answer) -> None:
    assert answer.sensitivity is not None
    (found,) = [r for r in answer.sensitivity.limits if r.field == "limits.deadline"]
    best = answer.plans[0]
    assert what(solved({found.field: found.stands_from}).plans[0]) == what(best)
    tighter = solved({found.field: f"{0.999 * best.time.days:.9g} days"})
    expected = (found.tighter.provider, found.tighter.devices) if found.tighter else None
    assert expected is None or (tighter.plans[0].provider, tighter.plans[0].devices) == expected
    assert what(best) not in [what(plan) for plan in tighter.plans]


def test_no_price_within_its_range_changes_the_first_plan_and_any_beyond_does(answer: Answer) -> None:
    assert answer.sensitivity is not None
    first = answer.plans[0]
    assert {price.rank for price in answer.sensitivity.prices} == {plan.rank for plan in answer.plans}
    for price, plan in zip(answer.sensitivity.prices, answer.plans, strict=True):
        turn = price.stands_to or price.stands_from
        assert turn is not None
        inside, beyond = (0.999, 1.001) if plan.rank == 1 else (1.001, 0.999)
        for factor, same in ((inside, True), (beyond, False)):
            priced = {"prices": {OFFERING[plan.instance]: f"{8 * turn * factor:.9g} USD/hour"}}
            assert (what(solved(priced).plans[0]) == what(first)) is same


def test_a_plan_at_the_turn_of_its_speed_costs_as_much_as_the_first(answer: Answer) -> None:
    assert answer.sensitivity is not None
    first = answer.plans[0]
    for speed, plan in zip(answer.sensitivity.speeds[1:], answer.plans[1:], strict=True):
        assert speed.stands_from_s is not None
        # the start of a run is paid too, so cost grows a little less than a step
        ratio = first.cost.total_usd / plan.cost.total_usd
        assert speed.stands_from_s / speed.step_s == pytest.approx(ratio, rel=0.2)
        assert speed.stands_from_s / speed.step_s < ratio


def test_the_first_plan_may_be_slower_until_it_is_late_or_dearer_than_another() -> None:
    answer = solved({"limits.deadline": "2 days"})
    assert answer.sensitivity is not None
    first, second = answer.plans[:2]
    slower = answer.sensitivity.speeds[0].stands_to_s
    assert slower is not None
    assert slower > first.time.step_s
    late = solved({"limits.deadline": f"{first.time.days * 1.001:.9g} days"})
    assert late.sensitivity is not None
    told = late.sensitivity.speeds[0].stands_to_s
    assert told is not None
    assert told < min(slower, 1.002 * first.time.step_s)
    assert second.cost.total_usd > first.cost.total_usd


def test_where_nothing_fits_there_is_no_range() -> None:
    assert solved({"limits.deadline": "1 s"}).sensitivity is None
