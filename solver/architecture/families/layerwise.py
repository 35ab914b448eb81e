"""Families whose config names every layer: scans, attention, feed-forward, experts, or what a search left."""

from solver.architecture import config as keys
from solver.architecture.blocks import Architecture, Block
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.decoder import Sizes, attention_part, dense_part, outside, sizes
from solver.architecture.families.hybrid import built, pre_norm_layer
from solver.architecture.families.patterns import FULL, Span
from solver.architecture.families.record import Decoder, Moe
from solver.architecture.families.scans import DualScan, dual_scan
from solver.architecture.parts import (
    Experts,
    FeedForward,
    Part,
    SelfAttention,
    attention,
    experts,
    feed_forward,
    join,
    norm,
    residual,
    stack,
)


def nemotron_h(config: Config) -> Architecture:
    """Layers of one part each: M scan, - feed-forward, * attention, E experts."""
    kinds = _nemotron_kinds(config)
    flat = config.with_values(num_hidden_layers=len(kinds))
    bias = ("attention_bias", False)
    record = Decoder(
        gated=False, kv_heads=8, head_dim=128, qkv_bias=bias, o_bias=bias, mlp_bias=("mlp_bias", False),
        positions="none", moe=Moe() if "experts" in kinds else None,
    )  # fmt: skip
    size = sizes(flat, record)
    biased = flat.flag("use_bias", default=False)
    build = {
        "scan": lambda: dual_scan(
            DualScan(
                size.hidden, flat.integer("mamba_num_heads"), flat.integer("mamba_head_dim"),
                flat.integer("ssm_state_size"), flat.integer("n_groups", "mamba_n_groups"),
                flat.integer("conv_kernel", default=4), biased, biased, flat.flag("use_conv_bias",
                    default=True),
            )
        ),
        "feed-forward": lambda: dense_part(flat, record, size),
        "attention": lambda: attention_part(flat, record, size, FULL),
        "experts": lambda: _nemotron_experts(flat, size),
    }  # fmt: skip
    return outside(
        flat, record, size, built(kinds, lambda name: pre_norm_layer(name, size.hidden, build[name]()))
    )


_NEMOTRON = {
    "M": "scan", "-": "feed-forward", "*": "attention", "E": "experts", "mamba": "scan",
    "mlp": "feed-forward",
    "linear_attention": "scan", "attention": "attention", "full_attention": "attention", "moe": "experts",
}  # fmt: skip


def _nemotron_kinds(config: Config) -> list[str]:
    key = "hybrid_override_pattern" if config.has("hybrid_override_pattern") else "layers_block_type"
    pattern = (
        list(config.text(key)) if key == "hybrid_override_pattern" else [str(x) for x in config.items(key)]
    )
    if not pattern:
        raise ArchitectureError("hybrid_override_pattern", "is missing; it names the kind of every layer")
    layers = config.integer(*keys.LAYERS, default=len(pattern))
    unknown = [name for name in pattern if name not in _NEMOTRON]
    if unknown:
        raise ArchitectureError(key, f'"{unknown[0]}" is no kind of layer; known: {", ".join(_NEMOTRON)}')
    if layers != len(pattern):
        raise ArchitectureError(
            "num_hidden_layers", f"{layers} contradicts the {len(pattern)} layers of {key}"
        )
    return [_NEMOTRON[name] for name in pattern]


def _nemotron_experts(config: Config, size: Sizes) -> Part:
    shared = config.integer("moe_shared_expert_intermediate_size", default=0, least=0)
    return experts(
        Experts(
            size.hidden, config.integer(*keys.EXPERTS), config.integer(*keys.EXPERTS_PER_TOKEN),
            config.integer("moe_intermediate_size"), gated=False, shared_bias=config.flag("mlp_bias",
                default=False),
            shared_ffn=shared, latent=config.integer("moe_latent_size", default=0, least=0),
        )
    )  # fmt: skip


def irregular(config: Config) -> Architecture:
    """Layers cut down one by one by a search: `block_configs` gives each what is left of it."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    entries = [
        Config(entry, f"block_configs[{i}]") for i, entry in enumerate(_mappings(config, "block_configs"))
    ]
    layers = config.integer("num_hidden_layers", default=len(entries))
    if layers != len(entries):
        raise ArchitectureError(
            "block_configs", f"{len(entries)} entries contradict num_hidden_layers {layers}"
        )
    record, head_dim = Decoder(), config.integer("head_dim", default=hidden // heads)
    size = Sizes(
        hidden, layers, heads, heads, head_dim, config.integer("vocab_size"),
        config.integer("max_position_embeddings", default=0, least=0),
    )  # fmt: skip
    made: dict[str, Block] = {}
    names = [repr(entry.values) for entry in entries]
    for name, entry in zip(names, entries, strict=True):
        if name not in made:
            made[name] = _cut_layer(entry, size, bias=config.flag("attention_bias", default=False))
    return outside(config, record, size, stack(made[name] for name in names))


def _mappings(config: Config, key: str) -> list[dict[str, object]]:
    items = config.items(key)
    if not items or not all(isinstance(item, dict) for item in items):
        raise ArchitectureError(key, "is missing; it gives the attention and the feed-forward of every layer")
    return [dict(item) for item in items if isinstance(item, dict)]


def _cut_layer(entry: Config, size: Sizes, *, bias: bool) -> Block:
    mixer, ffn = _cut_attention(entry.child("attention"), size, bias=bias), _cut_ffn(entry.child("ffn"), size)
    parts: list[Part] = []
    for at, part in enumerate((mixer, ffn), 1):
        if part is not None:
            parts += [norm(f"norm_{at}", size.hidden), part, residual(f"residual_{at}", size.hidden)]
    kinds = [name for name, part in (("attention", mixer), ("dense", ffn)) if part is not None]
    return join(", ".join(kinds) or "nothing", size.hidden, *parts)


def _cut_attention(entry: Config, size: Sizes, *, bias: bool) -> Part | None:
    if entry.flag("no_op", default=False):
        return None
    if entry.flag("replace_with_linear", default=False):
        raise ArchitectureError(
            entry.at("replace_with_linear"), "an attention replaced by a matmul is not counted"
        )
    group = entry.integer("n_heads_in_group")
    window = entry.integer("window_length", default=0, least=0)
    span = Span("window", window) if window else FULL
    return attention(
        SelfAttention(
            size.hidden, size.heads, size.heads // group, size.head_dim, span.kind, span.keys,
            q_bias=bias, k_bias=bias, v_bias=bias, o_bias=bias,
        )
    )  # fmt: skip


def _cut_ffn(entry: Config, size: Sizes) -> Part | None:
    if entry.flag("no_op", default=False):
        return None
    if entry.flag("replace_with_linear", default=False):
        raise ArchitectureError(
            entry.at("replace_with_linear"), "a feed-forward replaced by a matmul is not counted"
        )
    # why: the family's own rule, two thirds of a multiple of hidden, rounded up to a multiple of 256.
    width = int(2 * entry.number("ffn_mult") * size.hidden / 3)
    return feed_forward(FeedForward(size.hidden, -(-width // 256) * 256))
