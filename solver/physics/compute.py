"""How long the ranks compute: one pass of one layer over one micro-batch, from the matmuls of its blocks.

Arrays are (K,): one entry for each way to cut a layer (tp, cp, ep, etp, micro_batch). With the constants of
C devices side by side (hardware.side_by_side) they are (C, K).
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from solver.architecture.blocks import Architecture, Attention, Block, Matmul, Pointwise, Shard
from solver.architecture.flops import mean_span
from solver.layout import Ints, Layouts
from solver.physics import kernels
from solver.physics.hardware import Floats, Number, Rank
from solver.physics.kernels import Scores, Shape

SCAN_INTENSITY = 6.8  # FLOP of a scan in chunks while memory moves a byte: many passes over chunks and states
# Reads and writes of the score matrix without flash attention. Forward: products 2, masked softmax 1.5,
# dropout 2.5 with its mask. Backward: products 4, dropout 2.5, softmax 2. A causal softmax reads one half.
UNFUSED_FORWARD = 6.0
UNFUSED_BACKWARD = 8.5


class Pass(NamedTuple):
    """Time of one pass by kind of work. [s], each (K,)"""

    matmul: Number
    attention: Number
    elementwise: Number

    @property
    def total(self) -> Number:
        """All kinds together. [s]"""
        return self.matmul + self.attention + self.elementwise


class Layer(NamedTuple):
    """A layer's forward and backward pass, the mean over the layers of a model. [s], each (K,)"""

    forward: Pass
    backward: Pass


class Workload(NamedTuple):
    """What is computed, beside the architecture: the sequence and the kernels' generation.

    fused             share of the element-wise traffic that fusion leaves
    flash             attention without score matrices in memory
    imbalance         tokens of the busiest expert rank over the mean
    cast_bytes        moved to cast an element to 8 bits
    document          tokens that see each other: of a mean document where others are masked, or the sequence
    joined            matmuls of one input run as one (q, k and v; gate and up)
    """

    sequence: int
    fused: float
    flash: bool
    imbalance: float
    cast_bytes: float
    document: int
    joined: bool


def tokens(cut: Layouts, sequence: int) -> Floats:
    """Tokens of a micro-batch on a rank, before any sequence parallelism. (K,)"""
    return cut.micro_batch * sequence / cut.cp


def local_shape(matmul: Matmul, cut: Layouts, work: Workload) -> Shape:
    """The product that a rank computes in the forward pass. (K,)

    Tensor parallelism cuts columns or rows (never finer than `units`: KV heads are replicated beyond them);
    under sequence parallelism a replicated matrix meets only the rank's part of the tokens. Routed experts:
    the rank holds copies/ep of them, cut by etp, and they share the tokens that are routed to it evenly.
    """
    rows = tokens(cut, work.sequence)
    if matmul.routed:
        held = matmul.copies / cut.ep
        routed = rows * matmul.per_token * cut.etp / cut.tp * work.imbalance
        split: Ints = cut.etp
        rows_each = routed / held
    else:
        held, rows_each = np.ones(1), rows
        split = np.minimum(cut.tp, matmul.units) if matmul.units else cut.tp
    if matmul.shard is Shard.COLUMN:
        return Shape(rows_each, matmul.outer / split, matmul.inner, held)
    if matmul.shard is Shard.ROW:
        return Shape(rows_each, matmul.outer, matmul.inner / split, held)
    own = rows / np.where(cut.sequence_parallel == 1, cut.tp, 1)
    return Shape(own, matmul.outer, matmul.inner, held)


def product_s(shape: Shape, matmul: Matmul, rank: Rank) -> Number:
    """Time of a product in the precision of the rank; a single expert is a plain product. [s], (K,)"""
    plain = kernels.matmul_s(shape, rank)
    if not matmul.routed:
        return plain
    return np.where(shape.copies > 1, kernels.grouped_matmul_s(shape, rank), plain)


