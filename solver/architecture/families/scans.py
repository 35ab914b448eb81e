"""Mixers with a state in place of a growing cache: Mamba 1 and 2, gated delta rule, lightning attention."""

from dataclasses import dataclass

from solver.architecture.blocks import Matmul, Pointwise, Scan, Shard
from solver.architecture.parts import Part

CHUNK = 256  # tokens that a kernel of a chunked scan takes together


@dataclass(frozen=True)
class SelectiveScan:
    """Mamba 1: arXiv 2312.00752, sec. 3. heads > 1: Zamba's, where each head has its own selection."""

    hidden: int
    inner: int
    state: int
    conv: int
    rank: int
    bias: bool = False
    conv_bias: bool = True
    norms: bool = False
    heads: int = 1


def selective_scan(spec: SelectiveScan) -> Part:
    """In and gate, convolution, selection (dt, B, C), scan, gate, out."""
    h, d, n, each = spec.hidden, spec.inner, spec.state, spec.inner // spec.heads
    copies, share = spec.heads, float(spec.heads)
    matmuls = (
        Matmul("scan_x", h, d, Shard.COLUMN, "mixer_input", saves=True, bias=spec.bias),
        Matmul("scan_gate", h, d, Shard.COLUMN, "mixer_input", saves=True, bias=spec.bias),
        Matmul(
            "selection",
            each,
            spec.rank + 2 * n,
            Shard.ROW,
            "convolved",
            saves=True,
            copies=copies,
            per_token=share,
        ),
        Matmul(
            "step_size",
            spec.rank,
            each,
            Shard.COLUMN,
            "dt",
            saves=True,
            copies=copies,
            per_token=share,
            bias=True,
        ),
        Matmul("scan_out", d, h, Shard.ROW, "gated", bias=spec.bias),
    )
    passes = (
        Pointwise("convolution", d, d, sharded=True),
        Pointwise("scan", 3 * d + 2 * n, d, sharded=True, saves=d),
        Pointwise("gate", 2 * d, d, sharded=True),
    )
    vectors = d * n + d + d * (spec.conv + spec.conv_bias) + (spec.rank + 2 * n) * spec.norms
    # h = a h + b x, y = c h: six operations for each element of the state.
    flops = 6.0 * d * n + 2.0 * spec.conv * d
    return Part(matmuls, passes, vectors, scan=Scan(d, 1, n, flops, d * spec.conv))


@dataclass(frozen=True)
class DualScan:
    """Mamba 2: arXiv 2405.21060, sec. 6 and 7."""

    hidden: int
    heads: int
    head_dim: int
    state: int
    groups: int
    conv: int
    bias: bool = False
    out_bias: bool = False
    conv_bias: bool = True
    norm: bool = True


def dual_scan(spec: DualScan) -> Part:
    """Gate, x, B and C, and step sizes in; convolution, scan in chunks, gated norm, out."""
    h, d, grouped = spec.hidden, spec.heads * spec.head_dim, spec.groups * spec.state
    mixed = d + 2 * grouped
    matmuls = (
        Matmul("scan_gate", h, d, Shard.COLUMN, "mixer_input", saves=True, bias=spec.bias),
        Matmul("scan_x", h, d, Shard.COLUMN, "mixer_input", saves=True, units=spec.heads, bias=spec.bias),
        Matmul(
            "scan_bc",
            h,
            2 * grouped,
            Shard.COLUMN,
            "mixer_input",
            saves=True,
            units=spec.groups,
            bias=spec.bias,
        ),
        Matmul(
            "step_size",
            h,
            spec.heads,
            Shard.COLUMN,
            "mixer_input",
            saves=True,
            units=spec.heads,
            bias=spec.bias,
        ),
        Matmul("scan_out", d, h, Shard.ROW, "gated", bias=spec.out_bias),
    )
    passes = (
        Pointwise("convolution", mixed, mixed, sharded=True, saves=mixed),
        Pointwise("gated_norm", 2 * d, d, sharded=True, saves=d),
    )
    vectors = 3 * spec.heads + d * spec.norm + mixed * (spec.conv + spec.conv_bias)
    # Within a chunk of q tokens, causal: q (groups state + heads head_dim); states in and out: 4 d state.
    flops = CHUNK * (grouped + d) + 4.0 * d * spec.state + 2.0 * spec.conv * mixed
    return Part(
        matmuls, passes, vectors, scan=Scan(spec.heads, spec.head_dim, spec.state, flops, mixed * spec.conv)
    )


@dataclass(frozen=True)
class DeltaRule:
    """Gated delta rule: arXiv 2412.06464. Key heads are shared by groups of value heads."""

    hidden: int
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv: int


def delta_rule(spec: DeltaRule) -> Part:
    h, keys, values = spec.hidden, spec.key_heads * spec.key_dim, spec.value_heads * spec.value_dim
    mixed = 2 * keys + values
    matmuls = (
        Matmul("linear_q", h, keys, Shard.COLUMN, "mixer_input", saves=True, units=spec.key_heads),
        Matmul("linear_k", h, keys, Shard.COLUMN, "mixer_input", saves=True, units=spec.key_heads),
        Matmul("linear_v", h, values, Shard.COLUMN, "mixer_input", saves=True, units=spec.value_heads),
        Matmul("linear_gate", h, values, Shard.COLUMN, "mixer_input", saves=True, units=spec.value_heads),
        Matmul(
            "linear_decay",
            h,
            2 * spec.value_heads,
            Shard.COLUMN,
            "mixer_input",
            saves=True,
            units=spec.value_heads,
        ),
        Matmul("linear_out", values, h, Shard.ROW, "gated"),
    )
    passes = (
        Pointwise("convolution", mixed, mixed, sharded=True, saves=mixed),
        Pointwise("gated_norm", 2 * values, values, sharded=True, saves=values),
    )
    vectors = mixed * spec.conv + 2 * spec.value_heads + spec.value_dim
    # Read the state by the key, correct it, read it by the query: three matrix-vector products a head.
    flops = 6.0 * values * spec.key_dim + 2.0 * spec.conv * mixed
    scan = Scan(spec.value_heads, spec.value_dim, spec.key_dim, flops, mixed * spec.conv)
    return Part(matmuls, passes, vectors, scan=scan)


def lightning_attention(hidden: int, heads: int, head_dim: int) -> Part:
    """Linear attention with a decay a head, a norm and an output gate: arXiv 2501.08313, sec. 2.2."""
    width = heads * head_dim
    matmuls = (
        *(
            Matmul(f"linear_{n}", hidden, width, Shard.COLUMN, "mixer_input", saves=True, units=heads)
            for n in "qkv"
        ),
        Matmul("linear_gate", hidden, width, Shard.COLUMN, "mixer_input", saves=True, units=heads),
        Matmul("linear_out", width, hidden, Shard.ROW, "gated"),
    )
    passes = (
        Pointwise("activation", 3 * width, 3 * width, sharded=True, saves=3 * width),
        Pointwise("gated_norm", 2 * width, width, sharded=True, saves=width),
    )
    flops = 4.0 * width * head_dim + CHUNK * 2.0 * width
    return Part(matmuls, passes, width, scan=Scan(heads, head_dim, head_dim, flops))
