"""What a model is made of: blocks, each a sum of matmuls, an attention or scan, and element-wise passes.

Parameters, FLOPs, activation memory and step time are all read from these records: no second formula.
All sizes are elements of the unsharded model; all FLOPs and element counts are per token unless said.
"""

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Literal


class Shard(Enum):
    """How tensor parallelism splits a weight matrix of shape (inner, outer)."""

    COLUMN = "column"  # the output dimension
    ROW = "row"  # the input dimension; the output is summed over the tensor-parallel ranks
    REPLICATED = "replicated"  # every rank holds the whole matrix and computes the whole product


@dataclass(frozen=True)
class Matmul:
    """A weight matrix used once per token, y = x W: inner rows, outer columns.

    copies     matrices of this shape in the block (the experts of an MoE; 1 otherwise)
    per_token  how many of the copies one token goes through (experts per token)
    units      indivisible units along the split dimension (KV heads: tp beyond them replicates)
    reads      name of the activation it multiplies; matmuls that read the same one save it once
    saves      its output is kept for the backward pass of what follows (q, k, v; gate and up)
    bias       a bias of `outer` elements a copy
    borrowed   the weights of an earlier layer once more: computed, but counted there
    """

    name: str
    inner: int
    outer: int
    shard: Shard
    reads: str
    saves: bool = False
    copies: int = 1
    per_token: float = 1.0
    units: int = 0
    bias: bool = False
    routed: bool = False  # one of the routed experts: sharded by expert parallelism
    trainable: bool = True
    borrowed: bool = False

    @property
    def weights(self) -> int:
        return 0 if self.borrowed else self.inner * self.outer * self.copies

    @property
    def parameters(self) -> int:
        return 0 if self.borrowed else (self.inner + self.bias) * self.outer * self.copies

    @property
    def active_parameters(self) -> int:
        return 0 if self.borrowed else round((self.inner + self.bias) * self.outer * self.per_token)

    @property
    def flops(self) -> float:
        """Forward multiply-adds times two, per token."""
        return 2.0 * self.inner * self.outer * self.per_token


@dataclass(frozen=True)
class Attention:
    """Scores and context of softmax attention. head dimensions may differ (MLA: qk 192, v 128).

    span    the most keys a query can see: 0 = the whole sequence, else the window or chunk
    kind    full and window are causal; chunk: causal inside chunks of `span`; bidirectional: every key;
            sparse: the `span` best keys chosen by an indexer (index_heads x index_dim, every key scored)
    """

    heads: int
    kv_heads: int
    qk_dim: int
    v_dim: int
    kind: Literal["full", "window", "chunk", "bidirectional", "sparse", "cross"] = "full"
    span: int = 0
    index_heads: int = 0
    index_dim: int = 0


@dataclass(frozen=True)
class Scan:
    """A state-space or linear-attention recurrence: a state of heads x head_dim x state_dim, in chunks.

    flops_per_token of the scan itself (projections are matmuls of the block).
    """

    heads: int
    head_dim: int
    state_dim: int
    flops: float
    conv_elements: int = 0


@dataclass(frozen=True)
class Pointwise:
    """An element-wise pass: elements read and written per token in the forward pass, when it is not fused.

    sharded   split over tensor parallel ranks (activation functions, rope); norms and residuals are not,
              and are split over the sequence only under sequence parallelism
    per_token as in Matmul: expert activations are met experts_per_token times
    saves     elements per token kept for the backward pass that no matmul input or output already keeps
    """

    name: str
    reads: int
    writes: int
    sharded: bool = False
    per_token: float = 1.0
    saves: int = 0
    routed: bool = False


