"""Networks as a choice of the buyer: what ports and links cost, and what oversubscription saves and loses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solver
from solver.catalog import load
from solver.plan import Plan
from solver.pricing.power import links, ports

CHOSEN = ("ib-", "roce-", "eth-")  # what a buyer chooses; the others come with a cloud


def bought(fabric: str, catalog: Path | None = None) -> dict[str, Any]:
    given = {
        "model": "llama-3-8b",
        "training": {"tokens": "1T", "sequence_length": 8192, "global_batch": "1024 sequences"},
        "limits": {
            "pricing": "owned",
            "min_devices": 1024,
            "max_devices": 1024,
            "frameworks": "megatron-core",
            "layout": {"tp": 2, "cp": 1, "micro_batch": 1},
        },
        "buy": {"machine": "h100-sxm-8", "count": 128, "price": "300k USD", "fabric": fabric},
    }
    return given if catalog is None else given | {"catalog": str(catalog)}


@pytest.fixture(scope="module")
def whole() -> Plan:
    return solver.solve(bought("ib-ndr-400x8"), top=1).plans[0]


def test_every_network_a_buyer_can_choose_has_its_price_by_port_and_link() -> None:
    chosen = [link for name, link in load().fabrics.items() if name.startswith(CHOSEN)]
    assert len(chosen) >= 20
    for link in chosen:
        assert link.port_price
        assert link.link_price
        assert {"port_price", "link_price"} <= link.origins.keys()


def test_the_price_of_a_port_and_a_link_is_that_of_the_published_sheet() -> None:
    # H100 and InfiniBand cluster sheet, 2024-08 (page-freakonomics-sheet): a switch of 64 ports 36,000 USD;
    # cables of 1,024 cards on two tiers 2,621,440 USD.
    link = load().fabrics["ib-ndr-400x8"]
    assert link.port_price == 36_000 / 64
    assert link.link_price == 2_621_440 / 1_024 / 2


def test_oversubscription_saves_ways_up_and_nothing_else() -> None:
    machines = np.array([1, 2, 64, 65, 2049])
    assert ports(machines, 64, 3.0) == pytest.approx([0, 1, 1, 1 + 2 / 3, 1 + 4 / 3])
    assert links(machines, 64, 3.0) == pytest.approx([0, 1, 1, 1 + 1 / 3, 1 + 2 / 3])
    machine, link = load().machines["h100-sxm-8"], load().fabrics["ib-ndr-400x8"]
    half = link.model_copy(update={"oversubscription": 2.0})
    assert machine.fabric_share(half) == machine.fabric_share(link) / 2


def test_ethernet_of_the_same_rate_costs_less_by_the_ratio_that_is_published(whole: Plan) -> None:
    # introl.com 2025-12-08: InfiniBand at 2.3 times the cost of Ethernet.
    cheap = solver.solve(bought("roce-400x8"), top=1).plans[0]
    rates = [plan.cost.parts["network"] / plan.time.days for plan in (whole, cheap)]
    assert rates[0] / rates[1] == pytest.approx(2.3, rel=0.001)


def test_an_oversubscribed_network_of_ones_own_is_cheaper_and_slower(whole: Plan, tmp_path: Path) -> None:
    (tmp_path / "fabrics").mkdir()
    (tmp_path / "fabrics" / "mine.yaml").write_text("records: {ib-ndr-400x8: {oversubscription: 4}}\n")
    thin = solver.solve(bought("ib-ndr-400x8", tmp_path), top=1).plans[0]
    assert thin.time.step_s > whole.time.step_s
    assert thin.cost.parts["network"] / thin.time.days < whole.cost.parts["network"] / whole.time.days


def test_what_was_recalled_is_named_in_every_record() -> None:
    catalog = load()
    for kind in ("machines", "fabrics"):
        for record in getattr(catalog, kind).values():
            assert record.estimated or "memory" not in record.source, record.id
    assert "usable_memory" in catalog.devices["t4"].estimated
    assert catalog.devices["h100-sxm"].estimated == []
