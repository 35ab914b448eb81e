"""The rules that a catalog keeps: references and shapes that must hold, and figures that would be a slip."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from solver.catalog.catalog import Catalog
from solver.catalog.offers import OfferingRow, machines_of
from solver.catalog.prices import oddities
from solver.catalog.records import Device, Fact, Machine
from solver.catalog.stacks import JOINED
from solver.record_files import OWN_SOURCE, nearest
from solver.units import shown

GIB_OVER_GB = 1024**3 / 1000**3
# The most that a dense peak can be of the 16-bit (nvfp4: of the fp8) dense peak; more is the sparse figure.
# int8 and nvfp4 are 4 on GeForce cards, whose 16-bit and fp8 rates are halved; an asic has its own ratios.
DENSE = {"tf32": 1.01, "fp8": 2.2, "mxfp8": 2.2, "int8": 4.2}
NVFP4_OVER_FP8 = 4.2
ASIC_RATIO = 4.0
LAUNCH_YEARS = (2016, 2027)
POWER_OVER_TDP = (1.0, 4.0)  # a machine at the wall, over its devices
USABLE = (0.9, 1.02)  # of the marketed memory
RECALLED = "memory"  # the source of what no copy was found of


class Finding(NamedTuple):
    """One rule that a record breaks."""

    kind: str
    id: str
    field: str
    message: str


def check(catalog: Catalog) -> list[str]:
    """Every rule that a record breaks, one sentence each; empty for a clean catalog."""
    found = [*structure(catalog), *plausibility(catalog)]
    return [f"{f.kind}/{f.id}: {f.field}: {f.message}" for f in found]


def structure(catalog: Catalog) -> list[Finding]:
    """What must hold for the catalog to be used at all."""
    found = [finding for machine in catalog.machines.values() for finding in _machine(catalog, machine)]
    found += [finding for row in catalog.rows for finding in _row(catalog, row)]
    found += [
        Finding(
            "devices", device.id, f"kernels.gemm.{precision}", "is missing, and no nearer precision stands in"
        )
        for device in catalog.devices.values()
        for precision in device.peak
        if precision not in device.kernels.gemm
    ]
    return found


def _machine(catalog: Catalog, machine: Machine) -> Iterator[Finding]:
    findings = [*_references(catalog, machine), *_shape(machine)]
    return (Finding("machines", machine.id, field, message) for field, message in findings)


def _references(catalog: Catalog, machine: Machine) -> Iterator[tuple[str, str]]:
    if machine.device not in catalog.devices:
        yield "device", f"{shown(machine.device)} is no device{nearest(machine.device, catalog.devices)}"
    for field, name, scope in (
        ("scale_up", machine.scale_up, "scale-up"),
        ("default_fabric", machine.default_fabric, "inter-node"),
    ):
        if name is not None and not _joins(catalog, name, scope):
            yield field, f"{shown(name)} is no {scope} link{nearest(name, _links(catalog, scope))}"


def _joins(catalog: Catalog, name: str, scope: str) -> bool:
    return name in catalog.fabrics and catalog.fabrics[name].scope == scope


def _links(catalog: Catalog, scope: str) -> list[str]:
    return [link.id for link in catalog.fabrics.values() if link.scope == scope]


def _shape(machine: Machine) -> Iterator[tuple[str, str]]:
    for field, parts in (("block", machine.block), ("hosts", machine.hosts)):
        if machine.devices % parts:
            yield field, f"{parts} must divide the {machine.devices} devices"
    if machine.domain > machine.devices:
        yield "domain", f"{machine.domain} is more than the {machine.devices} devices"
    if machine.torus and math.prod(machine.torus) != machine.devices:
        yield "torus", f"{machine.torus} is not the {machine.devices} devices"
    if len(machine.wrapped) != len(machine.torus):
        yield "wrapped", f"states {len(machine.wrapped)} of the {len(machine.torus)} edges of the torus"


def _row(catalog: Catalog, row: OfferingRow) -> Iterator[Finding]:
    if not machines_of(row, catalog.machines):
        message = f"{shown(row.machine)} is no machine{nearest(row.machine, catalog.machines)}"
        yield Finding("offerings", row.id, "machine", message)
    if row.fabric is not None and not _joins(catalog, row.fabric, "inter-node"):
        message = f"{shown(row.fabric)} is no fabric{nearest(row.fabric, _links(catalog, 'inter-node'))}"
        yield Finding("offerings", row.id, "fabric", message)
    if row.unit in ("machine", "device") and row.provider not in catalog.providers and not row.max_devices:
        message = (
            f"{shown(row.provider)} is no provider of the catalog: state how many devices it rents to one job"
        )
        yield Finding("offerings", row.id, "max_devices", message)


def plausibility(catalog: Catalog) -> list[Finding]:
    """Figures that are most likely a slip."""
    found = [finding for device in catalog.devices.values() for finding in _device(device)]
    found += [finding for machine in catalog.machines.values() for finding in _power(catalog, machine)]
    found += _prices(catalog)
    found += [*_stacks(catalog), *_followed(catalog), *_aliases(catalog)]
    found += _unsourced(catalog)
    return found


def _device(device: Device) -> Iterator[Finding]:
    def no(field: str, message: str) -> Finding:
        return Finding("devices", device.id, field, message)

    sixteen = device.peak.get("bf16") or device.peak.get("fp16")
    if not sixteen:
        yield no("peak", "has neither bf16 nor fp16")
        return
    limits = {name: most if device.kind != "asic" else ASIC_RATIO for name, most in DENSE.items()}
    ratios = {name: device.peak[name] / sixteen for name in limits if name in device.peak}
    if "nvfp4" in device.peak and "fp8" in device.peak:
        limits, ratios = (
            limits | {"nvfp4": NVFP4_OVER_FP8},
            ratios | {"nvfp4": device.peak["nvfp4"] / device.peak["fp8"]},
        )
    for name, ratio in ratios.items():
        if ratio > limits[name]:
            yield no(f"peak.{name}", f"{ratio:.2f} times the 16-bit peak: is that the sparse figure?")
    usable = device.usable_memory / (device.memory * GIB_OVER_GB)
    if not USABLE[0] <= usable <= USABLE[1]:
        yield no("usable_memory", f"is {usable:.2f} of the marketed memory")
    if not LAUNCH_YEARS[0] <= device.launch_year <= LAUNCH_YEARS[1]:
        yield no("launch_year", f"{device.launch_year} is outside {LAUNCH_YEARS}")


def _power(catalog: Catalog, machine: Machine) -> Iterator[Finding]:
    devices_w = (
        machine.devices * catalog.devices[machine.device].tdp if machine.device in catalog.devices else 0.0
    )
    if devices_w and not POWER_OVER_TDP[0] <= machine.power / devices_w <= POWER_OVER_TDP[1]:
        yield Finding(
            "machines", machine.id, "power", f"is {machine.power / devices_w:.2f} times that of its devices"
        )


def _followed(catalog: Catalog) -> Iterator[Finding]:
    for device in catalog.devices.values():
        if device.successor is not None and device.successor not in catalog.devices:
            message = f"{shown(device.successor)} is no device{nearest(device.successor, catalog.devices)}"
            yield Finding("devices", device.id, "successor", message)
    for kind in ("devices", "machines", "fabrics"):
        for record in getattr(catalog, kind).values():
            if kind != "devices" and RECALLED in record.source and not record.estimated:
                yield Finding(kind, record.id, "estimated", "name the fields that were recalled")
            for name in sorted(set(record.estimated) - type(record).model_fields.keys()):
                yield Finding(kind, record.id, "estimated", f"{shown(name)} is no field of it")


def _aliases(catalog: Catalog) -> Iterator[Finding]:
    called = Counter(alias for machine in catalog.machines.values() for alias in machine.aliases)
    for machine in catalog.machines.values():
        for alias in machine.aliases:
            if called[alias] > 1 or alias in catalog.machines:
                yield Finding("machines", machine.id, "aliases", f"{shown(alias)} means another machine too")


def _stacks(catalog: Catalog) -> Iterator[Finding]:
    """Every framework in a stack, one reference, and a migration for each pair."""
    for stack in catalog.stacks.values():
        for name in stack.frameworks:
            if name not in catalog.frameworks:
                known = nearest(name, catalog.frameworks)
                yield Finding("stacks", stack.id, "frameworks", f"{shown(name)} is no framework{known}")
    if (count := sum(stack.reference for stack in catalog.stacks.values())) != 1:
        yield Finding("stacks", "*", "reference", f"is set for {count} stacks; it must be for one")
    pairs = {f"{a}{JOINED}{b}" for a in catalog.stacks for b in catalog.stacks if a != b}
    for name in sorted(pairs ^ catalog.migrations.keys()):
        yield Finding("migrations", name, "id", "is missing" if name in pairs else "names no two stacks")


def _prices(catalog: Catalog) -> Iterator[Finding]:
    return (Finding("offerings", *oddity) for oddity in oddities(catalog))


def _unsourced(catalog: Catalog) -> Iterator[Finding]:
    for kind in (
        "devices",
        "machines",
        "fabrics",
        "providers",
        "frameworks",
        "operations",
        "ownership",
        "grids",
        "stacks",
        "migrations",
    ):
        for record in getattr(catalog, kind).values():
            yield from _unknown(catalog, kind, record.id, _sources(record))
    for row in catalog.rows:
        yield from _unknown(catalog, "offerings", row.id, _sources(row))
    for kind in ("models", "byte_models"):
        for name, fields in getattr(catalog, kind).items():
            yield from _unknown(catalog, kind, name, fields.get("source") or [])


def _sources(fact: Fact) -> list[str]:
    """Of the record, of the fields that have their own, of a device's kernels."""
    kernels = fact.kernels.source if isinstance(fact, Device) else []
    return [*fact.source, *kernels, *(source for origin in fact.origins.values() for source in origin.source)]


def _unknown(catalog: Catalog, kind: str, name: str, sources: list[str]) -> Iterator[Finding]:
    unknown = [source for source in sources if source not in catalog.sources and source != OWN_SOURCE]
    if unknown or not sources:
        yield Finding(kind, name, "source", f"{', '.join(unknown) or 'none'} is not in sources.yaml")
