"""Each rule refuses what its framework refuses and accepts what it accepts; the cases that users met."""

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from solver.catalog import load
from solver.layout import OFFLOAD, Layouts, even_stages
from solver.rules import GENERAL, RULES, Case, violations
from solver.rules.refusals import MOST_VALUES, older_rules

MODEL = Case(
    heads=32, kv_heads=8, layers=32, experts=8, hidden=4096, ffn=14336, sequence=8192, global_batch=256,
    block=8, narrow=True, zero=(0, 1, 3), expert_layers=32, vocab=32000,
)  # fmt: skip
LAYOUT = {
    "tp": 2, "cp": 1, "pp": 1, "vpp": 1, "ep": 1, "etp": 1, "dp": 4, "zero": 1, "shard": 0,
    "micro_batch": 1, "grad_accum": 64, "recompute": 0, "sequence_parallel": 1,
}  # fmt: skip
Change = dict[str, Any]
# rule: what differs from the model and the layout above in the refused layout, and then in the accepted one
REFUSED: dict[str, tuple[Change, Change, Change]] = {
    "tp_divides_heads": ({}, {"tp": 3}, {"tp": 4}),
    "tp_divides_kv_heads": ({}, {"tp": 16}, {"tp": 8}),
    "tp_divides_or_multiplies_kv_heads": ({"kv_heads": 6}, {"tp": 4}, {"tp": 12}),
    "tp_divides_hidden": ({}, {"tp": 3}, {"tp": 8}),
    "tp_divides_ffn": ({"ffn": 11008}, {"tp": 3}, {"tp": 8}),
    "tp_divides_vocabulary": ({"vocab": 50257}, {"tp": 2}, {"tp": 1}),
    "tp_of_cores": ({"chip": 2}, {"tp": 24}, {"tp": 32}),
    "narrow_features_in_sixteens": ({"ffn": 1408}, {"tp": 16}, {"tp": 8}),
    "sequence_parallel_splits_sequence": ({"sequence": 8191}, {"tp": 2}, {"sequence_parallel": 0}),
    "no_sequence_parallel": ({}, {"sequence_parallel": 1}, {"sequence_parallel": 0}),
    "no_context_parallel": ({}, {"cp": 2}, {"cp": 1}),
    "cp_splits_sequence_in_pairs": ({"sequence": 8190}, {"cp": 2}, {"cp": 3}),
    "cp_pairs_split_over_tp": ({"sequence": 8}, {"cp": 4, "tp": 2}, {"cp": 4, "tp": 1}),
    "no_pipeline": ({}, {"pp": 2}, {"pp": 1}),
    "pipeline_needs_untied_tables": ({"tied": True}, {"pp": 2}, {"pp": 1}),
    "even_pipelined_layers": ({"layers": 61, "expert_layers": 58}, {"pp": 8}, {"pp": 29}),
    "even_stages": ({}, {"pp": 3}, {"pp": 4, "vpp": 2}),
    "nearly_even_stages": ({"layers": 61}, {"pp": 29}, {"pp": 21}),
    "no_interleaving": ({}, {"vpp": 2}, {"vpp": 1}),
    "interleaving_needs_stages": ({}, {"vpp": 2}, {"vpp": 2, "pp": 2}),
    "optimizer_runs_on_host": ({"hosted": False, "offload": (0, 1)}, {"offload": 1}, {"offload": 0}),
    "interleaving_needs_near_even_stages": ({"layers": 40}, {"pp": 16, "vpp": 3}, {"pp": 8, "vpp": 5}),
    "interleaving_in_rounds": ({}, {"pp": 4, "vpp": 2, "grad_accum": 10}, {"pp": 4, "grad_accum": 10}),
    "interleaving_in_equal_rounds": (
        {}, {"pp": 4, "vpp": 2, "grad_accum": 13}, {"pp": 4, "vpp": 2, "grad_accum": 10},
    ),
    "pipeline_in_rounds": ({}, {"pp": 4, "grad_accum": 10}, {"pp": 4, "grad_accum": 12}),
    "pipeline_is_filled": ({}, {"pp": 6, "grad_accum": 3}, {"pp": 6, "grad_accum": 6}),
    "stages_hold_layers": ({}, {"pp": 16, "vpp": 4}, {"pp": 16, "vpp": 2}),
    "batch_is_kept": ({}, {"dp": 3}, {"dp": 8, "grad_accum": 32}),
    "no_expert_parallel": ({}, {"ep": 2}, {"ep": 1}),
    "ep_divides_experts": ({}, {"ep": 3}, {"ep": 8}),
    "ep_needs_experts": ({"experts": 0}, {"ep": 2}, {"ep": 1}),
    "ep_inside_shard": ({}, {"shard": 2, "ep": 8}, {"shard": 2, "ep": 4}),
    "load_fills_devices": ({}, {"tp": 3, "micro_batch": 4}, {"tp": 3, "micro_batch": 2}),
    "local_sgd_exists": ({"workers": 2}, {"dp": 4}, {"dp": 1}),
    "workers_share_nothing": ({"workers": 2}, {"dp": 8, "shard": 2}, {"dp": 8, "shard": 4}),
    "schedule_exists": ({"schedule": "zero-bubble"}, {"pp": 2}, {"pp": 1}),
    "schedule_sets_chunks": (
        {"schedule": "dualpipe", "schedules": ("dualpipe",), "chunks": 2}, {"pp": 2}, {"pp": 2, "vpp": 2},
    ),
    "offload_exists": ({}, {"offload": 1}, {"offload": 0}),
    "offload_without_pipeline": ({}, {"pp": 2, "offload": 1}, {"pp": 1, "offload": 1}),
    "parameters_leave_sharded": ({}, {"zero": 1, "offload": 2}, {"zero": 3, "offload": 2}),
    "optimizer_leaves_sharded": ({}, {"zero": 0, "offload": 1}, {"zero": 1, "offload": 1}),
    "etp_is_one": ({}, {"etp": 2}, {"etp": 1}),
    "etp_is_one_or_tp": ({}, {"tp": 4, "etp": 2}, {"tp": 4, "etp": 4}),
    "etp_needs_experts": ({"experts": 0}, {"etp": 2}, {"etp": 1}),
    "expert_mesh_fits": ({}, {"ep": 16}, {"ep": 8}),
    "ep_inside_data_parallel": ({}, {"ep": 8}, {"ep": 4}),
    "experts_need_sequence_parallel": ({}, {"sequence_parallel": 0}, {"sequence_parallel": 0, "tp": 1}),
    "zero_stage_exists": ({}, {"zero": 2}, {"zero": 3}),
    "zero_3_without_pipeline": ({}, {"zero": 3, "pp": 2}, {"zero": 3}),
    "zero_2_without_pipeline": ({}, {"zero": 2, "pp": 2}, {"zero": 1, "pp": 2}),
    "zero_3_without_expert_parallel": ({}, {"zero": 3, "ep": 2}, {"zero": 1, "ep": 2}),
    "shard_divides_hidden": ({}, {"dp": 96}, {"dp": 96, "shard": 32}),
    "shard_divides_replicas": ({}, {"shard": 3}, {"shard": 2}),
    "no_partial_shard": ({}, {"shard": 2}, {"shard": 0}),
    "narrow_tokens_in_sixteens": ({"sequence": 24}, {"tp": 1}, {"tp": 1, "micro_batch": 2}),
    "whole_blocks": ({}, {"dp": 3}, {"dp": 8}),
}  # fmt: skip


