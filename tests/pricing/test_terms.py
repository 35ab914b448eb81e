"""Least terms and counts of offers, reserved machines that others join: bills against sums done by hand."""

from typing import Any

import numpy as np
import pytest
from strategies import SHAPES, small_catalog

import solver
from solver.catalog.records import Offering
from solver.errors import InputError
from solver.plan import Plan
from solver.pricing import rent_usd
from solver.question import ask
from solver.search.tell import on_demand

HOUR_S, DAY_S = 3600.0, 86400.0
TRAINING = {"steps": 200_000, "sequence_length": 512, "global_batch": "48 sequences"}
LIMITS = {"machines": "h100-sxm-8", "frameworks": "megatron-core", "layout": {"pp": 1, "micro_batch": 1}}
OFFER = {"provider": "acme", "machine": "h100-sxm-8", "price": "18 USD/hour", "count": 6}
HELD = {"provider": "north", "machine": "h100-sxm-8", "count": 2, "region": "eu"}


def answer(**sections: Any) -> Any:
    known = {"model": SHAPES[1], "training": TRAINING, "catalog": small_catalog(), "limits": LIMITS}
    return solver.solve(known | sections, top=8)


def offerings(**sections: Any) -> dict[str, Offering]:
    known = {"model": SHAPES[1], "training": TRAINING, "catalog": small_catalog(), "limits": LIMITS}
    return {o.id: o for o in ask(solver.load(known | sections)).offerings}


def rent(offering: Offering, machines: int, days: float) -> float:
    return float(rent_usd(offering, np.array([machines]), np.array([days * DAY_S]))[0])


def of(plans: list[Plan], provider: str) -> Plan:
    return next(plan for plan in plans if plan.provider == provider)


@pytest.mark.parametrize(
    ("terms", "machines", "days", "usd"),
    [
        ({}, 3, 10, 3 * 10 * 24 * 18),
        ({"min_term": "30 days"}, 3, 10, 3 * 30 * 24 * 18),  # billed as if it took 30 days
        ({"min_term": "30 days"}, 3, 40, 3 * 40 * 24 * 18),  # beyond it by the second
        ({"min_count": 5}, 3, 10, 5 * 10 * 24 * 18),
        ({"min_term": "1 week", "min_count": 5}, 6, 2, 6 * 7 * 24 * 18),
        ({"pricing": "committed-1y"}, 3, 10, 3 * 365 * 24 * 18),  # of a commitment the whole year
        ({"pricing": "committed-1y"}, 3, 366, 3 * 730 * 24 * 18),
        ({"pricing": "committed-1y", "min_term": "90 days"}, 3, 10, 3 * 90 * 24 * 18),
    ],
)
def test_an_offer_is_billed_for_its_least_term_and_count(
    terms: dict[str, Any], machines: int, days: float, usd: float
) -> None:
    limits = LIMITS | {"pricing": ["on-demand", "committed-1y"]}
    offer = offerings(offers=OFFER | terms, limits=limits)["offer:0:acme:h100-sxm-8"]
    assert rent(offer, machines, days) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("machines", "days", "usd"),
    [
        (2, 10, 3 * 10 * 24 * 20 - 2 * 10 * 24 * 20),  # a mixture is of one machine more, at least
        (5, 10, 3 * 10 * 24 * 20),
        (6, 0.5, 4 * 12 * 20),
    ],
)
def test_of_a_mixture_what_is_reserved_costs_nothing_and_the_rest_the_price_on_demand(
    machines: int, days: float, usd: float
) -> None:
    found = offerings(reservations=HELD | {"overflow": "on-demand"})
    mixed = found["reservation:0:north:h100-sxm-8+north:big:eu:on-demand"]
    assert rent(mixed, machines, days) == pytest.approx(usd)
    assert mixed.max_devices == (2 + 4) * 8  # of north's own at most 32 devices
    # what the search takes for the least price of a machine is never above what is paid
    paid = [rent(mixed, n, 1.0) / (24 * n) for n in range(1, 7)]
    assert min(paid) == pytest.approx(mixed.usd_per_hour)


