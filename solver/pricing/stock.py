"""Machines that a problem's file adds to the market: private offers, one's own, purchase."""

import datetime
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from solver.catalog import Catalog, age_days
from solver.catalog.money import Owned, Site
from solver.catalog.offers import TERM_DAYS, OfferingRow, machines_of
from solver.catalog.records import Link, Machine, Offering
from solver.errors import Fault
from solver.pricing.owning import Terms, hour_usd, owned, terms_of
from solver.pricing.power import least_watts
from solver.problem import Problem
from solver.problem.market import AlreadyOwned, Offer, OfMachine, Purchase, Reservation
from solver.record_files import OWN_SOURCE, nearest
from solver.units import DAY_S, YEAR_S, format_duration, shown

BOUGHT = "bought"  # what plans call the provider of machines that are bought
OWN = "owned"
PREMISES = "on-premises"
LARGEST = 10**7  # devices: no limit of the market's own


class Shop(NamedTuple):
    """A problem with its catalog; faults are added to as they are found."""

    catalog: Catalog
    problem: Problem
    faults: list[Fault]

    @property
    def terms(self) -> Terms:
        return self.terms_on(None)

    def terms_on(self, fabric: Link | None) -> Terms:
        """What owning costs, with the ports and links of a fabric at its own prices."""
        own = self.problem.ownership.model_dump(include={*Terms._fields, "life"}, exclude_none=True)
        wires = {"port": fabric.port_price, "link": fabric.link_price} if fabric else {}
        return terms_of(self.catalog.ownership["ownership"], wires | own)

    @property
    def premises(self) -> Site:
        """Where the user's own machines stand."""
        stated = {"pue": self.problem.ownership.pue, "carbon": self.problem.ownership.carbon}
        known = self.catalog.site(OWN, PREMISES).model_dump()
        return Site(**(known | {name: value for name, value in stated.items() if value is not None}))


def joined(shop: Shop) -> Iterator[Offering]:
    """Every offering that the file adds, but what is reserved."""
    yield from _private(shop)
    yield from _standing(shop)
    yield from _bought(shop)


def machine_of(shop: Shop, item: OfMachine, field: str) -> Machine | None:
    """The machine an item names; a fault where it or its fabric is not known."""
    catalog = shop.catalog
    if item.machine not in catalog.machines:
        known = nearest(item.machine, catalog.machines)
        sentence = f"{shown(item.machine)} is no machine of the catalog{known}"
        shop.faults.append(Fault(f"{field}.machine", sentence))
        return None
    link = catalog.fabric(item.fabric) if item.fabric else None
    if item.fabric and (link is None or link.scope != "inter-node"):
        sentence = f"{shown(item.fabric)} is no fabric{nearest(item.fabric, catalog.scale_out)}"
        shop.faults.append(Fault(f"{field}.fabric", sentence))
        return None
    return catalog.machines[item.machine]


class Seat(NamedTuple):
    """Whose an offering is, and where."""

    id: str
    provider: str
    region: str
    site: Site


def network(catalog: Catalog, item: OfMachine, provider: str) -> str | None:
    """What joins the machines of an item: the fabric it states, else one on which its provider lists the
    machine (the usual one, or the slowest), else the usual one.
    """
    machine = catalog.machines[item.machine]
    rows = (row for row in catalog.rows if row.provider == provider)
    listed = {row.fabric for row in rows if row.fabric and machine in machines_of(row, catalog.machines)}
    if item.fabric or not listed or machine.default_fabric in listed:
        return item.fabric or machine.default_fabric
    return min(listed, key=lambda name: (catalog.fabrics[name].bandwidth, name))


def offering_of(
    shop: Shop, item: OfMachine, seat: Seat, most: int, price: tuple[float, Owned | None]
) -> Offering:
    """An offering of at most so many machines, joined by their network."""
    machine = shop.catalog.machines[item.machine]
    link = shop.catalog.fabric(network(shop.catalog, item, seat.provider) or "")
    joined = link.id if link and most > 1 else None
    largest = most if joined and not machine.max_machines else min(most, machine.max_machines or 1)
    return Offering(
        id=seat.id,
        provider=seat.provider,
        instance=item.machine,
        region=seat.region,
        geo="global",
        machine=item.machine,
        fabric=joined,
        pricing="owned",
        usd_per_hour=price[0],
        max_devices=largest * machine.devices,
        source=[OWN_SOURCE],
        date=shop.catalog.date,
        price_basis=OWN_SOURCE,
        site=seat.site,
        owned=price[1],
    )


def _private(shop: Shop) -> Iterator[Offering]:
    for index, offer in enumerate(shop.problem.offers):
        machine = machine_of(shop, offer, f"offers[{index}]")
        if machine is not None:
            yield _private_one(shop, offer, machine, index)


