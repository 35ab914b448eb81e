"""The parts of a layer (norm, attention, feed-forward, experts), each with its matmuls, passes and vectors.

What is kept for the backward pass of a plain GPT layer, in elements per token: the inputs of both norms
2h, the normed inputs of the two groups of column-parallel matmuls 2h, q, k, v 3h, the context h, the inputs
of the activation and of the last matmul 8h. The sum 16h is the 32 s b h bytes of Korthikanti et al. 2022
(arXiv 2205.05198, eq. 2) without its dropout masks (2 s b h), and with a fused attention in place of the
s x s matrices.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from solver.architecture.blocks import Attention, Block, Matmul, Pointwise, Scan, Shard

Kind = Literal["full", "window", "chunk", "bidirectional", "sparse", "cross"]


class Part(NamedTuple):
    """Some matmuls, element-wise passes and vectors of a layer."""

    matmuls: tuple[Matmul, ...] = ()
    pointwise: tuple[Pointwise, ...] = ()
    vectors: int = 0
    attention: Attention | None = None
    cross_attention: Attention | None = None
    scan: Scan | None = None


def join(name: str, hidden: int, *parts: Part) -> Block:
    """The layer that these parts make up."""
    return Block(
        name=name,
        matmuls=tuple(m for part in parts for m in part.matmuls),
        pointwise=tuple(p for part in parts for p in part.pointwise),
        vectors=sum(part.vectors for part in parts),
        attention=next((part.attention for part in parts if part.attention), None),
        cross_attention=next((part.cross_attention for part in parts if part.cross_attention), None),
        scan=next((part.scan for part in parts if part.scan), None),
        hidden=hidden,
    )


def stack(layers: Iterable[Block]) -> tuple[tuple[Block, int], ...]:
    """Layers in their order, alike neighbours merged."""
    return tuple((block, len(list(run))) for block, run in groupby(layers))


def norm(name: str, hidden: int, *, bias: bool = False, weight: bool = True) -> Part:
    """A norm of the residual stream; its input is kept for the backward pass."""
    return Part((), (Pointwise(name, hidden, hidden, saves=hidden),), hidden * (weight + bias))


def residual(name: str, hidden: int) -> Part:
    return Part((), (Pointwise(name, 2 * hidden, hidden),))


@dataclass(frozen=True)
class SelfAttention:
    """Softmax attention with its four projections.

    norm_vectors  weights of the q and k norms (0: none)
    output_gate   a second half of q gates the context
    sinks         a learned logit a head
    extra         other vectors (relative position biases)
    source        activation that k and v are computed from (cross-attention: the encoder's output)
    """

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    kind: Kind = "full"
    span: int = 0
    q_bias: bool = False
    k_bias: bool = False
    v_bias: bool = False
    o_bias: bool = False
    norm_vectors: int = 0
    rope: bool = True
    output_gate: bool = False
    sinks: bool = False
    extra: int = 0
    source: str = "attention_input"
    prefix: str = ""

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        return self.kv_heads * self.head_dim


def attention(spec: SelfAttention) -> Part:
    """q, k, v and output projections, q and k norms, rope and the attention itself."""
    p, reads = spec.prefix, f"{spec.prefix}attention_input"
    source = f"{p}{spec.source}" if spec.source == "attention_input" else spec.source
    q_outer, kv = spec.width * (1 + spec.output_gate), spec.kv_width
    matmuls = (
        Matmul(
            f"{p}q", spec.hidden, q_outer, Shard.COLUMN, reads, saves=True, units=spec.heads, bias=spec.q_bias
        ),
        Matmul(
            f"{p}k", spec.hidden, kv, Shard.COLUMN, source, saves=True, units=spec.kv_heads, bias=spec.k_bias
        ),
        Matmul(
            f"{p}v", spec.hidden, kv, Shard.COLUMN, source, saves=True, units=spec.kv_heads, bias=spec.v_bias
        ),
        Matmul(
            f"{p}o", spec.width, spec.hidden, Shard.ROW, f"{p}context", units=spec.heads, bias=spec.o_bias
        ),
    )
    core = Attention(spec.heads, spec.kv_heads, spec.head_dim, spec.head_dim, spec.kind, spec.span)
    vectors = spec.norm_vectors + spec.sinks * spec.heads + spec.extra
    if spec.kind == "cross":
        return Part(matmuls, _qk_passes(spec), vectors, cross_attention=core)
    return Part(matmuls, _qk_passes(spec), vectors, attention=core)


def _qk_passes(spec: SelfAttention) -> tuple[Pointwise, ...]:
    width = spec.width + spec.kv_width
    normed = Pointwise(f"{spec.prefix}qk_norm", width, width, sharded=True, saves=width)
    rotated = Pointwise(f"{spec.prefix}rope", width, width, sharded=True)
    gated = Pointwise(f"{spec.prefix}output_gate", 2 * spec.width, spec.width, sharded=True, saves=spec.width)
    chosen = ((normed, spec.norm_vectors > 0), (rotated, spec.rope), (gated, spec.output_gate))
    return tuple(item for item, wanted in chosen if wanted)


def merge(first: Part, second: Part) -> Part:
    """Both, where the first has the attention."""
    return first._replace(
        matmuls=first.matmuls + second.matmuls,
        pointwise=first.pointwise + second.pointwise,
        vectors=first.vectors + second.vectors,
    )


@dataclass(frozen=True)
class FeedForward:
    """Two matmuls around an activation, or three where the activation is gated."""

    hidden: int
    ffn: int
    gated: bool = True
    bias: bool = False
    prefix: str = ""
    reads: str = "ffn_input"


def feed_forward(spec: FeedForward) -> Part:
    p, h, f = spec.prefix, spec.hidden, spec.ffn
    names = ("gate", "up") if spec.gated else ("up",)
    widen = (Matmul(p + n, h, f, Shard.COLUMN, spec.reads, saves=True, bias=spec.bias) for n in names)
    narrow = Matmul(f"{p}down", f, h, Shard.ROW, f"{p}activated", bias=spec.bias)
    return Part((*widen, narrow), (Pointwise(f"{p}activation", len(names) * f, f, sharded=True),))


@dataclass(frozen=True)
class Experts:
    """A router, routed experts and what stands beside them.

    clamped       gate and up are clamped before the activation
    shared_ffn    width of the expert(s) that every token meets; shared_gate: scaled by a sigmoid
    latent        width that the routed experts work in, where it is not the hidden width (0: hidden)
    """

    hidden: int
    experts: int
    per_token: float
    ffn: int
    gated: bool = True
    bias: bool = False
    clamped: bool = False
    router_bias: bool = False
    shared_ffn: int = 0
    shared_gate: bool = False
    shared_bias: bool = False
    score_bias: bool = False
    latent: int = 0


def experts(spec: Experts) -> Part:
    """Router, dispatch, grouped expert matmuls, combine, and the shared expert."""
    router = Matmul(
        "router", spec.hidden, spec.experts, Shard.REPLICATED, "ffn_input", saves=True, bias=spec.router_bias
    )
    width, routed = spec.latent or spec.hidden, _routed(spec)
    around = (
        (
            Matmul("latent_down", spec.hidden, width, Shard.REPLICATED, "ffn_input", bias=spec.shared_bias),
            Matmul("latent_up", width, spec.hidden, Shard.REPLICATED, "combined", bias=spec.shared_bias),
        )
        if spec.latent
        else ()
    )
    passes = (
        Pointwise("router_softmax", spec.experts, spec.experts),
        Pointwise("dispatch", width, width, per_token=spec.per_token, routed=True),
        Pointwise("combine", width, width, per_token=spec.per_token, routed=True),
    )
    part = merge(Part((router, *around), passes, spec.experts * spec.score_bias), routed)
    return merge(part, _shared(spec)) if spec.shared_ffn else part


def _routed(spec: Experts) -> Part:
    width, f, names = spec.latent or spec.hidden, spec.ffn, ("gate", "up") if spec.gated else ("up",)
    matmuls = [
        Matmul(
            f"expert_{name}", inner, outer, shard, reads, saves=name != "down",
            copies=spec.experts, per_token=spec.per_token, bias=spec.bias, routed=True,
        )
        for name, inner, outer, shard, reads in (
            *((n, width, f, Shard.COLUMN, "dispatched") for n in names),
            ("down", f, width, Shard.ROW, "expert_activated"),
        )
    ]  # fmt: skip
    return Part(tuple(matmuls), _expert_passes(spec, len(names) * f, width))


def _expert_passes(spec: Experts, inner: int, width: int) -> tuple[Pointwise, ...]:
    """The activation; clamps of both halves, which are then put together; the bias of the last matmul, which
    is scaled, added and put together expert by expert.

    Source: Megatron-LM, core/fusions/fused_bias_geglu.py weighted_bias_quick_geglu_impl (clamp_value);
    core/transformer/moe/experts.py, TEGroupedMLP._apply_bias.
    """

    def passed(name: str, reads: int, writes: int) -> Pointwise:
        return Pointwise(name, reads, writes, sharded=True, per_token=spec.per_token, routed=True)

    clamps = (passed("expert_clamp", 2 * inner, 2 * inner),) if spec.clamped else ()
    bias = (passed("expert_bias", 3 * width, 3 * width),) if spec.bias else ()
    return (passed("expert_activation", inner, spec.ffn), *clamps, *bias)


def _shared(spec: Experts) -> Part:
    shared = feed_forward(FeedForward(spec.hidden, spec.shared_ffn, spec.gated, spec.shared_bias, "shared_"))
    if not spec.shared_gate:
        return shared
    gate = Matmul("shared_scale", spec.hidden, 1, Shard.REPLICATED, "ffn_input", saves=True)
    scaled = Pointwise("shared_scaling", spec.hidden, spec.hidden, saves=spec.hidden)
    return merge(shared, Part((gate,), (scaled,)))
