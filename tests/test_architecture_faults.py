"""What cannot be counted is refused in a sentence that names the key, the value and what is allowed."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.architecture import ArchitectureError, from_catalog, from_hf, from_inline, from_size

HUB: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "hub_configs.json").read_text("utf-8"))
LLAMA = HUB["meta-llama/Meta-Llama-3.1-8B"]["config"]
MIXTRAL = HUB["mistralai/Mixtral-8x7B-v0.1"]["config"]
DEEPSEEK = HUB["deepseek-ai/DeepSeek-V3"]["config"]
GEMMA = HUB["google/gemma-3-1b-it"]["config"]
NEMOTRON = HUB["nvidia/Nemotron-H-56B-Base-8K"]["config"]
CUT = HUB["nvidia/Llama-3_3-Nemotron-Super-49B-v1"]["config"]
INLINE = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 32000}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (LLAMA | {"model_type": "llamo"}, 'model_type: "llamo" is refused, never guessed; known: Yi, arcee'),
        ({"hidden_size": 64}, "model_type: is missing: refused, never guessed; known:"),
        (LLAMA | {"hidden_size": None}, "hidden_size: is missing; it is needed to count the parameters"),
        (LLAMA | {"hidden_size": "4096"}, 'hidden_size: "4096" is not a number'),
        (LLAMA | {"hidden_size": -1}, "hidden_size: -1 is not a whole number of at least 1"),
        (LLAMA | {"hidden_size": 4096.5}, "hidden_size: 4096.5 is not a whole number of at least 1"),
        (LLAMA | {"num_hidden_layers": True}, "num_hidden_layers: True is not a number"),
        (
            LLAMA | {"num_attention_heads": 33},
            "num_key_value_heads: 8 does not divide num_attention_heads 33",
        ),
        (
            LLAMA | {"num_attention_heads": 40, "num_key_value_heads": 40},
            "num_attention_heads: 40 does not divide hidden_size 4096, and no head_dim is given",
        ),
        (LLAMA | {"n_layer": 31}, "num_hidden_layers: 32 contradicts n_layer 31"),
        (LLAMA | {"tie_word_embeddings": "no"}, 'tie_word_embeddings: "no" is neither true nor false'),
        (
            MIXTRAL | {"num_experts_per_tok": 9},
            "num_experts_per_tok: 9 is more than the 8 experts there are",
        ),
        (DEEPSEEK | {"qk_head_dim": 128}, "qk_head_dim: 128 contradicts qk_nope_head_dim"),
        (GEMMA | {"layer_types": ["full_attention"]}, "layer_types: 1 entries contradict num_hidden_layers"),
        (GEMMA | {"layer_types": ["dreaming"] * 26}, 'layer_types: "dreaming" is no kind of attention'),
        (NEMOTRON | {"num_hidden_layers": 117}, "num_hidden_layers: 117 contradicts the 118 layers"),
        (NEMOTRON | {"hybrid_override_pattern": "M?"}, 'hybrid_override_pattern: "\\?" is no kind of layer'),
        (CUT | {"block_configs": None}, "block_configs: is missing"),
        (CUT | {"num_hidden_layers": 79}, "block_configs: 80 entries contradict num_hidden_layers 79"),
        (
            LLAMA | {"quantization_config": {"quant_method": "awq"}},
            'quantization_config.quant_method: "awq" is a quantized copy',
        ),
        ({"peft_type": "LORA", "r": 16}, "peft_type: this is the config of an adapter"),
        ({"model_type": "bert"}, "hidden_size: is missing"),
        (
            {"model_type": "vit", "hidden_size": 64, "num_attention_heads": 5},
            "num_attention_heads: 5 does not divide 64",
        ),
    ],
)  # fmt: skip
def test_a_config_that_cannot_be_counted_is_refused(config: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArchitectureError, match=sentence):
        from_hf(config)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"layer": 32}, "layer: is no field of an inline model; known: layers, hidden, heads"),
        (INLINE | {"vocab": None}, "vocab: is missing"),
        (INLINE | {"heads": 33}, "heads: 33 does not divide hidden 4096, and no head_dim is given"),
        (INLINE | {"kv_heads": 5}, "kv_heads: 5 does not divide heads 32"),
        (INLINE | {"attention": "local"}, "attention: 'local' is unknown; write full"),
        (INLINE | {"positions": "alibi"}, 'positions: "alibi" is unknown; known: rope, learned, none'),
        (INLINE | {"experts": 8}, "experts_per_token: is missing"),
        (INLINE | {"experts": 8, "experts_per_token": 9}, "experts_per_token: 9 is more than the 8 experts"),
        (INLINE | {"gated_mlp": 3}, "gated_mlp: 3 is neither true nor false"),
    ],
)
def test_inline_fields_that_make_no_model_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArchitectureError, match=sentence):
        from_inline(fields)


@pytest.mark.parametrize("size", [0.0, 9.9e6, 1.1e13])
def test_a_bare_size_out_of_range_is_refused(size: float) -> None:
    with pytest.raises(ArchitectureError, match="is outside 10M to 10T; give layers, hidden"):
        from_size(size)


@pytest.mark.parametrize("record", [{}, {"config": LLAMA, "inline": INLINE}])
def test_a_record_holds_either_a_config_or_inline_fields(record: dict[str, Any]) -> None:
    with pytest.raises(ArchitectureError, match="holds either `config` or `inline`"):
        from_catalog(record)


JSON = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


@given(st.sampled_from(sorted(HUB)), st.data())
def test_nothing_but_a_refusal_comes_of_a_spoiled_config(name: str, data: st.DataObject) -> None:
    config = HUB[name]["config"]
    key = data.draw(st.sampled_from(sorted(config)))
    with suppress(ArchitectureError):
        assert from_hf(config | {key: data.draw(JSON)}).total_parameters > 0
