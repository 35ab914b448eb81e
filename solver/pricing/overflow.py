"""Machines that are reserved: alone, and with others of the same provider that join them.

Why: the mixture is an offering of its own with one price for the first machines and another for the others,
so the search, its bounds and the model know nothing of it. Parts of several reservations are not mixed.
"""

from collections.abc import Iterator

from solver.catalog.money import Overflow
from solver.catalog.records import Machine, Offering
from solver.errors import Fault
from solver.pricing.stock import LARGEST, Seat, Shop, lasts_days, machine_of, offering_of
from solver.problem.market import Reservation
from solver.units import format_usd_per_hour

ANYWHERE = "any"


def reserved(shop: Shop) -> Iterator[Offering]:
    """Every offering that the reservations of the file make. shop: with the user's prices."""
    for index, item in enumerate(shop.problem.reservations):
        field = f"reservations[{index}]"
        machine = machine_of(shop, item, field)
        if machine is None:
            continue
        seat, days = _seat(shop, item, index), lasts_days(shop, item, field)
        alone = offering_of(shop, item, seat, item.count, (item.price, None))
        alone = alone.model_copy(update={"max_days": days})
        yield alone
        if item.overflow is not None:
            mixed = [_with(alone, item, other, machine) for other in _others(shop, item, seat, machine)]
            if not mixed:
                shop.faults.append(Fault(f"{field}.overflow", _none(item)))
            yield from mixed


def _seat(shop: Shop, item: Reservation, index: int) -> Seat:
    site = shop.catalog.site(item.provider, item.region)
    return Seat(f"reservation:{index}:{item.provider}:{item.machine}", item.provider, item.region, site)


def _none(item: Reservation) -> str:
    """What to write where nothing can join a reservation."""
    where = "" if item.region == ANYWHERE else f" in {item.region}"
    return (
        f"{item.provider} has no {item.machine} on demand{where} on a network that reaches these; "
        'write its price, e.g. "30 USD/hour", or another fabric'
    )


def _others(shop: Shop, item: Reservation, seat: Seat, machine: Machine) -> list[Offering]:
    """Offerings on demand that can join what is reserved, or one at the price that is stated."""
    if item.overflow is None or item.overflow == "on-demand":
        link = shop.catalog.fabric(item.fabric) if item.fabric else None
        networks = {link.id} if link else {*shop.catalog.scale_out}
        return [o for o in shop.catalog.offerings if _beside(o, item) and o.fabric in networks]
    provider = shop.catalog.providers.get(item.provider)
    most = ((provider.max_devices if provider else None) or LARGEST) // machine.devices
    other = offering_of(shop, item, seat, max(most, 2), (item.overflow, None))
    return [other] if other.fabric else []


def _beside(other: Offering, item: Reservation) -> bool:
    """Whether machines of an offering stand beside the reserved ones."""
    same = (other.provider, other.machine, other.pricing) == (item.provider, item.machine, "on-demand")
    return same and item.region in (ANYWHERE, other.region)


def _with(alone: Offering, item: Reservation, other: Offering, machine: Machine) -> Offering:
    """Reserved machines and at least one more; what they cost is told by pricing.rent."""
    count, further = item.count, other.usd_per_hour
    largest = count + other.max_devices // machine.devices
    at = f" at {format_usd_per_hour(item.price)}" if item.price else ""
    return other.model_copy(
        update={
            "id": f"{alone.id}+{other.pricing if other.id == alone.id else other.id}",
            "instance": f"{count} reserved{at}, then {other.instance}",
            "pricing": alone.pricing,
            "usd_per_hour": least_usd(item, further),
            "max_devices": min(largest, machine.max_machines or largest) * machine.devices,
            "max_days": min((d for d in (alone.max_days, other.max_days) if d is not None), default=None),
            "least_machines": count + 1,  # fewer are had for less by the reservation alone
            "overflow": Overflow(reserved=count, reserved_usd=item.price, further_usd=further),
        }
    )


def least_usd(item: Reservation, further_usd: float) -> float:
    """The least that one machine costs on average at any count: n p + f over n + 1, or f where that is less.

    n: reserved, p: their price, f: price of the others; the mean goes from one to the other.
    """
    return min((item.count * item.price + further_usd) / (item.count + 1), further_usd)
