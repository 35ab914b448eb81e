"""What variants share alters none of their answers."""

import json
from pathlib import Path
from typing import Any

from solver.batches import variants_of
from solver.batches.variants import Variant
from solver.batches.worker import Answerer

SMALL = {"limits.max_devices": [64], "limits.machines": ["l40s-8"]}
VARIANTS: list[dict[str, Any]] = [  # each field decides layouts, prices or what is looked at in its own way
    {},
    {"limits.layout.tp": "up to 2"},
    {"limits.machines_step": 3},
    {"limits.machines_step": 3, "limits.deadline": "10 minutes"},
    {"limits.min_devices": 32},
    {"limits.quotas": [{"device": "l40s", "devices": 8}], "objective": "carbon"},
    {"discounts": {"aws": "70%"}, "limits.memory_margin": "20%", "limits.max_energy": "1 MWh"},
    {"already_owned": [{"machine": "l40s-8", "count": 8}], "limits.pricing": ["owned", "spot"]},
    {"training.tokens": "2B", "bill": {"head_nodes": 2}, "limits.layout.pp": 2},
]


def record(answerer: Answerer, variant: Variant, *, alone: bool) -> dict[str, Any]:
    """Without what may differ: time, and the counts of the search."""
    told: dict[str, Any] = json.loads(answerer.line(variant.task | {"alone": alone}))
    told.pop("seconds")
    told["answer"].pop("search")
    return told


def test_answers_beside_others_equal_those_alone(problem: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(json.dumps({"grid": SMALL, "list": VARIANTS}), "utf-8")
    variants = variants_of([problem], (), sweep, 2).variants
    alone = [record(Answerer(), variant, alone=True) for variant in variants]
    assert {told["status"] for told in alone} == {"optimal", "infeasible"}
    answerer = Answerer()
    beside = [record(answerer, variant, alone=False) for variant in reversed(variants)]
    assert beside[::-1] == alone