def matmul_passes_s(block: Block, cut: Layouts, rank: Rank, work: Workload) -> tuple[Number, Number]:
    """All matmuls of a block, forward, and backward (input and weight gradient). [s], (K,)

    forward m x n over k; input gradient m x k over n; weight gradient k x n over m.
    """
    forward: Number = 0.0
    backward: Number = 0.0
    for group in joined(block) if work.joined else ((matmul,) for matmul in block.matmuls):
        shapes = [local_shape(matmul, cut, work) for matmul in group]
        (m, _, k, copies), matmul = shapes[0], group[0]
        n = sum(shape.n for shape in shapes)
        forward = forward + product_s(Shape(m, n, k, copies), matmul, rank)
        backward = backward + product_s(Shape(m, k, n, copies), matmul, rank)
        if matmul.trainable:
            backward = backward + product_s(Shape(k, n, m, copies), matmul, rank)
    return forward, backward


@lru_cache(maxsize=256)
def joined(block: Block) -> tuple[tuple[Matmul, ...], ...]:
    """Matmuls that run as one, their columns side by side: those of one input that are cut alike."""
    groups: dict[tuple[object, ...], list[Matmul]] = {}
    for matmul in block.matmuls:
        alike = (matmul.reads, matmul.shard, matmul.routed, matmul.copies, matmul.trainable)
        groups.setdefault(alike, []).append(matmul)
    return tuple(tuple(group) for group in groups.values())


def pieces_s(block: Block, cut: Layouts, rank: Rank) -> Number:
    """What it costs to cut the products of a block into tp pieces, one a message behind them. [s], (K,)

    Forward, and the input gradients of row-cut matrices; those of column-cut ones hide theirs whole, behind
    the weight gradients. Each piece starts on its own and leaves its last wave part-filled.

    Source: Wang et al. 2022, ASPLOS '23, doi 10.1145/3567955.3567959; Transformer Engine, user buffers (bulk
    overlap of the gradients of column-cut matrices).
    """
    total: Number = 0.0
    for group in joined(block):
        if group[0].shard is not Shard.REPLICATED and not group[0].routed:
            rows, columns = group[0].inner, sum(matmul.outer for matmul in group)
            total = total + kernels.start_s(rows if group[0].shard is Shard.COLUMN else rows / cut.tp, rank)
            if group[0].shard is Shard.ROW:
                total = total + kernels.start_s(columns, rank)
    return np.asarray((cut.tp - 1) * total, np.float64)


def attention_flops(attention: Attention, cut: Layouts, work: Workload) -> Floats:
    """Scores and context of one forward pass on a rank, masked keys left out. [FLOP], (K,)"""
    keys = mean_span(attention, work.document)
    heads = attention.heads / cut.tp
    scored = 2.0 * heads * (attention.qk_dim + attention.v_dim) * keys
    indexed = attention.index_heads * attention.index_dim * work.document / cut.tp  # 2 FLOP, causal half
    return tokens(cut, work.sequence) * (scored + indexed)


def attention_passes_s(block: Block, cut: Layouts, rank: Rank, work: Workload) -> tuple[Number, Number]:
    """Attention and scans of a block, forward and backward. [s], (K,)

    The backward pass computes 2.5 times the FLOPs of the forward one (five products for two). Scans wait for
    memory, on all devices alike: what a Mamba 2 of 1.3B takes beyond its products and element-wise passes is
    7.6 FLOP a byte on A100, 7.1 on H200, 5.8 on GB200.

    Source: Dao 2023, arXiv 2307.08691, sec. 3; scans: github.com/state-spaces/mamba/issues/904.
    """
    forward: Number = 0.0
    backward: Number = 0.0
    for attention in (block.attention, block.cross_attention):
        if attention is not None:
            flops = attention_flops(attention, cut, work)
            scores = Scores(flops, mean_span(attention, work.document), attention.qk_dim + attention.v_dim)
            ahead, back = kernels.attention_s(scores, rank)
            forward, backward = forward + ahead, backward + back
            if not work.flash:
                matrix = rank.width * attention.heads / cut.tp * work.sequence * tokens(cut, work.sequence)
                once = matrix / rank.pointwise_bytes_per_s
                forward, backward = forward + UNFUSED_FORWARD * once, backward + UNFUSED_BACKWARD * once
    if block.scan is not None:
        flops = tokens(cut, work.sequence) * block.scan.flops / cut.tp
        scan_s = flops / (SCAN_INTENSITY * rank.memory_bytes_per_s)
        forward, backward = forward + scan_s, backward + 2.5 * scan_s
    return forward, backward


