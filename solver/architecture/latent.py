"""Multi-head latent attention and its indexer."""

from dataclasses import dataclass

from solver.architecture.blocks import Attention, Matmul, Pointwise, Shard
from solver.architecture.parts import Part, merge


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention, queries and keys through low-rank waists; DeepSeek-V2, arXiv 2405.04434.

    q_rank 0: queries straight from the hidden state. index_*: the sparse-attention indexer of DeepSeek-V3.2.
    """

    hidden: int
    heads: int
    q_rank: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    bias: bool = False
    index_heads: int = 0
    index_dim: int = 0
    index_top: int = 0


def latent_attention(spec: Latent) -> Part:
    qk_dim = spec.nope_dim + spec.rope_dim
    compressed, expanded = spec.kv_rank + spec.rope_dim, spec.heads * (spec.nope_dim + spec.v_dim)
    matmuls = (
        *_latent_queries(spec, spec.heads * qk_dim),
        Matmul(
            "kv_down",
            spec.hidden,
            compressed,
            Shard.REPLICATED,
            "attention_input",
            saves=True,
            bias=spec.bias,
        ),
        Matmul("kv_up", spec.kv_rank, expanded, Shard.COLUMN, "kv_latent", saves=True, units=spec.heads),
        Matmul(
            "o", spec.heads * spec.v_dim, spec.hidden, Shard.ROW, "context", units=spec.heads, bias=spec.bias
        ),
    )
    rotated = spec.heads * qk_dim + compressed
    passes = (
        Pointwise("latent_norm", spec.q_rank + spec.kv_rank, spec.q_rank + spec.kv_rank),
        # why: the shared rotary key is copied to every head, so each keeps its own of rope_dim.
        Pointwise("rope", rotated, 2 * spec.heads * qk_dim, sharded=True, saves=spec.heads * spec.rope_dim),
    )
    core = Attention(
        spec.heads, spec.heads, qk_dim, spec.v_dim, "sparse" if spec.index_top else "full", spec.index_top,
        spec.index_heads, spec.index_dim,
    )  # fmt: skip
    latent = Part(matmuls, passes, spec.q_rank + spec.kv_rank, attention=core)
    return merge(latent, _indexer(spec)) if spec.index_heads else latent


def _latent_queries(spec: Latent, outer: int) -> tuple[Matmul, ...]:
    if not spec.q_rank:
        return (
            Matmul("q", spec.hidden, outer, Shard.COLUMN, "attention_input", saves=True, units=spec.heads),
        )
    return (
        Matmul(
            "q_down",
            spec.hidden,
            spec.q_rank,
            Shard.REPLICATED,
            "attention_input",
            saves=True,
            bias=spec.bias,
        ),
        Matmul("q_up", spec.q_rank, outer, Shard.COLUMN, "q_latent", saves=True, units=spec.heads),
    )


def _indexer(spec: Latent) -> Part:
    """The lightning indexer: a few small heads score every key; DeepSeek-V3.2-Exp report, sec. 1."""
    width = spec.index_heads * spec.index_dim
    matmuls = (
        Matmul("index_q", spec.q_rank or spec.hidden, width, Shard.REPLICATED, "q_latent", saves=True),
        Matmul("index_k", spec.hidden, spec.index_dim, Shard.REPLICATED, "attention_input", saves=True),
        Matmul(
            "index_weights", spec.hidden, spec.index_heads, Shard.REPLICATED, "attention_input", saves=True
        ),
    )
    moved = width + spec.index_dim
    return Part(matmuls, (Pointwise("index_rope", moved, moved, saves=spec.index_dim),), 2 * spec.index_dim)
