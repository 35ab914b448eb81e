"""Rules for prices: within bounds, in line with what others ask for the same device, cheaper where they bind
the buyer or may be taken away.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import median
from typing import NamedTuple

from solver.catalog.catalog import Catalog
from solver.catalog.offers import OfferingRow
from solver.catalog.records import Offering

BOUNDS = (0.05, 30.0)  # of a device-hour [USD]
# Of the median of what the providers of a device ask on demand, each at his least: the least that a provider
# with a price list asks, that a marketplace does, and the most that anybody does.
LIST, MARKET, MOST = 0.55, 0.35, 4.0
FEWEST_PEERS = 4  # providers of a device, below which a median says nothing
CHEAPER = (  # (what must not be dearer, than what)
    ("spot", "on_demand"),
    ("committed_1y", "on_demand"),
    ("committed_3y", "on_demand"),
    ("committed_3y", "committed_1y"),
)


class Oddity(NamedTuple):
    """One price that breaks a rule. id: of the offering or the row."""

    id: str
    field: str
    message: str


def oddities(catalog: Catalog) -> Iterator[Oddity]:
    """Every price that is most likely a slip, or of another time."""
    for offering in catalog.offerings:
        usd = catalog.device_hour_usd(offering)
        if offering.pricing != "owned" and not BOUNDS[0] <= usd <= BOUNDS[1]:
            yield Oddity(offering.id, "usd_per_hour", f"{usd:.3f} USD per device-hour is outside {BOUNDS}")
    for row in catalog.rows:
        yield from _upside_down(row)
    middle = peers(catalog)
    for offering in catalog.offerings:
        if sentence := out_of_line(catalog, offering, middle):
            yield Oddity(offering.id, "usd_per_hour", sentence)


def _upside_down(row: OfferingRow) -> Iterator[Oddity]:
    for low, high in CHEAPER:
        below, above = getattr(row, low), getattr(row, high)
        if below and above and below > above:
            yield Oddity(row.id, low, f"{below} is above the {above} of {high}")


def peers(catalog: Catalog) -> Mapping[str, float]:
    """By device, the median of the least on-demand price of each provider; of devices that enough rent."""
    least: dict[str, dict[str, float]] = defaultdict(dict)
    for offering in catalog.offerings:
        if offering.pricing == "on-demand":
            asked = least[catalog.machines[offering.machine].device]
            usd = catalog.device_hour_usd(offering)
            asked[offering.provider] = min(usd, asked.get(offering.provider, usd))
    return {d: median(asked.values()) for d, asked in least.items() if len(asked) >= FEWEST_PEERS}


def out_of_line(catalog: Catalog, offering: Offering, middle: Mapping[str, float]) -> str | None:
    """What is odd about an on-demand price beside those of others, in a sentence."""
    device = catalog.machines[offering.machine].device
    if offering.pricing != "on-demand" or device not in middle:
        return None
    usd = catalog.device_hour_usd(offering)
    share = usd / middle[device]
    provider = catalog.providers.get(offering.provider)
    if (MARKET if provider and provider.kind == "marketplace" else LIST) <= share <= MOST:
        return None
    return f"{usd:.2f} USD per device-hour is {share:.2f} of the {middle[device]:.2f} that others ask"
