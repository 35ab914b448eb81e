"""Scans with one or a few transformer layers that are used again and again."""

from dataclasses import replace
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block, Matmul, Shard
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.decoder import Sizes, outside, sizes
from solver.architecture.families.hybrid import pre_norm_layer
from solver.architecture.families.patterns import layer_types
from solver.architecture.families.record import Decoder
from solver.architecture.families.scans import DualScan, SelectiveScan, dual_scan, selective_scan
from solver.architecture.parts import (
    FeedForward,
    Part,
    SelfAttention,
    attention,
    feed_forward,
    join,
    norm,
    residual,
    stack,
)

_RECORD = Decoder(tied=True)


class Use(NamedTuple):
    """A layer: whether the shared transformer stands in it, which one, and whether for the first time."""

    hybrid: bool
    first: bool = False


def zamba(config: Config) -> Architecture:
    """Zamba 1: Mamba 1 and one shared layer that reads the hidden state and the embedding side by side."""
    size = sizes(config, _RECORD)
    scan = selective_scan(
        SelectiveScan(
            size.hidden, config.integer("mamba_expand", default=2) * size.hidden,
            config.integer("mamba_d_state", default=16), config.integer("mamba_d_conv", default=4),
            config.integer("mamba_dt_rank", default=-(-size.hidden // 16)),
            config.flag("mamba_proj_bias", default=False), config.flag("mamba_conv_bias", default=True),
            heads=config.integer("n_mamba_heads", default=2),
        )
    )  # fmt: skip
    period = config.integer("attn_layer_period", default=6)
    offset = config.integer("attn_layer_offset", default=4, least=0)
    later = [i % period == offset for i in range(size.layers - 3)]
    hybrid = _listed(config, size.layers) or [False, False, True, *later][: size.layers]
    return _model(config, size, scan, hybrid)


def zamba2(config: Config) -> Architecture:
    """Zamba 2: Mamba 2, a few shared layers in turn, and a low-rank adapter at each use."""
    size = sizes(config, _RECORD)
    inner = config.integer("mamba_expand", default=2) * size.hidden
    heads = config.integer("n_mamba_heads", default=8)
    bias = config.flag("add_bias_linear", default=False)
    scan = dual_scan(
        DualScan(
            size.hidden, heads, inner // heads, config.integer("mamba_d_state", default=64),
            config.integer("mamba_ngroups", default=1), config.integer("mamba_d_conv", default=4), bias, bias,
        )
    )  # fmt: skip
    at = set(config.items("hybrid_layer_ids"))
    hybrid = _listed(config, size.layers) or [i in at for i in range(size.layers)]
    return _model(config, size, scan, hybrid)


def _listed(config: Config, layers: int) -> list[bool]:
    return [name in {"hybrid", "g"} for name in layer_types(config, layers, "layers_block_type")]


def _model(config: Config, size: Sizes, scan: Part, hybrid: list[bool]) -> Architecture:
    blocks = config.integer("num_mem_blocks", default=1)
    used, layers = 0, []
    for is_hybrid in hybrid:
        layers.append(_layer(config, size, scan, Use(is_hybrid, used < blocks)))
        used += is_hybrid
    if not used:
        raise ArchitectureError(
            "hybrid_layer_ids", "is missing; it names the layers with the shared transformer"
        )
    return outside(config, _RECORD, size, stack(layers))


def _layer(config: Config, size: Sizes, scan: Part, use: Use) -> Block:
    if not use.hybrid:
        return pre_norm_layer("scan", size.hidden, scan)
    linear = Part((Matmul("linear", size.hidden, size.hidden, Shard.REPLICATED, "shared_output"),))
    shared = _shared(config, size)
    if not use.first:
        shared = [_borrowed(part) for part in shared]
    parts = (*shared, *_adapters(config, size), linear, norm("norm_1", size.hidden), scan)
    return join("shared attention and scan", size.hidden, *parts, residual("residual_mixer", size.hidden))


def _borrowed(part: Part) -> Part:
    return part._replace(matmuls=tuple(replace(m, borrowed=True) for m in part.matmuls), vectors=0)


def _shared(config: Config, size: Sizes) -> list[Part]:
    """The transformer layer over twice the width: hidden state and embedding."""
    wide = config.integer("attention_hidden_size", default=2 * size.hidden)
    head_dim = config.integer("attention_head_dim", default=wide // size.heads)
    core = attention(SelfAttention(wide, size.heads, size.kv_heads, head_dim))
    narrowed = tuple(replace(m, outer=size.hidden) if m.name == "o" else m for m in core.matmuls)
    ffn = config.integer("intermediate_size", default=4 * size.hidden)
    bias = config.flag("add_bias_linear", default=False)
    return [
        norm("norm_wide", wide),
        core._replace(matmuls=narrowed),
        norm("norm_ffn", size.hidden),
        feed_forward(FeedForward(size.hidden, ffn, bias=bias)),
        residual("residual_ffn", size.hidden),
    ]


def _adapters(config: Config, size: Sizes) -> list[Part]:
    """Low-rank additions to the shared matmuls, one set at each use (Zamba 2)."""
    if not config.has("num_mem_blocks"):
        return []
    rank, ffn = (
        config.integer("adapter_rank", default=128),
        config.integer("intermediate_size", default=4 * size.hidden),
    )
    wide = config.integer("attention_hidden_size", default=2 * size.hidden)
    pairs = [("adapter_ffn", size.hidden, 2 * ffn, "ffn_input")]
    if config.flag("use_shared_attention_adapter", default=False):
        pairs += [(f"adapter_{n}", wide, wide, "attention_input") for n in "qkv"]
    return [
        Part(
            (
                Matmul(f"{name}_in", inner, rank, Shard.REPLICATED, reads, saves=True),
                Matmul(f"{name}_out", rank, outer, Shard.COLUMN, f"{name}_rank"),
            )
        )
        for name, inner, outer, reads in pairs
    ]
