"""Money and energy, against sums done by hand."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from strategies import SHAPES

import solver
from solver.catalog.records import Offering
from solver.estimate import Job
from solver.pricing import PARTS, cost_parts, energy_wh, rent_usd, storage_usd, stored_bytes
from solver.question import ask

HOUR_S, DAY_S = 3600.0, 86400.0


def job() -> Job:
    """1,000 steps of 8 sequences of 512 tokens."""
    training = {"steps": 1000, "sequence_length": 512, "global_batch": "8 sequences"}
    return ask(solver.load({"model": SHAPES[0], "training": training})).job


def offering(**fields: Any) -> Offering:
    known = {
        "id": "x", "provider": "x", "instance": "x", "region": "x", "geo": "x", "machine": "x",
        "fabric": None, "pricing": "on-demand", "usd_per_hour": 20.0, "max_devices": 8, "source": ["user"],
        "date": "2026-12-01",
    }  # fmt: skip
    return Offering.model_validate(known | fields)


def rent(hours: float, machines: int = 2, **fields: Any) -> float:
    return float(rent_usd(offering(**fields), np.array([machines]), np.array([hours * HOUR_S]))[0])


def test_rent_is_paid_by_the_second() -> None:
    assert rent(10) == pytest.approx(400.0)  # 2 machines x 10 h x 20 USD
    assert rent(1 / 3600, 1) == pytest.approx(20 / 3600)


@pytest.mark.parametrize(
    ("days", "terms"),
    [(1, 1), (364.999, 1), (365, 1), (365.001, 2), (800, 3)],
)
def test_a_commitment_is_paid_for_every_term_that_the_run_touches(days: float, terms: int) -> None:
    paid = rent(days * 24, 1, pricing="committed-1y", usd_per_hour=2.0, term_days=365.0)
    assert paid == pytest.approx(terms * 365 * 24 * 2.0)


def test_storage_holds_the_tokens_and_the_checkpoints_kept() -> None:
    o, a = job().operations, job().architecture
    # tokens: 1,000 x 8 x 512 x 4 B = 16.384 MB; checkpoints: 5 x 14 B a parameter
    assert (o.token_bytes, o.checkpoints_kept, o.checkpoint_bytes) == (4, 5, 14)
    assert stored_bytes(job()) == pytest.approx(16_384_000 + 70 * a.total_parameters)


def test_storage_is_paid_by_the_month_and_not_on_machines_of_ones_own() -> None:
    month_s = np.array([365.25 / 12 * DAY_S])
    expected = stored_bytes(job()) / 1e9 * job().operations.storage_price
    assert storage_usd(job(), offering(), month_s)[0] == pytest.approx(expected)
    assert storage_usd(job(), offering(pricing="owned"), month_s)[0] == 0


def test_energy_is_that_of_all_machines_at_the_meter() -> None:
    watt_hours = energy_wh(job(), 10_200.0, np.array([3]), np.array([2 * HOUR_S]))
    assert watt_hours[0] == pytest.approx(3 * 10_200 * 2 * job().operations.pue)


@given(st.floats(0.01, 1e4), st.floats(1, 1e8), st.integers(1, 2048), st.floats(1, 100))
def test_rent_grows_in_proportion_to_the_price(price: float, wall_s: float, machines: int, by: float) -> None:
    def parts(usd_per_hour: float) -> dict[str, float]:
        terms = offering(usd_per_hour=usd_per_hour)
        found = cost_parts(job_once, terms, np.array([machines]), np.array([wall_s]))
        return {name: float(value[0]) for name, value in found.items()}

    once, more = parts(price), parts(price * by)
    assert tuple(once) == PARTS
    assert more["accelerators"] == pytest.approx(by * once["accelerators"])
    assert more["storage"] == once["storage"]


@given(st.floats(1, 1e9), st.floats(0, 1e9), st.sampled_from([None, 365.0, 1095.0]))
def test_a_longer_run_never_costs_less(wall_s: float, more_s: float, term_days: float | None) -> None:
    terms = offering(term_days=term_days)
    cost = rent_usd(terms, np.array([1, 1]), np.array([wall_s, wall_s + more_s]))
    assert cost[0] <= cost[1]


job_once = job()
