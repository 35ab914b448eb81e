"""Memory: the papers' sums by arithmetic, peaks that allocators measured, and laws that no layout breaks."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from solver.architecture import from_catalog, from_inline
from solver.architecture.blocks import Architecture
from solver.catalog import load
from solver.catalog.records import Framework
from solver.estimate import Job, Space, setting_of
from solver.layout import RECOMPUTE, Layouts, Stages
from solver.physics.activations import in_flight
from solver.physics.memory import MARGIN, PARTS, Memory
from solver.physics.setting import Schedule, Setting
from solver.physics.split import Held, held_by_block, order_of, padded_vocabulary
from solver.physics.states import states

GIB = 2.0**30
ROOT = Path(__file__).parents[2]
FRAMEWORKS = ("megatron-core", "torchtitan", "deepspeed", "maxtext", "neuronx")


def model(name: str) -> Architecture:
    return from_catalog(load(None).models[name])


def framework(name: str, era: str = "") -> Framework:
    """A record as it is, or as it was in an era."""
    record = load(None).frameworks[name]
    differences = next((e.differences for e in record.eras if e.name == era), {})
    assert bool(differences) == bool(era)
    return record.model_copy(update=differences)


def setting(
    architecture: Architecture,
    software: Framework,
    sequence: int,
    precision: str = "bf16",
    *,
    flash: bool = True,
) -> Setting:
    operations = load(None).operations["operations"]
    return setting_of(Job(architecture, sequence, 1, 1, None, operations, flash, 1.0), software, precision)


def layout(recompute: str = "none", /, **columns: int) -> Layouts:
    stated = {"recompute": RECOMPUTE.index(recompute)} | columns
    return Layouts.of({name: [value] for name, value in stated.items()})


def memory(how: Setting, stated: Layouts) -> Memory:
    return Space.of(how, stated).memory


def kept_by_layer(how: Setting, stated: Layouts) -> float:
    """Bytes that one micro-batch keeps of the first kind of layer."""
    return float(Space.of(how, stated).layer_memory.kept[0, 0])


# --- what the papers print

GPT3 = {"layers": 96, "hidden": 12288, "heads": 96, "ffn": 49152, "vocab": 51200, "gated_mlp": False}
MT_NLG = {"layers": 105, "hidden": 20480, "heads": 128, "ffn": 81920, "vocab": 51200, "gated_mlp": False}
MASKS = 2  # s b h bytes of a layer's hidden dropout, which the models of today do not have


def units(shape: dict[str, Any], stated: Layouts, *, flash: bool = False) -> float:
    """Bytes that a layer keeps, in units of s b h (sequence 2048)."""
    how = setting(from_inline(shape), framework("megatron-core"), 2048, flash=flash)
    return kept_by_layer(how, stated) / (2048 * int(shape["hidden"]))


@pytest.mark.parametrize("shape", [GPT3, MT_NLG])
def test_a_gpt_layer_keeps_34_s_b_h_less_its_masks_and_5_a_s_s_b(shape: dict[str, Any]) -> None:
    """Eq. 2 of arXiv 2205.05198: s b h (34 + 5 a s / h), 2 of the 34 are the masks of hidden dropout."""
    scores = 5 * shape["heads"] * 2048 / shape["hidden"]
    assert units(shape, layout()) == pytest.approx(34 - MASKS + scores, rel=1e-9)
    assert units(shape, layout(), flash=True) == pytest.approx(34 - MASKS, rel=1e-9)


def test_tensor_parallelism_cuts_24_of_the_34_and_with_sequence_parallelism_all() -> None:
    """Eq. 2 and 4 of arXiv 2205.05198: s b h (10 + 24/t + 5 a s / (h t)), and all of it over t."""
    scores = 5 * 96 * 2048 / 12288
    serial = units(GPT3, layout(tp=8, sequence_parallel=0))
    assert serial == pytest.approx(10 - MASKS + 24 / 8 + scores / 8, rel=1e-9)
    parallel = units(GPT3, layout(tp=8, sequence_parallel=1))
    assert parallel == pytest.approx((34 - MASKS + scores) / 8, rel=1e-9)


# arXiv 2205.05198, sec. 5: selective recompute saves 70 % (GPT-3) and 65 % (MT-NLG) of the activations.
@pytest.mark.parametrize(("shape", "saved"), [(GPT3, 0.70), (MT_NLG, 0.65)])
def test_selective_recompute_saves_what_the_paper_prints(shape: dict[str, Any], saved: float) -> None:
    kept = (units(shape, layout("selective")) + MASKS) / (units(shape, layout()) + MASKS)
    assert 1 - kept == pytest.approx(saved, abs=0.005)  # printed to whole percents


def test_full_recompute_keeps_a_layers_input() -> None:
    assert units(GPT3, layout("full")) == pytest.approx(2)  # arXiv 2205.05198, table 2: 2 s b h


@pytest.mark.parametrize(("precision", "stage", "copies"), [("bf16", 1, 0), ("fp8", 1, 2), ("fp8", 3, 0)])
def test_8_bit_copies_of_layers_stay_beside_their_weights(precision: str, stage: int, copies: int) -> None:
    """TransformerEngine, module/linear.py: plain and transposed, of layers, unless FSDP shards them."""
    how = setting(model("llama-2-7b"), framework("megatron-core"), 2048, precision)
    held = states(Held(np.array([7e9]), np.zeros(1), np.array([1e9])), layout(dp=4, zero=stage), how)
    assert held.weights == pytest.approx(2 * 7e9 / (4 if stage == 3 else 1) + copies * 6e9)


@pytest.mark.parametrize(  # arXiv 1910.02054, fig. 1: 7.5B parameters, 64 replicas, K = 12; GB
    ("stage", "printed"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.88)]
)
def test_zero_stages_hold_what_the_paper_prints(stage: int, printed: float) -> None:
    how = setting(model("llama-2-7b"), framework("deepspeed"), 2048)
    held = states(Held(np.array([7.5e9]), np.zeros(1)), layout(dp=64, zero=stage), how)
    total = float((held.weights + held.gradients + held.optimizer)[0])
    assert total / 1e9 == pytest.approx(printed, rel=0.004)


@pytest.mark.parametrize(("dp", "bytes_each"), [(1, 18.0), (8, 6 + 12 / 8), (64, 6 + 12 / 64)])
def test_megatrons_distributed_optimizer_holds_6_and_12_over_dp(dp: int, bytes_each: float) -> None:
    """Megatron-Core, user guide, distributed optimizer: bf16 weights, float32 gradients: 18, or 6 + 12/d."""
    how = setting(model("llama-2-7b"), framework("megatron-core"), 2048)
    held = states(Held(np.array([1e9]), np.zeros(1)), layout(dp=dp, zero=1), how)
    assert float((held.weights + held.gradients + held.optimizer)[0]) == pytest.approx(bytes_each * 1e9)


@pytest.mark.parametrize(
    ("pp", "vpp", "stage", "held"),
    [
        (4, 1, 0, 4),  # 1F1B: pp - stage (arXiv 2104.04473, fig. 4)
        (4, 1, 3, 1),
        # interleaved, stage i: (2 (pp - i - 1) + (vpp - 1) pp + 1) chunks of 1/vpp stage
        (4, 2, 0, (2 * 3 + 1 * 4 + 1) / 2),
        (4, 2, 3, (2 * 0 + 1 * 4 + 1) / 2),
        (8, 4, 0, (2 * 7 + 3 * 8 + 1) / 4),
    ],
)
def test_micro_batches_in_flight(pp: int, vpp: int, stage: int, held: float) -> None:
    stated = layout(pp=pp, vpp=vpp, grad_accum=64)
    assert in_flight(stated, np.array([stage])) == pytest.approx(held)
    assert in_flight(layout(pp=pp, vpp=vpp, grad_accum=1), np.array([stage])) <= 1


def test_a_vocabulary_is_padded_to_a_multiple_of_128_and_tp() -> None:
    assert padded_vocabulary(50257, np.array([1, 8]), 128).tolist() == [50304, 51200]  # Megatron-LM


# --- what allocators measured

SMALL_70B = {"layers": 12, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "vocab": 128256}
BARE = "Megatron-LM without overlap flags"


@pytest.mark.parametrize(  # SimuMax, B200 summary of 2026-05: Llama-3-70B cut to 12 layers, GiB
    ("columns", "sequence", "gib"),
    [
        ({"tp": 1, "pp": 2, "dp": 4, "zero": 1}, 4096, 66.5),
        ({"tp": 2, "dp": 4, "zero": 1}, 4096, 60.7),
        ({"tp": 8, "zero": 1}, 4096, 28.3),
        ({"tp": 1, "cp": 8, "zero": 1}, 32768, 104.5),
        ({"tp": 2, "cp": 4, "zero": 1}, 131072, 112.7),
    ],
)
def test_peaks_of_a_cut_llama_on_b200(columns: dict[str, int], sequence: int, gib: float) -> None:
    how = setting(from_inline(SMALL_70B), framework("megatron-core", BARE), sequence)
    stated = layout(sequence_parallel=1, grad_accum=4, **columns)
    assert memory(how, stated).allocated[0] / GIB == pytest.approx(gib, rel=0.02)


def test_the_stage_that_holds_only_experts_is_the_fullest() -> None:
    """SimuMax: DeepSeek-V3 cut to 4 layers, one dense, on 2 stages with ep 4: 114.0 GiB."""
    config = {
        "model_type": "deepseek_v3", "num_hidden_layers": 4, "hidden_size": 7168, "num_attention_heads": 128,
        "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
        "vocab_size": 129280,
        "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 1,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "tie_word_embeddings": False,
    }  # fmt: skip
    how = setting(from_catalog({"config": config}), framework("megatron-core", BARE), 4096)
    found = memory(how, layout(pp=2, ep=4, dp=4, zero=1, sequence_parallel=1, grad_accum=4))
    assert found.allocated[0] / GIB == pytest.approx(114.0, rel=0.02)
    assert found.stage[0] == 2


# --- what users met (numbers of the demand research)


@pytest.mark.parametrize(  # C034, NVIDIA/Megatron-LM#482: on 8 H800, GB; sequences of 2,048
    ("columns", "gigabytes"),
    [
        ({"pp": 2, "dp": 4, "micro_batch": 2, "grad_accum": 256, "zero": 1}, 49.8),
        ({"tp": 8, "micro_batch": 4, "grad_accum": 32, "sequence_parallel": 0}, 28.8),
    ],
)
def test_llama_2_7b_on_eight_devices(columns: dict[str, int], gigabytes: float) -> None:
    how = setting(model("llama-2-7b"), framework("megatron-core"), 2048)
    assert memory(how, layout(**columns)).allocated[0] / 1e9 == pytest.approx(gigabytes, rel=0.1)


def test_a_small_gpt_without_flash_attention_needs_more_than_the_calculator_said() -> None:
    """C012, NVIDIA/Megatron-LM#525: 23.3 GB by hand, out of memory on 32 GB; flash attention fits."""
    shape = {"layers": 36, "hidden": 1280, "heads": 20, "ffn": 5120, "vocab": 50257, "gated_mlp": False}
    large = from_inline(shape | {"tied_embeddings": True})
    software = framework("megatron-core")
    unfused = memory(setting(large, software, 1024, "fp16", flash=False), layout(micro_batch=4, grad_accum=4))
    fused = memory(setting(large, software, 1024, "fp16"), layout(micro_batch=4, grad_accum=4))
    assert unfused.peak[0] > 31.74 * GIB > 23.3e9
    assert fused.peak[0] < 31.74 * GIB


