"""Kernel and collective times: laws of the formulas, and a few rows of the tables behind their constants."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from solver.catalog import load
from solver.physics import communication as com
from solver.physics.hardware import Network, Rank, side_by_side
from solver.physics.kernels import Scores, Shape, attention_s, grouped_matmul_s, matmul_s

DEVICES = ("a100-80-sxm", "h100-sxm", "b200-sxm", "gb300", "l40s", "rtxpro6000", "tpu-v5p", "mi300x")
sizes = st.integers(1, 70_000).map(float)
shapes = st.builds(Shape, sizes, sizes, sizes, st.integers(1, 256).map(float))
ranks = st.sampled_from(
    [(d, p) for d in DEVICES for p in ("bf16", "fp8") if p in load().devices[d].peak]
).map(lambda case: cool(*case))
heads = st.sampled_from([128.0, 160.0, 256.0, 320.0, 512.0])


def cool(device: str, precision: str = "bf16") -> Rank:
    """A rank as kernel tables see it: at the clock of the data sheet."""
    own = load().devices[device]
    rank = Rank.of(own, precision)
    return replace(rank, peak=own.peak[precision] / own.ranks, peak_16=own.peak["bf16"] / own.ranks)


# aiconfigurator 0.12.0, bf16 [ms]; tolerance: three times the median error held out (docs/kernels.md).
@pytest.mark.parametrize(
    ("device", "m", "n", "k", "ms", "off"),
    [
        ("a100-80-sxm", 4096, 2048, 8192, 0.530233, 0.17),
        ("a100-80-sxm", 4096, 2560, 10240, 0.740218, 0.17),
        ("h100-sxm", 4096, 2560, 4096, 0.108852, 0.09),
        ("h100-sxm", 4096, 2560, 12288, 0.312464, 0.09),
        ("h200-sxm", 4096, 2048, 8192, 0.16969, 0.11),
        ("h200-sxm", 4096, 2560, 6144, 0.155407, 0.11),
        ("b200-sxm", 4096, 2048, 7168, 0.0795618, 0.12),
        ("b300-sxm", 4096, 3072, 4096, 0.0610009, 0.13),
        ("gb200", 4096, 3072, 6144, 0.0919147, 0.12),
        ("gb300", 4096, 2560, 4096, 0.0472142, 0.12),
        ("l40s", 4096, 2048, 10240, 0.781511, 0.21),
        ("rtxpro6000", 4096, 2560, 12288, 0.67621, 0.16),
    ],
)
def test_a_matmul_takes_what_was_measured(
    device: str, m: float, n: float, k: float, ms: float, off: float
) -> None:
    assert 1e3 * matmul_s(Shape(m, n, k, 1.0), cool(device)) == pytest.approx(ms, rel=off)


# The same source, causal; its kernel also splits and stores queries, keys and values: an element-wise pass.
@pytest.mark.parametrize(
    ("device", "batch", "sequence", "heads", "kv_heads", "head", "ms", "off"),
    [
        ("a100-80-sxm", 1, 8192, 24, 4, 128, 2.1894, 0.06),
        ("a100-80-sxm", 1, 16384, 8, 1, 128, 2.87811, 0.06),
        ("h100-sxm", 2, 8192, 32, 2, 64, 1.04098, 0.17),
        ("h100-sxm", 1, 16384, 24, 2, 64, 1.58293, 0.17),
        ("h200-sxm", 2, 16384, 24, 1, 128, 4.19967, 0.1),
        ("b200-sxm", 1, 8192, 16, 1, 128, 0.258336, 0.17),
        ("b300-sxm", 1, 16384, 24, 4, 128, 0.922091, 0.31),
        ("gb200", 1, 16384, 24, 2, 64, 0.96448, 0.17),
        ("gb300", 1, 16384, 32, 1, 128, 0.975483, 0.24),
        ("l40s", 1, 8192, 32, 32, 64, 1.77664, 0.23),
        ("rtxpro6000", 1, 16384, 32, 1, 128, 5.97031, 0.18),
    ],
)
def test_attention_takes_what_was_measured(  # noqa: PLR0913, PLR0917 (a row of the table)
    device: str,
    batch: float,
    sequence: float,
    heads: float,
    kv_heads: float,
    head: float,
    ms: float,
    off: float,
) -> None:
    rank, keys = cool(device), (sequence + 1) / 2
    scores = Scores(4 * batch * sequence * heads * keys * head, keys, 2 * head)
    passed = 2 * batch * sequence * head * (2 * heads + 4 * kv_heads) / rank.pointwise_bytes_per_s
    assert 1e3 * (attention_s(scores, rank)[0] + passed) == pytest.approx(ms, rel=off)


# stas00/ml-engineering, ring all-reduce of 16 GiB on 8 devices [GB/s of bus bandwidth]: no row of the fits.
@pytest.mark.parametrize(
    ("machine", "bus_gb_s"), [("a100-80-sxm-8", 234.9), ("h200-sxm-8", 367.6), ("b200-sxm-8", 682.2)]
)
def test_a_large_ring_reaches_what_was_measured_elsewhere(machine: str, bus_gb_s: float) -> None:
    catalog = load()
    box = catalog.machines[machine]
    network = Network.of(box, 1, catalog.fabrics[box.scale_up], None)
    group = com.span(np.array([8]), np.array([1]), network)
    message = 16 * 2.0**30
    assert 2 * 7 / 8 * message / com.all_reduce_s(message, group, network) / 1e9 == pytest.approx(
        bus_gb_s, rel=0.1
    )


@given(shapes, shapes, ranks)
def test_a_larger_product_never_takes_less_time(one: Shape, other: Shape, rank: Rank) -> None:
    larger = Shape(*(max(pair) for pair in zip(one, other, strict=True)))
    assert matmul_s(larger, rank) >= matmul_s(one, rank)
    assert grouped_matmul_s(larger, rank) >= grouped_matmul_s(one, rank)


@given(shapes, ranks, st.floats(1, 8))
def test_faster_compute_or_memory_never_slows_a_product(shape: Shape, rank: Rank, factor: float) -> None:
    for faster in (
        replace(rank, peak=rank.peak * factor),
        replace(rank, memory_bytes_per_s=rank.memory_bytes_per_s * factor),
    ):
        assert matmul_s(shape, faster) <= matmul_s(shape, rank)
        assert grouped_matmul_s(shape, faster) <= grouped_matmul_s(shape, rank)


@given(shapes, ranks, st.sampled_from(["m", "n", "k"]))
def test_halves_of_a_product_take_no_less_than_the_whole_together(
    shape: Shape, rank: Rank, axis: str
) -> None:
    half = shape._replace(**{axis: getattr(shape, axis) / 2})
    assert matmul_s(shape, rank) <= 2 * matmul_s(half, rank)
    assert matmul_s(half, rank) <= matmul_s(shape, rank)


@given(shapes, ranks)
def test_no_product_beats_the_peak(shape: Shape, rank: Rank) -> None:
    flops = 2 * shape.m * shape.n * shape.k * shape.copies
    assert min(matmul_s(shape, rank), grouped_matmul_s(shape, rank)) >= flops / rank.peak


@given(st.floats(1, 1e6), st.floats(1, 65_536), heads, ranks)
def test_backward_attention_takes_longer_and_both_keep_under_the_peak(
    rows: float, keys: float, width: float, rank: Rank
) -> None:
    flops = 2 * rows * keys * width
    forward, backward = attention_s(Scores(flops, keys, width), rank)
    assert flops / rank.peak_16 <= forward <= backward


@given(st.floats(1, 1e6), st.floats(1, 65_536), heads, ranks, st.floats(1, 8))
def test_more_queries_keys_or_head_never_take_less_time(
    rows: float, keys: float, width: float, rank: Rank, factor: float
) -> None:
    once = attention_s(Scores(2 * rows * keys * width, keys, width), rank)[0]
    for r, k, w in ((factor, 1, 1), (1, factor, 1), (1, 1, factor)):
        scores = Scores(2 * rows * r * keys * k * width * w, keys * k, width * w)
        assert attention_s(scores, rank)[0] >= once * (1 - 1e-12)


@given(st.floats(1, 1e11), st.floats(1, 1e11), st.integers(1, 8), st.floats(1, 8))
def test_a_collective_of_more_bytes_on_a_slower_link_never_takes_less_time(
    one: float, other: float, members: int, factor: float
) -> None:
    catalog = load()
    box = catalog.machines["h100-sxm-8"]
    network = Network.of(box, 1, catalog.fabrics[box.scale_up], None)
    slower = replace(network, link_bytes_per_s=network.link_bytes_per_s / factor)
    group = com.span(np.array([members]), np.array([1]), network)
    small, large = sorted((one, other))
    assert com.gather_s(small, group, network) <= com.gather_s(large, group, network)
    assert com.gather_s(small, group, network) <= com.gather_s(small, group, slower)
    together = com.gather_s(one, group, network) + com.gather_s(other, group, network)
    assert com.gather_s(one + other, group, network) <= together * (1 + 1e-12)


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_devices_side_by_side_take_what_they_take_alone(precision: str) -> None:
    alone = [cool(name, precision) for name in ("h100-sxm", "b200-sxm", "l40s")]
    shape = Shape(np.array([512.0, 8192.0]), np.array([4096.0, 1024.0]), 2048.0, np.array([1.0, 8.0]))
    scores = Scores(np.array([1e9, 1e12]), 4096.0, 256.0)
    together = side_by_side(alone)
    for row, rank in enumerate(alone):
        assert matmul_s(shape, together)[row] == pytest.approx(matmul_s(shape, rank))  # type: ignore[index]
        assert grouped_matmul_s(shape, together)[row] == pytest.approx(grouped_matmul_s(shape, rank))  # type: ignore[index]
        for both, own in zip(attention_s(scores, together), attention_s(scores, rank), strict=True):
            assert both[row] == pytest.approx(own)  # type: ignore[index]
