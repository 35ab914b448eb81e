"""Decoder families whose config has to be read in its own way before it is like the others."""

from dataclasses import replace

from solver.architecture import config as keys
from solver.architecture.blocks import Architecture, Matmul, Shard
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.decoder import decoder, flag
from solver.architecture.families.record import Decoder, Flag, Moe
from solver.architecture.families.table import DENSE


def falcon(config: Config) -> Architecture:
    """Old: one KV head and one norm. New: grouped KV heads and a norm each for attention and feed-forward."""
    new, parallel = (
        config.flag("new_decoder_architecture", default=False),
        config.flag("parallel_attn", default=True),
    )
    heads = config.integer(*keys.HEADS)
    one = config.flag("multi_query", default=True) and not new
    kv_heads = 1 if one else config.integer("num_kv_heads", default=heads) if new else heads
    norms = config.integer("num_ln_in_parallel_attn", default=2 if new else 1) if parallel else 2
    alibi = config.flag("alibi", default=False)
    record = Decoder(
        gated=False, layer_norm=True, norms=norms, parallel=parallel or new, tied=True, ffn_multiple=4,
        qkv_bias=("bias", False), o_bias=("bias", False), mlp_bias=("bias", False),
        positions="none" if alibi else "rope",
    )  # fmt: skip
    return decoder(config.with_values(num_kv_heads=kv_heads, num_key_value_heads=None), record)


def gpt_bigcode(config: Config) -> Architecture:
    kv_heads = 1 if config.flag("multi_query", default=True) else config.integer(*keys.HEADS)
    return decoder(config.with_values(num_key_value_heads=kv_heads), DENSE["gpt2"])


def gpt_neo(config: Config) -> Architecture:
    """Queries, keys and values without biases; the kinds of attention as a list of (kinds, times)."""
    names: list[str] = []
    for entry in config.items("attention_types"):
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise ArchitectureError(config.at("attention_types"), f"{entry!r} is no pair of kinds and times")
        names += list(entry[0]) * int(entry[1])
    window = config.integer("window_size", default=256)
    record = replace(DENSE["gpt2"], qkv_bias=False, window="pattern", pattern=2)
    return decoder(config.with_values(sliding_window=window, layer_types=names or None), record)


def opt(config: Config) -> Architecture:
    """Learned positions with two rows more; a narrower table with projections in the 350M model."""
    before = config.flag("do_layer_norm_before", default=True)
    final = before and not config.flag("_remove_final_layer_norm", default=False)
    affine: Flag = ("layer_norm_elementwise_affine", True)
    record = Decoder(
        gated=False, layer_norm=affine, norm_weight=flag(config, affine), qkv_bias=("enable_bias", True),
        o_bias=("enable_bias", True), mlp_bias=("enable_bias", True), tied=True, positions="learned",
        position_offset=2, final_norm=final,
    )  # fmt: skip
    whole = decoder(config, record)
    width = config.integer("word_embed_proj_dim", default=whole.hidden)
    if width == whole.hidden:
        return whole
    return replace(
        whole,
        embeddings=whole.vocab * width + whole.positions,
        head=Matmul("head", width, whole.vocab, Shard.COLUMN, "head_input"),
        extras=(
            Matmul("project_in", width, whole.hidden, Shard.REPLICATED, "embedded"),
            Matmul("project_out", whole.hidden, width, Shard.REPLICATED, "final"),
        ),
    )


def stablelm(config: Config) -> Architecture:
    """A parallel layer has a single norm."""
    parallel = config.flag("use_parallel_residual", default=False)
    record = Decoder(
        layer_norm=True, norms=1 if parallel else 2, parallel=parallel, qkv_bias=("use_qkv_bias", False),
        qk_norm="width", qk_norm_flag=("qk_layernorm", False),
    )  # fmt: skip
    return decoder(config, record)


def mpt(config: Config) -> Architecture:
    """No biases, and linear position biases in place of positions."""
    attention = config.child("attn_config") if config.has("attn_config") else Config({})
    hidden, heads = config.integer(*keys.HIDDEN), config.integer(*keys.HEADS)
    flat = config.with_values(
        num_key_value_heads=attention.integer("kv_n_heads", default=heads),
        intermediate_size=config.integer("expansion_ratio", default=4) * hidden,
    )
    return decoder(flat, Decoder(gated=False, tied=True, positions="none"))


def dbrx(config: Config) -> Architecture:
    """Attention and experts in nested configs."""
    attention, ffn = config.child("attn_config"), config.child("ffn_config")
    flat = config.with_values(
        num_key_value_heads=attention.integer("kv_n_heads", default=1),
        intermediate_size=ffn.integer("ffn_hidden_size"),
        num_experts=ffn.integer("moe_num_experts", default=4),
        num_experts_per_tok=ffn.integer("moe_top_k", default=1),
    )
    return decoder(flat, Decoder(moe=Moe(ffn=("intermediate_size",))))


def chatglm(config: Config) -> Architecture:
    """ChatGLM 2 and 3, GLM-4 9B in their first form."""
    heads = config.integer(*keys.HEADS)
    grouped = config.flag("multi_query_attention", default=False)
    flat = config.with_values(
        vocab_size=config.integer("padded_vocab_size", "vocab_size"),
        multi_query_group_num=config.integer("multi_query_group_num") if grouped else heads,
        head_dim=config.values.get("kv_channels"),
    )
    record = Decoder(
        layer_norm=not config.flag("rmsnorm", default=True),
        qkv_bias=config.flag("add_qkv_bias", default=False) or config.flag("add_bias_linear", default=False),
        o_bias=("add_bias_linear", False),
        mlp_bias=("add_bias_linear", False),
        final_norm=config.flag("post_layer_norm", default=True),
    )
    return decoder(flat, record)


def qwen(config: Config) -> Architecture:
    """The first Qwen: its intermediate_size counts gate and up together."""
    flat = config.with_values(intermediate_size=config.integer("intermediate_size") // 2)
    return decoder(flat, Decoder(qkv_bias=True, o_bias=not config.flag("no_bias", default=True)))


def hunyuan_moe(config: Config) -> Architecture:
    """Experts, top-k and shared experts may be one number or one a layer."""
    flat = config.with_values(
        num_experts=_uniform(config, "num_experts"),
        moe_topk=_uniform(config, "moe_topk"),
        num_shared_expert=_uniform(config, "num_shared_expert") if config.has("num_shared_expert") else 1,
        moe_intermediate_size=_uniform(
            config, "moe_intermediate_size" if config.has("moe_intermediate_size") else "intermediate_size"
        ),
    )
    shared = Moe(shared="count", shared_key="num_shared_expert")
    bias = ("attention_bias", False)
    return decoder(
        flat,
        Decoder(qkv_bias=bias, o_bias=bias, qk_norm="head", qk_norm_flag=("use_qk_norm", True), moe=shared),
    )


def _uniform(config: Config, key: str) -> object:
    values = config.items(key) if isinstance(config.values.get(key), list | tuple) else [config.integer(key)]
    if len(set(values)) != 1:
        raise ArchitectureError(
            config.at(key), "differs from layer to layer, which is not counted for this family"
        )
    return values[0]
