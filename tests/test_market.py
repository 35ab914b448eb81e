"""Own prices, discounts, quotas, offers, reservations and purchase: what they make of the plans."""

import copy
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import SHAPES, small_catalog

import solver
from solver.answer import Answer
from solver.catalog import check, load
from solver.errors import InputError
from solver.plan import Plan
from solver.pricing import Deal, cost_parts, energy_wh
from solver.pricing.owning import capex_usd
from solver.question import Question, ask

DAY_S = 86400.0
TRAINING = {"steps": 20_000, "sequence_length": 512, "global_batch": "32 sequences"}
NORTH = "north:big:eu"  # 8 H100 at 20 USD an hour; north:big:us is dearer


def file(**sections: Any) -> dict[str, Any]:
    """A small model over the small catalog."""
    known = {"model": SHAPES[1], "training": TRAINING, "catalog": small_catalog()}
    return copy.deepcopy(known | sections)


def answer(**sections: Any) -> Answer:
    return solver.solve(file(**sections), top=6)


def asked(**sections: Any) -> Question:
    return ask(solver.load(file(**sections)))


def price(question: Question, start: str) -> float:
    """Of the one offering whose id starts so."""
    (found,) = (o for o in question.offerings if o.id.startswith(start))
    return found.usd_per_hour


