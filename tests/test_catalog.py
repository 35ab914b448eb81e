"""Loading a catalog: the shipped one, and a user's folder over it."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from solver.catalog import Catalog, Hardware, load
from solver.catalog.build import catalog_of
from solver.errors import InputError
from solver.record_files import parse, texts


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(folder)
    return str(caught.value)


def test_the_shipped_catalog_loads_once_a_process_and_in_any_thread(
    record_property: Callable[[str, object], None],
) -> None:
    start = time.perf_counter()
    first = load()
    record_property("catalog_load_s", time.perf_counter() - start)
    seen: list[Catalog] = []
    threads = [threading.Thread(target=lambda: seen.append(load())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(catalog is first for catalog in seen)


def test_records_are_in_si_units() -> None:
    device = load().devices["h100-sxm"]
    assert device.peak["bf16"] == 989.4e12
    assert device.memory == 80e9
    assert device.usable_memory == pytest.approx(79.1 * 2**30)
    assert device.memory_bandwidth == 3350e9
    assert load().fabrics["ib-ndr-400x8"].bandwidth == 400e9


def test_a_field_from_elsewhere_keeps_its_own_source() -> None:
    device = load().devices["h100-sxm"]
    assert device.origins["usable_memory"].source == ["allocator-reports"]
    assert "allocator-reports" not in device.source


def test_the_hash_is_of_the_content_not_of_the_order_of_files_or_line_ends(tmp_path: Path) -> None:
    one = {"models/b.yaml": "records: {x: {layers: 2}, y: {layers: 3}}"}
    same = {"models/z.yaml": "records:\r\n  y: {layers: 3}\r\n", "models/x.yaml": "layers: 2\n"}
    other = {"models/b.yaml": "records: {x: {layers: 2}, y: {layers: 9}}"}
    folders = [write(tmp_path / str(n), files) for n, files in enumerate((one, same, other))]
    first, again, third = (catalog_of(parse(texts(folder)), "").hash for folder in folders)
    assert first == again != third


def test_a_fabric_is_found_by_its_alias() -> None:
    found = load().fabric("ib-ndr-8")
    assert found is not None
    assert found.id == "ib-ndr-400x8"
    assert load().fabric("no-such") is None


# Overlay


def test_an_overlay_wins_field_by_field_and_leaves_the_rest(tmp_path: Path) -> None:
    overlay = write(tmp_path, {"devices/h100-sxm.yaml": "tdp: 500 W\npeak: {fp8: 1000 TFLOP/s}\n"})
    device, before = load(overlay).devices["h100-sxm"], load().devices["h100-sxm"]
    assert device.tdp == 500
    assert device.peak["fp8"] == 1e15
    assert device.peak["bf16"] == before.peak["bf16"]
    assert (device.source, device.date) == (["user"], load().date)
    assert load().devices["h100-sxm"] is before
    assert load(overlay).hash != load().hash


def test_an_overlay_is_read_again_when_its_content_changes(tmp_path: Path) -> None:
    overlay = write(tmp_path, {"devices/h100-sxm.yaml": "tdp: 500 W"})
    first = load(overlay)
    assert load(overlay) is first
    write(tmp_path, {"devices/h100-sxm.yaml": "tdp: 600 W"})
    assert load(overlay).devices["h100-sxm"].tdp == 600


def test_null_removes_a_record_and_clears_a_field(tmp_path: Path) -> None:
    records = '{"aws:p5.48xlarge:us-east-1": null, "aws:p5.48xlarge:us-west-2": {spot: null}}'
    overlay = write(
        tmp_path, {"offerings/mine.yaml": f"records: {records}", "devices/mi355x.yaml": "tdp: 1 kW"}
    )
    ids = {offering.id for offering in load(overlay).offerings}
    assert not any(name.startswith("aws:p5.48xlarge:us-east-1") for name in ids)
    assert "aws:p5.48xlarge:us-west-2:on-demand" in ids
    assert "aws:p5.48xlarge:us-west-2:spot" not in ids


def test_a_csv_row_of_nulls_removes_and_an_empty_cell_keeps(tmp_path: Path) -> None:
    rows = "id,on_demand,spot\naws:p5.48xlarge:us-east-1,50,\naws:p5.48xlarge:us-west-2,null,null\n"
    catalog = load(write(tmp_path, {"offerings/prices.csv": rows}))
    prices = {offering.id: offering.usd_per_hour for offering in catalog.offerings}
    assert prices["aws:p5.48xlarge:us-east-1:on-demand"] == 50
    assert prices["aws:p5.48xlarge:us-east-1:spot"] == 20.2037
    assert not any(name.startswith("aws:p5.48xlarge:us-west-2") for name in prices)


def test_a_private_offer_needs_little_more_than_machine_and_price(tmp_path: Path) -> None:
    columns = "id,provider,instance,machine,fabric,on_demand,max_devices"
    rows = f"{columns}\nacme,acme,big,h100-sxm-8,ib-ndr-400x8,18,512\n"
    catalog = load(write(tmp_path, {"offerings/acme.csv": rows}))
    offering = next(o for o in catalog.offerings if o.provider == "acme")
    assert (offering.id, offering.usd_per_hour, offering.max_devices) == ("acme:on-demand", 18, 512)
    assert (offering.source, offering.date) == (["user"], load().date)


FAULTS = {
    "devices/h100-sxm.yaml": [
        ("tpd: 500 W", 'tpd: no such field; did you mean "tdp"?'),
        ("tdp: much", 'tdp: "much" is not a power; write e.g. "2 MW"'),
        ("tdp: 1\ntdp: 2", 'line 1: "tdp" stands twice'),
        ("tdp: [1", "line 2: did not find"),
        ("tdp: &a 1\nnotes: *a", "`*` references are not taken; write the value out"),
        ("[" * 60 + "]" * 60, "is nested deeper than 32 levels"),
        ("just words", "holds no fields; write `field: value` lines"),
        ("date: yesterday", 'date: "yesterday" is not a date; write e.g. 2026-12-01'),
        ("kernels: {like: h100}", 'kernels.like: "h100" is no device of the catalog; did you mean'),
        ("kernels: {like: h100-sxm}", "h100-sxm is like h100-sxm: one of them needs a table of its own"),
        ("kernels: {attention_forward: 1.2}", "kernels.attention_forward: 1.2 is not taken"),
    ],
    "devices/mine.yaml": [("tdp: 1 W", "peak: is missing; state it"), ("null", "no such record to remove")],
    "prices.csv": [("id,spot", "prices.csv: stands outside the folders of records; move it into")],
    "device/x.yaml": [("tdp: 1 W", 'device: no such kind of record; did you mean "devices"?')],
    "machines/m.yaml": [
        ("records: [1]", "`records` must be a mapping from id to fields"),
        ("records: {h100-sxm-8: {scale_up: nvlink}}", 'scale_up: "nvlink" is no scale-up link; did you'),
        ("records: {h100-sxm-8: {block: 3}}", "h100-sxm-8: block: 3 must divide the 8 devices"),
        ("records: {'tpu-v5e:4x8': {torus: [4, 4]}}", "torus: [4, 4] is not the 32 devices"),
    ],
    "fabrics/f.yaml": [("records: {eth-10: {efficiency: 0}}", "efficiency: 0 is not taken")],
    "offerings/o.csv": [
        ("id,on_demnd\na,1", 'on_demnd: no such field; did you mean "on_demand"?'),
        ("name,on_demand\na,1", "the first line must name the columns, `id` among them"),
        ("id,spot\na,1,2", "line 2: has no id, or more cells than there are columns"),
        ("id,spot\na,1\na,2", "a: stands in offerings/o.csv too"),
        ("id,spot\naws:p5.48xlarge:us-east-1,0", "spot: a price of 0 is not taken"),
        ("id,spot\naws:p5.48xlarge:us-east-1,-3", 'spot: "-3" is negative; write e.g.'),
        ("id,spot\naws:p5.48xlarge:us-east-1,40 EUR", '"40 EUR" is not in USD; convert it'),
        ("id,machine\naws:p5.48xlarge:us-east-1,h100-8", 'machine: "h100-8" is no machine; did you'),
        ("id,provider,instance,machine,spot\na,acme,i,h100-sxm-8,9", 'max_devices: "acme" is no provider'),
    ],
}


@pytest.mark.parametrize(
    ("file", "text", "sentence"), [(file, *case) for file, cases in FAULTS.items() for case in cases]
)
def test_a_fault_of_an_overlay_names_file_field_value_and_fix(
    tmp_path: Path, file: str, text: str, sentence: str
) -> None:
    assert sentence in refused(write(tmp_path, {file: text}))


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    device, machine = "tdp: x\ntpd: 1", "records: {h100-sxm-8: {devices: 0}}"
    told = refused(
        write(tmp_path, {"devices/h100-sxm.yaml": device, "machines/m.yaml": machine})
    ).splitlines()
    assert len(told) == 3
    assert all(line.startswith(str(tmp_path)) for line in told)


def test_a_missing_or_unreadable_folder_is_told(tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path / "nowhere")
    write(tmp_path, {"devices/x.yaml": ""})
    (tmp_path / "devices" / "x.yaml").write_bytes(b"\xff\xfe\xff")
    assert "could not be read" in refused(tmp_path)


# Owned hardware


def test_owned_machines_join_the_offerings_at_their_price() -> None:
    catalog = load().with_hardware([Hardware("h100-sxm-8", 4, usd_per_hour=10.0), Hardware("rtx4090-2", 1)])
    big, small = (offering for offering in catalog.offerings if offering.pricing == "owned")
    assert (big.provider, big.region, big.max_devices, big.fabric) == (
        "owned",
        "on-premises",
        32,
        "ib-ndr-400x8",
    )
    assert (small.max_devices, small.fabric, small.usd_per_hour) == (2, None, 0.0)
    assert len(load().offerings) + 2 == len(catalog.offerings)


def test_owned_machines_may_name_their_fabric_by_alias() -> None:
    catalog = load().with_hardware([Hardware("h100-sxm-8", 2, "ib-hdr-8")])
    assert next(o for o in catalog.offerings if o.pricing == "owned").fabric == "ib-hdr-200x8"


def test_every_fault_of_owned_hardware_is_told() -> None:
    items = [Hardware("h100-8", 1), Hardware("h100-sxm-8", 2, "nvlink4"), Hardware("h100-sxm-1", 2)]
    with pytest.raises(InputError) as caught:
        load().with_hardware(items, "a.yaml")
    fields = [fault.field for fault in caught.value.faults]
    assert fields == ["hardware[0].machine", "hardware[1].fabric", "hardware[2].fabric"]
    assert 'did you mean "h100' in caught.value.faults[0].message
    assert "has no usual fabric" in caught.value.faults[2].message