def layout(**changes: int) -> Layouts:
    return Layouts.of({name: [value] for name, value in (LAYOUT | changes).items()})


def broken(names: tuple[str, ...], case: Case, **changes: int) -> set[str]:
    return {violation.rule for violation in violations(names, case, layout(**changes))}


def values(rule: str, case: Case, names: tuple[str, ...] = (), **changes: int) -> list[int]:
    """The legal values that are told with a rule which the layout breaks."""
    found = {v.rule: v.legal_values for v in violations((rule, *names), case, layout(**changes))}
    return [OFFLOAD.index(value) if isinstance(value, str) else value for value in found[rule]]


def test_every_rule_has_a_refused_and_an_accepted_layout_here() -> None:
    assert set(REFUSED) == set(RULES)


@pytest.mark.parametrize("rule", REFUSED)
def test_a_rule_tells_refused_from_accepted(rule: str) -> None:
    model, refused, accepted = REFUSED[rule]
    case = MODEL._replace(**model)
    assert rule in broken((rule,), case, **refused)
    assert rule not in broken((rule,), case, **accepted)


@pytest.mark.parametrize("rule", REFUSED)
def test_a_refusal_names_the_values_it_compares(rule: str) -> None:
    model, refused, _ = REFUSED[rule]
    [violation] = violations((rule,), MODEL._replace(**model), layout(**refused))
    field = RULES[rule].fields[0]
    value = (LAYOUT | refused)[field]
    assert (OFFLOAD[value] if field == "offload" else str(value)) in violation.message
    assert "{" not in violation.message


