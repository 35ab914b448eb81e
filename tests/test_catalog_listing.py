"""`catalog`: one record with its sources, filters by field, and what two catalogs do not share."""

from pathlib import Path

import pytest

from solver.catalog import difference, filtered, listing, load, one, read
from solver.errors import InputError
from solver.record_files import shipped_folder

P5 = "aws:p5.48xlarge:us-east-1"


def test_the_catalog_is_as_wide_as_is_asked() -> None:
    catalog = load()
    counts = {kind: len(listing(catalog, kind)) for kind in ("devices", "machines", "fabrics", "offerings")}
    assert counts["devices"] >= 50
    assert counts["machines"] >= 60
    assert counts["fabrics"] >= 20
    assert counts["offerings"] >= 300
    assert len({o["provider"] for o in listing(catalog, "offerings")}) >= 20
    assert all(o["usd_per_hour"] > 0 and o["source"] and o["date"] for o in listing(catalog, "offerings"))


def test_offerings_are_filtered_by_device_and_pricing_and_priced_by_the_device_hour() -> None:
    found = filtered(listing(load(), "offerings"), ["device=h100-sxm", "pricing=on-demand", f"{P5}*"])
    (offering,) = found
    assert offering["usd_per_device_hour"] == offering["usd_per_hour"] / 8 == 55.04 / 8


def test_a_filter_by_no_field_is_refused() -> None:
    with pytest.raises(InputError, match='"devise" is no field of them; did you mean "device"'):
        filtered(listing(load(), "offerings"), ["devise=h100*"])


def test_one_hour_of_an_h100_ranks_as_the_market_does() -> None:
    """Marketplaces below clouds with InfiniBand, these below hyperscalers."""
    catalog = load()
    offers = filtered(listing(catalog, "offerings"), ["device=h100-sxm", "pricing=on-demand"])
    least: dict[str, float] = {}
    for offer in offers:
        kind = catalog.providers[offer["provider"]].kind
        if kind != "cloud" or offer["fabric"]:
            least[kind] = min(least.get(kind, 1e9), offer["usd_per_device_hour"])
    assert least["marketplace"] < least["cloud"] < least["hyperscaler"]
    assert 2 < least["marketplace"] < least["hyperscaler"] < 10


def test_a_record_is_shown_with_what_its_sources_are() -> None:
    record = one(load(), "devices", "a100-80-sxm")
    assert list(record)[:2] == ["id", "name"]
    assert {"aiconfigurator", "allocator-reports", "nvidia-8k-2023"} <= record["sources"].keys()
    assert record["sources"]["nvidia-8k-2023"]["where"].startswith("https://sec.gov/")
    with pytest.raises(InputError, match='"a100" is none of the devices; did you mean "a10'):
        one(load(), "devices", "a100")


def test_a_difference_names_what_was_added_removed_and_changed(tmp_path: Path) -> None:
    (tmp_path / "offerings").mkdir()
    (tmp_path / "devices").mkdir()
    acme = "acme: {provider: acme, instance: i, machine: h100-sxm-8, on_demand: 18, max_devices: 8}"
    rows = f'"{P5}": {{on_demand: 49.536}}, "aws:p5.48xlarge:us-west-2": null, {acme}'
    (tmp_path / "offerings" / "mine.yaml").write_text(f"records: {{{rows}}}\n")
    (tmp_path / "devices" / "h100-sxm.yaml").write_text("tdp: 650 W\npeak: {fp8: 1900 TFLOP/s}\n")
    found = difference(read("built-in"), read(str(tmp_path)))
    offers = found["kinds"]["offerings"]
    assert offers["added"] == ["acme:on-demand"]
    assert "aws:p5.48xlarge:us-west-2:on-demand" in offers["removed"]
    changed = {(c["id"], c["field"]): (c["from"], c["to"]) for c in found["kinds"]["devices"]["changed"]}
    assert changed["h100-sxm", "tdp"] == (700, 650)
    assert changed["h100-sxm", "peak.fp8"] == (1979e12, 1900e12)
    (price,) = found["prices"]
    assert (price["id"], price["change_pct"]) == (f"{P5}:on-demand", pytest.approx(-10))


def test_a_whole_catalog_stands_alone_and_equals_itself() -> None:
    whole = read(str(shipped_folder()))
    assert whole == load()
    found = difference(load(), whole)
    assert found["kinds"] == {}
    assert found["prices"] == []