@pytest.mark.parametrize(  # full training of 7B and 72B models; what fits by hardware
    ("name", "software", "devices", "usable_gib", "fits"),
    [
        ("llama-2-7b", "deepspeed", 2, 31.7, False),  # C001: two V100
        ("llama-2-7b", "deepspeed", 4, 31.7, True),  # C001: four
        ("llama-2-7b", "maxtext", 1, 79.1, False),  # C027
        ("llama-2-7b", "deepspeed", 1, 79.1, False),  # C074
        ("qwen2.5-72b", "deepspeed", 32, 79.1, True),  # C016
        ("llama-2-70b", "torchtitan", 2, 79.1, False),  # C026
    ],
)
def test_what_fits_with_everything_sharded_and_recomputed(
    *, name: str, software: str, devices: int, usable_gib: float, fits: bool
) -> None:
    how = setting(model(name), framework(software), 1024)
    found = memory(how, layout("full", dp=devices, zero=3 if devices > 1 or software == "maxtext" else 0))
    assert (found.peak[0] <= usable_gib * GIB) == fits


def test_72_billion_on_sixteen_devices_leave_no_headroom() -> None:  # C016, hiyouga/LlamaFactory#2959
    found = memory(setting(model("qwen2.5-72b"), framework("deepspeed"), 1024), layout("full", dp=16, zero=3))
    assert found.peak[0] > 0.95 * 79.1 * GIB


