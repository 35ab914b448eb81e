"""How long kernels take: matmuls by a roofline of four constants, flash attention by its rate."""

from typing import NamedTuple

import numpy as np

from solver.physics.hardware import Number, Rank

BACKWARD_FLOPS = 2.5  # flash attention's backward pass over its forward pass (Dao 2023, arXiv 2307.08691)
SPAN_HALF = 128.0  # keys of a span at which attention runs at half its rate: one tile on the diagonal
TILE_ROWS = 64.0  # rows that padding to whole tiles adds to each expert's product, on average half a tile


class Shape(NamedTuple):
    """A matmul as one rank runs it: `copies` products of m rows, n columns, k inner. (K,)"""

    m: Number
    n: Number
    k: Number
    copies: Number


def matmul_s(shape: Shape, rank: Rank) -> Number:
    """Time of one product. [s], (K,)

    t = max(2 m n (k + k0) / (efficiency peak), bytes / (bandwidth_efficiency bandwidth)) + launch

    Source: Williams, Waterman, Patterson 2009, Commun. ACM 52(4), 65-76; constants: docs/kernels.md.
    """
    return _roofline_s(shape, rank, 1.0) + rank.gemm.launch


def grouped_matmul_s(shape: Shape, rank: Rank) -> Number:
    """Time of `copies` products in one kernel, each padded to whole tiles of rows. [s], (K,)"""
    padded = Shape(shape.m + TILE_ROWS, shape.n, shape.k, shape.copies)
    return shape.copies * _roofline_s(padded, rank, rank.grouped_gemm_efficiency) + rank.gemm.launch


def _roofline_s(shape: Shape, rank: Rank, efficiency: Number) -> Number:
    m, n, k, _ = shape
    gemm = rank.gemm
    operand = 1.0 if rank.narrow else rank.width
    moved = operand * (m * k + k * n) + rank.width * m * n
    return np.maximum(
        2 * m * n * (k + gemm.inner_overhead) / (gemm.efficiency * efficiency * rank.peak),
        moved / (gemm.bandwidth_efficiency * rank.memory_bytes_per_s),
    )


def attention_s(flops: Number, keys: float, rank: Rank) -> tuple[Number, Number]:
    """Flash attention, forward and backward, of a forward pass of `flops` with `keys` a query. [s], (K,)

    Source: rates in the devices' records.
    """
    spread = 1 + SPAN_HALF / keys
    forward = flops * spread / (rank.attention_forward * rank.peak_16)
    backward = BACKWARD_FLOPS * flops * spread / (rank.attention_backward * rank.peak_16)
    return forward + rank.gemm_16.launch, backward + 2 * rank.gemm_16.launch
