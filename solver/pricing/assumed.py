"""What was taken for the user of his own machines, offers and reservations: a sentence each."""

import datetime
from collections.abc import Iterator

from solver.catalog import age_days
from solver.pricing.stock import Shop, least_price, network

SHARES = ("residual", "utilisation", "interest", "maintenance", "staff")
UNITS = {"hosting": "USD/kW-month", "electricity": "USD/kWh", "storage": "USD/TB"}


def assumed(shop: Shop) -> Iterator[str]:
    """In the order of the file."""
    yield from _left_out(shop)
    yield from _days(shop)
    yield from _networks(shop)
    if shop.problem.buy or shop.problem.already_owned:
        yield from _of_owning(shop)
    for item in shop.problem.already_owned:
        if item.machine in shop.catalog.machines and least_price(shop, item.machine) is None:
            yield f"already_owned: no price of {item.machine} is known, so maintenance and staff are left out"


def _left_out(shop: Shop) -> Iterator[str]:
    problem = shop.problem
    mine = [name for name in ("buy", "already_owned", "reservations") if getattr(problem, name)]
    if mine and "owned" not in problem.limits.pricing:
        yield f'limits.pricing leaves out "owned", so nothing under {" and ".join(mine)} is used'


def _days(shop: Shop) -> Iterator[str]:
    today = shop.catalog.date
    for name in ("offers", "reservations"):
        for index, item in enumerate(getattr(shop.problem, name)):
            if isinstance(item.until, datetime.date):
                days = age_days(today, item.until.isoformat())
                yield f"{name}[{index}].until: {days} days from {today}, the date of the catalog"


def _networks(shop: Shop) -> Iterator[str]:
    for name in ("offers", "reservations"):
        for index, item in enumerate(getattr(shop.problem, name)):
            if item.fabric is None and item.count != 1 and item.machine in shop.catalog.machines:
                fabric = network(shop.catalog, item, item.provider)
                taken = f"{fabric} is taken" if fabric else "none is known, so a job is one machine"
                yield f"{name}[{index}].fabric is not stated: {taken}"


def _of_owning(shop: Shop) -> Iterator[str]:
    stated, known = shop.problem.ownership, shop.catalog.ownership["ownership"]
    taken = [] if stated.life is not None else [f"life {shop.terms.years:g} years"]
    taken += [
        f"{name} {100 * getattr(known, name):.3g} %" for name in SHARES if getattr(stated, name) is None
    ]
    taken += [
        f"{name} {getattr(known, name):g} {unit}"
        for name, unit in UNITS.items()
        if getattr(stated, name) is None
    ]
    if taken:
        yield f"ownership: not stated, so taken of the catalog: {', '.join(taken)}"