def test_experts_are_cut_by_ep_and_not_by_tp() -> None:  # C013, NVIDIA/Megatron-LM#1784
    [block] = {b for b, _ in model("qwen3-30b-a3b").blocks}
    narrow, wide = (held_by_block(block, layout(tp=tp, ep=8)) for tp in (1, 4))
    assert np.all(narrow.expert == wide.expert)


def test_norms_are_whole_on_every_rank_and_there_are_two() -> None:  # C021, cli99/llm-analysis#19
    architecture = model("llama-2-7b")
    [block] = order_of(architecture).blocks
    assert block.vectors * 32 + architecture.final_vectors == 2 * 4096 * 32 + 4096
    eighth, whole = (float(np.max(held_by_block(block, layout(tp=tp)).dense)) for tp in (8, 1))
    assert eighth == pytest.approx((whole - block.vectors) / 8 + block.vectors)


def test_a_gated_layer_keeps_ten_to_twenty_elements_per_hidden_and_token() -> None:  # C019
    how = setting(model("llama-3-8b"), framework("megatron-core"), 8192)
    assert 10 < kept_by_layer(how, layout()) / 2 / (8192 * 4096) < 20


def test_recomputing_flash_attention_saves_nothing() -> None:  # C038, Megatron-Bridge: 0.0 GB
    how = setting(model("moonlight-16b-a3b"), framework("megatron-core"), 4096)
    columns = {"tp": 2, "ep": 8, "dp": 4, "zero": 1, "sequence_parallel": 1}
    assert memory(how, layout("selective", **columns)).peak == memory(how, layout(**columns)).peak


