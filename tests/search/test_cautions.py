"""What a buyer is told of prices that look odd and of hosts that cannot feed a plan."""

from typing import Any

import pytest
from strategies import SHAPES, small_catalog

import solver

TRAINING = {"steps": 2000, "sequence_length": 512, "global_batch": "32 sequences"}


def warnings(**sections: Any) -> list[str]:
    known = {"model": SHAPES[3], "training": TRAINING, "catalog": small_catalog()}
    return solver.solve(known | sections, top=1).warnings


def told(part: str, **sections: Any) -> bool:
    return any(part in warning for warning in warnings(**sections))


def test_a_spot_price_that_saves_nothing_is_told() -> None:
    limits = {"pricing": "spot", "providers": "north"}
    dear = {"north:big:eu:spot": "20 USD/hour"}
    assert told("the spot price is not below the 20.00 USD an hour on demand", limits=limits, prices=dear)
    assert not told("the spot price is not below", limits=limits)


def test_power_from_nobody_knows_where_is_told_where_its_carbon_counts() -> None:
    unknown = "its carbon dioxide is that of the world's mean power"
    own = {"machine": "h100-sxm-8", "count": 1}
    limits = {"pricing": "owned", "max_carbon": "9 t"}
    assert told(unknown, hardware=own, limits=limits)
    assert not told(unknown, hardware=own, limits={"pricing": "owned"})
    assert not told(unknown, hardware=own, limits=limits, ownership={"carbon": "30 g/kWh"})


def test_more_text_than_there_is_and_runs_of_many_years_are_warned_of() -> None:
    large = {"tokens": "1e18", "sequence_length": 512, "global_batch": "32 sequences"}
    limits = {"max_devices": 8}
    for sentence in (
        "are more than the 300T or so of all public text",
        "longer than the 4 years that machines",
    ):
        assert told(sentence, training=large, limits=limits)
        assert not told(sentence, limits=limits)


@pytest.mark.parametrize(("usd", "odd"), [("0.9 USD/hour", True), ("30 USD/hour", False)])
def test_a_price_far_from_what_others_ask_is_told(usd: str, odd: bool) -> None:  # noqa: FBT001
    offer = {"provider": "acme", "machine": "h100-sxm-8", "price": usd, "count": 1}
    problem = {
        "model": "llama-3-8b",
        "training": {"tokens": "10B", "sequence_length": 4096, "global_batch": "64 sequences"},
        "offers": offer,
        "limits": {"providers": ["acme", "aws", "lambda", "crusoe", "verda"], "devices": "h100-sxm"},
        "objective": "cost",
    }
    plan, *_ = (found := solver.solve(problem, top=1)).plans
    assert any("that others ask" in warning for warning in found.warnings) == odd
    assert plan.provider == "acme"


def test_hosts_that_would_have_to_tokenize_too_much_are_warned_of() -> None:
    text = {"dataset": "5 GB", "sequence_length": 512, "global_batch": "4096 sequences"}
    big = {"providers": "north", "machines": "h100-sxm-8"}
    sentence = "MB/s of text into tokens, more than the 50 MB/s of its processors"
    assert told(sentence, training=text, limits=big)
    assert not told(sentence, training=text | {"dataset": "5 GB"}, limits=big, model="llama-3-8b")
    assert not told(sentence, limits=big)  # tokens, not text


def test_of_two_quotes_for_one_machine_the_one_that_is_bought_is_told() -> None:
    """The dearer quote stands first: neither what is paid up front nor a caution may be taken from it."""
    dear = {"machine": "h100-sxm-8", "price": "400k USD", "count": 1}
    problem = {
        "model": SHAPES[3], "training": TRAINING, "catalog": small_catalog(),
        "buy": [dear, dear | {"price": "300k USD"}],
        "limits": {"providers": ["bought", "north"], "budget": "350k USD"},
    }  # fmt: skip
    found = solver.solve(problem, top=1)
    assert found.rent_or_buy is not None
    assert found.rent_or_buy.capex_usd == pytest.approx(300_000)
    assert not any("paid up front" in warning for warning in found.warnings)


def test_power_that_no_source_states_is_told_where_energy_decides() -> None:
    limits = {"devices": "tpu-v6e", "max_devices": 16}
    assert told("no source states the power of tpu-v6e", catalog=None, limits=limits, objective="energy")
    assert not told("no source states the power", catalog=None, limits=limits)


def test_an_offer_that_ends_before_the_slow_end_of_the_band_is_told() -> None:
    training = {"tokens": "800B", "sequence_length": 8192, "global_batch": "512 sequences"}
    problem = {
        "model": "llama-3-8b",
        "training": training,
        "limits": {"pricing": "flex-start", "max_devices": 256},
    }
    found = solver.solve(problem, top=1)
    plan, ends = found.plans[0], [w for w in found.warnings if "the offer ends after 7" in w]
    assert plan.time.days < 7
    assert bool(ends) == (plan.time.high_days > 7)
    assert ends


def test_what_a_device_lacks_is_told_of_its_plans() -> None:
    training = {"tokens": "1B", "sequence_length": 1024, "global_batch": "64 sequences", "precision": "fp16"}
    own = {"machine": "v100-32-sxm-8", "count": 1}
    limits = {"pricing": "owned"}
    lack = "v100-32-sxm lacks FlashAttention 2 and later"
    assert told(lack, catalog=None, model="gpt2-xl", training=training, hardware=own, limits=limits)