def _private_one(shop: Shop, offer: Offer, machine: Machine, index: int) -> Offering:
    provider = shop.catalog.providers.get(offer.provider)
    most = provider.max_devices if provider else None
    count = offer.count or max((most or machine.devices) // machine.devices, 1)
    site = shop.catalog.site(offer.provider, offer.region)
    seat = Seat(f"offer:{index}:{offer.provider}:{offer.machine}", offer.provider, offer.region, site)
    found = offering_of(shop, offer, seat, count, (offer.price, None))
    days = lasts_days(shop, offer, f"offers[{index}]")
    if days is not None and days < (offer.min_term or 0.0) / DAY_S:
        sentence = f"is longer than the offer holds, {days:g} days; shorten it, or leave until out"
        shop.faults.append(Fault(f"offers[{index}].min_term", sentence))
    return found.model_copy(update={"pricing": offer.pricing, "max_days": days} | _terms(offer))


def _terms(offer: Offer) -> dict[str, Any]:
    """At least how long and how many an offer is billed.

    why: what binds in another way is another offering, so the name of the instance says it.
    """
    term, least = offer.min_term, offer.min_count
    told = [format_duration(term)] if term else []
    told += [f"{least} machines"] if least else []
    return {
        "instance": f"{offer.machine}, at least {' and '.join(told)}" if told else offer.machine,
        "least_days": (term or 0.0) / DAY_S,
        "least_machines": least or 1,
        "term_days": None if term else TERM_DAYS.get(offer.pricing),
    }


def lasts_days(shop: Shop, item: Offer | Reservation, field: str) -> float | None:
    """How long it lasts from the start of the run; a day is counted from the date of the catalog."""
    if not isinstance(item.until, datetime.date):
        return item.until / DAY_S if item.until is not None else None
    left = age_days(shop.catalog.date, item.until.isoformat())
    if left <= 0:
        sentence = f"{item.until} is not after {shop.catalog.date}, the date of the catalog"
        shop.faults.append(Fault(f"{field}.until", f'{sentence}; write a later day, or e.g. "90 days"'))
    return float(left)


def _standing(shop: Shop) -> Iterator[Offering]:
    held = {holding.machine for holding in shop.problem.hardware}
    for index, item in enumerate(shop.problem.already_owned):
        field = f"already_owned[{index}]"
        if machine_of(shop, item, field) is None:
            continue
        if item.machine in held:
            sentence = f"{item.machine} stands under hardware too; keep one of the two"
            shop.faults.append(Fault(f"{field}.machine", sentence))
        yield _own(shop, item, (f"standing:{index}:{item.machine}", OWN), item.count)


def _own(shop: Shop, item: AlreadyOwned | Purchase, named: tuple[str, str], most: int) -> Offering:
    """A machine at the user's site, bought or standing there. named: id and provider."""
    machine = shop.catalog.machines[item.machine]
    device = shop.catalog.devices[machine.device]
    bought = isinstance(item, Purchase)
    price = item.price if isinstance(item, Purchase) else least_price(shop, item.machine)
    link = shop.catalog.fabric(item.fabric or machine.default_fabric or "")
    rates = owned(shop.terms_on(link), machine, price or 0.0, bought=bought)
    alone = least_watts(shop.catalog.operations["operations"], device, machine) * shop.premises.pue
    seat = Seat(named[0], named[1], PREMISES, shop.premises)
    found = offering_of(shop, item, seat, most, (hour_usd(rates, alone), rates))
    return found.model_copy(update={"max_days": shop.terms.years * YEAR_S / DAY_S}) if bought else found


def least_price(shop: Shop, machine: str) -> float | None:
    """What the catalog asks for a server, the least of several."""
    return min((row.capex for row in servers(shop.catalog, machine) if row.capex), default=None)


def servers(catalog: Catalog, glob: str) -> list[OfferingRow]:
    """Rows of servers for sale whose machine a glob names."""
    return [
        row
        for row in catalog.rows
        if row.unit == "purchase" and any(fnmatchcase(m.id, glob) for m in machines_of(row, catalog.machines))
    ]


def _bought(shop: Shop) -> Iterator[Offering]:
    for index, item in enumerate(shop.problem.buy):
        field = f"buy[{index}]"
        if item.price is not None:
            if machine_of(shop, item, field) is not None:
                yield _purchase(shop, item, f"bought:{index}:{item.machine}")
        else:
            yield from _listed(shop, item, field, index)


def _purchase(shop: Shop, item: Purchase, name: str) -> Offering:
    machine = shop.catalog.machines[item.machine]
    return _own(shop, item, (name, BOUGHT), item.count or max(LARGEST // machine.devices, 1))


def _listed(shop: Shop, item: Purchase, field: str, index: int) -> Iterator[Offering]:
    """Servers of the catalog that the item names, each at its price."""
    rows = [row for row in servers(shop.catalog, item.machine) if row.capex]
    if not rows:
        for_sale = sorted({row.machine for row in servers(shop.catalog, "*") if row.capex})
        known = ", ".join(for_sale)
        sentence = f'{shown(item.machine)} has no price in the catalog; state "price:", or buy one of {known}'
        shop.faults.append(Fault(f"{field}.machine", sentence))
        return
    for row in rows:
        named = item.model_copy(update={"machine": row.machine, "price": row.capex})
        if machine_of(shop, named, field) is None:
            continue
        # why: nothing says that a server without a stated network holds network cards
        alone = row.fabric is None and item.fabric is None
        count = 1 if alone else item.count
        fabric = item.fabric or row.fabric
        whole = named.model_copy(update={"count": count, "fabric": fabric})
        found = _purchase(shop, whole, f"bought:{index}:{row.id}")
        told = {
            "instance": row.instance,
            "source": row.source,
            "date": row.date,
            "price_basis": row.price_basis,
        }
        yield found.model_copy(update=told)
