"""State-space and linear-attention models, alone or between attention layers."""

from collections.abc import Callable
from dataclasses import replace

from solver.architecture.blocks import Architecture, Block
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.decoder import (
    Sizes,
    attention_part,
    dense_part,
    experts_part,
    outside,
    sizes,
)
from solver.architecture.families.patterns import FULL, experts_where, layer_types
from solver.architecture.families.record import Decoder, Moe
from solver.architecture.families.scans import (
    DeltaRule,
    DualScan,
    SelectiveScan,
    delta_rule,
    dual_scan,
    lightning_attention,
    selective_scan,
)
from solver.architecture.parts import Part, join, norm, residual, stack

ATTENTION = ("full_attention", "attention", "*")
SCAN = ("linear_attention", "mamba", "M")
_WITHOUT_ATTENTION = {"num_attention_heads": 1, "num_key_value_heads": 1}


def pre_norm_layer(name: str, hidden: int, mixer: Part, ffn: Part | None = None) -> Block:
    """A pre-norm layer with a residual addition around each of its parts."""
    first = (norm("norm_1", hidden), mixer, residual("residual_mixer", hidden))
    if ffn is None:
        return join(name, hidden, *first)
    return join(name, hidden, *first, norm("norm_2", hidden), ffn, residual("residual_ffn", hidden))


def built(names: list[str], build: Callable[[str], Block]) -> tuple[tuple[Block, int], ...]:
    made = {name: build(name) for name in dict.fromkeys(names)}
    return stack(made[name] for name in names)


def _kinds(config: Config, layers: int, key: str = "layer_types") -> list[str]:
    names = layer_types(config, layers, key)
    for name in names:
        if name not in ATTENTION + SCAN:
            raise ArchitectureError(
                config.at(key), f'"{name}" is no kind of layer that is counted for this family'
            )
    return ["attention" if name in ATTENTION else "scan" for name in names]


def mamba(config: Config) -> Architecture:
    """Mamba 1: nothing but selective scans."""
    hidden = config.integer("hidden_size", "d_model")
    inner = config.integer("intermediate_size", default=config.integer("expand", default=2) * hidden)
    mixer = selective_scan(
        SelectiveScan(
            hidden, inner, config.integer("state_size", default=16), config.integer("conv_kernel", default=4),
            _rank(config, "time_step_rank", hidden), config.flag("use_bias", default=False),
            config.flag("use_conv_bias", default=True),
        )
    )  # fmt: skip
    return _only_scans(config, mixer, tied=True)


