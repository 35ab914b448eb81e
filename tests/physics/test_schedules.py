"""Pipeline schedules against the tables of their papers."""

from typing import Any

import pytest

import solver
from solver.plan import Evaluation


def estimate(schedule: str, **layout: Any) -> Evaluation:
    run = {
        "model": "llama-2-7b",
        "training": {"sequence_length": 4096, "global_batch": "32 sequences", "precision": "bf16"},
        "hardware": {"machine": "h100-sxm-8", "devices": 8},
        "framework": "torchtitan",
        "layout": {"pp": 8, "dp": 1, "schedule": schedule, **layout},
    }
    return solver.evaluate(run)


def bubble(answer: Evaluation) -> float:
    assert answer.time is not None
    return answer.time.parts["pipeline_bubble"]


def stage(answer: Evaluation) -> float:
    """Seconds of one micro-batch on a stage."""
    assert answer.time is not None
    kinds = ("matmul", "attention", "elementwise", "launch", "recompute")
    return sum(answer.time.parts[kind] for kind in kinds) / 32


def test_1f1b_waits_for_all_other_stages() -> None:
    """(p - 1)(F + B): Narayanan et al. 2021."""
    plain = estimate("1f1b")
    assert bubble(plain) == pytest.approx(7 * stage(plain), rel=1e-6)


def test_zero_bubble_waits_for_what_weight_gradients_do_not_fill() -> None:
    """(p - 1)(F + B - 2W): with F = B = W nothing is left; attention and element-wise work have no W."""
    plain, split = estimate("1f1b"), estimate("zero-bubble")
    assert split.time is not None
    filled = 7 * split.time.parts["matmul"] / 32
    assert bubble(split) == pytest.approx(7 * stage(split) - filled, rel=1e-6)
    assert bubble(split) < bubble(plain) / 2


def test_dualpipe_waits_half_as_long_or_less() -> None:
    """DeepSeek-V3, table 2: (p/2 - 1)(F&B + B - 3W) of p = 2 d ranks against (p - 1)(F + B)."""
    assert bubble(estimate("dualpipe")) < bubble(estimate("1f1b")) / 2


def test_every_rank_of_a_v_holds_as_many_micro_batches() -> None:
    """Zero bubble on a V: the peak of 1F1B; DualPipe: one more micro-batch of the 8."""
    plain, split, dual = (estimate(name).memory for name in ("1f1b", "zero-bubble", "dualpipe"))
    assert plain is not None
    assert split is not None
    assert dual is not None
    assert dual.parts["activations"] > split.parts["activations"]
    assert split.stage == "first"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [({"vpp": 4}, "schedule_sets_chunks"), ({"framework": "megatron-core"}, "schedule_exists")],
)
def test_what_a_schedule_refuses(changes: dict[str, Any], rule: str) -> None:
    framework = changes.pop("framework", "torchtitan")
    run = {
        "model": "llama-2-7b",
        "training": {"sequence_length": 4096, "global_batch": "32 sequences", "precision": "bf16"},
        "hardware": {"machine": "h100-sxm-8", "devices": 8},
        "framework": framework,
        "layout": {"pp": 8, "dp": 1, "schedule": "zero-bubble", **changes},
    }
    assert rule in [violation.rule for violation in solver.evaluate(run).violations]


def test_the_search_takes_the_schedule_that_is_asked_for() -> None:
    problem = {
        "model": "llama-2-7b",
        "training": {"steps": 100, "sequence_length": 4096, "global_batch": "32 sequences"},
        "limits": {
            "machines": "h100-sxm-8",
            "max_devices": 8,
            "layout": {"schedule": "zero-bubble", "pp": 4},
        },
    }
    best = solver.solve(problem, top=1).plans[0]
    assert (best.framework, best.layout.schedule, best.layout.vpp) == ("torchtitan", "zero-bubble", 2)
    stated = best.layout.model_dump(mode="json")
    run = {
        "model": "llama-2-7b",
        "training": {"sequence_length": 4096, "global_batch": "32 sequences", "precision": "bf16"},
        "hardware": {"machine": best.machine, "devices": best.devices},
        "framework": best.framework,
        "layout": stated,
    }
    again = solver.evaluate(run)
    assert again.time is not None
    assert again.time.step_s == best.time.step_s
