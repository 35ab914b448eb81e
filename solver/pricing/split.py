"""The bill by what it buys: accelerators, host, network, facility, operation; for rent and for purchase.

Of one's own machines the parts of the bill say it, but for the price of a server, which is parted by the
price of a server over that of its accelerators. A rent is one figure, so it is parted as the same machines
would be if they were bought: facility is their power and space at the catalog's prices (at most half of the
rent), and the rest goes to network, accelerators and host in the shares of what a cluster costs. What the
provider pays for staff, and its margin, cannot be told apart and stay in these.
"""

from solver.catalog.money import Ownership
from solver.pricing.deal import Deal
from solver.units import MONTH_S

MOST_FACILITY = 0.5  # of a rent: so that a price below the cost of power still leaves a machine


def cost_split(
    deal: Deal, parts: dict[str, float], used: tuple[float, float], terms: Ownership
) -> dict[str, float]:
    """Cost of a run by what it buys: accelerators, host, network, facility, operation. [USD]

    used: energy [Wh] and machine-seconds.
    """
    machine = _owned(parts, terms) if deal.offering.owned else _rented(deal, parts, used, terms)
    total = sum(machine.values())
    grown = 1 + (parts["evaluation"] / total if total else 0.0)
    split = {name: value * grown for name, value in machine.items()}
    split["host"] += parts["storage"] + parts["hosts"]
    split["network"] += parts["egress"]
    return split


def _owned(parts: dict[str, float], terms: Ownership) -> dict[str, float]:
    server = parts["accelerators"]
    return {
        "accelerators": server / terms.server_ratio,
        "host": server * (1 - 1 / terms.server_ratio),
        "network": parts["network"],
        "facility": parts["power"] + parts["facility"],
        "operation": parts["operation"],
    }


def _rented(
    deal: Deal, parts: dict[str, float], used: tuple[float, float], terms: Ownership
) -> dict[str, float]:
    energy_wh, machine_s = used
    rent = parts["accelerators"]
    space = deal.pool.machine.power / 1e3 * machine_s / MONTH_S * terms.hosting
    facility = min(energy_wh / 1e3 * terms.electricity + space, MOST_FACILITY * rent)
    joined = terms.network_share if deal.pool.fabric else 0.0
    accelerators = (1 - joined) / terms.server_ratio
    left = rent - facility
    return {
        "accelerators": left * accelerators,
        "host": left * (1 - joined - accelerators),
        "network": left * joined,
        "facility": facility,
        "operation": 0.0,
    }
