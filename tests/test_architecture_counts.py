"""Counts equal to published ones and, family by family, to the library's own models."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from solver.architecture import ArchitectureError, from_catalog, from_hf
from solver.architecture.hf import Options
from solver.catalog import load

DATA = Path(__file__).parent / "data"
HUB: dict[str, Any] = json.loads((DATA / "hub_configs.json").read_text("utf-8"))
# transformers 5.24 on the meta device; made by benchmarks/count_oracle.py.
ORACLE: dict[str, Any] = json.loads((DATA / "oracle_counts.json").read_text("utf-8"))["families"]
# Default configs of the library that leave a size open or contradict themselves.
CONTRADICTORY = {
    "deepseek_v2": "num_experts_per_tok: is missing",
    "glm4_moe": "num_attention_heads: 96 does not divide hidden_size 4096",
    "internvl": "tie_word_embeddings: True contradicts text_config.tie_word_embeddings False",
    "kimi_k25": "tie_word_embeddings: True contradicts text_config.tie_word_embeddings False",
    "mistral3": "tie_word_embeddings: True contradicts text_config.tie_word_embeddings False",
    "qwen3_vl_moe": "tie_word_embeddings: False contradicts text_config.tie_word_embeddings True",
}


@pytest.mark.parametrize("name", HUB)
def test_a_hub_config_has_its_published_parameters(name: str) -> None:
    case = HUB[name]
    model = from_hf(case["config"])
    assert model.total_parameters == case["total"]
    assert model.active_parameters == case["active"]


@pytest.mark.parametrize("name", [n for n in HUB if HUB[n]["config"]["model_type"] != "clip"])
def test_the_other_convention_leaves_out_the_input_table(name: str) -> None:
    model = from_hf(HUB[name]["config"])
    assert model.active_parameters - model.token_embeddings == HUB[name]["active_without_input_table"]


@pytest.mark.parametrize("family", ORACLE)
def test_every_variant_of_a_family_counts_as_the_library_does(family: str) -> None:
    keys, rows = ORACLE[family]["keys"], ORACLE[family]["rows"]
    configs = [dict(zip(keys, row, strict=False)) | {"model_type": family} for row in rows]
    counted = [from_hf(config).total_parameters for config in configs]
    assert counted == [row[-1] for row in rows]


@pytest.mark.parametrize("family", [f for f in ORACLE if ORACLE[f]["default"] and f not in CONTRADICTORY])
def test_the_default_config_of_a_family_counts_as_the_library_does(family: str) -> None:
    model = from_hf(ORACLE[family]["default"] | {"model_type": family})
    assert model.total_parameters == ORACLE[family]["default_count"]


@pytest.mark.parametrize("family", CONTRADICTORY)
def test_a_default_config_that_contradicts_itself_is_refused(family: str) -> None:
    with pytest.raises(ArchitectureError, match=CONTRADICTORY[family]):
        from_hf(ORACLE[family]["default"] | {"model_type": family})


def test_main_families_are_compared_in_200_variants() -> None:
    assert sum(len(family["rows"]) >= 200 for family in ORACLE.values()) >= 30


@pytest.mark.parametrize("name", [n for n, record in load().models.items() if "parameters" in record])
def test_a_model_of_the_catalog_has_the_parameters_that_its_record_states(name: str) -> None:
    record = load().models[name]
    model = from_catalog(record)
    assert (model.name, model.total_parameters) == (name, record["parameters"])


def test_image_towers_are_counted_apart() -> None:
    case = HUB["meta-llama/Llama-4-Maverick-17B-128E-Instruct"]
    whole, text = from_hf(case["config"]), from_hf(case["config"], Options(text_only=True))
    assert whole.towers[0].parameters == case["vision"]
    assert whole.total_parameters - text.total_parameters == case["vision"]
    assert "no vision_config is given: the image tower has the default sizes of its class" in whole.notes


def test_prediction_layers_are_counted_when_asked_for() -> None:
    # README_WEIGHTS of DeepSeek-V3: 11.5B parameters of its own in the MTP module, tables shared.
    config = HUB["deepseek-ai/DeepSeek-V3"]["config"]
    more = from_hf(config, Options(prediction_layers=1))
    own = more.total_parameters - from_hf(config).total_parameters
    assert own == pytest.approx(11.5e9, rel=0.01)  # 11.61e9: the joining matmul of 0.1e9 included
    assert (more.layers, more.head_passes) == (62, 2)
    with pytest.raises(ArchitectureError, match="the config has no multi-token-prediction layers"):
        from_hf(HUB["microsoft/phi-4"]["config"], Options(prediction_layers=1))


def test_an_unknown_type_can_be_counted_as_a_known_one_when_asked() -> None:
    config = HUB["meta-llama/Meta-Llama-3.1-8B"]["config"] | {"model_type": "my_llama"}
    model = from_hf(config, Options(assume="llama"))
    assert model.total_parameters == 8_030_261_248
    assert "counted as llama, as asked for" in model.notes


def test_sizes_that_a_published_file_leaves_out_are_those_of_the_class_and_told() -> None:
    # gemma-3-4b-it: its text_config names no heads and no vocabulary; 4,300,079,472 parameters on its card.
    vision = {
        "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "num_attention_heads": 16,
        "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": False,
        "model_type": "siglip_vision_model",
    }  # fmt: skip
    text: dict[str, Any] = {
        "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024,
    }  # fmt: skip
    config = {
        "model_type": "gemma3",
        "text_config": text | {"model_type": "gemma3_text"},
        "vision_config": vision,
    }
    model = from_hf(config)
    assert model.total_parameters == 4_300_079_472
    assert "text_config leaves out vocab_size: 262208, as in its class" in model.notes


def test_layers_used_twice_count_once_and_compute_twice() -> None:
    keys, row = ORACLE["zamba2"]["keys"], ORACLE["zamba2"]["rows"][0]
    model = from_hf(dict(zip(keys, row, strict=False)) | {"model_type": "zamba2"})
    borrowed = [m for block, _ in model.blocks for m in block.matmuls if m.borrowed]
    assert borrowed
    assert all(m.parameters == 0 < m.flops for m in borrowed)


def test_the_table_of_the_docs_is_the_one_that_its_command_writes() -> None:
    root = Path(__file__).parents[1]
    spec = spec_from_file_location("architecture_table", root / "benchmarks" / "architecture_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (root / "docs" / "architectures.md").read_text("utf-8") == module.page()