def test_a_mixture_pays_discounted_prices_or_the_price_that_is_stated_or_still_something_for_the_first() -> (
    None
):
    discounted = offerings(reservations=HELD | {"overflow": "on-demand"}, discounts={"north": "10%"})
    assert rent(discounted["reservation:0:north:h100-sxm-8+north:big:eu:on-demand"], 4, 1) == 2 * 24 * 18
    priced = offerings(reservations=HELD | {"overflow": "30 USD/hour", "price": "2 USD/hour"})
    (mixed,) = (o for name, o in priced.items() if name.startswith("reservation:0:north:h100-sxm-8+"))
    assert rent(mixed, 5, 1) == pytest.approx(24 * (2 * 2 + 3 * 30))


def test_the_best_mixture_is_the_cheapest_over_all_counts() -> None:
    """Times of each count, taken one by one from an offer, against what the search makes of the mixture."""
    held = HELD | {"overflow": "20 USD/hour", "fabric": "ib-ndr-400x8"}
    timed = {}
    for machines in range(1, 7):
        exactly = {"min_devices": 8 * machines, "max_devices": 8 * machines, "providers": "acme"}
        plans = answer(offers=OFFER, limits=LIMITS | exactly, objective="time").plans
        if plans:
            timed[machines] = plans[0].time.days
    assert {2, 3, 4, 6} <= timed.keys()
    deadline = timed[3] * 1.001
    limits = LIMITS | {"deadline": f"{deadline} days", "providers": "north"}
    best = answer(reservations=held, limits=limits).plans[0]
    by_hand = {n: max(n, 3) - 2 for n in timed if timed[n] <= deadline}
    rents = {n: further * 20 * 24 * timed[n] for n, further in by_hand.items()}
    assert best.machines == min(rents, key=rents.__getitem__)
    assert best.cost.parts["accelerators"] == pytest.approx(min(rents.values()))


def test_a_plan_says_what_is_paid_beside_what_is_used() -> None:
    long = answer(offers=OFFER | {"min_term": "100 days", "min_count": 5})
    plan = of(long.plans, "acme")
    (line,) = plan.cost.rent
    assert (line.machines, line.hours, line.usd_per_hour) == (5 if plan.machines < 5 else 6, 2400, 18)
    assert any("100 days are paid and" in sentence for sentence in long.warnings)
    assert plan.instance == "h100-sxm-8, at least 100 days and 5 machines"
    # the offer without a term stands beside it, and is not hidden by the cheaper hour of the other
    both = answer(offers=[OFFER | {"price": "17 USD/hour", "min_term": "100 days"}, OFFER])
    assert of(both.plans, "acme").instance == "h100-sxm-8"
    deadline = {"deadline": f"{answer(objective='time').plans[0].time.days * 1.01} days"}
    mixed = answer(reservations=HELD | {"overflow": "on-demand"}, limits=LIMITS | deadline)
    first, others = mixed.plans[0].cost.rent
    assert (first.machines, first.usd_per_hour, others.usd_per_hour) == (2, 0, 20)
    assert on_demand(mixed.plans[0]) == 8 * (mixed.plans[0].machines - 2)
    assert on_demand(both.plans[0]) == both.plans[0].devices_paid
    told = "2 machines are reserved; each of the others costs 20 USD/hour"
    assert any(told in sentence for sentence in mixed.warnings)
    assert sum(line.machines * line.hours * line.usd_per_hour for line in (first, others)) == pytest.approx(
        mixed.plans[0].cost.parts["accelerators"]
    )


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"reservations": HELD | {"region": "asia", "overflow": "on-demand"}},
         "reservations[0].overflow: north has no h100-sxm-8 on demand in asia"),
        ({"reservations": HELD | {"overflow": "spot"}}, 'reservations[0].overflow: "spot" is neither '),
        ({"offers": OFFER | {"min_count": 7}}, "offers[0]: count 6 is below min_count 7"),
        ({"offers": OFFER | {"min_term": "90 days", "until": "30 days"}},
         "offers[0].min_term: is longer than the offer holds, 30 days"),
    ],
)  # fmt: skip
def test_terms_that_cannot_be_had_are_refused(sections: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as error:
        answer(**sections)
    (fault,) = [f"{fault.field}: {fault.message}" for fault in error.value.faults]
    assert fault.startswith(told)