def faults(**sections: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        answer(**sections)
    return [f"{fault.field}: {fault.message}" for fault in error.value.faults]


FEW = {"frameworks": "megatron-core", "layout": {"pp": 1, "micro_batch": 1}}
BIG = FEW | {"machines": "h100-sxm-8"}


# --- worked example: docs/money.md goes through the same figures

HGX = {"machine": "h100-sxm-8", "price": "310k USD", "count": 64, "fabric": "ib-ndr-400x8"}
TERMS = {"life": "4 years", "utilisation": "70%", "electricity": "0.08 USD/kWh", "pue": 1.3}


def test_a_month_of_64_servers_of_ones_own_costs_what_a_calculation_by_hand_says() -> None:
    training = {"tokens": "2T", "sequence_length": 8192, "global_batch": "1024 sequences"}
    question = ask(
        solver.load({"model": "llama-3-70b", "training": training, "buy": HGX, "ownership": TERMS})
    )
    (bought,) = (o for o in question.offerings if o.provider == "bought")
    deal = Deal(question.job, bought, next(iter(question.pools(bought))))
    hours, used = 30 * 24, 8766 * 0.70  # of the run; of a year, 6,136.2
    server, network = 64 * 310_000, 64 * 8 * 562.50 + 64 * 8 * 1280  # 19.84M; 512 ports and 512 links
    annuity = 0.08 / (1 - 1.08**-4)  # 0.301921 a year
    kwh = (64 * 10.2 * 0.75 + 64 * 8 * 0.020) * hours * 1.3  # servers at 3/4 of their power, switch ports
    by_hand = {
        "accelerators": server * annuity * hours / used,
        "network": network * annuity * hours / used,
        "power": kwh * 0.08,
        "facility": 64 * 10.2 * 194.95 * 12 / used * hours,
        "operation": (server + network) * (0.05 + 0.01) * hours / used,
    }
    machines, wall = np.array([64]), np.array([hours * 3600.0])
    parts = cost_parts(deal, machines, wall)
    assert {name: float(parts[name][0]) for name in by_hand} == pytest.approx(by_hand)
    assert float(energy_wh(deal, machines, wall)[0]) == pytest.approx(kwh * 1000)
    assert capex_usd(deal, 64) == pytest.approx(20_783_360)
    # The figures of docs/money.md, from a pocket calculator.
    typed = {
        "accelerators": 702_858,
        "network": 33_420,
        "power": 37_428,
        "facility": 179_192,
        "operation": 146_319,
    }
    assert {name: round(value) for name, value in by_hand.items()} == typed


def test_rent_and_buy_cross_at_the_use_that_is_told() -> None:
    training = {"tokens": "1T", "sequence_length": 8192, "global_batch": "1024 sequences"}
    base = {
        "model": "llama-3-8b", "training": training, "buy": HGX, "ownership": TERMS,
        "limits": {"devices": "h100-sxm", "deadline": "40 days", "frameworks": "megatron-core"},
    }  # fmt: skip
    first = solver.solve(base, top=2)
    assert first.rent_or_buy is not None
    even = first.rent_or_buy.break_even_utilisation_pct
    count = first.plans[0].machines
    assert first.rent_or_buy.capex_usd == pytest.approx(count * (310_000 + 8 * (562.5 + 1280)))
    assert even is not None
    assert first.plans[0].provider == "bought"  # at 70 %
    assert even < 70

    def best(use: float) -> tuple[str, float]:
        plan = solver.solve(base | {"ownership": TERMS | {"utilisation": use}}, top=1).plans[0]
        return plan.provider, plan.cost.total_usd

    below, above = best(even * 0.999), best(even * 1.001)
    assert (below[0] == "bought", above[0] == "bought") == (False, True)
    assert below[1] == pytest.approx(first.rent_or_buy.rent_usd)
    assert first.rent_or_buy.rent_usd * 0.998 < above[1] < first.rent_or_buy.rent_usd


# --- own prices, discounts, offers, reservations


def test_a_discount_comes_off_list_prices_and_the_last_that_matches_holds() -> None:
    question = asked(discounts={"north": "15%", "west/ol?": "50 % off", "north/h100*/on-demand": 20})
    assert price(question, f"{NORTH}:on-demand") == pytest.approx(20 * 0.80)
    assert price(question, "west:old:on-demand") == pytest.approx(9 * 0.50)
    spot = asked(limits={"pricing": "spot"}, discounts={"north": "15%", "north/*/on-demand": 20})
    assert price(spot, f"{NORTH}:spot") == pytest.approx(9 * 0.85)


def test_a_price_of_ones_own_is_final() -> None:
    question = asked(prices={"north:big:*:on-demand": "12 USD/hour"}, discounts={"north": "50%"})
    assert price(question, f"{NORTH}:on-demand") == price(question, "north:big:us:on-demand") == 12
    assert price(question, "north:slow:eu:on-demand") == pytest.approx(17 * 0.5)


def test_a_private_offer_joins_the_market_as_long_as_it_holds() -> None:
    offer = {"provider": "acme", "machine": "h100-sxm-8", "price": "1 USD/hour", "count": 2}
    best = answer(offers=offer, limits=BIG).plans[0]
    assert (best.provider, best.pricing, best.cost.parts["accelerators"] > 0) == ("acme", "on-demand", True)
    assert best.machines <= 2
    short = answer(offers=offer | {"until": f"{best.time.days / 2} days"}, limits=BIG).plans
    assert all(plan.time.days <= best.time.days / 2 for plan in short if plan.provider == "acme")


@pytest.mark.parametrize(
    ("provider", "stated", "fabric"),
    [
        ("aws", {}, "efa-v2-p5"),  # on which it lists the machine
        ("acme", {}, "ib-ndr-400x8"),  # of nobody's list: the machine's usual one
        ("aws", {"fabric": "eth-100"}, "eth-100"),
    ],
)
def test_what_is_reserved_is_joined_as_its_provider_joins_it(
    provider: str, stated: dict[str, str], fabric: str
) -> None:
    held = {"provider": provider, "machine": "h100-sxm-8", "count": 8} | stated
    question = ask(solver.load({"model": SHAPES[1], "training": TRAINING, "reservations": held}))
    (mine,) = (o for o in question.offerings if o.id.startswith("reservation:"))
    assert mine.fabric == fabric
    told = f"reservations[0].fabric is not stated: {fabric} is taken"
    assert (told in question.assumptions) == (not stated)


def test_a_reservation_costs_nothing_and_ends_when_it_ends() -> None:
    held = {"provider": "north", "machine": "h100-sxm-8", "count": 2, "region": "eu"}
    best = answer(reservations=held, limits=BIG).plans[0]
    assert (best.provider, best.region, best.pricing, best.cost.total_usd) == ("north", "eu", "owned", 0)
    ended = answer(reservations=held | {"until": "60 s"}, limits=BIG).plans
    assert all(plan.pricing != "owned" for plan in ended)


def test_what_costs_nothing_neither_trips_the_frontier_nor_the_search_for_a_conflict() -> None:
    held = {"provider": "north", "machine": "h100-sxm-8", "count": 2, "region": "eu"}
    found = solver.frontier(file(reservations=held, limits=BIG))
    assert {plan.cost.total_usd for plan in found.plans} >= {0.0}
    clash = answer(reservations=held, limits=BIG | {"deadline": "1 s", "quotas": {"machines": 1}})
    assert clash.status == "infeasible"
    assert "limits.deadline" in clash.conflict


def test_machines_that_stand_there_pay_power_and_operation_and_no_capital() -> None:
    owned = {"machine": "h100-sxm-8", "count": 2}
    (best, *_) = answer(already_owned=owned, limits={"pricing": "owned"}).plans
    parts = best.cost.parts
    assert parts["power"] > 0 < parts["facility"]
    assert parts["accelerators"] == parts["network"] == parts["storage"] == 0
    kwh = best.energy.mwh * 1000
    assert parts["power"] == pytest.approx(kwh * load().ownership["ownership"].electricity)


def test_what_stands_there_is_not_counted_twice() -> None:
    twice = {"machine": "h100-sxm-8", "count": 1}
    (fault,) = faults(already_owned=twice, hardware=[twice])
    assert fault == "already_owned[0].machine: h100-sxm-8 stands under hardware too; keep one of the two"


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"prices": {NORTH: 0}}, f"prices.{NORTH}: 0 is not above zero; "),
        ({"prices": {NORTH: "-3 USD/hour"}}, f'prices.{NORTH}: "-3 USD/hour" is negative; '),
        ({"prices": {NORTH: "3 EUR/hour"}}, f'prices.{NORTH}: "3 EUR/hour" is not in USD; '),
        ({"prices": {"nort:big": 3}}, 'prices.nort:big: "nort:big" is no offering of the catalog; '),
        ({"offers": {"provider": "a", "machine": "h100-sxm-8", "price": 0}},
         "offers[0].price: 0 is not above zero; "),
        ({"buy": {"machine": "h100-sxm-8", "price": "$0"}}, 'buy[0].price: "$0" is not above zero; '),
        ({"buy": "h100-sxm-8"}, 'buy[0].machine: "h100-sxm-8" has no price in the catalog; '),
        ({"buy": {"machine": "h100-sxm-9", "price": 1}}, 'buy[0].machine: "h100-sxm-9" is no machine'),
        ({"already_owned": {"machine": "h100-sxm-8", "count": 2, "fabric": "x"}},
         'already_owned[0].fabric: "x" is no fabric'),
        ({"reservations": {"provider": "a", "machine": "h100-sxm-8", "count": 1, "until": "2020-02-01"}},
         "reservations[0].until: 2020-02-01 is not after "),
        ({"discounts": {"nord": "15%"}}, 'discounts.nord: "nord" matches no offering; '),
        ({"discounts": {"north": "115%"}}, 'discounts.north: "115%" is not a percentage from 0 to 100; '),
        ({"limits": {"quotas": {"provider": "nord", "machines": 3}}},
         'limits.quotas[0].provider: "nord" matches none of the providers; '),
        ({"limits": {"quotas": {"provider": "north"}}}, "limits.quotas[0]: states how much it allows once; "),
        ({"ownership": {"electricity": "8 EUR/kWh"}}, 'ownership.electricity: "8 EUR/kWh" is not in USD'),
    ],
)  # fmt: skip
def test_what_cannot_be_paid_or_had_is_refused_in_a_sentence(sections: dict[str, Any], told: str) -> None:
    (fault,) = faults(**sections)
    assert fault.startswith(told)


