"""One stated layout: its estimate, or every rule it breaks; what is left out has a default."""

from typing import Any

import pytest

import solver
from solver.errors import InputError
from solver.plan import Evaluation

RUN: dict[str, Any] = {
    "model": "llama-3-8b",
    "training": {"sequence_length": 8192, "global_batch": "128 sequences", "precision": "bf16"},
    "hardware": {"machine": "h100-sxm-8", "devices": 64},
    "framework": "megatron-core",
    "layout": {"tp": 4, "cp": 1, "pp": 2, "dp": 8, "zero": 1, "micro_batch": 1, "recompute": "none"},
}


def evaluated(**fields: Any) -> Evaluation:
    """RUN with fields of its parts changed."""
    parts = {name: RUN[name] | value if isinstance(value, dict) else value for name, value in fields.items()}
    return solver.evaluate(RUN | parts)


def faults(**fields: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        evaluated(**fields)
    return [f"{fault.field}: {fault.message}" for fault in error.value.faults]


def test_a_legal_run_is_estimated() -> None:
    result = evaluated()
    assert (result.legal, result.fits, result.violations) == (True, True, [])
    assert result.time is not None
    assert result.memory is not None
    assert sum(result.time.parts.values()) == pytest.approx(result.time.step_s, rel=1e-9)
    assert sum(result.memory.parts.values()) == pytest.approx(result.memory.peak_gib, rel=1e-9)
    assert 25 < result.time.mfu_pct < 60
    assert (result.framework, result.machine, result.devices) == ("megatron-core", "h100-sxm-8", 64)


def test_what_is_left_out_is_completed() -> None:
    result = evaluated(layout={"dp": None, "zero": None, "recompute": None, "micro_batch": None})
    assert result.layout is not None
    told = result.layout
    assert (told.dp, told.grad_accum, told.zero, told.micro_batch, told.edp) == (8, 16, 1, 1, 32)
    assert told.sequence_parallel
    assert (told, result.time, result.memory) == (
        evaluated().layout,
        evaluated().time,
        evaluated().memory,
    )
    assert any("micro_batch 1, dp 8" in text for text in result.assumptions)
    assert any("sequence_parallel true" in text for text in result.assumptions)


def test_one_word_may_tell_the_stage_and_the_replicas_that_share() -> None:
    apart = evaluated(framework="torchtitan", layout={"zero": 3, "shard": 4})
    assert evaluated(framework="torchtitan", layout={"zero": "zero3:4"}) == apart
    assert apart.layout is not None
    assert (apart.layout.zero, apart.layout.shard) == (3, 4)
    assert faults(layout={"zero": "zero3:4", "shard": 2}) == [
        'layout.shard: 2 differs from zero "zero3:4"; state one'
    ]
    assert faults(layout={"zero": "zero3:all"})[0].startswith('layout.shard: "all" is no number of replicas')


def test_what_a_stated_version_changes_is_told() -> None:
    runs = [RUN | {"software": {"version": version}} for version in ("0.8.0", "0.12.0rc1")]
    told = [solver.evaluate(run).assumptions for run in runs]
    assert (
        "software.version: megatron-core 0.8.0: it also refuses what later ones lifted: even_stages"
        in told[0]
    )
    assert "software.version: megatron-core 0.12.0rc1: taken as today's is" in told[1]


def test_experts_of_a_dense_model_are_not_counted() -> None:
    (broken,) = [v for v in evaluated(layout={"ep": 3}).violations if v.rule == "ep_needs_experts"]
    assert broken.message == "ep 3: the model has no experts; only 1"


def test_the_default_fabric_is_that_of_the_machine() -> None:
    assert evaluated() == evaluated(hardware={"fabric": "ib-ndr-400x8"})
    slow, usual = evaluated(hardware={"fabric": "eth-100"}).time, evaluated().time
    assert slow is not None
    assert usual is not None
    assert slow.step_s > usual.step_s


def test_every_rule_that_is_broken_is_told_with_legal_values() -> None:
    result = evaluated(layout={"tp": 5, "pp": 3, "dp": 8, "vpp": 2})
    assert not result.legal
    assert (result.time, result.memory, result.layout, result.fits) == (None, None, None, None)
    broken = {violation.rule: violation.legal_values for violation in result.violations}
    assert {"mesh_fills_devices", "tp_divides_heads"} <= set(broken)
    assert {1, 2, 4, 8} <= set(broken["tp_divides_heads"])
    assert 5 not in broken["tp_divides_heads"]


def test_a_precision_that_does_not_run_is_told_with_those_that_do_and_all_else() -> None:
    result = evaluated(training={"precision": "int8"}, layout={"tp": 5})
    broken = {violation.rule: violation for violation in result.violations}
    assert {"precision_runs", "tp_divides_heads"} <= set(broken)
    assert broken["precision_runs"].message == "megatron-core does not train in int8 on h100-sxm"
    assert {"bf16", "fp8"} <= set(broken["precision_runs"].legal_values)
    assert "transformer_config.py" in broken["tp_divides_heads"].source


def test_a_mesh_that_does_not_fill_the_devices_is_told_the_dp_that_would() -> None:
    result = evaluated(layout={"dp": 4, "grad_accum": 32})
    assert [(v.rule, v.legal_values) for v in result.violations] == [("mesh_fills_devices", [8])]


def test_the_batch_is_never_altered() -> None:
    result = evaluated(layout={"micro_batch": 3})
    assert "batch_is_kept" in {violation.rule for violation in result.violations}


def test_what_does_not_fit_is_estimated_all_the_same() -> None:
    result = evaluated(model="llama-3-70b", layout={"tp": 1, "pp": 1, "dp": 64})
    assert (result.legal, result.fits) == (True, False)
    assert result.memory is not None
    assert result.memory.peak_gib > result.memory.usable_gib
    assert result.time is not None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"framework": "megatron"}, 'framework: "megatron" is no framework of the catalog'),
        ({"hardware": {"machine": "h100-9"}}, 'hardware.machine: "h100-9" is no machine of the catalog'),
        ({"hardware": {"fabric": "nvlink4"}}, 'hardware.fabric: "nvlink4" is no fabric of the catalog'),
        (
            {"hardware": {"devices": 60}},
            "hardware.devices: 60 is no multiple of the 8 devices that h100-sxm-8",
        ),
        ({"layout": {"recompute": "some"}}, 'layout.recompute: "some" is none of those of megatron-core'),
        ({"layout": {"zero": "zero9"}}, 'layout.zero: "zero9" is no stage'),
        ({"model": "llama-9"}, 'model: "llama-9" is no model of the catalog'),
        ({"hardware": {"machine": {"device": "h100-sxm"}}}, "hardware.machine"),
    ],
)
def test_what_cannot_be_evaluated_is_bad_input(fields: dict[str, Any], told: str) -> None:
    assert faults(**fields)[0].startswith(told)


