"""What an hour of one's own machines costs: the price written off over the hours that are used, and running.

The worked example in docs/money.md goes through it figure by figure.
"""

from typing import NamedTuple

import numpy as np

from solver.catalog.money import Owned, Ownership
from solver.catalog.records import Machine
from solver.layout import Ints
from solver.physics.hardware import Floats
from solver.pricing.deal import Deal
from solver.pricing.power import wiring
from solver.units import HOUR_S, MONTH_S, YEAR_S

YEAR_HOURS = YEAR_S / HOUR_S
MONTH_HOURS = MONTH_S / HOUR_S


class Terms(NamedTuple):
    """What owning costs, the user's own figures over those of the catalog. As catalog.money.Ownership."""

    years: float
    residual: float
    utilisation: float
    interest: float
    maintenance: float
    staff: float
    hosting: float
    electricity: float
    storage: float
    port: float
    link: float

    @property
    def used_hours(self) -> float:
        """Of a year, by some run. [h]"""
        return YEAR_HOURS * self.utilisation

    @property
    def capital(self) -> float:
        """What a used hour pays of a dollar of price."""
        return annuity(self.years, self.interest, self.residual) / self.used_hours

    @property
    def operated(self) -> float:
        """What a used hour pays to keep what cost a dollar."""
        return (self.maintenance + self.staff) / self.used_hours


def annuity(years: float, interest: float, residual: float) -> float:
    """Yearly payment for a price of 1 that leaves `residual` at the end. [1/year]

    A = (1 - s q^-n) · i / (1 - q^-n),  q = 1 + i;  (1 - s) / n without interest

    years     n: of the life            residual  s: share of the price at its end
    interest  i: cost of capital a year

    Source: capital recovery factor, e.g. Short et al. 1995, NREL/TP-462-5173.
    """
    if interest == 0:
        return (1 - residual) / years
    discount = float((1 + interest) ** -years)
    return (1 - residual * discount) * interest / (1 - discount)


def owned(terms: Terms, machine: Machine, price: float, *, bought: bool) -> Owned:
    """An hour of a machine: bought for `price`, or standing there (no capital, but it is kept up)."""
    capital = terms.capital if bought else 0.0
    return Owned(
        server=price * capital,
        facility=machine.power / 1e3 * terms.hosting / MONTH_HOURS / terms.utilisation,
        operation=price * terms.operated,
        port=terms.port * capital,
        link=terms.link * capital,
        port_operation=terms.port * terms.operated,
        link_operation=terms.link * terms.operated,
        storage=terms.storage / 1e3 * (capital + terms.operated * bought),
        kwh=terms.electricity,
        capex=price * bought,
        network_capex=(terms.port * bought, terms.link * bought),
        utilisation=terms.utilisation,
    )


def hour_usd(rates: Owned, meter_watts: float) -> float:
    """An hour of a machine alone, its power included: the least that one of several costs. [USD]"""
    return rates.server + rates.facility + rates.operation + meter_watts / 1e3 * rates.kwh


def parts(deal: Deal, machines: Ints, wall_clock_s: Floats, energy_wh: Floats) -> dict[str, Floats]:
    """Parts of the bill of the machines. (N,)"""
    rates = deal.offering.owned
    assert rates is not None
    hours = machines * wall_clock_s / HOUR_S
    switch, wire = wiring(deal, machines)
    kept = rates.operation + switch * rates.port_operation + wire * rates.link_operation
    return {
        "accelerators": hours * rates.server,
        "network": hours * (switch * rates.port + wire * rates.link),
        "power": energy_wh / 1e3 * rates.kwh,
        "facility": hours * rates.facility,
        "operation": hours * kept,
    }


def capex_usd(deal: Deal, machines: int) -> float:
    """Price of the machines and of what joins them. [USD]"""
    rates = deal.offering.owned
    if rates is None:
        return 0.0
    port, link = rates.network_capex
    switch, wire = wiring(deal, np.array([machines]))
    return machines * (rates.capex + float(switch[0]) * port + float(wire[0]) * link)


def terms_of(catalog: Ownership, own: dict[str, float | None]) -> Terms:
    """The user's figures where he states them, else those of the catalog."""
    stated = {name: value for name, value in own.items() if value is not None}
    known = {name: getattr(catalog, name) for name in Terms._fields if name != "years"}
    life_s = stated.pop("life", catalog.life)
    return Terms(**(known | {"years": life_s / YEAR_S} | {k: v for k, v in stated.items() if k in known}))