@pytest.mark.parametrize("usd", ["0", "-2", "3 EUR/hour"])
def test_a_price_of_an_overlay_is_above_zero_and_in_dollars(tmp_path: Path, usd: str) -> None:
    (tmp_path / "offerings").mkdir()
    row = f'records: {{"aws:p5.48xlarge:us-east-1": {{on_demand: "{usd}"}}}}'
    (tmp_path / "offerings" / "mine.yaml").write_text(row, "utf-8")
    (fault, *_) = faults(catalog=str(tmp_path))
    assert "on_demand" in fault


# --- quotas, energy, carbon


@settings(max_examples=5)
@given(st.data())
def test_no_plan_exceeds_a_quota(data: st.DataObject) -> None:
    quotas: list[dict[str, Any]] = data.draw(
        st.lists(
            st.fixed_dictionaries(
                {"machines": st.integers(1, 3)},
                optional={
                    "provider": st.sampled_from(["north", "west", "n*"]),
                    "region": st.sampled_from(["eu", "us"]),
                    "pricing": st.sampled_from(["on-demand", "spot"]),
                    "device": st.sampled_from(["h100*", "a100-80-sxm"]),
                },
            ),
            min_size=1,
            max_size=3,
        )
    )
    limits = {"quotas": quotas, "pricing": ["on-demand", "spot"], "machines": "[ah]*-8"} | FEW
    objective = data.draw(st.sampled_from(["time", "cost"]))
    for plan in answer(limits=limits, objective=objective).plans:
        assert all(plan.machines <= quota["machines"] for quota in quotas if speaks_of(quota, plan))


def speaks_of(quota: dict[str, Any], plan: Plan) -> bool:
    """As fnmatch would have it, for these few globs."""
    told = {"provider": plan.provider, "region": plan.region, "pricing": plan.pricing, "device": plan.device}
    return all(told[name].startswith(quota[name].rstrip("*")) for name in told if name in quota)


def test_a_quota_leaves_the_dearer_region_that_it_does_not_speak_of() -> None:
    quota = {"provider": "north", "region": "eu", "machines": 1}
    free, bound = (
        answer(limits=BIG | extra, objective="time").plans[0] for extra in ({}, {"quotas": [quota]})
    )
    assert (free.region, free.machines > 1) == ("eu", True)
    assert (bound.region, bound.machines) == ("us", free.machines)