@pytest.mark.parametrize("rule", REFUSED)
def test_the_legal_values_of_a_refusal_are_legal_and_complete(rule: str) -> None:
    model, refused, _ = REFUSED[rule]
    case = MODEL._replace(**model)
    field = RULES[rule].fields[0]
    told = values(rule, case, **refused)
    assert len(told) <= MOST_VALUES
    for value in (*told, *(v for v in range(1, max(told, default=0)) if v not in told)):
        assert (rule not in broken((rule,), case, **(refused | {field: value}))) == (value in told)


@pytest.mark.parametrize("rule", REFUSED)
def test_a_rule_looks_at_its_fields_alone(rule: str) -> None:
    """Else the search could apply it before a column that it needs is known."""
    model, refused, accepted = REFUSED[rule]
    case = MODEL._replace(**model)
    others = [name for name in LAYOUT if name not in RULES[rule].fields]
    for changes in (refused, accepted):
        stated = layout(**changes)
        verdict = RULES[rule].violated(case, stated)
        for name in others:
            moved = replace(stated, **{name: getattr(stated, name) * 7 + 5})
            assert (RULES[rule].violated(case, moved) == verdict).all(), name


def test_every_framework_names_rules_that_exist() -> None:
    for framework in load(None).frameworks.values():
        assert set(framework.rules) <= set(RULES)


def test_a_million_layouts_are_judged_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(1, 9, 500) for name in LAYOUT} | {"zero": rng.integers(0, 4, 500)}
    many = Layouts.of(columns)
    for rule in RULES.values():
        verdicts = np.broadcast_to(rule.violated(MODEL, many), len(many))
        ones = [bool(rule.violated(MODEL, many.take(np.array([i]))).any()) for i in range(0, 500, 50)]
        assert verdicts[::50].tolist() == ones


def rules(framework: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*GENERAL, *load(None).frameworks[framework].rules)))


# The cases that users met, by their number in the demand research, with where they were met.


@pytest.mark.parametrize(
    ("version", "held"),
    [
        ("0.8.0", ["even_stages"]),
        ("v0.8", ["even_stages"]),
        ("0.9", []),
        ("0.16.1", []),
        ("23e00ed", []),
        (None, []),
    ],
)
def test_rules_that_a_version_lifted_hold_for_those_before(version: str | None, held: list[str]) -> None:
    assert list(older_rules([("0.9.0", {"even_stages": "release notes"})], version)) == held


@pytest.mark.parametrize(  # C079, Megatron-Bridge: tp, cp, ep, etp, pp -> the fewest devices
    ("tp", "cp", "ep", "etp", "pp", "devices"),
    [(2, 1, 8, 1, 1, 8), (4, 1, 8, 1, 1, 8), (2, 2, 8, 1, 1, 8), (2, 4, 8, 1, 1, 8), (2, 1, 8, 1, 2, 16),
     (2, 1, 4, 2, 1, 8)],
)  # fmt: skip
def test_the_expert_mesh_folds_into_the_dense_one(
    *, tp: int, cp: int, ep: int, etp: int, pp: int, devices: int
) -> None:
    fits = [
        dp
        for dp in range(1, 17)
        if not broken(("expert_mesh_fits",), MODEL, tp=tp, cp=cp, ep=ep, etp=etp, pp=pp, dp=dp)
    ]
    assert tp * cp * pp * fits[0] == devices


@pytest.mark.parametrize(("cp", "tp", "multiple"), [(4, 8, 32), (2, 3, 12)])  # C080, NVIDIA-NeMo/RL#3563
def test_sequences_are_multiples_of_cp_times_lcm_of_2_and_tp(cp: int, tp: int, multiple: int) -> None:
    names = ("sequence_parallel_splits_sequence", "cp_splits_sequence_in_pairs")
    passes = [s for s in range(1, 100) if not broken(names, MODEL._replace(sequence=s), cp=cp, tp=tp)]
    assert passes == [s for s in range(1, 100) if s % multiple == 0]


def test_ten_micro_batches_on_four_stages_interleave_in_no_megatron() -> None:  # C081, NVIDIA-NeMo/RL#1126
    names = rules("megatron-core")
    case = MODEL._replace(global_batch=40)
    assert "interleaving_in_rounds" in broken(names, case, pp=4, vpp=2, grad_accum=10)
    assert "interleaving_in_rounds" not in broken(names, case, pp=4, vpp=1, grad_accum=10)


def test_three_cards_do_not_make_a_batch_of_128() -> None:  # C084, OpenGVLab/InternVL#532
    case = MODEL._replace(global_batch=128, block=1)
    assert broken(GENERAL, case, tp=1, dp=3, grad_accum=42) == {"batch_is_kept"}


