"""The constants of time that published runs speak of: read from the catalog, and put back into it.

A value is one constant wherever frameworks and their generations state it for the same field (levels of
fusion, of launching, ...), and so is the `sustained` clock of the devices of a family that have the same. A 0
says that a framework lacks something, and a field that is not stated that nothing is known to differ: those
are no constants.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from solver.catalog import Catalog
from solver.catalog.records import Device, Era, Framework
from solver.physics.hardware import NARROW
from solver.validation.rows import Row
from solver.validation.words import era_of, framework_of

RECORD = -1  # the framework's record itself, where others are the numbers of its eras


class Range(NamedTuple):
    """Of a kind of constant: the neutral start of a fit, and what it may not leave."""

    start: float
    least: float
    most: float
    unit: str = ""


# Starts: one kernel a pass, 60 kernels of 10 us a layer, half of what could hide is hidden, kernels as
# measured but for a tenth; casts read 2 bytes and write 1 + 1; sums are read and written in 4 bytes.
RANGES = {
    "sustained": Range(0.9, 0.6, 1.0),
    "fused": Range(1.0, 0.3, 3.0),
    "layer_launch": Range(600e-6, 10e-6, 3e-3, "s"),
    "expert_launch": Range(100e-6, 5e-6, 1e-3, "s"),
    "step_overhead": Range(30e-3, 2e-3, 500e-3, "s"),
    "send_pause": Range(200e-6, 5e-6, 2e-3, "s"),
    "gradient_overlap": Range(0.5, 0.02, 1.0),
    "gradient_overlaps": Range(0.5, 0.02, 1.0),
    "tensor_overlap": Range(0.5, 0.02, 1.0),
    "expert_overlap": Range(0.5, 0.02, 1.0),
    "attention": Range(0.9, 0.2, 1.0),
    "matmul": Range(0.9, 0.5, 1.0),
    "cast_bytes": Range(4.0, 0.5, 8.0, "B"),
    "accumulation_bytes": Range(8.0, 2.0, 16.0, "B"),
}


# Constants of which only some runs speak: whether a row does.
SPEAKS: dict[str, Callable[[Row], bool]] = {
    "expert_launch": lambda row: row.integer("experts", 0) > 0,
    "expert_overlap": lambda row: row.integer("ep") > 1,
    "cast_bytes": lambda row: row.text("precision") in NARROW,
    "tensor_overlap": lambda row: row.integer("tp") > 1,
    "send_pause": lambda row: row.integer("pp") > 1,
    "gradient_overlap": lambda row: row.integer("dp") > 1,
    "gradient_overlaps": lambda row: row.integer("dp") > 1,
}


class Place(NamedTuple):
    """Where a value stands: a device, or a framework's record or era; key: architecture of the device."""

    record: str
    era: int
    field: str
    key: str = ""


class Constant(NamedTuple):
    """One number, wherever it stands. owners: frameworks, or the family of devices."""

    owners: tuple[str, ...]
    field: str
    value: float
    places: tuple[Place, ...]

    @property
    def name(self) -> str:
        """Tells it from every other: field, architectures, devices or frameworks with their generations."""
        keys = sorted({place.key for place in self.places if place.key})
        stands = sorted({p.record if p.era == RECORD else f"{p.record}:{p.era}" for p in self.places})
        return " ".join([self.field, *keys, *stands])


def constants_of(catalog: Catalog) -> list[Constant]:
    """Every constant of time that a device or framework states and that is not 0."""
    clocks: dict[tuple[str, float], list[Place]] = {}
    for device in catalog.devices.values():
        if "sustained" not in device.kernels.model_fields_set:
            continue
        place = Place(device.id, RECORD, "sustained")
        clocks.setdefault((_whose(device, catalog).family, device.kernels.sustained), []).append(place)
    found = [Constant((f"{family} devices",), "sustained", v, tuple(p)) for (family, v), p in clocks.items()]
    return found + _of_frameworks(catalog)


def _whose(device: Device, catalog: Catalog) -> Device:
    """The device whose clock was taken: the one that its kernels are `like`, where they have the same."""
    other = catalog.devices.get(device.kernels.like)
    if other is None or other.kernels.sustained != device.kernels.sustained:
        return device
    return _whose(other, catalog)


def _of_frameworks(catalog: Catalog) -> list[Constant]:
    """A value is one constant wherever it stands in its field, by key; keys that go together are one."""
    alike: dict[tuple[str, str, float], list[Place]] = {}
    for framework in catalog.frameworks.values():
        for number, source in [*enumerate(framework.eras), (RECORD, framework)]:
            for place, value in _values(framework.id, number, source):
                alike.setdefault((place.field, place.key, value), []).append(place)
    joined: dict[tuple[str, float, tuple[tuple[str, int], ...]], list[Place]] = {}
    for (field, _, value), places in alike.items():
        joined.setdefault((field, value, tuple((p.record, p.era) for p in places)), []).extend(places)
    return [
        Constant(tuple(sorted({p.record for p in places})), field, value, tuple(places))
        for (field, value, _), places in joined.items()
    ]


def _values(framework: str, era: int, source: Era | Framework) -> Iterable[tuple[Place, float]]:
    for field in (name for name in RANGES if name in source.model_fields_set):
        value = getattr(source, field)
        values = value if isinstance(value, dict) else {"": value}
        for key, number in values.items():
            if number:
                yield Place(framework, era, field, key), float(number)


def with_values(catalog: Catalog, values: Mapping[Constant, float]) -> Catalog:
    """The catalog with other values of some constants."""
    devices, frameworks = dict(catalog.devices), dict(catalog.frameworks)
    for constant, value in values.items():
        for place in constant.places:
            if place.field == "sustained":
                devices[place.record] = _with_clock(devices[place.record], value)
            else:
                frameworks[place.record] = _with_value(frameworks[place.record], place, value)
    return replace(catalog, devices=devices, frameworks=frameworks)


def _with_clock(device: Device, value: float) -> Device:
    return device.model_copy(update={"kernels": device.kernels.model_copy(update={"sustained": value})})


def _with_value(framework: Framework, place: Place, value: float) -> Framework:
    if place.era == RECORD:
        return framework.model_copy(update=_changed(framework, place, value))
    eras = list(framework.eras)
    eras[place.era] = eras[place.era].model_copy(update=_changed(eras[place.era], place, value))
    return framework.model_copy(update={"eras": eras})


def _changed(source: Era | Framework, place: Place, value: float) -> dict[str, Any]:
    return {place.field: getattr(source, place.field) | {place.key: value} if place.key else value}


def places_of(row: Row, catalog: Catalog) -> set[Place]:
    """Where the constants of a run stand. A run that no record fits has none."""
    dated, device = framework_of(catalog, row), catalog.devices.get(row.text("device"))
    if dated is None or device is None:
        return set()
    framework = catalog.frameworks[dated.id]
    era = era_of(framework, row)
    number = framework.eras.index(era) if era else RECORD
    found = {Place(device.id, RECORD, "sustained")}
    for field in RANGES:
        own = era is not None and getattr(era, field, None) is not None
        value = getattr(dated, field, None)
        key = device.architecture if isinstance(value, dict) else ""
        if key and key not in value:
            continue
        if field == "gradient_overlap" and device.architecture in dated.gradient_overlaps:
            continue
        if SPEAKS.get(field, always)(row):
            found.add(Place(framework.id, number if own else RECORD, field, key))
    return found


def always(row: Row) -> bool:
    """Every run speaks of it."""
    return bool(row)
