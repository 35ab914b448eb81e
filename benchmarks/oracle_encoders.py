"""Encoders, encoder-decoders and image models for `count_oracle.py`: class, small config, how many."""

from collections.abc import Callable
from random import Random
from typing import Any

Values = dict[str, Any]


def _sizes(random: Random, *, vocab: bool = True) -> Values:
    heads = random.choice((2, 4))
    drawn = {
        "hidden_size": heads * random.choice((8, 12)), "intermediate_size": random.choice((24, 40)),
        "num_attention_heads": heads, "num_hidden_layers": random.randint(1, 4),
    }  # fmt: skip
    return drawn | ({"vocab_size": random.randint(100, 400)} if vocab else {})


def _tied(random: Random) -> Values:
    return {"tie_word_embeddings": random.choice((False, True))}


def _t5(random: Random) -> Values:
    # why: the library ties the head of T5 whatever the config says, so only tied ones can be compared.
    return {
        "d_model": random.choice((16, 32)), "d_kv": random.choice((4, 6)), "d_ff": random.choice((24, 40)),
        "num_layers": random.randint(1, 3), "num_decoder_layers": random.randint(1, 3),
        "num_heads": random.choice((2, 4)), "relative_attention_num_buckets": random.choice((8, 32)),
        "feed_forward_proj": random.choice(("relu", "gated-gelu")), "vocab_size": random.randint(100, 400),
        "tie_word_embeddings": True,
    }  # fmt: skip


def _bart(random: Random) -> Values:
    return {
        "d_model": random.choice((16, 32)), "encoder_layers": random.randint(1, 3),
        "decoder_layers": random.randint(1, 3), "encoder_ffn_dim": random.choice((24, 40)),
        "decoder_ffn_dim": random.choice((24, 40)), "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "vocab_size": random.randint(100, 400), "max_position_embeddings": 64,
    }  # fmt: skip


def _bert(random: Random) -> Values:
    return (
        _sizes(random)
        | _tied(random)
        | {"max_position_embeddings": 64, "type_vocab_size": random.choice((1, 2))}
    )


def _modernbert(random: Random) -> Values:
    flags = ("attention_bias", "mlp_bias", "norm_bias", "decoder_bias", "classifier_bias")
    return _sizes(random) | {"pad_token_id": 0} | {key: random.choice((False, True)) for key in flags}


def _vit(random: Random) -> Values:
    return _sizes(random, vocab=False) | _image(random) | {"qkv_bias": random.choice((False, True))}


def _image(random: Random) -> Values:
    return {"image_size": random.choice((32, 48)), "patch_size": random.choice((8, 16))}


def _clip(random: Random) -> Values:
    text = _sizes(random) | {"max_position_embeddings": 32}
    return {
        "text_config": text, "vision_config": _sizes(random, vocab=False) | _image(random),
        "projection_dim": random.choice((16, 24)),
    }  # fmt: skip


def _siglip(random: Random) -> Values:
    values = _clip(random)
    values.pop("projection_dim")
    return values


def _vision_language(text: Values, vision: Values, *, tied: bool = True) -> Callable[[Random], Values]:
    def drawn(random: Random) -> Values:
        flag = _tied(random) if tied else {}
        inner = _sizes(random) | {"num_key_value_heads": random.choice((1, 2))} | text | flag
        outer = _sizes(random, vocab=False) | _image(random) | vision
        return {"text_config": inner, "vision_config": outer} | flag

    return drawn


def _qwen(text: Values, vision: Values) -> Callable[[Random], Values]:
    def drawn(random: Random) -> Values:
        flag, inner = _tied(random), _sizes(random) | {"num_key_value_heads": random.choice((1, 2))} | text
        out = (
            {"out_hidden_size": inner["hidden_size"], "hidden_size": 32} if "embed_dim" not in vision else {}
        )
        back = {"hidden_size": inner["hidden_size"]} if "embed_dim" in vision else {}
        outer = (
            {"depth": random.randint(1, 3), "num_heads": 4, "intermediate_size": 40, "patch_size": 8}
            | out
            | back
            | vision
        )
        return {"text_config": inner | flag, "vision_config": outer} | flag

    return drawn


