"""How long kernels take: matmuls by a roofline of five constants, flash attention by its rate."""

from typing import NamedTuple

import numpy as np

from solver.physics.hardware import Number, Rank

BACKWARD_PRODUCTS = 2.5  # five products for the forward pass's two (Dao 2023, arXiv 2307.08691, sec. 3)
REFERENCE_WIDTH = 256.0  # of a query-key and a value head of size 128, at which attention's rate is stated
SPAN_TILE = 64.0  # keys that the tile on the diagonal computes and masks, the half of 128
TILE_ROWS = 64.0  # rows that padding to whole tiles adds to each expert's product, on average half a tile


class Shape(NamedTuple):
    """A matmul as one rank runs it: `copies` products of m rows, n columns, k inner. (K,)"""

    m: Number
    n: Number
    k: Number
    copies: Number


class Scores(NamedTuple):
    """Attention as one rank runs it: FLOPs of the forward pass (K,), keys a query meets, head sizes q + v."""

    flops: Number
    keys: float
    width: float


def matmul_s(shape: Shape, rank: Rank) -> Number:
    """Time of the products in one kernel. [s], (K,)

    t = max(2 (m n + idle) (k + k0) / (efficiency peak), bytes / (bandwidth_efficiency bandwidth)) + launch

    k0: what a tile costs beyond its products; idle: outputs that the last, part-filled wave leaves out.

    Source: Williams, Waterman, Patterson 2009, Commun. ACM 52(4), 65-76; constants: docs/kernels.md.
    """
    return _roofline_s(shape, rank, 1.0) + rank.gemm.launch


def start_s(inner: Number, rank: Rank) -> Number:
    """What a product of `inner` costs beside its outputs: the part-filled wave and the launch. [s], (K,)"""
    gemm = rank.gemm
    wave = 2 * gemm.idle_outputs * (inner + gemm.inner_overhead) / (gemm.efficiency * rank.peak)
    return wave + gemm.launch


def grouped_matmul_s(shape: Shape, rank: Rank) -> Number:
    """Time of `copies` products in one kernel, each padded to whole tiles of rows. [s], (K,)"""
    padded = shape._replace(m=shape.m + TILE_ROWS)
    return _roofline_s(padded, rank, rank.grouped_gemm_efficiency) + rank.gemm.launch


def _roofline_s(shape: Shape, rank: Rank, efficiency: Number) -> Number:
    m, n, k, copies = shape
    gemm = rank.gemm
    operand = 1.0 if rank.narrow else rank.width
    moved = copies * (operand * (m * k + k * n) + rank.width * m * n)
    outputs = copies * m * n + gemm.idle_outputs
    return np.maximum(
        2 * outputs * (k + gemm.inner_overhead) / (gemm.efficiency * efficiency * rank.peak),
        moved / (gemm.bandwidth_efficiency * rank.memory_bytes_per_s),
    )


def attention_s(scores: Scores, rank: Rank) -> tuple[Number, Number]:
    """Flash attention, forward and backward. [s], (K,)

    t = (rows + idle) (keys + tile) 2 w0 g(w) / g(w0) / (rate peak) + launch,  g(w) = ((2 w)^4 + e^4)^(1/4)

    rows = flops / (2 w keys): queries times heads; w: width, w0: that at which the rate is stated; e: FLOPs'
    worth of a score's exponential, which hides behind the products but where both take as long. The backward
    pass computes it once more beside 2.5 times the products.

    Source: Shah et al. 2024, arXiv 2407.08608, sec. 3.1 (overlap); constants: docs/kernels.md.
    """
    flops, keys, width = scores
    computed = (flops / (2 * width * keys) + rank.attention_idle_rows) * (keys + SPAN_TILE)
    forward = computed * _score_flops(width, 1.0, rank) / (rank.attention_forward * rank.peak_16)
    backward = (
        computed * _score_flops(width, BACKWARD_PRODUCTS, rank) / (rank.attention_backward * rank.peak_16)
    )
    return forward + rank.gemm_16.launch, backward + 2 * rank.gemm_16.launch


def _score_flops(width: float, products: float, rank: Rank) -> Number:
    """FLOPs of a score's products, for which its rate is stated, with its exponential's worth. [FLOP]"""
    own, reference = 2 * products * width, 2 * products * REFERENCE_WIDTH
    softmax = _fourth(rank.attention_softmax)
    longer = (_fourth(own) + softmax) / (_fourth(reference) + softmax)
    return np.sqrt(np.sqrt(longer)) * reference


def _fourth(value: Number) -> Number:
    """Its fourth power, the same to the last bit for a number and for an array."""
    square = value * value
    return square * square