def test_a_machine_and_a_fabric_may_be_written_inline() -> None:
    machine = {
        "device": "h100-sxm", "devices": 8, "scale_up": "nvlink4", "power": "10 kW",
        "default_fabric": "ib-ndr-400x8",
    }  # fmt: skip
    fabric = {"bandwidth": "400 GB/s", "nics": 8, "efficiency": 0.9, "latency": "5 us"}
    inline = evaluated(hardware={"machine": machine, "fabric": fabric})
    assert inline.legal
    assert inline.machine == "inline"


def test_stages_may_be_dealt_by_hand() -> None:
    even = evaluated(layout={"stages": "even"})
    same = evaluated(layout={"stages": [16, 16]})
    skewed = evaluated(layout={"stages": [20, 12]})
    assert even.time is not None
    assert same.time is not None
    assert skewed.time is not None
    assert same.time.step_s == even.time.step_s
    assert skewed.time.step_s > even.time.step_s


@pytest.mark.parametrize("stages", [[10, 10], [16, 16, 16], [32]])
def test_stages_that_do_not_hold_the_layers_are_refused(stages: list[int]) -> None:
    (fault,) = faults(layout={"stages": stages})
    assert fault.endswith("write 2 numbers that add up to 32")


def test_a_framework_without_code_for_the_model_refuses_it() -> None:
    result = evaluated(model="mamba-2.8b", layout={"tp": 1, "pp": 1, "dp": 64})
    assert [(v.rule, v.source) for v in result.violations] == [
        ("model_exists", "megatron/core/ssm/mamba_mixer.py: layers of Mamba 2 alone")
    ]
