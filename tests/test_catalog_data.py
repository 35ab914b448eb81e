"""The shipped records against figures typed from their sources, and what they must never offer."""

import re

import pytest

from solver.catalog import STALE_DAYS, age_days, listing, load
from solver.catalog.records import Offering

CATALOG = load()
OFFERINGS = {offering.id: offering for offering in CATALOG.offerings}

# NVIDIA, AMD, Google and AWS data sheets: dense 16-bit TFLOP/s, memory as marketed [GB], bandwidth [GB/s].
SHEETS = {
    "rtx4090": (165.2, 24, 1008),
    "v100-32-sxm": (125, 32, 900),
    "a100-40-sxm": (312, 40, 1555),
    "a100-80-sxm": (312, 80, 2039),
    "l40s": (362, 48, 864),
    "h100-sxm": (989.4, 80, 3350),
    "h200-sxm": (989.4, 141, 4800),
    "b200-sxm": (2250, 180, 8000),
    "gb200": (2500, 186, 8000),
    "mi300x": (1307.4, 192, 5300),
    "mi355x": (2516.6, 288, 8000),
    "gaudi2": (432, 96, 2450),
    "trn2": (667, 96, 2900),
    "tpu-v4": (275, 32, 1200),
    "tpu-v5e": (197, 16, 819),
    "tpu-v5p": (459, 95, 2765),
    "tpu-v6e": (918, 32, 1638),
}

# Price pages and their public copies, at the dates of the records: USD an hour of one machine.
PRICES = {
    "aws:p5.48xlarge:us-east-1:on-demand": 55.04,
    "aws:p5en.48xlarge:us-east-1:on-demand": 63.296,
    "aws:p4d.24xlarge:us-east-1:on-demand": 21.957642,
    "aws:p4d.24xlarge:us-east-1:committed-1y": 13.921094,
    "aws:p5.48xlarge:us-east-1:capacity-block": 41.528,
    "aws:trn2.48xlarge:us-east-2:capacity-block": 35.7608,
    "aws:u-p6e-gb200x72:us-east-1-dfw-2a:capacity-block": 761.904,
    "aws:g6e.48xlarge:us-east-1:on-demand": 30.13118,
    "azure:ND96isr_H100_v5:eastus:on-demand": 98.32,
    "gcp:a3-highgpu-8g:us-central1:on-demand": 87.83,
    "gcp:a3-highgpu-8g:us-central1:flex-start": 43.07,
    "oci:BM.GPU.H100.8:us-ashburn-1:on-demand": 80.0,
    "oci:BM.GPU.GB200.4:us-ashburn-1:on-demand": 64.0,
    "oci:BM.GPU.GB200.4 x 18:us-ashburn-1:on-demand": 1152.0,  # a rack is 18 trays
    "lambda:gpu_8x_h100_sxm5:us:on-demand": 31.92,
    "nebius:gpu-h200-sxm:eu-north1:on-demand": 43.2,
    "crusoe:h100-80gb-sxm-ib:us:on-demand": 31.2,  # 8 x 3.90
    "runpod:h100-sxm:global:on-demand:h100-sxm-1": 3.99,
    "runpod:h100-sxm:global:on-demand:h100-sxm-4": 15.96,
    "runpod:h100-sxm:global:community:h100-sxm-8": 21.52,  # 8 x 2.69
    "gcp:v5e-chip:us-central1:on-demand:tpu-v5e:4x8": 38.4,  # 32 x 1.20
    "gcp:v5p-chip:us-east5:on-demand:tpu-v5p:4x4x4": 268.8,  # 64 x 4.20
    "gcp:v6e-chip:us-east5:spot:tpu-v6e:16x16": 311.04,  # 256 x 1.215
}


@pytest.mark.parametrize(("name", "sheet"), SHEETS.items())
def test_a_device_agrees_with_its_sheet(name: str, sheet: tuple[float, float, float]) -> None:
    device = CATALOG.devices[name]
    sixteen = device.peak.get("bf16") or device.peak["fp16"]
    assert (sixteen / 1e12, device.memory / 1e9, device.memory_bandwidth / 1e9) == pytest.approx(sheet)


