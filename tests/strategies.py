"""Small random problems for the search, and the small catalog that they shop in."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st

from solver.catalog import load

ROWS: dict[str, dict[str, Any]] = {  # offerings in place of the shipped ones: every kind of price and machine
    "north:big:eu": {
        "provider": "north", "instance": "big", "region": "eu",
        "machine": "h100-sxm-8", "fabric": "ib-ndr-400x8",
        "on_demand": 20.0, "spot": 9.0, "committed_1y": 11.0, "capacity_block": 15.0, "max_devices": 32,
    },
    "north:big:us": {
        "provider": "north", "instance": "big", "region": "us",
        "machine": "h100-sxm-8", "fabric": "ib-ndr-400x8",
        "on_demand": 22.0, "max_devices": 32,
    },
    "north:slow:eu": {
        "provider": "north", "instance": "slow", "region": "eu", "machine": "h100-sxm-8", "fabric": "eth-100",
        "on_demand": 17.0, "max_devices": 16,
    },
    "west:old": {
        "provider": "west", "instance": "old", "machine": "a100-80-sxm-8", "fabric": "ib-hdr-200x8",
        "on_demand": 9.0, "flex_start": 5.0, "max_days": 7.0, "max_devices": 64,
    },
    "south:cards": {
        "provider": "south", "instance": "cards", "unit": "device", "machine": "rtx4090-[124]",
        "on_demand": 0.4, "community": 0.3, "max_devices": 4,
    },
    "east:slice": {
        "provider": "east", "instance": "slice", "machine": "tpu-v5e:2x4", "on_demand": 9.6, "max_devices": 8,
    },
    "east:cores": {
        "provider": "east", "instance": "cores", "machine": "trn1-1", "on_demand": 1.34, "max_devices": 1,
    },
}  # fmt: skip
PROVIDERS = {"north": {"kind": "cloud", "terms": {"capacity-block": {"term_days": 1, "weeks_beyond": 14}}}}
CARDS_TRAIN_WITH = ("megatron-core", "torchtitan", "deepspeed")
MACHINES = {  # what trains on them
    "h100-sxm-8": (*CARDS_TRAIN_WITH, "maxtext"),
    "a100-80-sxm-8": (*CARDS_TRAIN_WITH, "maxtext"),
    "rtx4090-[124]": CARDS_TRAIN_WITH,
    "rtx4090-8": CARDS_TRAIN_WITH,
    "tpu-v5e:2x4": ("maxtext",),
    "trn1-1": ("neuronx",),
}
PRICINGS = ("spot", "committed-1y", "capacity-block", "flex-start", "community", "owned", "on-demand")
CARDS = {"machine": "rtx4090-8", "count": 2, "fabric": "eth-100", "price": "1.5 USD/hour"}
SHAPES: tuple[dict[str, Any], ...] = (
    {"layers": 4, "hidden": 512, "heads": 4, "kv_heads": 2, "ffn": 1024, "vocab": 4000},
    {"layers": 5, "hidden": 768, "heads": 6, "kv_heads": 3, "ffn": 2048, "vocab": 50257, "gated_mlp": False},
    # why: 3.2B parameters, so that single cards hold it only when it is spread or recomputed
    {"layers": 6, "hidden": 6144, "heads": 8, "kv_heads": 8, "ffn": 12288, "vocab": 64000},
    {"layers": 2, "hidden": 256, "heads": 4, "kv_heads": 4, "ffn": 512, "vocab": 1000,
     "attention": {"window": 64}},
    {"layers": 4, "hidden": 512, "heads": 2, "vocab": 8000, "experts": 4, "experts_per_token": 2,
     "expert_ffn": 512},
)  # fmt: skip


@cache
def small_catalog(price_factor: float = 1.0) -> str:
    """Folder of an overlay that leaves of all offerings the ROWS, at `price_factor` times their prices."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "offerings").mkdir()
    none = {"records": {row.id: None for row in load().rows}}
    (folder / "offerings" / "none.yaml").write_text(json.dumps(none))
    prices = ("on_demand", "spot", "committed_1y", "capacity_block", "flex_start", "community")
    rows = {name: row | {p: row[p] * price_factor for p in prices if p in row} for name, row in ROWS.items()}
    (folder / "offerings" / "some.yaml").write_text(json.dumps({"records": rows}))
    (folder / "providers").mkdir()
    (folder / "providers" / "some.yaml").write_text(json.dumps({"records": PROVIDERS}))
    return str(folder)