def _paligemma(random: Random) -> Values:
    text, vision = (
        {"model_type": "gemma", "head_dim": 8},
        {"model_type": "siglip_vision_model", "vision_use_head": False},
    )
    values = _vision_language(text, vision)(random)
    return values | {"projection_dim": values["text_config"]["hidden_size"]}


def _kimi(random: Random) -> Values:
    flag, tower = _tied(random), _sizes(random, vocab=False) | {"patch_size": 8, "pos_emb_height": 4}
    latent = {
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 8,
        "v_head_dim": 8,
    }
    routed = {"n_routed_experts": 8, "moe_intermediate_size": 16, "first_k_dense_replace": 1}
    inner = (
        _sizes(random) | {"model_type": "deepseek_v3", "n_group": 1, "topk_group": 1} | latent | routed | flag
    )
    inner["num_key_value_heads"] = inner["num_attention_heads"]
    inner |= {"pad_token_id": 0, "n_shared_experts": 1, "num_experts_per_tok": 2}
    return {
        "text_config": inner,
        "vision_config": tower,
        "projection_hidden_size": tower["hidden_size"],
    } | flag


_MOE = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "head_dim": 8}
_DEEP = {"num_position_embeddings": 16, "deepstack_visual_indexes": [0]}
ENCODERS: dict[str, tuple[str, Callable[[Random], Values], int]] = {
    "t5": ("T5ForConditionalGeneration", _t5, 200),
    "mt5": ("MT5ForConditionalGeneration", _t5, 20),
    "umt5": ("UMT5ForConditionalGeneration", _t5, 20),
    "bart": ("BartForConditionalGeneration", _bart, 200),
    "bert": ("BertForMaskedLM", _bert, 200),
    "roberta": ("RobertaForMaskedLM", _bert, 200),
    "xlm-roberta": ("XLMRobertaForMaskedLM", _bert, 20),
    "modernbert": ("ModernBertForMaskedLM", _modernbert, 200),
    "vit": ("ViTForImageClassification", _vit, 200),
    "clip": ("CLIPModel", _clip, 20),
    "siglip": ("SiglipModel", _siglip, 20),
    "llava": ("LlavaForConditionalGeneration", _vision_language(
        {"model_type": "llama"}, {"model_type": "clip_vision_model"},
    ), 20),
    "gemma3": ("Gemma3ForConditionalGeneration", _vision_language(
        {"head_dim": 8}, {"vision_use_head": False},
    ), 20),
    "paligemma": ("PaliGemmaForConditionalGeneration", _paligemma, 10),
    "mistral3": ("Mistral3ForConditionalGeneration", _vision_language(
        {"model_type": "mistral", "head_dim": 8}, {"model_type": "pixtral"},
    ), 20),
    "internvl": ("InternVLForConditionalGeneration", _vision_language(
        {"model_type": "qwen2"}, {"image_size": [32, 32], "patch_size": [16, 16]},
    ), 20),
    "llama4": ("Llama4ForConditionalGeneration", _vision_language(
        {"head_dim": 8, "pad_token_id": 0, "num_local_experts": 2, "num_experts_per_tok": 1,
            "intermediate_size_mlp": 48,
         "interleave_moe_layer_step": 2},
        {"projector_input_dim": 24, "projector_output_dim": 24, "vision_output_dim": 20}, tied=False,
    ), 20),
    "kimi_k25": ("AutoModelForImageTextToText", _kimi, 20),
    "qwen2_vl": ("Qwen2VLForConditionalGeneration", _qwen({}, {"embed_dim": 32, "mlp_ratio": 2}), 20),
    "qwen2_5_vl": ("Qwen2_5_VLForConditionalGeneration", _qwen({}, {}), 20),
    "qwen3_vl": ("Qwen3VLForConditionalGeneration", _qwen({"head_dim": 8}, _DEEP), 20),
    "qwen3_vl_moe": ("Qwen3VLMoeForConditionalGeneration", _qwen(_MOE, _DEEP), 20),
    "qwen3_5_moe": ("Qwen3_5MoeForConditionalGeneration", _qwen(
        _MOE | {"shared_expert_intermediate_size": 24}, {"num_position_embeddings": 16},
    ), 10),
    "qwen3_5": ("Qwen3_5ForConditionalGeneration", _qwen({"head_dim": 8}, {"num_position_embeddings": 16}),
        20),
}  # fmt: skip
