"""Twenty records, over makers and years, against figures typed from public sources, not from our files.

Each line: dense peaks [TFLOP/s, TOP/s], memory as marketed [GB], its bandwidth [GB/s], power [W] where the
source prints it. Sheets that print sparse figures are halved here, by hand. A tolerance is the last digit
that the source prints.
"""

from typing import NamedTuple

import pytest

from solver.catalog import load
from solver.globs import matches
from solver.question import understand
from solver.search import solve_problem


class Sheet(NamedTuple):
    peak: dict[str, float]
    memory: float
    bandwidth: float | None
    power: float | None
    tolerance: float
    source: str


AWS = "https://awsdocs-neuron.readthedocs-hosted.com/en/v2.29.0/about-neuron/arch/neuron-hardware"
GCP = "https://docs.cloud.google.com/tpu/docs"
INTEL = "https://www.sgpjbg.com/baogao/465025.html"  # Intel at Hot Chips 2024
PAIR = "https://datacrunch.io/blog/nvidia-b300-vs-b200-complete-gpu-comparison-to-date"
AMD_MI250X = "https://zexron.com/amd-mi250-x-aldebaran-as-mcm-with-up-to-479-teraflop-s-and-560-watt-tdp"
VULTR = "https://docs.vultr.com/inference-cookbook/rocm/getting-started/hardware-requirements"
HMC = "https://hmc-tech.com/gpu/nvidia-t4-vs-nvidia-v100-sxm"
VERDA = "https://verda.com/blog/gb300-nvl72-architecture"  # divided by two for sparsity by the page itself
L40 = "https://www.mullet.se/product.html?product_id=355414"  # NVIDIA's sheet of L40 and L40S, reprinted
LOCKWOOD = "https://glennklockwood.com/garden/processors"  # cites NVIDIA's data sheets
GB300_NVL72 = f"{VERDA}, memory {LOCKWOOD}/B300"

SHEETS = {
    "tpu-v5e": Sheet({"bf16": 197, "int8": 393}, 16, 819, None, 0.003, f"{GCP}/v5e"),
    "tpu-v5p": Sheet({"bf16": 459}, 95, 2765, None, 0, f"{GCP}/v5p"),
    "tpu-v6e": Sheet({"bf16": 918, "int8": 1836}, 32, 1638, None, 0, f"{GCP}/v6e"),
    "trn1": Sheet({"bf16": 190, "int8": 380, "fp32": 47.5}, 32, 820, None, 0, f"{AWS}/trainium.html"),
    "trn2": Sheet({"bf16": 667, "fp8": 1299, "fp32": 181}, 96, 2900, None, 0, f"{AWS}/trainium2.html"),
    "a100-40-sxm": Sheet(
        {"bf16": 312, "tf32": 156, "int8": 624, "fp32": 19.5}, 40, 1555, 400, 0,
        "https://upb-pc2.atlassian.net/wiki/spaces/PC2DOK/pages/1900609/NVIDIA+A100+40GB+with+NVLINK",
    ),
    "a100-80-sxm": Sheet({"bf16": 312, "fp16": 312, "int8": 624}, 80, 2039, 400, 0, f"{LOCKWOOD}/A100"),
    "a100-80-pcie": Sheet(
        {"bf16": 312}, 80, 1935, 300, 0, "https://www.thundercompute.com/blog/nvidia-a100-specs-full-guide"
    ),
    "h100-sxm": Sheet({"fp8": 3958 / 2}, 80, 3350, 700, 0, "https://lzwjava.github.io/nvidia-h200-gpu-specs-en"),
    "h200-sxm": Sheet({"fp8": 3958 / 2}, 141, 4800, 700, 0, "https://lzwjava.github.io/nvidia-h200-gpu-specs-en"),
    "l40": Sheet({"bf16": 181.05, "fp8": 362, "tf32": 90.5, "fp32": 90.5}, 48, 864, 300, 0.001, L40),
    "l40s": Sheet({"bf16": 362.05, "fp8": 733, "tf32": 183, "fp32": 91.6}, 48, 864, 350, 0.001, L40),
    "l4": Sheet({"fp16": 242 / 2, "fp8": 485 / 2}, 24, 300, 72, 0.003, "https://grokipedia.com/page/NVIDIA_L4_vs_L40S"),
    "t4": Sheet({"fp16": 65.13, "fp32": 8.14, "int8": 130.25}, 16, 320, 70, 0.006, HMC),
    "b200-sxm": Sheet({"bf16": 2250, "fp8": 4500, "nvfp4": 9000, "int8": 4500}, 180, None, 1000, 0, VERDA),
    "b300-sxm": Sheet({"bf16": 2250, "fp8": 4500, "nvfp4": 14e3, "int8": 150}, 288, 8000, 1100, 0.06, PAIR),
    "gb300": Sheet({"bf16": 2500, "fp8": 5000, "nvfp4": 15000, "int8": 165}, 288, 8000, 1400, 0, GB300_NVL72),
    "gaudi2": Sheet({"bf16": 432}, 96, 2460, 600, 0.005, INTEL),
    "mi250x": Sheet({"bf16": 383, "fp16": 383, "int8": 383}, 128, 3200, None, 0.03, AMD_MI250X),
    "mi325x": Sheet({"fp16": 1307}, 256, 6000, None, 0.001, VULTR),
}  # fmt: skip


