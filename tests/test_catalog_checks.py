"""`catalog check`: clean on what is shipped, and each rule fires on a record that breaks it."""

from dataclasses import replace
from typing import Any

import pytest

from solver.catalog import Catalog, check, load


def broken(kind: str, name: str, **fields: Any) -> Catalog:
    """The shipped catalog with some fields of one record changed, unchecked."""
    catalog = load()
    if kind == "rows":
        changed = [row.model_copy(update=fields) if row.id == name else row for row in catalog.rows]
        return replace(catalog, rows=tuple(changed))
    if kind == "offerings":
        offers = [o.model_copy(update=fields) if o.id == name else o for o in catalog.offerings]
        return replace(catalog, offerings=tuple(offers))
    records = getattr(catalog, kind)
    changes: dict[str, Any] = {kind: {**records, name: records[name].model_copy(update=fields)}}
    return replace(catalog, **changes)


def test_the_shipped_catalog_keeps_every_rule() -> None:
    assert check(load()) == []


P5 = "aws:p5.48xlarge:us-east-1"
SPARSE = {"bf16": 989.4e12, "fp8": 3958e12}


@pytest.mark.parametrize(
    ("kind", "name", "fields", "sentence"),
    [
        ("devices", "h100-sxm", {"peak": SPARSE}, "peak.fp8: 4.00 times the 16-bit peak: is that the sparse"),
        ("devices", "h100-sxm", {"peak": {"fp32": 67e12}}, "peak: has neither bf16 nor fp16"),
        ("devices", "h100-sxm", {"peak": {"bf16": 1e15, "fp4": 1e15}}, "kernels.gemm.fp4: is missing"),
        (
            "devices",
            "b200-sxm",
            {"peak": {"bf16": 2e15, "fp8": 4e15, "nvfp4": 2e16}},
            "peak.nvfp4: 5.00 times",
        ),
        ("devices", "h100-sxm", {"usable_memory": 90e9}, "usable_memory: is 1.05 of the marketed memory"),
        ("devices", "h100-sxm", {"launch_year": 1999}, "launch_year: 1999 is outside"),
        ("devices", "h100-sxm", {"source": ["hearsay"]}, "source: hearsay is not in sources.yaml"),
        ("machines", "h100-sxm-8", {"device": "h100"}, 'device: "h100" is no device; did you mean'),
        ("machines", "h100-sxm-8", {"scale_up": "eth-10"}, 'scale_up: "eth-10" is no scale-up link'),
        ("machines", "h100-sxm-8", {"default_fabric": "nvlink4"}, '"nvlink4" is no inter-node link'),
        ("machines", "h100-sxm-8", {"block": 3}, "block: 3 must divide the 8 devices"),
        ("machines", "gb200-nvl72", {"hosts": 7}, "hosts: 7 must divide the 72 devices"),
        ("machines", "h100-sxm-8", {"domain": 16}, "domain: 16 is more than the 8 devices"),
        (
            "machines",
            "tpu-v5e:4x8",
            {"torus": [4, 4], "wrapped": [False, False]},
            "[4, 4] is not the 32 devices",
        ),
        ("machines", "tpu-v5e:4x8", {"wrapped": [False]}, "wrapped: states 1 of the 2 edges"),
        ("machines", "h100-sxm-8", {"power": 1e3}, "power: is 0.18 times that of its devices"),
        ("rows", P5, {"machine": "h100-sxm"}, 'machine: "h100-sxm" is no machine; did you mean'),
        ("rows", P5, {"fabric": "efa"}, 'fabric: "efa" is no fabric'),
        ("rows", P5, {"provider": "awz"}, 'max_devices: "awz" is no provider of the catalog'),
        ("rows", P5, {"spot": 60.0}, "spot: 60.0 is above the 55.04 of on_demand"),
        (
            "offerings",
            f"{P5}:on-demand",
            {"usd_per_hour": 0.1},
            "usd_per_hour: 0.013 USD per device-hour is outside",
        ),
        ("offerings", f"{P5}:on-demand", {"usd_per_hour": 400.0}, "usd_per_hour: 50.000 USD per device-hour"),
    ],
)
def test_a_rule_fires(kind: str, name: str, fields: dict[str, Any], sentence: str) -> None:
    told = check(broken(kind, name, **fields))
    assert any(sentence in line for line in told), told
