"""Records about money and power: the grid of a region, what a place bills, what owning costs."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from solver import units
from solver.catalog.fact import Fact, Record, Seconds, Share, Usd


def intensity(value: str | float) -> float:
    """Carbon dioxide of a kWh: "431.95 g/kWh". [kg/kWh]"""
    text = str(value).removesuffix("/kWh")
    if text == str(value) and isinstance(value, str):
        raise ValueError(f'{units.shown(value)} is not carbon of a kWh; write e.g. "432 g/kWh"')
    return units.kilograms(text if isinstance(value, str) else value)


def globs(value: object) -> object:
    """Regions in one cell, parted by blanks."""
    return value.split() if isinstance(value, str) else value


class Grid(Fact):
    """Power of a region: what carbon dioxide a kWh of it made on average over a year."""

    name: str = ""
    carbon: Annotated[float, BeforeValidator(intensity), Field(ge=0)]
    """Location-based. [kg/kWh]"""
    regions: Annotated[list[str], BeforeValidator(globs)]
    """Of the offerings that stand there."""


class Ownership(Fact):
    """What owning costs, where the user does not say. Shares are of the price, or of the hours."""

    life: Seconds
    """Over which the price is written off."""
    residual: float = Field(ge=0, le=1)
    utilisation: Share
    interest: float = Field(ge=0, le=1)
    maintenance: float = Field(ge=0, le=1)
    staff: float = Field(ge=0, le=1)
    hosting: Usd
    """Of a kW at the wall, a month."""
    electricity: Usd
    """Of a kWh at the meter."""
    storage: Usd
    """Of a TB, bought."""
    server_ratio: float = Field(ge=1)
    """Price of a server over that of the accelerators in it."""
    network_share: Share
    """Of the price of a cluster: what joins its servers."""
    port: Usd
    """Of a switch, for each of its ports."""
    link: Usd
    """Cable and optics of one link."""


class Site(Record):
    """Where machines stand: their power, and what is billed beside them."""

    pue: float
    """Power at the meter over power at the machines."""
    carbon: float
    """[kg/kWh]"""
    storage: float = 0.0
    """Of a GB, a month. [USD]"""
    egress: float = 0.0
    """Of a GB. [USD]"""
    head_node: float = 0.0
    """Of a CPU node, an hour; 0 where it is not billed. [USD]"""
    host: float = 0.0
    """Of the processors and memory of one device, an hour; 0 where they are in its price. [USD]"""


class Owned(Record):
    """What an hour of machines of one's own costs, of the hours that some run uses. [USD]"""

    server: float
    """Capital of one machine."""
    facility: float
    """Space and cooling of one machine."""
    operation: float
    """Maintenance and staff of one machine."""
    port: float
    """Capital of one switch port."""
    link: float
    """Capital of one link."""
    port_operation: float
    link_operation: float
    storage: float
    """Of a GB."""
    kwh: float
    """A kWh at the meter; not an hour."""
    capex: float
    """Price of one machine; 0 where it stands there already."""
    network_capex: tuple[float, float]
    """Price of a switch port and of a link."""
    utilisation: float
    """Share of the hours that some run uses; all but power is in proportion to its inverse."""


class Overflow(Record):
    """Machines that are reserved, and others of the same kind that join them at another price an hour."""

    reserved: int
    reserved_usd: float
    further_usd: float
