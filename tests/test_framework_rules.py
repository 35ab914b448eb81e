"""Each rule of each framework: a layout that the framework refuses by it, and one that it takes.

The values are those of the framework's own text, at the date of its record; where a check has no message, of
the line of code that makes it. The shape is that of Mixtral 8x7B, without experts where nothing is said.
"""

from typing import Any

import pytest

from solver.catalog import load
from solver.layout import OFFLOAD, Layouts
from solver.rules import GENERAL, SEARCHED, Case, violations

Change = dict[str, Any]
MODEL = Case(
    heads=32, kv_heads=8, layers=32, experts=0, hidden=4096, ffn=14336, sequence=8192, global_batch=256,
    block=1, narrow=False, zero=(0, 1), vocab=32000,
)  # fmt: skip
LAYOUT = {
    "tp": 2, "cp": 1, "pp": 1, "vpp": 1, "ep": 1, "etp": 1, "dp": 4, "zero": 1, "shard": 0,
    "micro_batch": 1, "grad_accum": 64, "recompute": 0, "sequence_parallel": 1, "offload": 0,
}  # fmt: skip
USUAL: dict[str, Change] = {  # how a framework's layouts differ from the one above
    "megatron-core": {},
    "deepspeed": {"sequence_parallel": 0},
    "torchtitan": {"zero": 3},
    "maxtext": {"zero": 3},
    "neuronx": {},
}
MOE: Change = {"experts": 8, "expert_layers": 32}
# framework: rule -> of the model; what is refused; what is taken
CASES: dict[str, dict[str, tuple[Change, Change, Change]]] = {
    # Megatron-LM d98e8a64: transformer_config.py, arguments.py, schedules.py, parallel_state.py,
    # moe_layer.py, num_microbatches_calculator.py; Transformer Engine pytorch/utils.py
    "megatron-core": {
        "tp_divides_heads": ({}, {"tp": 3}, {"tp": 4}),
        "tp_divides_or_multiplies_kv_heads": (
            {"heads": 96, "kv_heads": 12, "ffn": 12288, "sequence": 6144},
            {"tp": 8},
            {"tp": 24},
        ),
        "tp_divides_ffn": ({"ffn": 11008, "heads": 96, "kv_heads": 96}, {"tp": 3}, {"tp": 4}),
        "sequence_parallel_splits_sequence": ({"sequence": 8190}, {"tp": 4}, {"tp": 2}),
        "cp_splits_sequence_in_pairs": ({"sequence": 8196}, {"cp": 4, "tp": 1}, {"cp": 2, "tp": 1}),
        "nearly_even_stages": ({}, {"pp": 9}, {"pp": 11}),  # 32 layers with embedding and loss: 33 on 11
        "interleaving_needs_near_even_stages": ({"layers": 40}, {"pp": 16, "vpp": 2}, {"pp": 8, "vpp": 5}),
        "interleaving_in_rounds": (
            {"global_batch": 40},
            {"pp": 4, "vpp": 2, "dp": 4, "grad_accum": 10},
            {"pp": 4, "vpp": 2, "dp": 1, "grad_accum": 40},
        ),
        "experts_need_sequence_parallel": (MOE, {"sequence_parallel": 0}, {"sequence_parallel": 1}),
        "narrow_tokens_in_sixteens": (
            {"narrow": True, "sequence": 8200},
            {"tp": 1, "sequence_parallel": 0},
            {"tp": 1, "sequence_parallel": 0, "micro_batch": 2, "grad_accum": 32},
        ),
        "narrow_features_in_sixteens": ({"narrow": True, "ffn": 1408}, {"tp": 16}, {"tp": 8}),
        "batch_is_kept": ({}, {"grad_accum": 63}, {"micro_batch": 2, "grad_accum": 32}),
        "interleaving_needs_stages": ({}, {"vpp": 2}, {"pp": 2, "vpp": 2}),
        "pipeline_is_filled": (
            {},
            {"pp": 8, "dp": 64, "grad_accum": 4},
            {"pp": 4, "dp": 64, "grad_accum": 4},
        ),
        "ep_divides_experts": (MOE, {"ep": 3, "dp": 12}, {"ep": 4}),
        "expert_mesh_fits": (MOE, {"ep": 8, "etp": 2}, {"ep": 8, "etp": 1}),
    },
    # DeepSpeed edaa7221: runtime/config.py, runtime/pipe/engine.py, runtime/engine.py, moe/layer.py,
    # utils/groups.py, module_inject/fusedqkv_utils.py
    "deepspeed": {
        "tp_divides_heads": ({"heads": 52, "kv_heads": 52}, {"tp": 8}, {"tp": 4}),
        "tp_divides_kv_heads": ({}, {"tp": 16}, {"tp": 8}),
        "tp_divides_ffn": ({"ffn": 11008, "heads": 96, "kv_heads": 96}, {"tp": 3}, {"tp": 4}),
        "no_sequence_parallel": ({}, {"sequence_parallel": 1}, {"sequence_parallel": 0}),
        "no_context_parallel": ({}, {"cp": 2}, {"cp": 1}),
        "no_interleaving": ({}, {"pp": 2, "vpp": 2}, {"pp": 2, "vpp": 1}),
        "zero_2_without_pipeline": ({}, {"zero": 2, "pp": 2}, {"zero": 1, "pp": 2}),
        "zero_3_without_expert_parallel": (MOE, {"zero": 3, "ep": 2}, {"zero": 2, "ep": 2}),
        "etp_is_one": (MOE, {"etp": 2}, {"etp": 1}),
        "ep_inside_data_parallel": (MOE, {"ep": 8}, {"ep": 4}),
        "no_partial_shard": ({}, {"shard": 2}, {"shard": 0}),
        "optimizer_runs_on_host": ({"hosted": False}, {"offload": 1}, {"offload": 0}),
        "offload_without_pipeline": ({}, {"offload": 1, "pp": 2}, {"offload": 1, "pp": 1}),
        "batch_is_kept": ({}, {"dp": 3}, {"dp": 8, "grad_accum": 32}),
        "ep_divides_experts": (MOE, {"ep": 3, "dp": 12}, {"ep": 2}),
    },
    # torchtitan b5bcd76c: trainer.py, distributed/parallel_dims.py, distributed/pipeline_parallel.py,
    # models/common/decoder.py; PyTorch distributed/pipelining/schedules.py
    "torchtitan": {
        "tp_divides_heads": ({}, {"tp": 5}, {"tp": 8}),
        "tp_divides_kv_heads": ({}, {"tp": 16}, {"tp": 8}),
        "sequence_parallel_splits_sequence": ({"sequence": 8191}, {"tp": 2}, {"tp": 1}),
        "cp_splits_sequence_in_pairs": ({"sequence": 8196}, {"cp": 4, "tp": 1}, {"cp": 2, "tp": 1}),
        "cp_pairs_split_over_tp": ({"sequence": 8196}, {"cp": 2, "tp": 4}, {"cp": 2, "tp": 1}),
        "pipeline_needs_untied_tables": ({"tied": True}, {"pp": 2}, {"pp": 1}),
        "nearly_even_stages": ({}, {"pp": 9}, {"pp": 8}),
        "interleaving_in_equal_rounds": (
            {"global_batch": 13},
            {"pp": 4, "vpp": 2, "dp": 1, "grad_accum": 13},
            {"pp": 13, "vpp": 1, "dp": 1, "grad_accum": 13, "tp": 1},
        ),
        "etp_is_one": (MOE, {"etp": 2}, {"etp": 1}),
        "ep_inside_shard": (MOE, {"shard": 2, "ep": 8}, {"shard": 2, "ep": 4}),
        "batch_is_kept": ({}, {"grad_accum": 60}, {"dp": 2, "grad_accum": 128}),
        "pipeline_is_filled": (
            {},
            {"pp": 8, "dp": 64, "grad_accum": 4},
            {"pp": 4, "dp": 64, "grad_accum": 4},
        ),
        "stages_hold_layers": ({}, {"pp": 16, "vpp": 4}, {"pp": 16, "vpp": 2}),
        "ep_divides_experts": (MOE, {"ep": 3, "dp": 12}, {"ep": 8}),
        "expert_mesh_fits": (MOE, {"ep": 8, "dp": 2, "grad_accum": 128}, {"ep": 8, "dp": 4}),
    },
    # MaxText e591f30c: configs/types.py, layers/attentions.py, input_pipeline/; jax.sharding
    "maxtext": {
        "tp_divides_heads": ({}, {"tp": 3}, {"tp": 4}),
        "tp_divides_kv_heads": ({}, {"tp": 16}, {"tp": 8}),
        "tp_divides_ffn": ({"ffn": 11008, "heads": 96, "kv_heads": 96}, {"tp": 3}, {"tp": 4}),
        "tp_divides_vocabulary": ({"vocab": 50257}, {"tp": 2}, {"tp": 1}),
        "sequence_parallel_splits_sequence": ({"sequence": 8191}, {"tp": 2}, {"tp": 1}),
        "cp_splits_sequence_in_pairs": ({"sequence": 8196}, {"cp": 4, "tp": 1}, {"cp": 2, "tp": 1}),
        "even_pipelined_layers": ({"layers": 61, "expert_layers": 58, "experts": 8}, {"pp": 8}, {"pp": 2}),
        "pipeline_in_rounds": (
            {"global_batch": 40},
            {"pp": 4, "grad_accum": 10},
            {"pp": 2, "grad_accum": 10},
        ),
        "no_interleaving": ({}, {"pp": 2, "vpp": 2}, {"pp": 2, "vpp": 1}),
        "ep_inside_data_parallel": (MOE, {"ep": 8}, {"ep": 4}),
        "etp_is_one_or_tp": (MOE, {"tp": 4, "etp": 2}, {"tp": 4, "etp": 4}),
        "shard_divides_hidden": (
            {"global_batch": 96 * 2},
            {"dp": 96, "grad_accum": 2},
            {"dp": 64, "grad_accum": 3},
        ),
        "load_fills_devices": (
            {"heads": 48, "kv_heads": 48, "ffn": 12288, "vocab": 32256, "sequence": 6144},
            {"tp": 3, "micro_batch": 4, "grad_accum": 16},
            {"tp": 3, "micro_batch": 2, "grad_accum": 32},
        ),
        "batch_is_kept": ({}, {"dp": 3}, {"dp": 8, "grad_accum": 32}),
        "ep_divides_experts": (MOE, {"ep": 3, "dp": 12}, {"ep": 2}),
    },
    # optimum-neuron 213224e6 and its issues 339 and 424; AWS Neuron SDK 81ce03ae
    "neuronx": {
        "tp_divides_heads": ({"heads": 40, "kv_heads": 40, "ffn": 13824}, {"tp": 32}, {"tp": 8}),
        "tp_divides_or_multiplies_kv_heads": ({"heads": 96, "kv_heads": 12}, {"tp": 8}, {"tp": 2}),
        "tp_divides_ffn": ({"ffn": 11008, "heads": 96, "kv_heads": 96}, {"tp": 3}, {"tp": 8}),
        "tp_of_cores": ({"chip": 2, "heads": 48, "kv_heads": 8}, {"tp": 24}, {"tp": 8}),
        "sequence_parallel_splits_sequence": ({"sequence": 8190}, {"tp": 8}, {"tp": 2}),
        "no_context_parallel": ({}, {"cp": 2}, {"cp": 1}),
        "even_stages": ({}, {"pp": 3}, {"pp": 4}),
        "no_interleaving": ({}, {"pp": 2, "vpp": 2}, {"pp": 2, "vpp": 1}),
        "no_expert_parallel": (MOE, {"ep": 2}, {"ep": 1}),
        "etp_is_one": (MOE, {"etp": 2}, {"etp": 1}),
        "no_partial_shard": ({}, {"shard": 2}, {"shard": 0}),
    },
}
EACH = [(framework, rule) for framework, rules in CASES.items() for rule in rules]


