"""Workers that train apart: less traffic, the same arithmetic, and a warning."""

from typing import Any

import pytest

import solver
from solver.plan import Evaluation

GIB = 2**30


def estimate(framework: str = "torchtitan", **local: Any) -> Evaluation:
    run = {
        "model": "llama-3-8b",
        "training": {"sequence_length": 8192, "global_batch": "128 sequences", "precision": "bf16"}
        | ({"local_sgd": local} if local else {}),
        "hardware": {"machine": "h100-sxm-8", "devices": 32, "fabric": "eth-100"},
        "framework": framework,
        "layout": {"dp": 32, "recompute": "full"},
    }
    return solver.evaluate(run)


def parts(answer: Evaluation) -> dict[str, float]:
    assert answer.time is not None
    return answer.time.parts


def test_workers_of_one_machine_no_longer_wait_for_the_network() -> None:
    every, apart = estimate(), estimate(workers=4, steps=100)
    assert parts(apart)["data_parallel"] < parts(every)["data_parallel"] / 2
    assert parts(apart)["matmul"] == parts(every)["matmul"]
    assert apart.layout is not None
    assert apart.layout.shard == 8


def test_the_average_moves_the_float32_weights_once_in_so_many_steps() -> None:
    """Ring of 4 workers over 10 Gb/s: 2 x 3/4 x 4 B x 8.03 B parameters, every 500 steps."""
    apart = estimate(workers=4, steps=500, bandwidth="10 Gb/s")
    expected = 2 * 3 / 4 * 4 * 8.03e9 / (10e9 / 8) / 500
    assert parts(apart)["outer_average"] == pytest.approx(expected, rel=0.01)


def test_it_is_told_to_be_another_experiment_and_costs_memory() -> None:
    """Weights of the last average and the outer momentum: 8 B a parameter over the 8 ranks of a worker."""
    every, apart = estimate(), estimate(workers=4, steps=500)
    assert any("another experiment" in sentence for sentence in apart.warnings)
    assert every.memory is not None
    assert apart.memory is not None
    more = apart.memory.parts["optimizer"] - every.memory.parts["optimizer"]
    assert more == pytest.approx((8 * 8.03e9 / 8 + 8 * 8.03e9 * (1 / 8 - 1 / 32)) / GIB, rel=0.01)


def test_a_framework_without_it_refuses() -> None:
    rules = [violation.rule for violation in estimate("megatron-core", workers=4, steps=100).violations]
    assert "local_sgd_exists" in rules


def test_the_search_keeps_the_workers_apart() -> None:
    problem = {
        "model": "llama-3-8b",
        "training": {
            "steps": 1000,
            "sequence_length": 8192,
            "global_batch": "128 sequences",
            "local_sgd": {"workers": 4, "steps": 100},
        },
        "limits": {"machines": "h100-sxm-8", "max_devices": 64, "min_devices": 32},
    }
    answer = solver.solve(problem, top=1)
    layout = answer.plans[0].layout
    assert layout.shard * 4 == layout.dp * layout.cp
    assert any("another experiment" in sentence for sentence in answer.warnings)
