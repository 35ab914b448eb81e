"""The catalog as documents: every record of a kind, one with its sources, and how two catalogs differ."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from solver.catalog.catalog import Catalog
from solver.catalog.records import Offering
from solver.errors import Fault, InputError
from solver.record_files import nearest

KINDS = (
    "devices",
    "machines",
    "fabrics",
    "offerings",
    "models",
    "frameworks",
    "providers",
    "stacks",
    "migrations",
    "sources",
)
FIRST = ("id", "name")  # fields that lead where a record is told whole
LAST = ("source", "date", "notes", "estimated", "origins")

Record = dict[str, Any]


def listing(catalog: Catalog, kind: str) -> list[Record]:
    """Every record of a kind as JSON has it, SI units, by id."""
    if kind == "offerings":
        return [_offering(catalog, offering) for offering in catalog.offerings]
    records = getattr(catalog, kind)
    if kind in ("models", "sources"):
        return [{"id": name} | dict(fields) for name, fields in records.items()]
    return [record.model_dump(mode="json") for record in records.values()]


def _offering(catalog: Catalog, offering: Offering) -> Record:
    """With what a reader ranks offerings by."""
    machine, each = catalog.machines[offering.machine], catalog.device_hour_usd(offering)
    added = {"device": machine.device, "devices": machine.devices, "usd_per_device_hour": each}
    return offering.model_dump(mode="json") | added


def filtered(records: Iterable[Record], filters: Iterable[str]) -> list[Record]:
    """Records that match every filter: a glob of ids, or `field=glob`. Raises InputError."""
    found = list(records)
    for text in filters:
        field, equals, glob = text.partition("=")
        name, pattern = (field, glob) if equals else ("id", text)
        if found and not any(name in record for record in found):
            known = sorted({key for record in found for key in record})
            raise InputError("--filter", [Fault("", f'"{name}" is no field of them{nearest(name, known)}')])
        found = [record for record in found if _matches(record.get(name), pattern)]
    return found


def _matches(value: Any, pattern: str) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(fnmatchcase(f"{v:g}" if isinstance(v, float) else str(v), pattern) for v in values)


def one(catalog: Catalog, kind: str, name: str) -> Record:
    """A record, and under `sources` what the ids of its sources stand for. Raises InputError."""
    records = {record["id"]: record for record in listing(catalog, kind)}
    if name not in records:
        sentence = f'"{name}" is none of the {kind}{nearest(name, records)}'
        raise InputError("catalog", [Fault("", sentence)])
    record = records[name]
    cited = dict.fromkeys(_cited(record))
    known = {source: dict(catalog.sources[source]) for source in cited if source in catalog.sources}
    return _ordered(record) | {"sources": known}


def _cited(value: Any) -> Iterator[str]:
    """The ids under every `source` of a record, in the order of the fields."""
    if not isinstance(value, Mapping):
        return
    for name, item in value.items():
        if name == "source" and isinstance(item, list):
            yield from item
        else:
            yield from _cited(item)


def _ordered(record: Record) -> Record:
    middle = [name for name in record if name not in (*FIRST, *LAST)]
    return {name: record[name] for name in (*FIRST, *middle, *LAST) if name in record}


def difference(old: Catalog, new: Catalog) -> Record:
    """What two catalogs do not share: records by kind, fields, and prices with their change in per cent."""
    kinds = {kind: _of_kind(_by_id(old, kind), _by_id(new, kind)) for kind in KINDS}
    return {
        "old": {"date": old.date, "hash": old.hash},
        "new": {"date": new.date, "hash": new.hash},
        "kinds": {kind: told for kind, told in kinds.items() if any(told.values())},
        "prices": list(_prices(old, new)),
    }


def _by_id(catalog: Catalog, kind: str) -> dict[str, Record]:
    return {record["id"]: dict(_flat(record)) for record in listing(catalog, kind)}


def _flat(fields: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Nested fields under dotted names."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _of_kind(old: Mapping[str, Record], new: Mapping[str, Record]) -> Record:
    return {
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
        "changed": [
            {"id": name, "field": field, "from": old[name].get(field), "to": new[name].get(field)}
            for name in sorted(old.keys() & new.keys())
            for field in sorted(old[name].keys() | new[name].keys())
            if old[name].get(field) != new[name].get(field)
        ],
    }


def _prices(old: Catalog, new: Catalog) -> Iterator[Record]:
    """Offerings whose price moved."""
    before = {offering.id: offering.usd_per_hour for offering in old.offerings}
    for offering in new.offerings:
        first, last = before.get(offering.id), offering.usd_per_hour
        if first is not None and first != last:
            change = 100 * (last / first - 1) if first else None
            yield {"id": offering.id, "from_usd": first, "to_usd": last, "change_pct": change}