@pytest.mark.parametrize(("name", "usd"), PRICES.items())
def test_a_price_agrees_with_its_source(name: str, usd: float) -> None:
    assert OFFERINGS[name].usd_per_hour == pytest.approx(usd, abs=0.005 if usd > 1 else 0)


def test_the_catalog_is_as_wide_as_it_says() -> None:
    rentals = [row for row in CATALOG.rows if row.unit in ("machine", "device") and row.priced]
    assert len(CATALOG.devices) == 52
    assert len(CATALOG.machines) > 150
    assert sum(link.scope == "inter-node" for link in CATALOG.fabrics.values()) > 40
    assert len(rentals) > 250
    assert len({row.provider for row in rentals}) >= 20


def test_what_a_device_lacks_is_left_out() -> None:
    assert "bf16" not in CATALOG.devices["v100-32-sxm"].peak
    assert "bf16" not in CATALOG.devices["t4"].peak
    assert "fp8" not in CATALOG.devices["a100-80-sxm"].peak
    assert "fp8" not in CATALOG.devices["tpu-v5p"].peak
    assert "nvfp4" not in CATALOG.devices["h100-sxm"].peak
    assert CATALOG.devices["b200-sxm"].peak["mxfp8"] == CATALOG.devices["b200-sxm"].peak["fp8"]
    ranks = {name for name, device in CATALOG.devices.items() if device.ranks == 2}
    assert ranks == {"trn1", "tpu-v7", "mi250x"}


def test_every_device_has_matmul_constants_for_every_peak() -> None:
    for device in CATALOG.devices.values():
        assert device.kernels.gemm.keys() == device.peak.keys()


def test_a_precision_without_constants_keeps_the_time_of_a_tile() -> None:
    device = CATALOG.devices["mi300x"]
    wide, narrow = device.kernels.gemm["bf16"], device.kernels.gemm["fp8"]
    assert narrow.efficiency == wide.efficiency
    assert narrow.inner_overhead / device.peak["fp8"] == pytest.approx(
        wide.inner_overhead / device.peak["bf16"]
    )


@pytest.mark.parametrize("name", [name for name in CATALOG.machines if ":" in name])
def test_a_slice_is_its_topology(name: str) -> None:
    machine = CATALOG.machines[name]
    edges = [int(edge) for edge in name.split(":")[1].split("x")]
    assert machine.torus == edges
    assert machine.devices == machine.block == machine.domain
    assert (machine.default_fabric is None) == (machine.max_machines == 1)
    assert not (machine.hosts == 1 and machine.default_fabric)


def test_a_slice_has_a_quarter_as_many_hosts_as_chips_and_shares_their_network() -> None:
    machine = CATALOG.machines["tpu-v5e:4x8"]
    assert (machine.devices, machine.hosts) == (32, 8)
    # Cloud TPU v5e: 6.4 Tbit/s of data-centre network for the 256 chips of a pod = 3.125 GB/s a chip.
    assert machine.fabric_share(CATALOG.fabrics["tpu-dcn-v5e"]) == pytest.approx(6.4e12 / 8 / 256)


def test_a_rack_and_a_tray_have_the_same_network_a_device() -> None:
    fabric = CATALOG.fabrics["ib-ndr-400x4"]
    shares = [CATALOG.machines[name].fabric_share(fabric) for name in ("gb200-4", "gb200-nvl72")]
    assert shares == [50e9, 50e9]
    rack = CATALOG.machines["gb200-nvl72"]
    assert (rack.devices, rack.block, rack.domain, rack.hosts) == (72, 4, 72, 18)


def test_blocks_are_as_machines_are_let() -> None:
    blocks = {
        name: CATALOG.machines[name].block for name in ("h100-sxm-8", "mi300x-8", "rtx4090-8", "l40s-4")
    }
    assert blocks == {"h100-sxm-8": 8, "mi300x-8": 8, "rtx4090-8": 1, "l40s-4": 1}


def test_a_part_of_a_mesh_has_only_the_links_among_its_own() -> None:
    machine, whole = CATALOG.machines["mi300x-2"], CATALOG.machines["mi300x-8"]
    assert CATALOG.fabrics[machine.scale_up].bandwidth == 64e9
    assert CATALOG.fabrics[whole.scale_up].bandwidth == 7 * 64e9


