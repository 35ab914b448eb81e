"""How sure a predicted time is said to be: which runs a band is taken from, and which band a plan takes."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import solver
from solver.catalog import load
from solver.catalog.accuracy import KINDS, LEVELS, NOISE, band_of
from solver.catalog.records import Era
from solver.validation.bands import limits_of, pooled_by_level, quantiles, unseen
from solver.validation.generations import TIME
from solver.validation.report import Result

CATALOG = load()


def result(name: str, measured: float = 1.0, **fields: Any) -> Result:
    """A run that was predicted to take 1 s."""
    known = {
        "id": name, "device": "h100-sxm", "framework": "f", "generation": "current", "source": name[0],
        "model": "m", "family": "m", "kind": "dense", "precision": "bf16", "step_time_s": 1.0,
        "measured_step_time_s": measured, "error_pct": 100 / measured - 100, "peak_mem_gib": 1.0,
        "measured_peak_mem_gib": None, "memory_error_pct": None, "parts": {},
    }  # fmt: skip
    return Result.model_validate(known | fields)


def levels(*results: Result) -> list[str]:
    return [one.level for one in unseen(results, CATALOG, {})]


def test_evidence_is_what_other_sources_ran() -> None:
    alone = [result("x-1"), result("x-2")]
    assert levels(*alone) == ["none", "none"]
    assert levels(*alone, result("y-1"))[:2] == ["generation", "generation"]
    assert levels(*alone, result("y-1", generation="2022"))[:2] == ["device", "device"]
    assert levels(*alone, result("y-1", device="h200-sxm"))[:2] == ["family", "family"]
    assert levels(*alone, result("y-1", device="a100-80-sxm"))[:2] == ["none", "none"]


def test_every_field_of_a_generation_is_of_time_or_of_memory_and_names() -> None:
    others = {
        "name",
        "aliases",
        "until",
        "compiled",
        "notes",
        "precisions",
        "recompute",
        "kept",
        "buffers",
        "buckets",
        "live_parameters",
        "stage_stays_gathered",
        "step_in_groups",
        "step_drops_gradients",
        "context",
        "communicator",
        "fragmentation",
        "folded",
        "interleaved",
        "weighed",
        "sequence_parallel",
        "sharding",
    }
    sized = {name for name in Era.model_fields if name.endswith("_bytes")}
    assert Era.model_fields.keys() - others - sized <= set(TIME)
    assert set(TIME) <= Era.model_fields.keys()


def test_a_run_is_held_against_what_was_predicted_without_its_source() -> None:
    first, second = unseen([result("x-1", 3.0), result("x-2", 3.0)], CATALOG, {"x-1": 2.0})
    assert (first.ratio, second.ratio) == (1.5, 3.0)


def test_four_of_five_values_lie_between_the_quantiles() -> None:
    assert quantiles(np.arange(101.0), np.ones(101)) == pytest.approx((10, 90), abs=0.5)
    heavy = np.where(np.arange(101) < 50, 3.0, 1.0)  # three quarters of the weight lie below 50
    assert quantiles(np.arange(101.0), heavy) == pytest.approx((6.7, 80.9), abs=0.5)


def test_no_band_is_narrower_than_the_noise_and_less_evidence_never_narrows_it() -> None:
    exact = [result(f"{source}-{n}") for source in "xy" for n in range(9)]
    runs = unseen(exact, CATALOG, {})
    assert limits_of(runs)[3:] == (1 - NOISE, 1 + NOISE)
    pooled = pooled_by_level(runs, "dense")
    assert pooled["none"][3:] == (0.75, 1.25)
    for more, less in pairwise(LEVELS):
        assert pooled[less].low <= pooled[more].low <= pooled[more].high <= pooled[less].high


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_band_is_taken_and_there_is_one_for_every_device(kind: str) -> None:
    for device in CATALOG.devices.values():
        found = band_of(CATALOG.accuracy, device, "no such framework", kind)
        assert found.level != "generation"
        assert found.low <= 1 - NOISE < 1 + NOISE <= found.high
        if found.level == "none":
            assert (found.low, found.high) <= (0.75, found.high)
            assert found.high >= 1.25


def test_a_plan_tells_its_band_and_what_it_rests_on() -> None:
    run = {
        "model": "llama-3-8b",
        "training": {"sequence_length": 8192, "global_batch": "128 sequences", "precision": "bf16"},
        "hardware": {"machine": "h100-sxm-8", "devices": 64},
        "framework": "megatron-core",
        "layout": {"tp": 4, "pp": 2},
    }
    found = solver.evaluate(run)
    band = band_of(CATALOG.accuracy, CATALOG.devices["h100-sxm"], "megatron-core", "dense")
    assert found.time is not None
    assert found.time.low_days == pytest.approx(found.time.days * band.low)
    assert found.time.high_days == pytest.approx(found.time.days * band.high)
    assert found.time.band in found.assumptions
    assert f"80 % of {band.runs} published runs ({band.sources} sources)" in found.time.band