def test_a_quota_that_clashes_is_named_and_raised_by_what_is_needed() -> None:
    best = answer(limits=BIG, objective="time").plans[0]
    slower = answer(limits=BIG | {"quotas": {"machines": best.machines - 1}}, objective="time").plans[0]
    limits = BIG | {
        "deadline": f"{(best.time.days + slower.time.days) / 2} days",
        "quotas": [{"provider": "west", "machines": 9}, {"machines": best.machines - 1}],
    }
    clash = answer(limits=limits)
    assert clash.status == "infeasible"
    assert "limits.quotas" in clash.conflict
    raised = next(r.to for r in clash.relaxations if r.field == "limits.quotas")
    assert raised == [{"provider": "west", "machines": 9}, {"machines": best.machines}]
    assert answer(limits=limits | {"quotas": raised}).plans


@pytest.mark.parametrize(("limit", "unit"), [("max_energy", "Wh"), ("max_carbon", "kg")])
def test_energy_and_carbon_bind_and_are_relaxed(limit: str, unit: str) -> None:
    def takes(plan: Plan) -> float:
        return plan.energy.mwh * 1e6 if limit == "max_energy" else plan.energy.kg_co2e

    objective = "energy" if limit == "max_energy" else "carbon"
    least = takes(answer(objective=objective, limits=BIG).plans[0])
    found = answer(limits=BIG | {limit: f"{1.1 * least} {unit}"}).plans
    assert found
    assert all(takes(plan) <= 1.1 * least for plan in found)
    clash = answer(limits=BIG | {limit: f"{0.9 * least} {unit}"})
    assert clash.status == "infeasible"
    assert f"limits.{limit}" in clash.conflict
    to = next(r.to for r in clash.relaxations if r.field == f"limits.{limit}")
    assert answer(limits=BIG | {limit: to}).plans


def test_the_cleanest_grid_wins_where_carbon_is_made_least() -> None:
    training = {"tokens": "10B", "sequence_length": 2048, "global_batch": "64 sequences"}
    limits = {"providers": "aws", "machines": "h100-sxm-8"}
    problem = {"model": "llama-3-8b", "training": training, "limits": limits, "objective": "carbon"}
    best = solver.solve(problem, top=1).plans[0]
    assert best.region == "eu-north-1"  # Stockholm: 19 g/kWh
    assert best.energy.kg_co2e == pytest.approx(best.energy.mwh * 19.39)


# --- what the catalog sells


def test_servers_are_bought_and_cards_and_kits_are_not() -> None:
    problem = {"model": SHAPES[0], "training": TRAINING, "buy": "*"}
    bought = {o.instance: o for o in ask(solver.load(problem)).offerings if o.provider == "bought"}
    assert {"DGX H100", "HGX H100 node (OEM)", "GB200 NVL72", "MI300X 8-GPU"} <= set(bought)
    assert not [name for name in bought if "card" in name or "kit" in name or "baseboard" in name]
    assert bought["HGX H200 8-GPU"].max_devices == 8  # nothing says that it holds network cards
    assert bought["DGX H100"].max_devices > 512


def test_a_list_of_prices_that_was_replaced_is_told_and_never_offered() -> None:
    catalog = load()
    outdated = {row.id for row in catalog.rows if row.price_basis == "outdated"}
    assert {"verda:8B200:FIN-01", "nebius:gpu-b200-sxm:eu-north1"} <= outdated
    assert not [o.id for o in catalog.offerings if o.id.rsplit(":", 1)[0] in outdated]


def test_a_price_far_below_that_of_others_is_found_by_the_check(tmp_path: Path) -> None:
    (tmp_path / "offerings").mkdir()
    rows = {
        "crusoe:h100-80gb-sxm-ib:us": {"on_demand": 16.0},  # 8 cards at 2.00 each; others ask some 4
        "aws:p5.48xlarge:us-east-1": {"spot": 99.0},
    }
    (tmp_path / "offerings" / "odd.yaml").write_text(f"records: {rows}", "utf-8")
    found = check(load(tmp_path))
    assert any("that others ask" in f and "crusoe:h100-80gb-sxm-ib" in f for f in found)
    assert any("spot: 99.0 is above" in f for f in found)


def test_parts_and_split_of_every_plan_add_up_to_its_cost() -> None:
    bill = {"evaluation": "3%", "head_nodes": 2, "egress": "1 TB"}
    found = answer(bill=bill, already_owned={"machine": "h100-sxm-8", "count": 1}).plans
    assert len(found) == 6
    for plan in found:
        assert sum(plan.cost.parts.values()) == pytest.approx(plan.cost.total_usd)
        assert sum(plan.cost.split.values()) == pytest.approx(plan.cost.total_usd)
