"""Offload to host memory: against the paper's table of the update, and DeepSpeed's own bytes a parameter."""

from typing import Any

import pytest

import solver
from solver.plan import Evaluation

BOX = {"machine": "a100-80-sxm-8", "devices": 8}


def estimate(layout: dict[str, Any], **changes: Any) -> Evaluation:
    run = {
        "model": "qwen2.5-72b",
        "training": {"sequence_length": 2560, "global_batch": "32 sequences", "precision": "bf16"},
        "hardware": BOX,
        "framework": "deepspeed",
        "layout": {"micro_batch": 4, "recompute": "full", **layout},
    }
    return solver.evaluate(run | changes)


@pytest.mark.parametrize(("offload", "bytes_each"), [("optimizer", 16), ("parameters", 18)])
def test_a_host_holds_what_deepspeeds_estimator_says(offload: str, bytes_each: int) -> None:
    """estimate_zero3_model_states_mem_needs: 16 B a parameter, 18 with the weights; 72.7 B parameters."""
    memory = estimate({"zero": 3, "offload": offload}).memory
    assert memory is not None
    assert memory.host_gib == pytest.approx(72.7e9 * bytes_each / 2**30, rel=0.01)
    assert memory.parts["optimizer"] == 0


def test_the_hosts_update_takes_what_the_paper_measured() -> None:
    """Ren et al. 2021, table 4: Adam of 10 B parameters on the host takes 2.57 s, of 1 B 0.23 s."""
    time = estimate({"zero": 3, "offload": "parameters", "micro_batch": 4}).time
    assert time is not None
    assert time.parts["offload"] >= 72.7 / 10 * 2.57 * 0.9


def test_a_host_that_is_too_small_does_not_fit() -> None:
    """A 72B model with offload was killed on 8 A100 with 800 GB of host memory (QwenLM/Qwen3 issue 804)."""
    machine = {
        "device": "a100-80-sxm",
        "devices": 8,
        "scale_up": "nvlink3",
        "host_memory": "800 GB",
        "power": "6.5 kW",
    }
    answer = estimate({"zero": 3, "offload": "optimizer"}, hardware={"machine": machine, "devices": 8})
    assert answer.memory is not None
    assert (answer.legal, answer.fits) == (True, False)
    assert answer.memory.peak_gib < answer.memory.usable_gib
    assert answer.memory.host_usable_gib is not None
    assert answer.memory.host_gib > answer.memory.host_usable_gib


def test_offload_frees_the_device_and_costs_time() -> None:
    kept, away = estimate({"zero": 3}), estimate({"zero": 3, "offload": "parameters"})
    assert kept.memory is not None
    assert away.memory is not None
    assert kept.time is not None
    assert away.time is not None
    assert away.memory.peak_gib < kept.memory.peak_gib - 100
    assert away.time.step_s > kept.time.step_s
    assert kept.memory.host_gib == 0


@pytest.mark.parametrize(
    ("layout", "rule"),
    [
        ({"zero": 1, "offload": "parameters"}, "parameters_leave_sharded"),
        ({"zero": 0, "offload": "optimizer"}, "optimizer_leaves_sharded"),
        ({"zero": 1, "pp": 2, "offload": "optimizer"}, "offload_without_pipeline"),
    ],
)
def test_what_a_framework_refuses(layout: dict[str, Any], rule: str) -> None:
    assert rule in [violation.rule for violation in estimate(layout).violations]


def test_the_search_offloads_where_it_is_allowed_to() -> None:
    """8 B parameters do not fit into four cards of 24 GB otherwise."""
    problem = {
        "model": "llama-3-8b",
        "training": {"steps": 100, "sequence_length": 4096, "global_batch": "8 sequences"},
        "limits": {"devices": "rtx4090", "max_devices": 4, "pricing": ["on-demand", "community"]},
    }
    allowed = problem | {"limits": problem["limits"] | {"layout": {"offload": ["none", "optimizer"]}}}  # type: ignore[operator]
    assert solver.solve(problem).status == "infeasible"
    best = solver.solve(allowed, top=1).plans[0]
    assert best.layout.offload == "optimizer"
    assert best.memory.host_usable_gib is not None
    assert best.memory.host_gib <= best.memory.host_usable_gib


def test_a_checkpoint_stages_14_bytes_a_parameter_and_every_process_may_load_all_weights() -> None:
    """Mixed precision: weights 2, master copy 4, moments 8. A 30B model was loaded whole by every process."""
    memory = estimate({"zero": 3}).memory
    assert memory is not None
    assert memory.saving_host_gib == pytest.approx(14 * 72.7e9 / 2**30, rel=0.01)
    assert memory.loading_host_gib == pytest.approx(8 * 2 * 72.7e9 / 2**30, rel=0.01)


def test_one_card_waits_for_the_gradients_that_its_host_adds() -> None:
    """FSDP2 copies float32 gradients down and waits, of every micro-batch but the first (foreach_reduce).

    8.03 B x 4 bytes, 480 sequences one by one, over PCIe 4.0 x16 (31.5 GB/s, of which copies reach 8 tenths).
    """
    run = {
        "model": "llama-3-8b",
        "training": {"sequence_length": 2048, "global_batch": "480 sequences", "precision": "bf16"},
        "hardware": {"machine": "rtx4090-4", "devices": 1},
        "layout": {"dp": 1, "zero": 3, "micro_batch": 1, "recompute": "full", "offload": "parameters"},
    }
    answer = solver.evaluate(run | {"framework": "torchtitan"})
    assert answer.legal
    assert answer.time is not None
    assert answer.time.parts["offload"] >= 479 * 8.03e9 * 4 / (0.8 * 31.5e9)


def test_one_card_holds_the_13_billion_parameters_of_the_paper() -> None:
    """Ren et al. 2021, sec. 1: models of over 13 B parameters on a single V100 of 32 GB."""
    host = {
        "device": "v100-32-sxm",
        "devices": 1,
        "scale_up": "nvlink2",
        "host_memory": "1.5 TB",
        "power": "1 kW",
    }
    run = {
        "model": "gpt-3-13b",
        "training": {"sequence_length": 1024, "global_batch": "512 sequences", "precision": "fp16"},
        "hardware": {"machine": host, "devices": 1},
        "framework": "deepspeed",
        "layout": {"dp": 1, "zero": 2, "micro_batch": 1, "recompute": "full", "offload": "optimizer"},
    }
    answer = solver.evaluate(run)
    assert (answer.legal, answer.fits) == (True, True)
    assert not solver.evaluate(run | {"layout": run["layout"] | {"offload": "none"}}).fits  # type: ignore[operator]
