"""The catalog as the other rooms see it: every record by id, and what is offered."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from solver.catalog.accuracy import Band
from solver.catalog.money import Grid, Ownership, Site
from solver.catalog.offers import OfferingRow, Provider, site_of
from solver.catalog.records import Device, Framework, Link, Machine, Offering, Operations
from solver.catalog.stacks import Migration, Stack
from solver.errors import Fault, InputError
from solver.record_files import OWN_SOURCE, nearest
from solver.units import shown

STALE_DAYS = 300  # a price older than this is told


@dataclass(frozen=True)
class Hardware:
    """What a user has or was offered: machines of one kind at his price."""

    machine: str
    count: int
    fabric: str | None = None
    """None: the usual one of the machine."""
    usd_per_hour: float = 0.0
    """Of one machine."""


@dataclass(frozen=True)
class Catalog:
    """Every record by id. `models` and `byte_models` are fields as the file has them.

    rows       the offerings table; what is bought or has no price stands only there
    offerings  what can be rented or is owned, by id
    date       the newest date of a record
    hash       of the content, whatever the order of files and the system
    """

    devices: Mapping[str, Device]
    machines: Mapping[str, Machine]
    fabrics: Mapping[str, Link]
    providers: Mapping[str, Provider]
    models: Mapping[str, Mapping[str, Any]]
    frameworks: Mapping[str, Framework]
    stacks: Mapping[str, Stack]
    migrations: Mapping[str, Migration]
    byte_models: Mapping[str, Mapping[str, Any]]
    operations: Mapping[str, Operations]
    ownership: Mapping[str, Ownership]
    grids: Mapping[str, Grid]
    accuracy: Mapping[str, Band]
    sources: Mapping[str, Mapping[str, Any]]
    rows: tuple[OfferingRow, ...]
    offerings: tuple[Offering, ...]
    date: str
    hash: str

    def fabric(self, name: str) -> Link | None:
        """The link of that id or alias."""
        return self.fabrics.get(name) or next((f for f in self.fabrics.values() if name in f.aliases), None)

    def machine(self, name: str) -> Machine | None:
        """The machine of that id or alias."""
        return self.machines.get(name) or next((m for m in self.machines.values() if name in m.aliases), None)

    @property
    def scale_out(self) -> list[str]:
        """Ids of the fabrics that join machines."""
        return [name for name, link in self.fabrics.items() if link.scope == "inter-node"]

    def device_hour_usd(self, offering: Offering) -> float:
        """List price of a device for an hour."""
        return offering.usd_per_hour / self.machines[offering.machine].devices

    def alias_note(self, name: str) -> str | None:
        """How a name that is not an id is read; None: it is one, or means nothing."""
        machine = None if name in self.machines else self.machine(name)
        if machine is None:
            return None
        counts = f" (its number counts {machine.alias_unit})" if machine.alias_unit else ""
        return f"{name} is read as {machine.id}, {machine.devices:,} devices{counts}"

    def with_hardware(self, hardware: Iterable[Hardware], file: str = "") -> "Catalog":
        """The catalog with the user's own machines among the offerings. Raises InputError."""
        items = list(hardware)
        faults = [
            fault for index, item in enumerate(items) for fault in self._faults(item, f"hardware[{index}]")
        ]
        if faults:
            raise InputError(file, faults)
        owned = [self._owned(item, index) for index, item in enumerate(items)]
        return replace(
            self, offerings=tuple(sorted([*self.offerings, *owned], key=lambda offering: offering.id))
        )

    def _faults(self, item: Hardware, field: str) -> list[Fault]:
        machine = self.machines.get(item.machine)
        if machine is None:
            known = nearest(item.machine, self.machines)
            return [Fault(f"{field}.machine", f"{shown(item.machine)} is no machine of the catalog{known}")]
        link = self.fabric(item.fabric) if item.fabric else None
        if item.fabric and (link is None or link.scope != "inter-node"):
            sentence = f"{shown(item.fabric)} is no fabric{nearest(item.fabric, self.scale_out)}"
            return [Fault(f"{field}.fabric", sentence)]
        if item.count > 1 and not (item.fabric or machine.default_fabric):
            told = f"state what joins the {item.count}, e.g. {self.scale_out[0]}"
            sentence = f"{item.machine} has no usual fabric; {told}"
            return [Fault(f"{field}.fabric", sentence)]
        return []

    def _owned(self, item: Hardware, index: int) -> Offering:
        machine = self.machines[item.machine]
        fabric = self.fabric(item.fabric or machine.default_fabric or "")
        return Offering(
            id=f"owned:{index}:{item.machine}",
            provider="owned",
            instance=item.machine,
            region="on-premises",
            geo="global",
            machine=item.machine,
            fabric=fabric.id if fabric and (item.fabric or item.count > 1) else None,
            pricing="owned",
            usd_per_hour=item.usd_per_hour,
            max_devices=item.count * machine.devices,
            source=[OWN_SOURCE],
            date=self.date,
            site=self.site("owned", "on-premises"),
        )

    def site(self, provider: str, region: str) -> Site:
        """Where the machines of a provider's region stand."""
        return site_of(self.providers.get(provider), region, self.grids, self.operations["operations"])


def age_days(date: str, today: str) -> int:
    """Days between two dates; where only a month or year is known, from its first day."""
    first, last = (datetime.date(*(int(p) for p in [*d.split("-"), "1", "1"][:3])) for d in (date, today))
    return (last - first).days
