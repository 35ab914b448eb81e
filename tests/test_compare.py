"""`compare`: each group's best is what solve finds, and its break-even price is exact."""

from pathlib import Path
from typing import Any

import pytest

import solver
from solver.catalog import load
from solver.comparing import Comparison, compare_problem
from solver.comparing.record import Group
from solver.errors import InputError
from solver.question import understand

DEVICES = ["h100-sxm", "h200-sxm", "l40s", "tpu-v5p", "a100-80-sxm", "t4", "gaudi2", "trn2", "rtx4090"]


def problem(**limits: Any) -> dict[str, Any]:
    return {
        "model": "llama-3-8b",
        "training": {"tokens": "1T", "sequence_length": 8192, "global_batch": "512 sequences"},
        "limits": {"deadline": "30 days", "budget": "250k USD", "devices": DEVICES} | limits,
    }


def compared(by: str = "device", start: str | None = None, **limits: Any) -> Comparison:
    return compare_problem(understand(problem(**limits)), by, start)  # type: ignore[arg-type]  # one of three


@pytest.fixture(scope="module")
def found() -> dict[str, Group]:
    return {group.name: group for group in compared().groups}


def test_every_device_that_is_asked_for_is_told_of(found: dict[str, Group]) -> None:
    assert sorted(found) == sorted(DEVICES)
    statuses = [group.status for group in found.values()]
    assert statuses.count("best") == 1
    assert statuses == sorted(statuses)  # best, fits, nothing


@pytest.mark.parametrize("name", ["h100-sxm", "h200-sxm", "tpu-v5p", "a100-80-sxm"])
def test_the_plan_of_a_device_is_the_one_that_solve_finds(found: dict[str, Group], name: str) -> None:
    alone = solver.solve(problem(devices=[name]), top=1).plans[0]
    plan = found[name].plan
    assert plan is not None
    both = [p.model_dump(exclude={"rank", "why_not_first"}) for p in (plan, alone)]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("by", "limit"), [("family", {"devices": ["l40s"]}), ("provider", {"providers": ["oci"]})]
)
def test_the_plan_of_a_family_or_provider_is_the_one_that_solve_finds(by: str, limit: dict[str, Any]) -> None:
    few: dict[str, Any] = {"devices": ["l40s", "h200-sxm", "a100-80-sxm"], "budget": "400k USD"}
    groups = {group.name: group for group in compared(by, **few).groups}
    group = groups["L" if by == "family" else "oci"]
    assert group.title.startswith("nvidia Ada Lovelace: l4, " if by == "family" else "oci")
    plan = group.plan
    alone = solver.solve(problem(**few | limit), top=1).plans[0]
    assert plan is not None
    assert (plan.cost, plan.layout, plan.machine) == (alone.cost, alone.layout, alone.machine)


REASONS = {
    "t4": "precision: bf16 is not among what the device computes in",
    "gaudi2": "no offering: the catalog knows nobody",
    "trn2": "limits.pricing: offered as capacity-block only",
    "rtx4090": "limits.deadline: the plan that misses by least, 1 x rtx4090-8, takes",
    "l40s": "limits.budget: the plan that misses by least, ",
}


@pytest.mark.parametrize(("name", "reason"), REASONS.items())
def test_a_device_without_a_plan_has_the_reason(found: dict[str, Group], name: str, reason: str) -> None:
    assert found[name].plan is None
    assert (found[name].reason or "").startswith(reason), found[name].reason


def test_what_no_machine_can_hold_is_told() -> None:
    big = understand(problem(devices=["rtx3090"]) | {"model": "llama-3-70b"})
    (group,) = compare_problem(big).groups
    assert group.reason == "memory: no legal layout fits in the 8 devices that a job can have at most"