# What is not known to exist must not win


def by_provider(name: str) -> list[Offering]:
    return [offering for offering in CATALOG.offerings if offering.provider == name]


@pytest.mark.parametrize("provider", ["runpod", "vast", "akash", "spheron", "openrelay", "modal"])
def test_a_marketplace_card_is_at_most_the_cards_of_one_host(provider: str) -> None:
    offers = by_provider(provider)
    assert offers
    for offering in offers:
        assert offering.fabric is None
        assert offering.max_devices == CATALOG.machines[offering.machine].devices <= 8


def test_without_a_known_network_a_job_is_one_machine() -> None:
    for offering in CATALOG.offerings:
        if offering.fabric is None:
            assert offering.max_devices == CATALOG.machines[offering.machine].devices


def test_a_card_costs_the_same_alone_or_among_eight() -> None:
    offers = [
        o
        for o in by_provider("runpod")
        if re.fullmatch(r"h100-sxm-\d", o.machine) and o.pricing == "on-demand"
    ]
    assert sorted(CATALOG.machines[o.machine].devices for o in offers) == [1, 2, 4, 8]
    assert {round(o.usd_per_hour / CATALOG.machines[o.machine].devices, 6) for o in offers} == {3.99}


def test_what_is_bought_or_a_part_is_never_rented() -> None:
    bought = [row.id for row in CATALOG.rows if row.unit in ("purchase", "part")]
    assert len(bought) > 30
    assert not [o.id for o in CATALOG.offerings if o.id.rsplit(":", 1)[0] in bought]
    assert not by_provider("onprem")


def test_rows_without_a_price_are_listed_and_not_offered() -> None:
    rented = [row for row in CATALOG.rows if row.unit in ("machine", "device")]
    names = {row.id for row in rented if not row.priced or row.price_basis == "outdated"}
    assert "gcp:a4-highgpu-8g:us-central1" in names
    assert not [o for o in CATALOG.offerings if any(o.id.startswith(name) for name in names)]


def test_terms_follow_the_pricing_kind() -> None:
    block = OFFERINGS["aws:p5.48xlarge:us-east-1:capacity-block"]
    assert (block.max_days, block.max_devices) == (182, 64 * 8)  # 64 instances
    assert OFFERINGS["gcp:a3-highgpu-8g:us-central1:flex-start"].max_days == 7
    assert OFFERINGS["aws:p4d.24xlarge:us-east-1:committed-1y"].term_days == 365
    block = OFFERINGS["aws:p5.48xlarge:us-east-1:capacity-block"]
    assert (block.term_days, block.weeks_beyond, block.max_days) == (1, 14, 182)
    assert OFFERINGS["oblivus:h100-sxm:us:committed-3y:h100-sxm-8"].term_days == 1095
    assert OFFERINGS["aws:p5.48xlarge:us-east-1:on-demand"].max_devices == 16384
    assert OFFERINGS["nebius:gpu-h100-sxm:eu-north1:on-demand"].max_devices == 2048
    assert OFFERINGS["coreweave:gd-8xh100ib-i128:us:on-demand"].max_devices == 8192


def test_prices_carry_the_date_of_their_kind() -> None:
    assert OFFERINGS["aws:p5.48xlarge:us-east-1:spot"].date == "2026-01"
    assert OFFERINGS["aws:p5.48xlarge:us-east-1:capacity-block"].date == "2026-07-22"
    old, new = "oblivus:h100-sxm:us:committed-1y:h100-sxm-1", "lambda:gpu_8x_h100_sxm5:us:on-demand"
    assert age_days(OFFERINGS[old].date, CATALOG.date) > STALE_DAYS
    assert age_days(OFFERINGS[new].date, CATALOG.date) <= STALE_DAYS


@pytest.mark.parametrize("kind", ["devices", "machines", "fabrics", "offerings", "models", "frameworks"])
def test_every_listed_record_has_id_source_and_date(kind: str) -> None:
    records = listing(CATALOG, kind)
    assert [record["id"] for record in records] == sorted(record["id"] for record in records)
    for record in records:
        assert record["id"]
        assert record["source"]
        assert record["date"]
        assert kind != "offerings" or record["provider"]