def pointwise_elements(item: Pointwise, cut: Layouts) -> Floats:
    """Elements per token of the micro-batch that a rank reads and writes, forward. (K,)"""
    moved = (item.reads + item.writes) * item.per_token
    if item.routed:
        return moved / cut.tp
    if item.sharded:
        return moved / cut.tp
    return moved / np.where(cut.sequence_parallel == 1, cut.tp, 1)


def cast_elements(block: Block, cut: Layouts) -> Floats:
    """Elements per token that are cast to 8 bits before the forward matmuls of a block. (K,)"""
    inputs = {m.reads: m for m in block.matmuls}.values()
    whole = sum(m.inner * m.per_token for m in inputs if m.shard is not Shard.ROW and not m.routed)
    cut_up = sum(m.inner * m.per_token for m in inputs if m.shard is Shard.ROW or m.routed)
    return whole / np.where(cut.sequence_parallel == 1, cut.tp, 1) + cut_up / cut.tp


def pointwise_passes_s(block: Block, cut: Layouts, rank: Rank, work: Workload) -> tuple[Number, Number]:
    """Element-wise passes of a block, forward and backward. [s], (K,)

    The backward pass reads the gradient and what was saved and writes a gradient: 1.5 times the forward
    traffic. Casting to 8 bits is traffic too, of the inputs ahead and of the gradients back.
    """
    elements = sum((pointwise_elements(item, cut) for item in block.pointwise), np.zeros(1))
    rows = tokens(cut, work.sequence)
    plain = rows * elements * rank.width * work.fused / rank.pointwise_bytes_per_s
    if not rank.narrow:
        return plain, 1.5 * plain
    cast = rows * cast_elements(block, cut) * work.cast_bytes / rank.pointwise_bytes_per_s
    return plain + cast, 1.5 * plain + cast


def block_passes(block: Block, cut: Layouts, rank: Rank, work: Workload) -> Layer:
    """One block, forward and backward, over one micro-batch. [s], (K,)"""
    matmul = matmul_passes_s(block, cut, rank, work)
    attention = attention_passes_s(block, cut, rank, work)
    elementwise = pointwise_passes_s(block, cut, rank, work)
    return Layer(*(Pass(*kinds) for kinds in zip(matmul, attention, elementwise, strict=True)))


def mean_layer(architecture: Architecture, cut: Layouts, rank: Rank, work: Workload) -> Layer:
    """The mean layer of a model over one micro-batch. [s], (K,)"""
    shares: dict[Block, int] = {}
    for block, count in architecture.blocks:
        shares[block] = shares.get(block, 0) + count
    layers = [(block_passes(block, cut, rank, work), n / architecture.layers) for block, n in shares.items()]
    return Layer(
        *(
            Pass(
                *(
                    sum((getattr(layer, way)[kind] * n for layer, n in layers), np.zeros(1))
                    for kind in range(3)
                )
            )
            for way in Layer._fields
        )
    )


def ends_s(architecture: Architecture, cut: Layouts, rank: Rank, work: Workload) -> tuple[Number, Number]:
    """Embedding on the first stage; logits and loss on the last: forward and backward of a micro-batch. [s],
    (K,)

    The table look-up and its gradient move the hidden state; the loss reads and writes float32 logits twice.
    """
    rows = tokens(cut, work.sequence)
    embedding = 4 * rows * architecture.hidden * rank.width / rank.pointwise_bytes_per_s
    head = architecture.head
    if head is None:
        return embedding, np.zeros(1)
    wide = replace(rank, peak=rank.peak_16, gemm=rank.gemm_16, narrow=False)
    m, n, k = rows, head.outer / cut.tp, head.inner
    one = np.ones(1)
    products = [Shape(m, n, k, one), Shape(m, k, n, one), Shape(k, n, m, one)]
    logits = sum((product_s(shape, head, wide) for shape in products), np.zeros(1))
    loss = 4 * 4.0 * rows * n / rank.pointwise_bytes_per_s
    return embedding, logits + loss