def repriced(tmp_path: Path, offering: str, usd_per_device_hour: float) -> Path:
    """An overlay with one price of one row of the offerings changed."""
    catalog = load()
    given = next(o for o in catalog.offerings if o.id == offering)
    row = next(r for r in catalog.rows if offering.startswith(f"{r.id}:{given.pricing}"))
    each = 1 if row.unit == "device" else catalog.machines[given.machine].devices
    (tmp_path / "offerings").mkdir(exist_ok=True)
    column = given.pricing.replace("-", "_")
    text = f'records: {{"{row.id}": {{{column}: {usd_per_device_hour * each!r}}}}}\n'
    (tmp_path / "offerings" / "mine.yaml").write_text(text)
    return tmp_path


# l40s has no plan within the budget: the price alone would make it the winner too.
@pytest.mark.parametrize("name", ["h200-sxm", "tpu-v5p", "a100-80-sxm", "l40s"])
def test_below_its_break_even_price_the_loser_wins(
    found: dict[str, Group], name: str, tmp_path: Path
) -> None:
    wins = found[name].to_win
    assert wins is not None
    assert wins.price_usd_per_device_hour is not None
    for factor, wanted in ((0.99, True), (1.01, False)):
        overlay = repriced(tmp_path, wins.offering, factor * wins.price_usd_per_device_hour)
        best = solver.solve(problem() | {"catalog": str(overlay)}, top=1).plans[0]
        assert (best.device == name) == wanted


def test_a_speed_up_does_at_least_what_the_price_does(found: dict[str, Group]) -> None:
    for group in found.values():
        if group.to_win and group.to_win.price_change_pct and group.to_win.speedup:
            by_price = 1 / (1 + group.to_win.price_change_pct / 100)
            assert 1 < group.to_win.speedup < 1.02 * by_price  # stops and start-up stay as long


def test_price_per_effective_pflop_hour_is_cost_over_model_flops(found: dict[str, Group]) -> None:
    plan, usd = found["h100-sxm"].plan, found["h100-sxm"].usd_per_effective_pflop_hour
    assert plan is not None
    # mfu x peak of all devices, while the steps run: PFLOP/s; times its hours at 100 % goodput.
    pflops = plan.time.mfu_pct / 100 * plan.devices * load().devices["h100-sxm"].peak["bf16"] / 1e15
    assert usd == pytest.approx(plan.cost.total_usd / (pflops * plan.time.steps * plan.time.step_s / 3600))


def test_within_one_cloud_a_tpu_does_more_for_a_dollar_than_an_h100_and_not_across_clouds(
    found: dict[str, Group],
) -> None:
    few: dict[str, Any] = {"devices": ["h100-sxm", "tpu-v5p"], "providers": ["gcp"], "budget": "1M USD"}
    assert [group.name for group in compared(**few).groups] == ["tpu-v5p", "h100-sxm"]
    tpu, gpu = (found[name].usd_per_effective_pflop_hour or 0 for name in ("tpu-v5p", "h100-sxm"))
    assert tpu > 2 * gpu > 0


def test_moves_are_told_from_the_stack_that_is_asked_for(found: dict[str, Group]) -> None:
    assert found["h100-sxm"].migration is None
    move = found["tpu-v5p"].migration
    assert move is not None
    assert (move.from_stack, move.to_stack) == ("pytorch-cuda", "jax-tpu")
    assert "CUDA kernels" in move.missing
    back = {g.name: g.migration for g in compared(start="jax-tpu", devices=["h100-sxm", "tpu-v5p"]).groups}
    assert back["tpu-v5p"] is None
    assert back["h100-sxm"] is not None
    with pytest.raises(InputError, match='"tpu" is no stack of the catalog'):
        compared(start="tpu")


def test_every_stack_has_a_way_to_every_other() -> None:
    catalog = load()
    assert len(catalog.migrations) == len(catalog.stacks) * (len(catalog.stacks) - 1)
    for framework in catalog.frameworks:
        assert any(framework in stack.frameworks for stack in catalog.stacks.values())