@pytest.mark.parametrize(("name", "sheet"), SHEETS.items())
def test_a_device_agrees_with_its_public_source(name: str, sheet: Sheet) -> None:
    device = load().devices[name]
    rel = max(sheet.tolerance, 1e-9)
    ours = {precision: device.peak[precision] / 1e12 for precision in sheet.peak}
    assert ours == pytest.approx(sheet.peak, rel=rel), sheet.source
    assert device.memory / 1e9 == sheet.memory, sheet.source
    if sheet.bandwidth is not None:
        assert device.memory_bandwidth / 1e9 == pytest.approx(sheet.bandwidth, rel=rel), sheet.source
    if sheet.power is not None:
        assert device.tdp == sheet.power, sheet.source


def test_twenty_are_sampled_from_every_maker_that_is_rented() -> None:
    catalog = load()
    rented = {catalog.devices[catalog.machines[o.machine].device].vendor for o in catalog.offerings}
    assert len(SHEETS) == 20
    assert {catalog.devices[name].vendor for name in SHEETS} >= rented


def test_every_device_tells_who_may_buy_it_and_nothing_is_followed_by_an_older_one() -> None:
    devices = load().devices
    assert len(devices) == 52
    for device in devices.values():
        assert device.availability
        assert device.origins["availability"].source
        if device.successor:
            assert devices[device.successor].launch_year >= device.launch_year


# Cloud TPU v5p page (https://docs.cloud.google.com/tpu/docs/v5p): topology -> TensorCores, chips, hosts.
V5P = {
    "2x2x1": (8, 4, 1), "2x2x2": (16, 8, 2), "2x4x4": (64, 32, 8), "4x4x4": (128, 64, 16),
    "4x4x8": (256, 128, 32), "4x8x8": (512, 256, 64), "8x8x8": (1024, 512, 128), "8x8x16": (2048, 1024, 256),
    "8x16x16": (4096, 2048, 512), "16x16x16": (8192, 4096, 1024), "16x16x24": (12288, 6144, 1536),
}  # fmt: skip


@pytest.mark.parametrize(("topology", "counts"), V5P.items())
def test_a_slice_called_by_its_tensorcores_is_the_one_of_the_providers_page(
    topology: str, counts: tuple[int, int, int]
) -> None:
    cores, chips, hosts = counts
    machine = load().machine(f"v5p-{cores}")
    assert machine is not None
    assert (machine.id, machine.devices, machine.hosts) == (f"tpu-v5p:{topology}", chips, hosts)


def solved(**fields: object) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Machine, machines and devices of the plans, and what was assumed."""
    training = {"tokens": "10B", "sequence_length": 8192, "global_batch": "512 sequences"}
    limits = {"deadline": "20 days", "frameworks": ["maxtext"]}
    given = {"model": "llama-3-8b", "training": training, "limits": limits} | fields
    answer = solve_problem(understand(given), top=3, distinct="layout")
    return [(p.machine, p.machines, p.devices) for p in answer.plans], answer.assumptions


def test_v5p_64_means_32_chips_and_is_told() -> None:
    plans, assumed = solved(limits={"machines": ["v5p-64"], "max_devices": 32})
    assert {plan[:3] for plan in plans} == {("tpu-v5p:2x4x4", 1, 32)}
    told = "v5p-64 is read as tpu-v5p:2x4x4, 32 devices (its number counts TensorCores, two to a chip)"
    assert f"limits.machines: {told}" in assumed
    plans, assumed = solved(hardware=[{"machine": "v5p-64", "count": 2}], limits={"pricing": ["owned"]})
    assert {name for name, _, _ in plans} == {"tpu-v5p:2x4x4"}
    assert any("hardware: v5p-64 is read as" in line for line in assumed)


def test_only_legal_slices_are_returned_and_several_are_whole() -> None:
    catalog = load()
    plans, _ = solved(limits={"devices": ["tpu-v5e"], "min_devices": 512})
    assert plans
    for name, machines, devices in plans:
        assert name in matches(catalog, "machines", "tpu-v5e:*")
        assert devices == machines * catalog.machines[name].devices
        assert machines > 1  # beyond a pod of 256: several whole slices
