"""Money, energy and carbon dioxide, against sums done by hand."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import SHAPES

import solver
from solver.catalog.records import Offering
from solver.pricing import PARTS, Deal, carbon_kg, cost_parts, cost_split, energy_wh, rent_usd, stored_bytes
from solver.pricing.owning import annuity
from solver.pricing.power import ports, tiers
from solver.question import Question, ask

HOUR_S, DAY_S = 3600.0, 86400.0
MONTH_S = 365.25 / 12 * DAY_S
TRAINING = {"steps": 1000, "sequence_length": 512, "global_batch": "8 sequences"}


def question(**sections: Any) -> Question:
    """1,000 steps of 8 sequences of 512 tokens."""
    return ask(solver.load({"model": SHAPES[0], "training": TRAINING} | sections))


ASKED = question()
SITE = {"pue": 1.2, "carbon": 0.3, "storage": 0.02, "egress": 0.1, "head_node": 0.5}


def offering(**fields: Any) -> Offering:
    known = {
        "id": "x", "provider": "x", "instance": "x", "region": "x", "geo": "x", "machine": "h100-sxm-8",
        "fabric": "ib-ndr-400x8", "pricing": "on-demand", "usd_per_hour": 20.0, "max_devices": 8,
        "source": ["user"], "date": "2026-12-01", "site": SITE,
    }  # fmt: skip
    return Offering.model_validate(known | fields)


def deal(asked: Question = ASKED, **fields: Any) -> Deal:
    """On machines of 10.2 kW with 8 network cards each."""
    offered = offering(**fields)
    (pool, *_) = asked.pools(offered)
    return Deal(asked.job, offered, pool)


def rent(hours: float, machines: int = 2, **fields: Any) -> float:
    return float(rent_usd(offering(**fields), np.array([machines]), np.array([hours * HOUR_S]))[0])


def parts(terms: Deal, machines: int, wall_s: float) -> dict[str, float]:
    found = cost_parts(terms, np.array([machines]), np.array([wall_s]))
    return {name: float(value[0]) for name, value in found.items()}


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


@pytest.mark.parametrize(
    ("days", "paid"),
    [(0.2, 1), (1, 1), (13.1, 14), (14, 14), (14.6, 21), (21, 21), (21.1, 28), (181, 182)],
)
def test_a_capacity_block_is_paid_in_days_and_beyond_two_weeks_in_weeks(days: float, paid: int) -> None:
    # EC2 user guide, capacity-blocks-purchase: 1-day increments up to 14 days, 7-day ones up to 182 days.
    usd = rent(days * 24, 3, pricing="capacity-block", usd_per_hour=2.0, term_days=1.0, weeks_beyond=14.0)
    assert usd == pytest.approx(3 * paid * 24 * 2.0)


def test_storage_holds_the_tokens_and_the_checkpoints_kept_or_what_the_file_says() -> None:
    o, a = ASKED.job.operations, ASKED.job.architecture
    # tokens: 1,000 x 8 x 512 x 4 B = 16.384 MB; checkpoints: 5 x 14 B a parameter
    assert (o.token_bytes, o.checkpoints_kept, ASKED.job.checkpoint_bytes) == (4, 5, 14 * a.total_parameters)
    assert stored_bytes(ASKED.job) == pytest.approx(16_384_000 + 70 * a.total_parameters)
    assert stored_bytes(question(bill={"storage": "3 TB"}).job) == 3e12


def test_a_bill_holds_storage_egress_and_head_nodes_beside_the_machines() -> None:
    bill = parts(deal(question(bill={"storage": "3 TB", "egress": "500 GB", "head_nodes": 2})), 2, MONTH_S)
    hours = MONTH_S / HOUR_S
    assert bill["accelerators"] == pytest.approx(2 * 20 * hours)
    assert bill["storage"] == pytest.approx(3000 * 0.02)
    assert bill["egress"] == pytest.approx(500 * 0.1)
    assert bill["hosts"] == pytest.approx(2 * 0.5 * hours)
    assert sum(bill.values()) == pytest.approx(40 * hours + 60 + 50 + hours)


def test_without_a_word_one_head_node_watches_and_the_weights_are_taken_out() -> None:
    bill = parts(deal(), 1, DAY_S)
    assert bill["hosts"] == pytest.approx(0.5 * 24)
    assert bill["egress"] == pytest.approx(2 * ASKED.job.architecture.total_parameters / 1e9 * 0.1)  # bf16


def test_processors_that_are_billed_apart_are_paid_for_each_card() -> None:
    bill = parts(deal(site=SITE | {"head_node": 0.0, "host": 0.25}), 3, DAY_S)
    assert bill["hosts"] == pytest.approx(3 * 8 * 0.25 * 24)


def test_evaluation_takes_its_share_of_the_machine_hours() -> None:
    with_it, without = (parts(deal(question(bill=bill)), 2, DAY_S) for bill in ({"evaluation": "5%"}, {}))
    assert with_it["evaluation"] == pytest.approx(0.05 * 2 * 20 * 24)
    assert sum(with_it.values()) - sum(without.values()) == pytest.approx(with_it["evaluation"])


def test_machines_at_a_price_of_ones_own_pay_nothing_else() -> None:
    bill = parts(deal(pricing="owned", usd_per_hour=3.0), 2, DAY_S)
    assert sum(bill.values()) == bill["accelerators"] == pytest.approx(2 * 3 * 24)


# page-freakonomics-sheet (2024-08), clusters of 8-card servers: switches at 36,000 USD, links at 1,280 USD.
@pytest.mark.parametrize(
    ("servers", "switches", "links"),
    [
        (64, 8, 512),
        (128, 48, 2048),
        (256, 96, 4096),
        (512, 192, 8192),
        (1024, 384, 16384),
        (2048, 768, 32768),
    ],
)
def test_switches_and_links_are_those_of_the_published_clusters(
    servers: int, switches: int, links: int
) -> None:
    cards = 8 * servers
    assert cards * ports(np.array([servers]), 64)[0] == switches * 64
    assert cards * tiers(np.array([servers]), 64)[0] == links


def test_a_machine_alone_needs_no_switch() -> None:
    assert ports(np.array([1, 2, 64, 65, 2048, 2049]), 64).tolist() == [0, 1, 1, 3, 3, 5]


def test_energy_is_that_of_machines_at_their_mean_load_and_of_the_switches_at_the_meter() -> None:
    # Epoch: training takes 0.75 of a GPU server's power; 8 cards on 1 port of 20 W each; PUE 1.2.
    found = energy_wh(deal(), np.array([1, 3]), np.array([2 * HOUR_S, 2 * HOUR_S]))
    assert found.tolist() == pytest.approx([0.75 * 10_200 * 2 * 1.2, 3 * (0.75 * 10_200 + 160) * 2 * 1.2])


def test_carbon_is_energy_by_the_grid_of_the_region() -> None:
    assert carbon_kg(deal(), np.array([2e6]))[0] == pytest.approx(2000 * 0.3)


@given(st.floats(0.01, 1e4), st.floats(1, 1e8), st.integers(1, 2048), st.floats(1, 100))
def test_rent_grows_in_proportion_to_the_price(price: float, wall_s: float, machines: int, by: float) -> None:
    once, more = (parts(deal(usd_per_hour=usd), machines, wall_s) for usd in (price, price * by))
    assert tuple(once) == PARTS
    assert more.pop("accelerators") == pytest.approx(by * once.pop("accelerators"))
    assert more == once


@given(
    st.floats(1, 1e9), st.floats(0, 1e9), st.sampled_from([None, 1.0, 365.0]), st.sampled_from([None, 14.0])
)
def test_a_longer_run_never_costs_less(
    wall_s: float, more_s: float, term_days: float | None, weeks_beyond: float | None
) -> None:
    terms = offering(term_days=term_days, weeks_beyond=weeks_beyond)
    cost = rent_usd(terms, np.array([1, 1]), np.array([wall_s, wall_s + more_s]))
    assert cost[0] <= cost[1]


@settings(max_examples=30)
@given(st.floats(0.01, 100), st.floats(60, 1e7), st.integers(1, 200), st.sampled_from([0, 5, 40]))
def test_the_split_adds_up_to_the_bill(price: float, wall_s: float, machines: int, share: int) -> None:
    terms = deal(question(bill={"evaluation": share}), usd_per_hour=price)
    bill = parts(terms, machines, wall_s)
    energy = float(energy_wh(terms, np.array([machines]), np.array([wall_s]))[0])
    split = cost_split(terms, bill, (energy, machines * wall_s), ASKED.catalog.ownership["ownership"])
    assert set(split) == {"accelerators", "host", "network", "facility", "operation"}
    assert min(split.values()) >= 0
    assert sum(split.values()) == pytest.approx(sum(bill.values()))


def test_an_annuity_is_that_of_the_textbook() -> None:
    # 100,000 at 8 % over 5 years: 25,045.65 a year (capital recovery factor 0.2504565).
    assert annuity(5, 0.08, 0) == pytest.approx(0.2504565, abs=5e-8)
    assert annuity(4, 0, 0.2) == pytest.approx(0.2)
    assert annuity(4, 1e-9, 0.2) == pytest.approx(0.2)
