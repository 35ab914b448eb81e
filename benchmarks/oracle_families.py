"""Which keys of each family the oracle varies: small random configs for `count_oracle.py`. Needs no torch."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

Axes = dict[str, tuple[Any, ...]]
YES_NO = (False, True)
TIED: Axes = {"tie_word_embeddings": YES_NO}
ATTENTION_BIAS: Axes = {"attention_bias": YES_NO}
LLAMA: Axes = TIED | ATTENTION_BIAS | {"mlp_bias": YES_NO}
EXPERTS: Axes = {"num_local_experts": (2, 4, 6), "num_experts_per_tok": (1, 2)}
ROUTED: Axes = {
    "n_routed_experts": (4, 8), "num_experts_per_tok": (1, 2), "n_shared_experts": (1, 2),
    "moe_intermediate_size": (16, 24, 40), "n_group": (1,), "topk_group": (1,),
}  # fmt: skip
LATENT: Axes = {
    "q_lora_rank": (None, 24, 40), "kv_lora_rank": (16, 24), "qk_nope_head_dim": (8, 16),
    "qk_rope_head_dim": (8, 16),
    "v_head_dim": (8, 12), "attention_bias": YES_NO,
}  # fmt: skip
INDEX: Axes = {
    "q_lora_rank": (24, 20),
    "index_head_dim": (16, 32),
    "index_n_heads": (2, 4),
    "index_topk": (8,),
}
FIRST: Axes = {"first_k_dense_replace": (0, 1, 2)}

# family: (shape of the keys, whether the head dimension is free, further axes, how many variants)
FAMILIES: dict[str, tuple[str, bool, Axes, int]] = {
    "llama": ("gqa", True, LLAMA, 200),
    "mistral": ("gqa", True, TIED, 200),
    "ministral": ("gqa", True, TIED, 20),
    "ministral3": ("gqa", True, TIED, 20),
    "qwen2": ("gqa", False, TIED, 200),
    "qwen3": ("gqa", True, TIED | ATTENTION_BIAS, 200),
    "phi": ("gqa", False, TIED | {"qk_layernorm": YES_NO}, 20),
    "phi3": ("gqa", False, TIED | {"pad_token_id": (0,)}, 200),
    "falcon": ("falcon", False, {
        "multi_query": YES_NO, "parallel_attn": YES_NO, "new_decoder_architecture": YES_NO, "bias": YES_NO,
        "alibi": YES_NO, "tie_word_embeddings": YES_NO, "num_ln_in_parallel_attn": (None, 1, 2),
    }, 200),
    "gpt2": ("gpt2", False, TIED, 200),
    "gptj": ("gpt2", False, TIED | {"rotary_dim": (4,)}, 20),
    "codegen": ("gpt2", False, TIED | {"rotary_dim": (4,)}, 20),
    "gpt_bigcode": ("gpt2", False, TIED | {"multi_query": YES_NO}, 20),
    "gpt_neox": ("mha", False, TIED | ATTENTION_BIAS | {"use_parallel_residual": YES_NO}, 200),
    "gpt_neo": ("gpt_neo", False, TIED, 20),
    "opt": ("opt", False, TIED | {
        "do_layer_norm_before": YES_NO, "_remove_final_layer_norm": YES_NO, "enable_bias": YES_NO,
        "layer_norm_elementwise_affine": YES_NO, "word_embed_proj_dim": (16, 64), "pad_token_id": (1,),
    }, 200),
    "bloom": ("bloom", False, TIED, 200),
    "mpt": ("mpt", False, TIED, 20),
    "starcoder2": ("gqa", False, TIED | {"use_bias": YES_NO}, 200),
    "stablelm": ("gqa", False, TIED | {
        "use_qkv_bias": YES_NO, "qk_layernorm": YES_NO, "use_parallel_residual": YES_NO,
    }, 20),
    "persimmon": ("mha", False, TIED | {"qk_layernorm": YES_NO}, 20),
    "gemma": ("gqa", True, TIED | ATTENTION_BIAS, 200),
    "gemma2": ("gqa", True, TIED | ATTENTION_BIAS, 200),
    "gemma3_text": ("gqa", True, TIED | ATTENTION_BIAS, 200),
    "olmo": ("gqa", False, TIED | ATTENTION_BIAS, 20),
    "olmo2": ("gqa", False, TIED | ATTENTION_BIAS, 200),
    "olmo3": ("gqa", False, TIED | ATTENTION_BIAS, 20),
    "granite": ("gqa", False, LLAMA, 20),
    "cohere": ("gqa", False, TIED | ATTENTION_BIAS | {"use_qk_norm": YES_NO}, 200),
    "cohere2": ("gqa", False, TIED | ATTENTION_BIAS, 20),
    "glm": ("gqa", True, TIED | ATTENTION_BIAS | {"pad_token_id": (0,)}, 200),
    "glm4": ("gqa", True, TIED | ATTENTION_BIAS | {"pad_token_id": (0,)}, 20),
    "internlm3": ("gqa", True, TIED, 20),
    "arcee": ("gqa", True, LLAMA, 20),
    "smollm3": ("gqa", False, LLAMA | {"pad_token_id": (0,)}, 20),
    "seed_oss": ("gqa", True, LLAMA | {"attention_out_bias": YES_NO}, 20),
    "ernie4_5": ("gqa", True, TIED | {"use_bias": YES_NO}, 20),
    "hunyuan_v1_dense": ("gqa", True, TIED | ATTENTION_BIAS, 20),
    "exaone4": ("gqa", True, TIED | {"sliding_window": (32,)}, 20),
    "nemotron": ("gqa", True, LLAMA, 20),
    "mixtral": ("gqa", True, TIED | EXPERTS, 200),
    "qwen2_moe": ("gqa", False, TIED | {
        "num_experts": (4, 8), "num_experts_per_tok": (1, 2), "moe_intermediate_size": (16, 24),
        "shared_expert_intermediate_size": (16, 32), "decoder_sparse_step": (1, 2), "mlp_only_layers": ([],
            [0]),
        "qkv_bias": YES_NO,
    }, 200),
    "qwen3_moe": ("gqa", True, TIED | ATTENTION_BIAS | {
        "num_experts": (4, 8), "num_experts_per_tok": (1, 2), "moe_intermediate_size": (16, 24),
        "decoder_sparse_step": (1, 2), "mlp_only_layers": ([], [0]),
    }, 200),
    "deepseek_v2": ("mha", False, TIED | ROUTED | LATENT | FIRST, 200),
    "deepseek_v3": ("mha", False, TIED | ROUTED | LATENT | FIRST, 200),
    "deepseek_v32": ("mha", False, TIED | ROUTED | LATENT | INDEX | FIRST, 200),
    "glm_moe_dsa": ("mha", False, TIED | ROUTED | LATENT | INDEX | FIRST, 20),
    "glm4_moe_lite": ("mha", False, TIED | ROUTED | LATENT, 20),
    "glm4_moe": ("gqa", True, TIED | ATTENTION_BIAS | ROUTED | FIRST | {"use_qk_norm": YES_NO}, 200),
    "dots1": ("gqa", True, TIED | ATTENTION_BIAS | ROUTED | FIRST, 20),
    "llama4_text": ("gqa", True, TIED | ATTENTION_BIAS | EXPERTS | {
        "intermediate_size_mlp": (48, 80), "interleave_moe_layer_step": (1, 2), "use_qk_norm": YES_NO,
    }, 200),
    "gpt_oss": ("gqa", True, TIED | ATTENTION_BIAS | EXPERTS, 200),
    "minimax_m2": ("gqa", True, TIED | EXPERTS, 20),
    "olmoe": ("gqa", False, TIED | ATTENTION_BIAS | {"num_experts": (4, 8), "num_experts_per_tok": (1, 2)},
        200),
    "flex_olmo": ("gqa", False, TIED | ATTENTION_BIAS | {
        "num_experts": (4, 8), "num_experts_per_tok": (1,), "pad_token_id": (0,),
    }, 20),
    "dbrx": ("dbrx", False, {}, 20),
    "hunyuan_v1_moe": ("gqa", True, TIED | ATTENTION_BIAS | {"num_experts": (2, 4), "moe_topk": (1, 2)}, 20),
    "granitemoe": ("gqa", False, TIED | ATTENTION_BIAS | EXPERTS, 20),
    "granitemoeshared": ("gqa", False, TIED | ATTENTION_BIAS | EXPERTS | {"shared_intermediate_size": (0,
        24)}, 20),
    "phimoe": ("gqa", False, TIED | ATTENTION_BIAS | EXPERTS | {"lm_head_bias": YES_NO}, 20),
    "ernie4_5_moe": ("gqa", False, TIED | {
        "use_bias": YES_NO, "moe_num_experts": (4, 8), "moe_k": (1, 2), "moe_num_shared_experts": (0, 2),
        "moe_intermediate_size": (16, 24), "moe_layer_start_index": (0, 1), "moe_layer_end_index": (-1, 3),
        "moe_layer_interval": (1, 2),
    }, 20),
}  # fmt: skip


SCAN: Axes = {
    "mamba_d_state": (4, 8), "mamba_d_conv": (2, 4), "mamba_conv_bias": YES_NO, "mamba_proj_bias": YES_NO,
    "pad_token_id": (0,),
}  # fmt: skip
DELTA: Axes = {
    "linear_num_key_heads": (2,), "linear_num_value_heads": (2, 4), "linear_key_head_dim": (6, 8),
    "linear_value_head_dim": (4, 8), "attention_bias": YES_NO, "layer_types": (None,),
}  # fmt: skip
HYBRIDS: dict[str, tuple[str, bool, Axes, int]] = {
    "mamba": ("scan", False, TIED | {
        "state_size": (4, 16), "conv_kernel": (2, 4), "use_bias": YES_NO, "use_conv_bias": YES_NO,
        "expand": (1, 2),
        "time_step_rank": (3, "auto"),
    }, 200),
    "falcon_mamba": ("scan", False, TIED | {"state_size": (4, 16), "time_step_rank": (3, "auto")}, 20),
    "mamba2": ("dual", False, TIED | {
        "state_size": (4, 16), "conv_kernel": (2, 4), "use_bias": YES_NO, "use_conv_bias": YES_NO,
        "n_groups": (1, 2),
    }, 200),
    "jamba": ("gqa", False, TIED | SCAN | {
        "mamba_expand": (1, 2), "mamba_dt_rank": (3, "auto"), "num_experts": (1, 4),
        "num_experts_per_tok": (1,),
        "attn_layer_period": (2, 3), "attn_layer_offset": (0, 1), "expert_layer_period": (2, 3),
        "expert_layer_offset": (0, 1),
    }, 200),
    # why: the library builds it without attention biases and untied, whatever the config says.
    "nemotron_h": ("nemotron_h", True, {
        "ssm_state_size": (4, 8), "mamba_num_heads": (2, 4), "mamba_head_dim": (6, 8), "n_groups": (1, 2),
        "conv_kernel": (2, 4), "use_bias": YES_NO, "use_conv_bias": YES_NO, "mlp_bias": YES_NO,
        "n_routed_experts": (4,), "num_experts_per_tok": (2,), "moe_intermediate_size": (16, 24),
        "moe_shared_expert_intermediate_size": (20, 28), "moe_latent_size": (None, 12),
    }, 200),
    "falcon_h1": ("gqa", False, TIED | SCAN | {
        "mamba_d_ssm": (48,), "mamba_n_heads": (4,), "mamba_d_head": (12,), "mamba_n_groups": (1, 2),
        "mamba_rms_norm": YES_NO,
        "projectors_bias": YES_NO, "attention_bias": YES_NO, "mlp_bias": YES_NO,
    }, 200),
    "bamba": ("gqa", False, TIED | SCAN | {
        "mamba_n_heads": (1,), "mamba_d_head": ("auto",), "attn_layer_indices": ([0],),
        "attention_bias": YES_NO,
        "mlp_bias": YES_NO,
    }, 20),
    "granitemoehybrid": ("gqa", False, TIED | SCAN | {
        "mamba_n_heads": (1,), "mamba_d_head": ("auto",), "num_local_experts": (0, 4),
        "num_experts_per_tok": (2,),
        "shared_intermediate_size": (24, 32), "attention_bias": YES_NO, "layer_types": (None,),
    }, 20),
    "zamba": ("zamba", False, {"mamba_d_state": (4, 8), "mamba_dt_rank": (3,), "n_mamba_heads": (1, 2)}, 20),
    "zamba2": ("zamba2", False, {
        "mamba_d_state": (4, 8), "mamba_ngroups": (1, 2), "n_mamba_heads": (2,), "num_mem_blocks": (1, 2),
        "adapter_rank": (3, 5), "use_shared_attention_adapter": YES_NO, "add_bias_linear": YES_NO,
    }, 20),
    "qwen3_next": ("gqa", True, TIED | DELTA | {
        "num_experts": (4, 8), "num_experts_per_tok": (1, 2), "moe_intermediate_size": (16, 24),
        "shared_expert_intermediate_size": (16, 24), "decoder_sparse_step": (1, 2), "mlp_only_layers": ([],
            [0]),
    }, 200),
    "qwen3_5_text": ("gqa", True, TIED | DELTA, 20),
    "qwen3_5_moe_text": ("gqa", True, TIED | DELTA | {
        "num_experts": (4, 8), "num_experts_per_tok": (1, 2), "moe_intermediate_size": (16, 24),
        "shared_expert_intermediate_size": (16, 24),
    }, 20),
    "minimax": ("gqa", True, TIED | EXPERTS, 20),
}  # fmt: skip
FAMILIES |= HYBRIDS


class Drawn(NamedTuple):
    """Sizes that fit together, and the dice for what only one shape needs."""

    random: Random
    free: bool
    kv_heads: int
    heads: int
    head_dim: int
    hidden: int
    layers: int
    ffn: int
    vocab: int

    @property
    def bare(self) -> dict[str, Any]:
        return {"vocab_size": self.vocab, "hidden_size": self.hidden, "num_hidden_layers": self.layers}

    @property
    def plain(self) -> dict[str, Any]:
        return self.bare | {"num_attention_heads": self.heads}


def _drawn(random: Random, *, free: bool) -> Drawn:
    kv_heads, group, head_dim = random.choice((1, 2, 3)), random.choice((1, 2, 4)), random.choice((8, 16))
    heads = kv_heads * group
    hidden = heads * (random.choice((12, 16, 20)) if free else head_dim)
    layers, ffn, vocab = random.randint(1, 5), random.choice((32, 56, 96)), random.randint(100, 400)
    return Drawn(random, free, kv_heads, heads, head_dim, hidden, layers, ffn, vocab)


def _gqa(d: Drawn) -> dict[str, Any]:
    keys = {"intermediate_size": d.ffn, "num_key_value_heads": d.kv_heads}
    return d.plain | keys | ({"head_dim": d.head_dim} if d.free else {})


def _gpt2(d: Drawn) -> dict[str, Any]:
    inner = d.random.choice((None, d.ffn))
    sizes = {"vocab_size": d.vocab, "n_embd": d.hidden, "n_layer": d.layers, "n_head": d.heads}
    return sizes | {"n_inner": inner, "n_positions": 64}


def _gpt_neo(d: Drawn) -> dict[str, Any]:
    return {
        "vocab_size": d.vocab, "hidden_size": d.hidden, "num_layers": 2 * d.layers, "num_heads": d.heads,
        "attention_types": [[["global", "local"], d.layers]], "max_position_embeddings": 64,
    }  # fmt: skip


def _dbrx(d: Drawn) -> dict[str, Any]:
    experts = d.random.choice((2, 4))
    return {
        "vocab_size": d.vocab, "d_model": d.hidden, "n_layers": d.layers, "n_heads": d.heads,
        "attn_config": {"kv_n_heads": d.kv_heads, "rope_theta": 10000.0},
        "ffn_config": {"ffn_hidden_size": d.ffn, "moe_num_experts": experts, "moe_top_k": 1},
    }  # fmt: skip


def _nemotron_h(d: Drawn) -> dict[str, Any]:
    pattern = "".join(d.random.choice("M-*E") for _ in range(d.layers))
    return d.plain | {
        "num_key_value_heads": d.kv_heads, "intermediate_size": d.ffn, "head_dim": d.random.choice((8, 16)),
        "hybrid_override_pattern": pattern,
    }  # fmt: skip


def _zamba(d: Drawn) -> dict[str, Any]:
    wide = 2 * d.hidden
    return d.plain | {
        "num_key_value_heads": d.heads, "intermediate_size": d.ffn, "num_hidden_layers": d.layers + 4,
        "attention_hidden_size": wide, "attention_head_dim": wide // d.heads,
        "attn_layer_period": d.random.choice((2, 3)), "attn_layer_offset": d.random.choice((0, 1)),
    }  # fmt: skip


def _zamba2(d: Drawn) -> dict[str, Any]:
    kinds = ["mamba", *d.random.choices(("mamba", "hybrid"), k=d.layers), "hybrid"]
    return d.plain | {
        "num_key_value_heads": d.heads, "intermediate_size": d.ffn, "num_hidden_layers": len(kinds),
        "layers_block_type": kinds,
    }  # fmt: skip


SHAPES: dict[str, Callable[[Drawn], dict[str, Any]]] = {
    "gqa": _gqa,
    "mha": lambda d: d.plain | {"intermediate_size": d.ffn},
    "falcon": lambda d: d.plain | {"num_kv_heads": d.kv_heads, "ffn_hidden_size": d.ffn},
    "gpt2": _gpt2,
    "gpt_neo": _gpt_neo,
    "opt": lambda d: d.plain | {"ffn_dim": d.ffn, "max_position_embeddings": 64},
    "bloom": lambda d: {
        "vocab_size": d.vocab,
        "hidden_size": d.hidden,
        "n_layer": d.layers,
        "n_head": d.heads,
    },
    "mpt": lambda d: {"vocab_size": d.vocab, "d_model": d.hidden, "n_layers": d.layers, "n_heads": d.heads},
    "dbrx": _dbrx,
    "scan": lambda d: d.bare,
    "dual": lambda d: d.bare | {"num_heads": d.heads, "head_dim": 2 * d.hidden // d.heads},
    "nemotron_h": _nemotron_h,
    "zamba": _zamba,
    "zamba2": _zamba2,
}


def variant(name: str, random: Random) -> dict[str, Any]:
    """A small random config of a family."""
    shape, free, axes, _ = FAMILIES[name]
    drawn = SHAPES[shape](_drawn(random, free=free))
    return drawn | {key: random.choice(values) for key, values in axes.items()}
