"""Expert matmuls and passes: a few rows of the tables behind them, and what a framework's kernels change."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver.architecture import from_hf
from solver.catalog import load
from solver.physics.hardware import AS_MEASURED, Rank
from solver.physics.kernels import Shape, grouped_matmul_s

DEVICES = load().devices
HUB: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text("utf-8"))


# aiconfigurator 0.12.0, fp8_block, all experts on one device, balanced [ms]; casts, permutation and
# activation are passes beside. Tolerance: the largest median error of such rows held out (docs/kernels.md).
@pytest.mark.parametrize(
    ("device", "precision", "tokens", "hidden", "inner", "each", "experts", "ms"),
    [
        ("gb200", "mxfp8", 8192, 7168, 2048, 8, 384, 6.40526),
        ("gb300", "mxfp8", 8192, 7168, 2048, 8, 384, 6.23917),
        ("gb300", "mxfp8", 12288, 4096, 1536, 8, 128, 4.15074),
        ("h100-sxm", "fp8", 16384, 6144, 2048, 8, 256, 15.3624),
    ],
)
def test_experts_in_eight_bits_take_what_was_measured(  # noqa: PLR0913, PLR0917 (a row of the table)
    device: str, precision: str, tokens: int, hidden: int, inner: int, each: int, experts: int, ms: float
) -> None:
    own = DEVICES[device]
    rank = replace(Rank.of(own, precision), peak=own.peak[precision])
    rows = tokens * each / experts
    up = grouped_matmul_s(Shape(rows, 2 * inner, hidden, experts), rank)
    down = grouped_matmul_s(Shape(rows, hidden, inner, experts), rank)
    passed = tokens * each * 9 * (hidden + inner) / rank.pointwise_bytes_per_s
    assert 1e3 * (up + down + passed) == pytest.approx(ms, rel=0.2)


@pytest.mark.parametrize("device", ["gb300", "h100-sxm", "a100-80-sxm"])
def test_kernels_that_cast_and_activate_never_slow_experts(device: str) -> None:
    for precision in DEVICES[device].peak:
        apart = Rank.of(DEVICES[device], precision)
        joined = Rank.of(DEVICES[device], precision, AS_MEASURED._replace(joined_experts=True))
        assert joined.grouped_gemm_efficiency >= apart.grouped_gemm_efficiency


def test_biases_and_clamps_of_experts_are_passes_of_their_own() -> None:
    # Elements a routed token: chunks of 2880 clamped and put together, a bias scaled, added, put together.
    layer = from_hf(HUB["openai/gpt-oss-120b"]["config"]).blocks[0][0]
    moved = {item.name: item.reads + item.writes for item in layer.pointwise if item.routed}
    assert (moved["expert_clamp"], moved["expert_bias"]) == (4 * 2 * 2880, 6 * 2880)
