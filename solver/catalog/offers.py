"""Rows of the offerings table, and what they offer: one offering a machine and pricing kind with a price."""

from collections.abc import Iterator, Mapping
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from solver.catalog.fact import Bytes, Count, Day, Fact, Positive, Record, Usd, Watts
from solver.catalog.money import Grid, Site
from solver.catalog.records import Machine, Offering, Operations, Price, Pricing


class Terms(Record):
    """What a provider allows under a pricing kind."""

    max_days: Annotated[float, Positive] | None = None
    max_machines: Count | None = None
    term_days: Annotated[float, Positive] | None = None
    """What is paid is a multiple of it."""
    weeks_beyond: Annotated[float, Positive] | None = None
    """Days: what lasts longer is paid in whole weeks."""


class Provider(Fact):
    """Who rents machines out, and how many at most to one job."""

    kind: Literal["hyperscaler", "cloud", "marketplace"]
    max_devices: Count | None = None
    """None: the cards of one host."""
    terms: dict[Pricing, Terms] = Field(default_factory=dict)
    pue: float | None = Field(default=None, ge=1)
    """Power at the meter over power at the machines; None: that of the operations."""
    storage_price: Usd | None = None
    """Of a GB of object storage, a month; None: that of the operations."""
    egress_price: Usd = 0.0
    """Of a GB to the internet, beyond what is free; 0 where none is known to be billed."""
    head_node: Usd = 0.0
    """Of a CPU node of 4 processors that schedules a run, an hour; 0 where none is known to be billed."""
    host_price: Usd = 0.0
    """Of the processors and memory that go with one device, an hour, where they are billed apart."""


class OfferingRow(Fact):
    """One row of offerings.csv: a machine in a region with its prices.

    Prices are USD an hour, of one machine or, where `unit` is device, of one device of any machine that
    `machine` (a glob) names.
    """

    provider: str
    instance: str
    region: str = "any"
    geo: str = "global"
    unit: Literal["machine", "device", "purchase", "part"] = "machine"
    """purchase: a server, bought; part: cards, kits and what is rented without a host. Neither is rented."""
    machine: str
    fabric: str | None = None
    on_demand: Price | None = None
    spot: Price | None = None
    committed_1y: Price | None = None
    committed_3y: Price | None = None
    capacity_block: Price | None = None
    flex_start: Price | None = None
    community: Price | None = None
    max_devices: Count | None = None
    max_days: Annotated[float, Positive] | None = None
    price_basis: Literal["read", "derived", "memory", "none", "outdated"] = "read"
    """outdated: of a list whose other prices are known to have been replaced; told, never offered."""
    capex: Usd | None = None
    power: Watts | None = None
    vcpu: float | None = None
    host_memory: Bytes | None = None
    disk: str = ""
    spot_date: Day | None = None
    committed_date: Day | None = None
    other_date: Day | None = None
    """Of capacity_block, flex_start and community; `date` is of on_demand and what has none of its own."""

    @property
    def priced(self) -> bool:
        return any(getattr(self, column) is not None for column in PRICES)


# The price columns, the pricing kind of each, and the column with its date.
PRICES: Mapping[str, tuple[Pricing, str]] = {
    "on_demand": ("on-demand", "date"),
    "spot": ("spot", "spot_date"),
    "committed_1y": ("committed-1y", "committed_date"),
    "committed_3y": ("committed-3y", "committed_date"),
    "capacity_block": ("capacity-block", "other_date"),
    "flex_start": ("flex-start", "other_date"),
    "community": ("community", "other_date"),
}
TERM_DAYS: Mapping[Pricing, float] = {"committed-1y": 365.0, "committed-3y": 1095.0}


EVERYWHERE = "*"  # region of the grid that stands in where none is known


def site_of(
    provider: Provider | None, region: str, grids: Mapping[str, Grid], operations: Operations
) -> Site:
    """What a place bills beside its machines, and how clean its power is."""
    storage = provider.storage_price if provider else None
    return Site(
        pue=(provider.pue if provider else None) or operations.pue,
        carbon=_grid(region, grids),
        storage=operations.storage_price if storage is None else storage,
        egress=provider.egress_price if provider else 0.0,
        head_node=provider.head_node if provider else 0.0,
        host=provider.host_price if provider else 0.0,
    )


def _grid(region: str, grids: Mapping[str, Grid]) -> float:
    """By the grid that names the region, else by a glob, else that of the world. [kg/kWh]"""
    pairs = [(glob, grid.carbon) for grid in grids.values() for glob in grid.regions]
    named = [carbon for glob, carbon in pairs if glob == region]
    like = [carbon for glob, carbon in pairs if glob != EVERYWHERE and fnmatchcase(region, glob)]
    world = [carbon for glob, carbon in pairs if glob == EVERYWHERE]
    return next(iter([*named, *like, *world]), 0.0)


class Sites(NamedTuple):
    """What is known of places; operations: None where its record is at fault."""

    providers: Mapping[str, Provider]
    grids: Mapping[str, Grid]
    operations: Operations | None


def offerings(row: OfferingRow, machines: Mapping[str, Machine], sites: Sites) -> Iterator[Offering]:
    """What the row offers for rent: each of its machines under each kind that has a price."""
    if row.unit not in ("machine", "device") or row.price_basis == "outdated" or sites.operations is None:
        return
    provider = sites.providers.get(row.provider)
    site = site_of(provider, row.region, sites.grids, sites.operations)
    for machine in machines_of(row, machines):
        for column, (pricing, dated) in PRICES.items():
            usd = getattr(row, column)
            if usd is not None:
                yield _offering(row, machine, provider, (pricing, usd, getattr(row, dated), site))


def machines_of(row: OfferingRow, machines: Mapping[str, Machine]) -> list[Machine]:
    """The machine a row names, or every machine that its glob names where the price is of a device."""
    if row.unit != "device":
        return [machines[row.machine]] if row.machine in machines else []
    return [machines[name] for name in matching(machines, row.machine)]


def _offering(
    row: OfferingRow,
    machine: Machine,
    provider: Provider | None,
    priced: tuple[Pricing, float, str | None, Site],
) -> Offering:
    pricing, usd, dated, site = priced
    by_device = row.unit == "device"
    terms = provider.terms.get(pricing, Terms()) if provider else Terms()
    fabric = row.fabric if machine.max_machines != 1 else None
    return Offering(
        id=f"{row.id}:{pricing}:{machine.id}" if by_device else f"{row.id}:{pricing}",
        provider=row.provider,
        instance=row.instance,
        region=row.region,
        geo=row.geo,
        machine=machine.id,
        fabric=fabric,
        pricing=pricing,
        usd_per_hour=usd * machine.devices if by_device else usd,
        max_devices=_max_devices(row, machine, provider, terms) if fabric else machine.devices,
        max_days=row.max_days or terms.max_days,
        term_days=TERM_DAYS.get(pricing, terms.term_days),
        weeks_beyond=terms.weeks_beyond,
        source=row.source,
        date=dated or row.date,
        price_basis=row.price_basis,
        notes=row.notes,
        site=site,
    )


def _max_devices(row: OfferingRow, machine: Machine, provider: Provider | None, terms: Terms) -> int:
    """The least of what row, provider, terms and machine allow; one machine where nothing is known."""
    known = row.max_devices or (provider.max_devices if provider else None) or machine.devices
    machines = [limit for limit in (terms.max_machines, machine.max_machines) if limit]
    return max(min([known, *(limit * machine.devices for limit in machines)]), machine.devices)
