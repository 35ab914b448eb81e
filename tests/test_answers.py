"""What the answers to the problems that ship keep, whatever the numbers: sums, limits, round trips, order."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from strategies import SHAPES, problems, small_catalog

import solver
from solver.answer import Answer
from solver.catalog import load
from solver.plan import Plan
from solver.problem import Problem, read_problem

FOLDER = Path(__file__).parents[1] / "problems"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
FEWER: dict[str, dict[str, Any]] = {  # what keeps the largest searches short
    "deepseek-v3.yaml": {
        "limits.machines": ["h100-sxm-8", "h200-sxm-8", "gb200-nvl72"],
        "limits.max_devices": 2048,
    },
}
SUM = 1e-9


@cache
def problem(name: str) -> Problem:
    return read_problem(FOLDER / name, FEWER.get(name))


@cache
def answer(name: str) -> Answer:
    return solver.solve(problem(name))


def printed(answer: Answer) -> dict[str, Any]:
    """As JSON has it, without what the clock says."""
    document = answer.model_dump(mode="json")
    document["search"].pop("seconds")
    return document


every_problem = pytest.mark.parametrize("name", FILES, ids=lambda name: name.removesuffix(".yaml"))


@every_problem
def test_a_problem_that_ships_is_answered(name: str) -> None:
    found = answer(name)
    assert found.status == "optimal"
    assert found.plans
    assert (found.conflict, found.relaxations) == ([], [])
    assert [plan.rank for plan in found.plans] == list(range(1, len(found.plans) + 1))
    assert found.search.gap == 0
    if problem(name).objective == "cost":
        assert found.search.bound_usd == pytest.approx(found.plans[0].cost.total_usd, rel=SUM)


@every_problem
def test_the_degrees_of_a_plan_fill_its_ranks_and_its_batch(name: str) -> None:
    for plan in answer(name).plans:
        x, batch = plan.layout, problem(name).training.global_batch
        assert x.tp * x.cp * x.pp * x.dp == plan.ranks
        assert x.dp * x.micro_batch * x.grad_accum == batch
        assert x.edp * x.ep * x.etp * x.pp == plan.ranks
        assert x.grad_accum >= x.pp
        assert plan.why_not_first is None or plan.rank > 1


@every_problem
def test_a_plan_takes_whole_blocks_and_pays_whole_machines(name: str) -> None:
    catalog = load()
    for plan in answer(name).plans:
        machine = catalog.machines[plan.machine]
        assert plan.devices % machine.block == 0
        assert plan.devices_paid == plan.machines * machine.devices
        assert plan.devices_paid - machine.devices < plan.devices <= plan.devices_paid
        assert plan.ranks == plan.devices * catalog.devices[plan.device].ranks
        assert (plan.machines == 1) or plan.interconnect.scale_out is not None


@every_problem
def test_the_parts_of_a_plan_sum_to_its_totals(name: str) -> None:
    for plan in answer(name).plans:
        assert sum(plan.time.parts.values()) == pytest.approx(plan.time.step_s, rel=SUM)
        assert sum(plan.memory.parts.values()) == pytest.approx(plan.memory.peak_gib, rel=SUM)
        assert sum(plan.cost.parts.values()) == pytest.approx(plan.cost.total_usd, rel=SUM, abs=1e-9)
        parts = [*plan.time.parts.values(), *plan.memory.parts.values(), *plan.cost.parts.values()]
        assert all(part >= 0 for part in parts)


@every_problem
def test_a_plan_keeps_every_limit(name: str) -> None:
    limits = problem(name).limits
    for plan in answer(name).plans:
        assert plan.memory.peak_gib <= plan.memory.usable_gib
        assert plan.time.low_days <= plan.time.days <= plan.time.high_days
        assert plan.time.days * 86400 <= (limits.deadline or float("inf"))
        assert plan.cost.total_usd <= (limits.budget or float("inf"))
        assert limits.min_devices <= plan.devices <= limits.max_devices
        assert plan.pricing in limits.pricing
        assert plan.layout.precision in problem(name).training.precision


@every_problem
def test_the_numbers_of_a_plan_belong_together(name: str) -> None:
    asked = problem(name)
    for plan in answer(name).plans:
        time, tokens = plan.time, asked.training.sequence_length * asked.training.global_batch
        assert time.steps == asked.steps
        assert time.tokens_per_s == pytest.approx(tokens / time.step_s, rel=SUM)
        assert time.tokens_per_s_per_device == pytest.approx(time.tokens_per_s / plan.devices, rel=SUM)
        steady_days = time.steps * time.step_s / 86400
        assert time.days == pytest.approx(steady_days / time.goodput_pct * 100, rel=0.01, abs=0.02)
        assert 0 < time.mfu_pct < 100
        assert 0 < time.goodput_pct <= 100
        hours = time.days * 24
        assert plan.cost.per_hour_usd * hours == pytest.approx(plan.cost.total_usd, rel=SUM)


@every_problem
def test_plans_are_distinct_and_in_the_order_of_the_objective(name: str) -> None:
    found = answer(name)
    lists = [(p.provider, p.instance, p.interconnect.scale_out, p.pricing) for p in found.plans]
    assert len(set(lists)) == len(lists)
    values = [objective_of(plan, found.objective) for plan in found.plans]
    assert values == sorted(values)


def objective_of(plan: Plan, objective: str) -> float:
    return {"cost": plan.cost.total_usd, "time": plan.time.days, "energy": plan.energy.mwh}[objective]


@every_problem
def test_a_plan_given_back_to_evaluate_returns_its_step_and_memory_to_the_digit(name: str) -> None:
    for plan in answer(name).plans:
        comes_back(problem(name).given, plan)


@settings(max_examples=6)
@given(problems(), st.sampled_from(["offering", "layout"]))
def test_a_small_plan_comes_back_too(file: dict[str, Any], distinct: str) -> None:
    for plan in solver.solve(file, top=8, distinct=distinct).plans:
        comes_back(file, plan)


def comes_back(file: dict[str, Any], plan: Plan) -> None:
    result = solver.evaluate(run_of(file, plan)).model_dump(mode="json")
    expected = plan.model_dump(mode="json")
    assert result["legal"]
    assert result["fits"]
    assert result["layout"] == expected["layout"]
    assert result["memory"] == expected["memory"]
    for key in ("step_s", "tokens_per_s", "mfu_pct", "parts"):
        assert result["time"][key] == expected["time"][key]


def test_evaluate_tells_the_days_of_the_run_that_was_planned() -> None:
    plan = answer("llama-3-70b.yaml").plans[0]
    result = solver.evaluate(run_of(problem("llama-3-70b.yaml").given, plan))
    assert result.time is not None
    assert result.time.days == pytest.approx(plan.time.days, rel=SUM)


def run_of(given: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """The run file of a plan: what it says of itself, and the model and training of the problem."""
    training = {k: v for k, v in given["training"].items() if k != "precision"}
    hardware = {"machine": plan.machine, "devices": plan.devices, "fabric": plan.interconnect.scale_out}
    return {
        "model": given["model"],
        "training": training | {"precision": plan.layout.precision},
        "hardware": {k: v for k, v in hardware.items() if v is not None},
        "framework": plan.framework,
        "layout": plan.layout.model_dump(mode="json"),
        **{k: given[k] for k in ("catalog",) if k in given},
    }


AGAIN = """
import json, sys
from test_answers import TWICE, answer, printed
json.dump({name: printed(answer(name)) for name in TWICE}, sys.stdout)
"""


TWICE = ["llama-3-70b.yaml", "mixtral-8x7b.yaml", "tpu-only.yaml", "on-prem-h100.yaml"]  # two processes each


def test_another_process_with_another_hash_seed_prints_the_same_bytes() -> None:
    path = os.pathsep.join([str(FOLDER.parent), str(Path(__file__).parent)])
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", AGAIN], env=environment, capture_output=True, check=True)
    assert done.stdout.decode() == json.dumps({name: printed(answer(name)) for name in TWICE})


@pytest.mark.parametrize("name", ["llama-3-8b.yaml", "tpu-only.yaml", "sft-8b-a100-box.yaml"])
def test_a_second_run_prints_the_same_bytes(name: str) -> None:
    again = solver.solve(problem(name))
    assert json.dumps(printed(again)) == json.dumps(printed(answer(name)))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("limits.budget", ["65k USD", "80k USD", "200k USD", "10M USD"]),
        ("limits.deadline", ["20 days", "45 days", "46 days", "300 days"]),
        ("limits.max_devices", [64, 100, 128, 1024]),
    ],
)
def test_a_wider_limit_never_makes_the_best_plan_dearer(field: str, values: list[Any]) -> None:
    costs = []
    for value in values:
        found = solver.solve(read_problem(FOLDER / "llama-3-8b.yaml", {field: value}), top=1)
        costs.append(found.plans[0].cost.total_usd if found.plans else float("inf"))
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < float("inf")


def test_the_order_of_a_list_does_not_matter() -> None:
    training = {"steps": 10**6, "sequence_length": 512, "global_batch": "8 sequences"}
    file = {"model": SHAPES[4], "training": training, "catalog": small_catalog()}
    machines = ["h100-sxm-8", "a100-80-sxm-8", "rtx4090-[124]"]
    one = solver.solve(file | {"limits": {"machines": machines}})
    other = solver.solve(file | {"limits": {"machines": machines[::-1]}})
    assert one.plans == other.plans


def test_weights_in_host_memory_alone_are_a_plan_for_one_card() -> None:
    file = {
        "model": "llama-3-8b",
        "training": {"tokens": "1B", "sequence_length": 8192, "global_batch": "16 sequences"},
        "limits": {
            "max_devices": 1,
            "machines": "h100-sxm-1",
            "layout": {"offload": ["parameters"]},
        },
    }
    plan = solver.solve(solver.load(file)).plans[0]
    assert (plan.devices, plan.layout.zero, plan.layout.offload) == (1, 3, "parameters")