@st.composite
def trainings(draw: st.DrawFn) -> dict[str, Any]:
    """Small batches, so that a few thousand layouts are all there are."""
    return {
        "steps": draw(st.sampled_from([20_000, 1_000_000, 5_000_000])),
        "sequence_length": draw(st.sampled_from([256, 512, 1000])),
        "global_batch": f"{draw(st.sampled_from([2, 4, 4, 6, 8]))} sequences",
        "precision": draw(st.sampled_from([["bf16"], ["bf16"], ["bf16"], ["bf16", "fp8"]])),
    }


@st.composite
def pins(draw: st.DrawFn) -> dict[str, Any]:
    """Values that a layout may take, mostly of one or two dimensions."""
    values: dict[str, st.SearchStrategy[Any]] = {
        "tp": st.sampled_from([[1, 2], 2, 4, "up to 2", ["not 2", "not 8"]]),
        "cp": st.sampled_from([1, [1, 2], ">= 2"]),
        "pp": st.sampled_from([1, [2, 4], "2-3", ["not 1", 1]]),
        "vpp": st.just(1),
        "dp": st.sampled_from([1, [2, 4], 8, [3, "4-8"]]),
        "zero": st.sampled_from([1, 3, [0, 1]]),
        "micro_batch": st.sampled_from([1, 2, 3]),
        "grad_accum": st.sampled_from([1, [1, 2, 4], "up to 2"]),
        "recompute": st.sampled_from(["full", ["none", "full"]]),
        "ep": st.sampled_from([1, [1, 2]]),
        "shard": st.sampled_from([1, 2, ">= 2"]),
    }
    names = draw(st.lists(st.sampled_from(sorted(values)), max_size=2, unique=True))
    return {name: draw(values[name]) for name in names}


@st.composite
def problems(draw: st.DrawFn, *, pinned: bool = True) -> dict[str, Any]:
    """A requirements file over a few machines and frameworks of the small catalog, without numeric limits."""
    machines = draw(st.lists(st.sampled_from(sorted(MACHINES)), min_size=1, max_size=2, unique=True))
    run_there = sorted({framework for machine in machines for framework in MACHINES[machine]})
    limits: dict[str, Any] = {
        "machines": machines,
        "frameworks": draw(st.lists(st.sampled_from(run_there), min_size=1, max_size=2, unique=True)),
        "max_devices": draw(st.sampled_from([8, 8, 16])),
        "machines_step": draw(st.sampled_from([1, 1, 1, 2])),
    }
    if draw(st.booleans()):
        kinds = draw(st.lists(st.sampled_from(PRICINGS), max_size=3, unique=True))
        limits["pricing"] = sorted({draw(st.sampled_from(["on-demand", "on-demand", "spot"])), *kinds})
    if pinned and (layout := draw(pins())):
        limits["layout"] = layout
    return {
        "model": draw(st.sampled_from(SHAPES)),
        "training": draw(trainings()),
        "limits": limits,
        "hardware": [CARDS],
        "catalog": small_catalog(),
        "objective": draw(st.sampled_from(["cost", "time", "energy", "carbon"])),
    }


@st.composite
def markets(draw: st.DrawFn, factor: float = 1.0) -> dict[str, Any]:
    """Offers that bind for a while, and reservations that others join; prices times a factor."""
    offer: dict[str, Any] = {"provider": "acme", "machine": "h100-sxm-8", "count": 3, "fabric": "eth-100"}
    offer |= {"price": f"{draw(st.sampled_from([9, 16])) * factor} USD/hour"}
    offer |= draw(st.sampled_from([{}, {"min_term": "20 days"}, {"min_term": "2 hours", "min_count": 2}]))
    held: dict[str, Any] = {"provider": "north", "machine": "h100-sxm-8", "count": 1, "region": "eu"}
    held |= {"price": f"{draw(st.sampled_from([0, 3])) * factor} USD/hour"}
    further = draw(st.sampled_from([None, 12, 2]))
    held |= {"overflow": "on-demand" if further is None else f"{further * factor} USD/hour"}
    made = {"offers": [offer], "reservations": [held]}
    return {name: made[name] for name in draw(st.sets(st.sampled_from(sorted(made))).map(sorted))}