def test_context_parallelism_cuts_activations() -> None:  # C032, C078
    how = setting(model("llama-3-8b"), framework("torchtitan"), 32768)
    one, eight = (memory(how, layout(cp=cp, dp=8 // cp, zero=3)).parts["activations"][0] for cp in (1, 8))
    assert eight == pytest.approx(one / 8)


def test_long_sequences_need_context_parallelism_and_not_replicas() -> (
    None
):  # C031, hiyouga/LlamaFactory#5024
    how = setting(model("qwen2.5-7b"), framework("torchtitan"), 120_000)
    assert memory(how, layout("full", dp=8, zero=3)).peak[0] > 79.1 * GIB
    assert memory(how, layout("full", cp=8, zero=3)).peak[0] < 79.1 * GIB


def test_logits_outweigh_a_small_model() -> None:  # C030: 125M with a vocabulary of 50k
    found = memory(
        setting(model("gpt2-small"), framework("torchtitan"), 1024), layout(micro_batch=16, zero=0)
    )
    assert found.parts["logits"][0] > found.parts["weights"][0] + found.parts["optimizer"][0]


def test_the_optimizers_step_counts_only_beyond_the_activations() -> None:
    how = setting(
        model("moonlight-16b-a3b"), framework("megatron-core", "Megatron-Bridge performance recipes"), 128
    )
    short = memory(how, layout(dp=8, ep=8, zero=1))
    long = memory(how._replace(work=how.work._replace(sequence=65536)), layout(dp=8, ep=8, zero=1))
    assert short.parts["optimizer_step"][0] > 0
    assert long.parts["optimizer_step"][0] == 0


def test_stages_that_share_the_tables_split_them() -> None:  # arXiv 2411.05288
    how = setting(model("llama-3-8b"), framework("megatron-core"), 4096)
    shared = how._replace(schedule=Schedule(extra=1, shares_tables=True))
    stated = layout(pp=8, grad_accum=64)
    assert memory(shared, stated).parts["weights"] < memory(how, stated).parts["weights"]
    assert in_flight(stated, np.array([0]), shared.schedule) == 9


# --- the page about it

PAGE = (ROOT / "docs" / "memory.md").read_text("utf-8")


@pytest.mark.parametrize(("recompute", "gib"), [("none", 86.3), ("full", 45.1)])
def test_the_worked_example_of_the_page(recompute: str, gib: float) -> None:
    how = setting(model("llama-3-70b"), framework("megatron-core"), 8192)
    columns = {"tp": 4, "pp": 4, "dp": 4, "zero": 1, "sequence_parallel": 1, "grad_accum": 32}
    found = memory(how, layout(recompute, **columns))
    assert found.peak[0] / GIB == pytest.approx(gib, abs=0.05)
    assert f"{gib}" in PAGE
    if recompute == "none":
        for name in (
            "weights",
            "gradients",
            "optimizer",
            "activations",
            "buffers",
            "context",
            "fragmentation",
        ):
            assert re.search(
                rf"^\| {name} \|.*\| {found.parts[name][0] / GIB:.1f} \|$", PAGE, re.MULTILINE
            ), name


def printed(*command: str) -> str:
    """What a benchmark prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_page_prints_the_estimators_as_the_command_does() -> None:
    assert printed("benchmarks/memory_table.py", "estimators") in PAGE


def test_the_page_prints_the_cases_as_the_command_does_and_explains_each_that_is_missed() -> None:
    table = printed("benchmarks/memory_cases.py")
    assert table in PAGE
    assert re.findall(r"\| ([A-Z]\d+) \|.*\| no: .{20,} \|", table) == [
        "C023", "C049", "C049", "C055", "C055", "C040", "D5977", "M6",
    ]  # fmt: skip


def test_a_torchtitan_stage_keeps_its_weights_gathered_and_its_gradients_whole() -> None:
    """torchtitan, distributed/fsdp.py: no reshard after forward with pp; torch, pipelining/stage.py: one
    reduction a step, in float32. Llama-3-70B on pp 8: 2 + 4 bytes of a stage whole, 4 + 8 over dp 4.
    """
    how = setting(model("llama-3-70b"), framework("torchtitan"), 1024)
    found = memory(how, layout("full", pp=8, dp=4, zero=3, grad_accum=8))
    held = (10 * 855_654_400 + 128_256 * 8192) / GIB  # ten layers and the input table
    assert found.parts["gathered"][0] / GIB == pytest.approx(2 * held, rel=0.01)
    assert found.parts["gradients"][0] / GIB == pytest.approx(4 * held, rel=0.01)
    assert found.parts["weights"][0] / GIB == pytest.approx(4 * held / 4, rel=0.01)
    alone = memory(how, layout("full", dp=32, zero=3, grad_accum=8))
    assert alone.parts["gradients"][0] / GIB == pytest.approx(4 * 70.55e9 / 32 / GIB, rel=0.01)


def test_the_step_of_zero_2_holds_what_ran_out_in_a_trace() -> None:
    """hiyouga/LlamaFactory issue 1221: Llama-2-7B in fp16 on 8 V100 held 28.28 GiB as the quotient of Adam
    asked for 3.14 more, and 1.52 GiB were outside the allocator.
    """
    unfused = framework("deepspeed", "DeepSpeed with an AdamW that is not fused")
    how = setting(model("llama-2-7b"), unfused, 1024, "fp16")
    found = memory(how, layout("full", dp=8, zero=2))
    assert found.allocated[0] / GIB == pytest.approx(28.28 + 3.14, rel=0.005)
    assert found.parts["context"][0] / GIB == pytest.approx(1.52, abs=0.05)


def test_zero_1_lets_go_of_the_gradients_of_others_before_its_step_and_zero_3_steps_in_groups() -> None:
    how = setting(model("llama-2-7b"), framework("deepspeed"), 1024)
    steps = [memory(how, layout("full", dp=4, zero=zero)).parts["optimizer_step"][0] for zero in (1, 2, 3)]
    assert steps[1] > steps[0] == steps[2] == 0


def test_internevo_holds_no_float32_gradients_beside_the_others() -> None:
    """InternLM/InternEvo, doc/en/train_performance.md: InternLM-7B on 8 A100 of 80 GB, nothing recomputed."""
    shape = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 103_168}
    how = setting(from_inline(shape), framework("deepspeed", "InternEvo"), 2048)
    assert memory(how, layout("none", dp=8, zero=1, micro_batch=2)).peak[0] / GIB < 79.2


def test_each_group_of_ranks_has_a_communicator() -> None:
    software = framework("megatron-core")
    how = setting(model("llama-3-8b"), software, 4096)
    columns = {"tp": 2, "pp": 2, "dp": 2, "grad_accum": 2}
    alone, three = (memory(how, layout("none", **c)).parts["context"][0] for c in ({}, columns))
    assert (alone, three) == pytest.approx((software.context, software.context + 3 * software.communicator))


# --- laws

NAMES = ("llama-3-8b", "gpt-3-13b", "mixtral-8x7b", "deepseek-v2-lite", "gemma-2-9b")


@st.composite
def cases(draw: st.DrawFn) -> tuple[Setting, dict[str, int], str]:
    """A setting, the columns of a layout and the word of its recompute."""
    software = draw(st.sampled_from(FRAMEWORKS))
    precision = draw(st.sampled_from(["bf16", "fp8", "fp32"]))
    sequence = draw(st.sampled_from([1024, 4096, 32768]))
    flash = draw(st.booleans())
    how = setting(model(draw(st.sampled_from(NAMES))), framework(software), sequence, precision, flash=flash)
    powers = st.sampled_from([1, 2, 4, 8])
    columns = {name: draw(powers) for name in ("tp", "cp", "pp", "dp", "micro_batch")}
    columns |= {
        "vpp": draw(st.sampled_from([1, 2])) if columns["pp"] > 1 else 1,
        "ep": draw(st.sampled_from([1, 2])) if columns["dp"] > 1 else 1,
        "zero": draw(st.sampled_from([0, 1, 2, 3])),
        "grad_accum": draw(st.sampled_from([1, 8, 64])),
        "sequence_parallel": draw(st.sampled_from([0, 1])),
    }
    return how, columns, draw(st.sampled_from(RECOMPUTE))


@given(cases())
def test_parts_are_not_negative_and_sum_to_the_peak(case: tuple[Setting, dict[str, int], str]) -> None:
    how, columns, word = case
    found = memory(how, layout(word, **columns))
    assert tuple(found.parts) == PARTS
    assert all(part >= 0 for part in found.parts.values())
    assert sum(found.parts.values()) == pytest.approx(found.peak)
    outside = sum(found.parts[name] for name in MARGIN)
    assert found.allocated == pytest.approx(found.peak - outside)


@given(cases(), st.sampled_from(["tp", "cp", "dp"]))
def test_more_shards_never_need_more(case: tuple[Setting, dict[str, int], str], name: str) -> None:
    """Of tp with sequence parallelism: without it inputs are whole, and padding may outweigh what is cut. The
    context aside: a first group of ranks has a communicator.
    """
    how, columns, word = case
    columns = columns | {"sequence_parallel": 1, "ep": 1}
    columns["tp"] = max(columns["tp"], 2)
    found = (memory(how, layout(word, **(columns | {name: n * columns[name]}))) for n in (1, 2))
    one, two = (each.peak[0] - each.parts["context"][0] for each in found)
    assert two <= one * 1.001


@given(cases())
def test_full_recompute_keeps_no_more_than_any_other(case: tuple[Setting, dict[str, int], str]) -> None:
    how, columns, word = case
    full, other = (Space.of(how, layout(w, **columns)).layer_memory.kept for w in ("full", word))
    assert (full <= other).all()


@given(cases(), st.sampled_from(["micro_batch", "grad_accum"]))
def test_more_at_a_time_never_needs_less(case: tuple[Setting, dict[str, int], str], name: str) -> None:
    how, columns, word = case
    one = memory(how, layout(word, **columns)).peak[0]
    two = memory(how, layout(word, **(columns | {name: 2 * columns[name]}))).peak[0]
    assert two >= one


@given(cases())
def test_more_layers_on_a_stage_never_need_less(case: tuple[Setting, dict[str, int], str]) -> None:
    how, columns, word = case
    stated = layout(word, **columns)
    few, many = (
        Space.of(how, stated, Stages(*(np.array([layers]),) * 3)).memory.peak[0] for layers in (2, 3)
    )
    assert many >= few


@given(cases())
def test_layouts_side_by_side_are_those_one_by_one(case: tuple[Setting, dict[str, int], str]) -> None:
    how, columns, word = case
    rows = [columns, columns | {"tp": 1}, columns | {"pp": 1, "vpp": 1}]
    together = memory(
        how,
        Layouts.of({n: [r[n] for r in rows] for n in columns} | {"recompute": [RECOMPUTE.index(word)] * 3}),
    )
    apart = [memory(how, layout(word, **row)).peak[0] for row in rows]
    assert together.peak.tolist() == pytest.approx(apart)