def _rank(config: Config, key: str, hidden: int) -> int:
    if config.values.get(key) in (None, "auto"):
        return -(-hidden // 16)
    return config.integer(key)


def mamba2(config: Config) -> Architecture:
    hidden, heads, head_dim = (
        config.integer("hidden_size"),
        config.integer("num_heads"),
        config.integer("head_dim"),
    )
    if heads * head_dim != config.number("expand", default=2) * hidden:
        raise ArchitectureError(
            "num_heads", f"{heads} x head_dim {head_dim} is not expand x hidden_size {hidden}"
        )
    bias = config.flag("use_bias", default=False)
    mixer = dual_scan(
        DualScan(
            hidden, heads, head_dim, config.integer("state_size", default=128), config.integer("n_groups",
                default=8),
            config.integer("conv_kernel", default=4), bias, bias, config.flag("use_conv_bias", default=True),
        )
    )  # fmt: skip
    return _only_scans(config.with_values(num_heads=None), mixer, tied=False)


def _only_scans(config: Config, mixer: Part, *, tied: bool) -> Architecture:
    record = Decoder(tied=tied)
    size = sizes(config.with_values(**_WITHOUT_ATTENTION), record)
    return outside(config, record, size, stack([pre_norm_layer("scan", size.hidden, mixer)] * size.layers))


def jamba(config: Config) -> Architecture:
    """Attention and experts each at a period and an offset."""
    record = Decoder(kv_heads=8, positions="none", moe=Moe(ffn=("intermediate_size",)))
    size = sizes(config, record)
    mixer = selective_scan(
        SelectiveScan(
            size.hidden, config.integer("mamba_expand", default=2) * size.hidden,
            config.integer("mamba_d_state", default=16), config.integer("mamba_d_conv", default=4),
            _rank(config, "mamba_dt_rank", size.hidden), config.flag("mamba_proj_bias", default=False),
            config.flag("mamba_conv_bias", default=True), norms=True,
        )
    )  # fmt: skip
    many = config.integer("num_experts", default=16) > 1
    attends = _periodic(config, "attn_layer", (8, 4), size.layers)
    routes = [many and at for at in _periodic(config, "expert_layer", (2, 1), size.layers)]

    def build(name: str) -> Block:
        mix = attention_part(config, record, size, FULL) if name.startswith("attention") else mixer
        moe = record.moe if name.endswith("experts") else None
        ffn = experts_part(config, record, moe, size) if moe else dense_part(config, record, size)
        return pre_norm_layer(name, size.hidden, mix, ffn)

    names = [
        f"{'attention' if a else 'scan'}, {'experts' if e else 'dense'}"
        for a, e in zip(attends, routes, strict=True)
    ]
    return outside(config, record, size, built(names, build))


def _periodic(config: Config, prefix: str, default: tuple[int, int], layers: int) -> list[bool]:
    period = config.integer(f"{prefix}_period", default=default[0])
    offset = config.integer(f"{prefix}_offset", default=default[1], least=0)
    return [i % period == offset for i in range(layers)]


def _bamba_scan(config: Config, hidden: int, *, norm_always: bool) -> Part:
    heads = config.integer("mamba_n_heads", default=128)
    inner = config.integer("mamba_d_ssm", default=config.integer("mamba_expand", default=2) * hidden)
    if inner % heads:
        raise ArchitectureError(
            config.at("mamba_n_heads"), f"{heads} does not divide the scan's width {inner}"
        )
    bias = config.flag("mamba_proj_bias", default=False)
    return dual_scan(
        DualScan(
            hidden, heads, inner // heads, config.integer("mamba_d_state", default=256),
            config.integer("mamba_n_groups", default=1), config.integer("mamba_d_conv", default=4), bias,
            config.flag("projectors_bias", default=False) if not norm_always else bias,
            config.flag("mamba_conv_bias", default=True),
            norm_always or config.flag("mamba_rms_norm", default=False),
        )
    )  # fmt: skip


_BAMBA = Decoder(
    kv_heads=8,
    qkv_bias=("attention_bias", False),
    o_bias=("attention_bias", False),
    mlp_bias=("mlp_bias", False),
)


def falcon_h1(config: Config) -> Architecture:
    """Attention and scan side by side in every layer."""
    size = sizes(config, _BAMBA)
    scan, core = (
        _bamba_scan(config, size.hidden, norm_always=False),
        attention_part(config, _BAMBA, size, FULL),
    )
    # why: both read the one normed input, which is kept once.
    shared = tuple(
        replace(m, reads="attention_input") if m.reads == "mixer_input" else m for m in scan.matmuls
    )
    mixer = Part(
        shared + core.matmuls,
        scan.pointwise + core.pointwise,
        scan.vectors + core.vectors,
        core.attention,
        None,
        scan.scan,
    )
    layer = pre_norm_layer("attention and scan", size.hidden, mixer, dense_part(config, _BAMBA, size))
    return outside(config, _BAMBA, size, stack([layer] * size.layers))


def bamba(config: Config) -> Architecture:
    """Scans, and attention at the layers that the config lists."""
    size = sizes(config, _BAMBA)
    attends = set(config.items("attn_layer_indices"))
    names = ["attention" if i in attends else "scan" for i in range(size.layers)]
    mixers = {
        "attention": lambda: attention_part(config, _BAMBA, size, FULL),
        "scan": lambda: _bamba_scan(config, size.hidden, norm_always=True),
    }
    ffn = dense_part(config, _BAMBA, size)
    return outside(
        config,
        _BAMBA,
        size,
        built(names, lambda name: pre_norm_layer(name, size.hidden, mixers[name](), ffn)),
    )


def granite_hybrid(config: Config) -> Architecture:
    """Granite 4: scans or attention by `layer_types`, a shared feed-forward, experts where there are any."""
    bias = ("attention_bias", False)
    many = config.integer("num_local_experts", default=8, least=0) > 0
    moe = Moe(
        ffn=("intermediate_size",), default_per_token=2, default_experts=8, shared="width",
        shared_key="shared_intermediate_size", shared_default=1024, dense_ffn=("shared_intermediate_size",),
    )  # fmt: skip
    record = Decoder(qkv_bias=bias, o_bias=bias, positions="rope", moe=moe if many else None)
    size = sizes(config, record)
    plain = config.with_values(intermediate_size=config.integer("shared_intermediate_size", default=1024))
    ffn = experts_part(config, record, moe, size) if many else dense_part(plain, record, size)
    mixers = {
        "attention": lambda: attention_part(config, record, size, FULL),
        "scan": lambda: _bamba_scan(config, size.hidden, norm_always=True),
    }
    names = _kinds(config, size.layers) or ["scan"] * size.layers
    return outside(
        config,
        record,
        size,
        built(names, lambda name: pre_norm_layer(name, size.hidden, mixers[name](), ffn)),
    )


def qwen_next(config: Config, moe: Moe | None) -> Architecture:
    """Three gated delta rules to one gated attention."""
    bias = ("attention_bias", False)
    record = Decoder(
        kv_heads=2, head_dim=256, qkv_bias=bias, o_bias=bias, qk_norm="head", output_gate=True, moe=moe,
    )  # fmt: skip
    size = sizes(config, record)
    every = config.integer("full_attention_interval", default=4)
    names = _kinds(config, size.layers) or [
        "scan" if (i + 1) % every else "attention" for i in range(size.layers)
    ]
    routed = experts_where(config, moe, size.layers)

    def build(name: str) -> Block:
        mix = (
            attention_part(config, record, size, FULL)
            if name.startswith("attention")
            else _delta(config, size)
        )
        at = moe if name.endswith("experts") else None
        return pre_norm_layer(
            name,
            size.hidden,
            mix,
            experts_part(config, record, at, size) if at else dense_part(config, record, size),
        )

    both = [f"{name}, {'experts' if at else 'dense'}" for name, at in zip(names, routed, strict=True)]
    return outside(config, record, size, built(both, build))


def _delta(config: Config, size: Sizes) -> Part:
    return delta_rule(
        DeltaRule(
            size.hidden, config.integer("linear_num_key_heads", default=16),
            config.integer("linear_num_value_heads", default=32), config.integer("linear_key_head_dim",
                default=128),
            config.integer("linear_value_head_dim", default=128), config.integer("linear_conv_kernel_dim",
                default=4),
        )
    )  # fmt: skip


def minimax(config: Config) -> Architecture:
    """Seven lightning attentions to one softmax attention, experts in every layer."""
    moe = Moe(ffn=("intermediate_size",), default_experts=8, default_per_token=2)
    record = Decoder(kv_heads=8, moe=moe)
    size = sizes(config, record)
    by_number = ["attention" if kind == 1 else "linear_attention" for kind in config.items("attn_type_list")]
    flat = (
        config.with_values(layer_types=by_number) if by_number and not config.has("layer_types") else config
    )
    names = _kinds(flat, size.layers) or ["scan" if i % 2 else "attention" for i in range(size.layers)]
    mixers = {
        "attention": lambda: attention_part(config, record, size, FULL),
        "scan": lambda: lightning_attention(size.hidden, size.heads, size.head_dim),
    }
    ffn = experts_part(config, record, moe, size)
    return outside(
        config,
        record,
        size,
        built(names, lambda name: pre_norm_layer(name, size.hidden, mixers[name](), ffn)),
    )
