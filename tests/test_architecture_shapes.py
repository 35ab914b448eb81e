"""Inline models and bare sizes, and what a block says of its activations."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.architecture import from_hf, from_inline, from_size
from solver.architecture.blocks import Architecture, Block
from solver.architecture.size import LARGEST, SMALLEST

HUB: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "hub_configs.json").read_text("utf-8"))


def kept_elements(block: Block) -> float:
    """Elements of a token that a plain training step keeps of a block, a fused attention."""
    inputs = {m.reads: m.inner * (m.per_token if m.routed else 1) for m in block.matmuls}
    outputs = sum(m.outer * m.per_token for m in block.matmuls if m.saves)
    return sum(inputs.values()) + outputs + sum(p.saves * p.per_token for p in block.pointwise)


def test_a_gpt_layer_keeps_what_the_paper_prints() -> None:
    # arXiv 2205.05198, eq. 2: s b h (34 + 5 a s/h) bytes; less s x s matrices and 2 s b h of dropout masks.
    hidden = 1600
    (layer, _), *_ = from_hf(HUB["openai-community/gpt2-xl"]["config"]).blocks
    assert 2 * kept_elements(layer) == (34 - 2) * hidden


def test_a_gated_layer_keeps_its_two_halves_and_grouped_keys_less() -> None:
    # Inputs of norms 2h, normed 2h, q h, k and v 2 (h/4), context h, gate, up and their product 3f.
    hidden, ffn = 4096, 14336
    (layer, _), *_ = from_hf(HUB["meta-llama/Meta-Llama-3.1-8B"]["config"]).blocks
    assert kept_elements(layer) == 2 * hidden + 2 * hidden + hidden + hidden // 2 + hidden + 3 * ffn


def test_keys_and_values_cannot_be_split_beyond_their_heads() -> None:
    (layer, _), *_ = from_hf(HUB["microsoft/phi-4"]["config"]).blocks
    assert {m.name: m.units for m in layer.matmuls if m.name in "qkv"} == {"q": 40, "k": 10, "v": 10}


def test_routed_experts_are_marked_and_the_router_is_whole_on_every_rank() -> None:
    (layer, _), *_ = from_hf(HUB["mistralai/Mixtral-8x7B-v0.1"]["config"]).blocks
    routed = [m for m in layer.matmuls if m.routed]
    assert {(m.copies, m.per_token) for m in routed} == {(8, 2.0)}
    assert [m.shard.value for m in layer.matmuls if m.name == "router"] == ["replicated"]


def test_inline_fields_give_the_model_that_they_describe() -> None:
    # Llama 2 7B (arXiv 2307.09288, table 1) and Mixtral 8x7B, both by their published counts.
    dense = from_inline({"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 32000})
    sparse = from_inline(
        {
            "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 32000,
            "experts": 8, "experts_per_token": 2,
        }
    )  # fmt: skip
    assert dense.total_parameters == 6_738_415_616
    assert (sparse.total_parameters, sparse.active_parameters) == (46_702_792_704, 12_879_925_248)


def test_leading_dense_layers_and_shared_experts_can_be_written_inline() -> None:
    fields = {
        "layers": 5, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 100, "experts": 8, "experts_per_token": 2,
        "expert_ffn": 32, "shared_experts": 1, "dense_layers": 2,
    }  # fmt: skip
    blocks = from_inline(fields).blocks
    assert [count for _, count in blocks] == [2, 3]
    assert [sum(m.copies == 8 for m in block.matmuls) for block, _ in blocks] == [0, 3]
    assert [sum("shared" in m.name for m in block.matmuls) for block, _ in blocks] == [0, 3]


@pytest.mark.parametrize(
    ("attention", "spans"),
    [("full", [0]), ("window: 512", [512]), ({"window": 64, "full_every": 2}, [64, 0, 64, 0])],
)
def test_inline_attention_can_slide(attention: object, spans: list[int]) -> None:
    fields = {"layers": 4, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 100, "attention": attention}
    cores = [block.attention for block, _ in from_inline(fields).blocks]
    assert [core.span for core in cores if core] == spans


def test_learned_positions_have_a_row_for_each_token_of_the_sequence() -> None:
    fields = {"layers": 1, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 100, "positions": "learned"}
    assert from_inline(fields, sequence_length=512).positions == 512 * 64


SIZES = st.floats(min_value=SMALLEST, max_value=LARGEST)


@given(SIZES, SIZES)
def test_a_larger_size_never_gives_a_smaller_model(one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert from_size(small)[0].total_parameters <= from_size(large)[0].total_parameters


@given(SIZES)
def test_a_bare_size_is_met_within_ten_percent_and_stated(size: float) -> None:
    model, sentence = from_size(size)
    assert model.total_parameters == pytest.approx(size, rel=0.1 if size < 1e8 else 0.03)
    assert f"{model.total_parameters:,} parameters" in sentence
    assert heads_divide(model)


def heads_divide(model: Architecture) -> bool:
    return model.heads % model.kv_heads == 0 and model.heads * model.head_dim == model.hidden


def test_a_size_of_a_known_shape_gives_that_shape() -> None:
    assert from_size(8e9)[0].total_parameters == 8_030_261_248
    assert from_size(70e9)[0].total_parameters == 70_553_706_496
