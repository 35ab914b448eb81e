"""Records as typed facts: each field of a folder's records is read, every fault told at once."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from solver.catalog import checks
from solver.catalog.accuracy import Band
from solver.catalog.catalog import Catalog
from solver.catalog.money import Grid, Ownership
from solver.catalog.offers import OfferingRow, Provider, Sites, Terms, offerings
from solver.catalog.records import Device, Fact, Framework, Gemm, Kernels, Link, Machine, Operations
from solver.catalog.stacks import Migration, Stack
from solver.errors import Fault, InputError
from solver.record_files import Fields, Folder, combined, nearest
from solver.units import shown

AnyFact = TypeVar("AnyFact", bound=Fact)
LONGEST = 60  # a field name that is printed as it stands
WRAPPED = {"value", "source", "date"}  # a field from elsewhere than its record
GUESSES = {"memory", "estimate"}  # kinds of sources that state nothing

# Whose matmul constants a precision takes that has none of its own: the first of these that the device has.
NEAREST_PRECISION = {
    "bf16": ("fp16",),
    "fp16": ("bf16",),
    "tf32": ("bf16", "fp16"),
    "fp32": ("tf32", "bf16", "fp16"),
    "fp8": ("bf16", "fp16"),
    "int8": ("fp8", "bf16", "fp16"),
    "mxfp8": ("fp8", "bf16"),
    "nvfp4": ("mxfp8", "fp8", "bf16"),
}
FIELDS = {
    name
    for m in (Device, Kernels, Gemm, Machine, Link, Provider, Terms, OfferingRow, Framework, Ownership, Grid)
    for name in m.model_fields
}


def catalog_of(folder: Folder, where: str) -> Catalog:
    """The catalog of a folder's records. Raises InputError with every fault."""
    faults = list(folder.faults)
    machines = _read(folder, "machines", Machine, faults)
    providers = _read(folder, "providers", Provider, faults)
    rows = tuple(sorted(_read(folder, "offerings", OfferingRow, faults).values(), key=lambda row: row.id))
    operations = _read(folder, "operations", Operations, faults)
    grids = _read(folder, "grids", Grid, faults)
    sites = Sites(providers, grids, operations.get("operations"))
    offered = [offering for row in rows for offering in offerings(row, machines, sites)]
    catalog = Catalog(
        devices={
            name: _filled(d)
            for name, d in _read(_with_kernels(folder, faults), "devices", Device, faults).items()
        },
        machines=machines,
        fabrics=_read(folder, "fabrics", Link, faults),
        providers=providers,
        models={name: {"id": name} | fields for name, fields in _stated(folder, "models")},
        frameworks=_read(folder, "frameworks", Framework, faults),
        stacks=_read(folder, "stacks", Stack, faults),
        migrations=_read(folder, "migrations", Migration, faults),
        byte_models=dict(_stated(folder, "byte_models")),
        operations=operations,
        ownership=_read(folder, "ownership", Ownership, faults),
        grids=grids,
        accuracy=_read(folder, "accuracy", Band, faults),
        sources=dict(_stated(folder, "sources")),
        rows=rows,
        offerings=tuple(sorted(offered, key=lambda offering: offering.id)),
        date=_newest(folder),
        hash=_digest(folder),
    )
    if not faults:
        found = checks.structure(catalog)
        faults = [Fault(f"{folder.place(f.kind, f.id)}: {f.field}", f.message) for f in found]
    if faults:
        raise InputError(where, faults)
    return catalog


def _stated(folder: Folder, kind: str) -> list[tuple[str, Fields]]:
    """The records of a kind in the order of their ids, without those that were removed."""
    return [(name, fields) for name, fields in sorted(folder.records[kind].items()) if fields is not None]


def _read(folder: Folder, kind: str, fact: type[AnyFact], faults: list[Fault]) -> dict[str, AnyFact]:
    found, guesses = {}, _guesses(folder)
    for name, fields in _stated(folder, kind):
        try:
            found[name] = _marked(fact.model_validate({**_unwrapped(fields), "id": name}), guesses)
        except ValidationError as error:
            place = folder.place(kind, name)
            faults += [Fault(f"{place}: {_path(e)}", sentence(e)) for e in error.errors(include_url=False)]
    return found


