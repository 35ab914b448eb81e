"""Where several plans cost the same, as on machines that cost nothing or are paid for longer than a run, a
sound one is the first.
"""

from typing import Any

import pytest

import solver

TASK: dict[str, Any] = {
    "model": "llama-2-13b",
    "training": {"tokens": "1B", "sequence_length": 8192, "global_batch": "64 sequences"},
    "bill": {"storage": "0 GB", "egress": "0 GB", "head_nodes": 0},
}
LIMITS = {"frameworks": "megatron-core", "providers": "acme"}
FREE = {"hardware": {"machine": "h100-sxm-8", "count": 1, "price": "0 USD/hour"}}
OFFER = {"provider": "acme", "machine": "h100-sxm-8", "price": "18 USD/hour", "count": 1}


@pytest.mark.parametrize(
    ("market", "limits", "usd"),
    [
        (FREE, {"frameworks": "megatron-core", "pricing": "owned"}, 0.0),
        ({"offers": OFFER | {"min_term": "30 days"}}, LIMITS, 30 * 24 * 18.0),
    ],
)
def test_of_plans_that_cost_the_same_the_first_is_sound(
    market: dict[str, Any], limits: dict[str, Any], usd: float
) -> None:
    file = TASK | market
    roomy = solver.solve(file | {"limits": limits | {"memory_margin": "14%"}}, top=1).plans[0]
    assert not roomy.memory.fragile
    first = solver.solve(file | {"limits": limits}, top=1).plans[0]
    assert first.cost.total_usd == roomy.cost.total_usd == pytest.approx(usd)
    assert not first.memory.fragile