def test_seven_layers_on_two_stages_are_uneven_and_legal_today() -> None:  # C089, NVIDIA/Megatron-LM#381
    case = MODEL._replace(layers=7)
    assert broken(("even_stages",), case, pp=2) == {"even_stages"}
    assert "nearly_even_stages" not in broken(rules("megatron-core"), case, pp=2)


def test_forty_layers_on_sixteen_stages_are_refused() -> None:  # C090, NVIDIA/Megatron-LM#1303
    told = values("nearly_even_stages", MODEL._replace(layers=40), pp=16)
    assert {8, 10} <= set(told)
    assert 16 not in told


@pytest.mark.parametrize(
    ("heads", "kv_heads", "legal"),
    [
        (52, 52, [1, 2, 4, 13, 26, 52]),  # C091, C094: LLaMA-33B on 8, 3 and 5 devices
        (28, 4, [1, 2, 4, 28]),  # C092: Qwen2-7B; 28 with KV heads replicated
        (40, 40, [1, 2, 4, 5, 8, 10, 20, 40]),  # C094: Llama-2-13B
    ],
)
def test_the_heads_decide_tensor_parallelism(heads: int, kv_heads: int, legal: list[int]) -> None:
    case = MODEL._replace(heads=heads, kv_heads=kv_heads)
    names = ("tp_divides_heads", "tp_divides_or_multiplies_kv_heads")
    assert values("tp_divides_heads", case, names, tp=3) == legal


def test_an_odd_sequence_is_refused_and_the_nearest_told() -> None:  # C097, pytorch/torchtitan#1312
    case = MODEL._replace(sequence=8191)
    told = {v.rule: v.message for v in violations(rules("torchtitan"), case, layout(tp=2))}
    assert told["sequence_parallel_splits_sequence"].endswith("the nearest multiple of 2 is 8192")


def test_all_faults_are_told_at_once() -> (
    None
):  # C100, vllm-project/vllm#52435: 64 heads, 256 experts, 3 and 3
    case = MODEL._replace(heads=64, kv_heads=64, experts=256)
    assert {"tp_divides_heads", "ep_divides_experts"} <= broken(rules("megatron-core"), case, tp=3, ep=3)


def test_eight_expert_ranks_need_eight_devices() -> None:  # C101, facebookresearch/FAMBench#103
    assert "expert_mesh_fits" in broken(GENERAL, MODEL._replace(block=1), tp=1, dp=4, ep=8)


def test_maxtext_pipelines_what_divides_the_58_expert_layers() -> None:  # C102, AI-Hypercomputer/maxtext#1687
    case = MODEL._replace(layers=61, expert_layers=58)
    assert "even_pipelined_layers" in broken(rules("maxtext"), case, pp=8)
    assert values("even_pipelined_layers", case, pp=8) == [1, 2, 29, 58]


def test_three_micro_batches_do_not_fill_six_stages() -> None:  # C103, NVIDIA-NeMo/Speech#14288
    [violation] = violations(("pipeline_is_filled",), MODEL, layout(pp=6, grad_accum=3, dp=4, micro_batch=2))
    assert violation.message.startswith("grad_accum 3 must be at least pp 6, so the global batch at least")
    assert violation.legal_values[0] == 6


def test_trainium_1_has_collectives_of_1_2_8_and_32_cores() -> None:  # C112, optimum-neuron#339
    assert values("tp_of_cores", MODEL._replace(chip=2), tp=24) == [1, 2, 8, 32]


@pytest.mark.parametrize(("pp", "vpp"), [(8, 1), (16, 1), (8, 4), (16, 2)])  # C114, ISEEKYAN/Megatron-LM#53
def test_sixty_one_layers_go_on_eight_and_sixteen_stages(pp: int, vpp: int) -> None:
    case = MODEL._replace(layers=61)
    assert "nearly_even_stages" not in broken(rules("megatron-core"), case, pp=pp, vpp=vpp)


@given(st.integers(1, 130), st.integers(1, 64))
def test_dealt_layers_are_all_there(layers: int, pp: int) -> None:  # C105, pytorch/torchtitan#963
    """The other stages can take what the first and the last leave, none of them more than the fullest."""
    stages = even_stages(layers, np.array([pp]))
    most, first, last = (int(column[0]) for column in stages)
    rest = layers - (first + last if pp > 1 else most)
    others = max(pp - 2, 0)
    assert pp > layers or 0 <= rest <= others * most