def _unwrapped(fields: Fields) -> Fields:
    """Plain values, with the origins of those fields that state one of their own."""
    own = {k: v for k, v in fields.items() if isinstance(v, dict) and "value" in v and v.keys() <= WRAPPED}
    if not own:
        return fields
    record = {"source": fields.get("source"), "date": fields.get("date")}
    origins = {k: record | {n: v[n] for n in ("source", "date") if n in v} for k, v in own.items()}
    return fields | {k: v["value"] for k, v in own.items()} | {"origins": origins}


def _guesses(folder: Folder) -> set[str]:
    """The sources that state nothing: recall, and what a neighbour is like."""
    return {name for name, fields in _stated(folder, "sources") if fields.get("kind") in GUESSES}


def _marked(fact: AnyFact, guesses: set[str]) -> AnyFact:
    """With those fields among the estimated whose own sources are guesses."""
    sources = {name: origin.source for name, origin in fact.origins.items()}
    if isinstance(fact, Device):
        sources["kernels"] = fact.kernels.source
    guessed = [name for name, of in sources.items() if of and guesses.issuperset(of)]
    more = [name for name in guessed if name not in fact.estimated]
    return fact.model_copy(update={"estimated": [*fact.estimated, *more]}) if more else fact


def _path(error: ErrorDetails) -> str:
    parts = [str(part) for part in error["loc"]]
    return ".".join(part if part.isprintable() and len(part) <= LONGEST else shown(part) for part in parts)


def sentence(error: ErrorDetails) -> str:
    """What is wrong with a field and how to write it."""
    if error["type"] == "extra_forbidden":
        return f"no such field{nearest(str(error['loc'][-1]), FIELDS)}"
    if error["type"] == "missing":
        return "is missing; state it"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"{shown(error['input'])} is not taken: {error['msg'].lower()}"


def _with_kernels(folder: Folder, faults: list[Fault]) -> Folder:
    """Devices whose kernels are `like` another's, with that one's table under what they state themselves."""
    devices: dict[str, Fields | None] = {}
    for name, fields in _stated(folder, "devices"):
        try:
            kernels = _kernels(name, folder.records["devices"], ())
        except LookupError as error:
            faults.append(Fault(f"{folder.place('devices', name)}: kernels.like", str(error.args[0])))
            kernels = fields.get("kernels")
        devices[name] = fields if kernels is None else fields | {"kernels": kernels}
    return Folder(folder.records | {"devices": devices}, folder.places)


def _kernels(name: str, devices: Mapping[str, Fields | None], behind: tuple[str, ...]) -> Any:
    fields = devices.get(name)
    if fields is None:
        raise LookupError(f"{shown(name)} is no device of the catalog{nearest(name, devices)}")
    kernels = fields.get("kernels")
    if not isinstance(kernels, dict) or "like" not in kernels:
        return kernels
    if name in behind:
        raise LookupError(f"{' is like '.join([*behind, name])}: one of them needs a table of its own")
    other = str(kernels["like"])
    table = _kernels(other, devices, (*behind, name))
    return combined(
        table if isinstance(table, dict) else {},
        {"like": other} | {k: v for k, v in kernels.items() if k != "like"},
    )


def _filled(device: Device) -> Device:
    """A matmul entry for each peak of the device.

    A precision without one takes that of its nearest: the same shares, and the same time an output tile, so
    that inner_overhead grows with the peak.
    """
    gemm = dict(device.kernels.gemm)
    for precision in device.peak:
        near = next((p for p in NEAREST_PRECISION.get(precision, ()) if p in gemm), None)
        if precision not in gemm and near:
            faster = device.peak[precision] / device.peak.get(near, device.peak[precision])
            overhead = gemm[near].inner_overhead * faster
            gemm[precision] = gemm[near].model_copy(update={"inner_overhead": overhead})
    own = {precision: entry for precision, entry in gemm.items() if precision in device.peak}
    return device.model_copy(update={"kernels": device.kernels.model_copy(update={"gemm": own})})


def _newest(folder: Folder) -> str:
    dates = [
        str(fields["date"])
        for kind in folder.records
        for _, fields in _stated(folder, kind)
        if "date" in fields
    ]
    return max(dates, default="")


def _digest(folder: Folder) -> str:
    content = json.dumps(
        {kind: dict(_stated(folder, kind)) for kind in folder.records}, sort_keys=True, default=str
    )
    return hashlib.sha256(content.encode()).hexdigest()[:12]