@dataclass(frozen=True)
class Block:
    """One layer kind: mixer (attention or scan) and feed-forward.

    vectors: parameters that are no matrices (norms, A, D, conv kernels), replicated over tensor parallel.
    """

    name: str
    matmuls: tuple[Matmul, ...]
    pointwise: tuple[Pointwise, ...]
    vectors: int
    attention: Attention | None = None
    cross_attention: Attention | None = None
    scan: Scan | None = None
    hidden: int = 0  # width of the residual stream

    @property
    def parameters(self) -> int:
        return self.vectors + sum(m.parameters for m in self.matmuls)

    @property
    def active_parameters(self) -> int:
        return self.vectors + sum(m.active_parameters for m in self.matmuls)


@dataclass(frozen=True)
class Tower:
    """An encoder beside the decoder: its layers, and what stands around them.

    tokens  of one image (or clip), as the tower sees them
    """

    name: str
    hidden: int
    blocks: tuple[tuple[Block, int], ...]
    extras: tuple[Matmul, ...]
    vectors: int
    tokens: int = 0

    @property
    def parameters(self) -> int:
        outside = self.vectors + sum(m.parameters for m in self.extras)
        return outside + sum(block.parameters * count for block, count in self.blocks)


@dataclass(frozen=True)
class Architecture:
    """A model to train.

    blocks        (block, how many), in the order of the layers; alike neighbours may be merged
    embeddings    elements of the input tables (tokens, learned positions, token types)
    positions     of which learned positions and token types
    extras        matmuls outside the blocks (patch embedding, pooler, projections between towers)
    head_passes   how often a token meets the head (once more for each multi-token-prediction layer)
    towers        encoders beside the blocks (vision, audio), counted but not met by every token
    images        that every sequence has (1 where texts and images are trained in pairs)
    head          the output projection; tied: its weights are the input table and count once
    final_vectors norms and biases outside the blocks (final norm, embedding norm, head bias)
    heads, kv_heads, experts: what tensor and expert parallelism must divide (gcd over the blocks; 0 = none)
    """

    name: str
    model_type: str
    hidden: int
    vocab: int
    blocks: tuple[tuple[Block, int], ...]
    embeddings: int
    head: Matmul | None
    tied_embeddings: bool
    final_vectors: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    experts: int = 0
    experts_per_token: int = 0
    max_sequence: int = 0
    notes: tuple[str, ...] = field(default=())
    positions: int = 0
    extras: tuple[Matmul, ...] = ()
    head_passes: int = 1
    towers: tuple[Tower, ...] = ()
    images: int = 0

    def __hash__(self) -> int:
        """Of a few numbers: architectures are keys of much that is computed once."""
        return hash((self.total_parameters, self.hidden, self.vocab, len(self.blocks)))

    @property
    def layers(self) -> int:
        return sum(count for _, count in self.blocks)

    @property
    def head_parameters(self) -> int:
        return 0 if self.tied_embeddings or self.head is None else self.head.parameters

    @property
    def token_embeddings(self) -> int:
        """The input table of tokens alone."""
        return self.embeddings - self.positions

    @property
    def embedding_parameters(self) -> int:
        """The input table of tokens and the untied output table."""
        return self.token_embeddings + self.head_parameters

    @property
    def outer_parameters(self) -> int:
        """All that is no layer: tables, head, final vectors, extras, towers."""
        outside = (
            self.final_vectors
            + sum(m.parameters for m in self.extras)
            + sum(t.parameters for t in self.towers)
        )
        return self.embeddings + self.head_parameters + outside

    @cached_property
    def total_parameters(self) -> int:
        return self.outer_parameters + sum(b.parameters * n for b, n in self.blocks)

    @cached_property
    def trained(self) -> float:
        """Share of the layers' matrices that are trained; the others have no gradients and no optimizer."""
        sizes = [(m.parameters * n, m.trainable) for block, n in self.blocks for m in block.matmuls]
        return sum(size for size, trained in sizes if trained) / max(sum(size for size, _ in sizes), 1)

    @property
    def active_parameters(self) -> int:
        """Parameters that one token meets, the input table counted whole."""
        return self.outer_parameters + sum(b.active_parameters * n for b, n in self.blocks)