def broken(framework: str, change: Change, layout: Change) -> set[str]:
    """The rules of a framework that a layout breaks."""
    record = load(None).frameworks[framework]
    case = MODEL._replace(
        zero=tuple(record.zero), offload=(0, *(OFFLOAD.index(word) for word in record.offload))
    )._replace(**change)
    columns = LAYOUT | USUAL[framework] | layout
    names = dict.fromkeys((*GENERAL, *record.rules))
    laid = Layouts.of({name: [value] for name, value in columns.items()})
    return {violation.rule for violation in violations(names, case, laid)}


def test_every_rule_of_every_framework_is_here() -> None:
    assert {name: set(rules) for name, rules in CASES.items()} == {
        name: set(record.rules) for name, record in load(None).frameworks.items()
    }


@pytest.mark.parametrize(("framework", "rule"), EACH)
def test_a_framework_refuses_by_a_rule(framework: str, rule: str) -> None:
    model, refused, _ = CASES[framework][rule]
    assert rule in broken(framework, model, refused)


@pytest.mark.parametrize(("framework", "rule"), EACH)
def test_a_framework_takes_what_keeps_the_rule(framework: str, rule: str) -> None:
    """By none of its rules is it refused."""
    model, _, taken = CASES[framework][rule]
    assert broken(framework, model, taken) <= set(SEARCHED) - {rule}


@pytest.mark.parametrize("framework", CASES)
def test_every_rule_has_a_source(framework: str) -> None:
    assert all(load(None).frameworks[framework].rules.values())
