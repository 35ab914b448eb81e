"""What a problem's file makes of the catalog's offerings: own prices, discounts, and what joins them."""

from dataclasses import replace
from fnmatch import fnmatchcase

from solver.catalog import Catalog
from solver.catalog.records import Offering
from solver.errors import Fault
from solver.pricing.overflow import reserved
from solver.pricing.stock import PREMISES, Shop, joined
from solver.record_files import OWN_SOURCE, nearest
from solver.units import shown


def offered(shop: Shop) -> Catalog:
    """The catalog with the offerings that the problem's file leaves and adds."""
    at_prices = _discounted(shop, _own_prices(shop, shop.catalog.offerings))
    added = [
        *joined(shop),
        *reserved(shop._replace(catalog=replace(shop.catalog, offerings=tuple(at_prices)))),
    ]
    every = sorted([*_at_home(shop, at_prices), *added], key=lambda offering: offering.id)
    return replace(shop.catalog, offerings=tuple(every))


def _own_prices(shop: Shop, offerings: tuple[Offering, ...]) -> list[Offering]:
    """With the user's own prices in place of the catalog's."""
    left = list(offerings)
    for name, price in shop.problem.prices:
        named = [index for index, o in enumerate(left) if fnmatchcase(o.id, name)]
        if not named:
            known = [offering.id for offering in offerings]
            sentence = f"{shown(name)} is no offering of the catalog{nearest(name, known)}"
            shop.faults.append(Fault(f"prices.{name}", sentence))
        for index in named:
            own = {"usd_per_hour": price, "price_basis": OWN_SOURCE, "source": [OWN_SOURCE]}
            left[index] = left[index].model_copy(update=own | {"date": shop.catalog.date})
    return left


def _discounted(shop: Shop, offerings: list[Offering]) -> list[Offering]:
    """With the last discount that matches taken off list prices; a price of the user's is final."""
    left = list(offerings)
    for name, share in shop.problem.discounts:
        named = [index for index, offering in enumerate(offerings) if _meant(name, offering)]
        if not named:
            hint = nearest(name.partition("/")[0], sorted({offering.provider for offering in offerings}))
            told = "matches no offering; write provider, provider/machine or provider/machine/kind"
            shop.faults.append(Fault(f"discounts.{name}", f"{shown(name)} {told}{hint}"))
        for index in named:
            if offerings[index].price_basis != OWN_SOURCE:
                cheaper = offerings[index].usd_per_hour * (1 - share)
                left[index] = offerings[index].model_copy(update={"usd_per_hour": cheaper})
    return left


def _meant(name: str, offering: Offering) -> bool:
    """Whether provider, provider/machine or provider/machine/kind names an offering.

    A machine may be called as the catalog or as the provider calls it.
    """
    asked = name.split("/")
    told = ((offering.provider,), (offering.machine, offering.instance), (offering.pricing,))
    return len(asked) <= len(told) and all(
        any(fnmatchcase(known, glob) for known in names) for names, glob in zip(told, asked, strict=False)
    )


def _at_home(shop: Shop, offerings: list[Offering]) -> list[Offering]:
    """With the user's own machines where he says that they stand."""
    site = shop.premises
    return [o.model_copy(update={"site": site}) if o.region == PREMISES else o for o in offerings]
