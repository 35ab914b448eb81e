"""What is paid for rented machines: lines of machines, time and price. Arrays are (N,), one entry a row."""

from typing import NamedTuple

import numpy as np

from solver.catalog.records import Offering
from solver.layout import Ints
from solver.physics.hardware import Floats
from solver.units import DAY_S, HOUR_S

WEEK_S = 7 * DAY_S


class Line(NamedTuple):
    """Machines (N,) that are paid for so long (N,) at a price an hour."""

    machines: Ints
    paid_s: Floats
    usd_per_hour: float

    @property
    def usd(self) -> Floats:
        """(N,)"""
        return self.usd_per_hour / HOUR_S * self.machines * self.paid_s


def paid_s(offering: Offering, wall_clock_s: Floats) -> Floats:
    """How long is paid: by the second, from the least term on; a commitment whole terms, as many as the run
    touches; a block whole days, and beyond some whole weeks. [s], (N,)
    """
    paid = np.maximum(wall_clock_s, offering.least_days * DAY_S)
    if offering.term_days is None:
        return paid
    whole = _whole(paid, offering.term_days * DAY_S)
    if offering.weeks_beyond is None:
        return whole
    return np.where(whole > offering.weeks_beyond * DAY_S, _whole(paid, WEEK_S), whole)


def _whole(paid: Floats, term_s: float) -> Floats:
    """The least multiple of a term that is as long. [s], (N,)"""
    return np.ceil(paid / term_s) * term_s


def lines(offering: Offering, machines: Ints, wall_clock_s: Floats) -> list[Line]:
    """Of one price, or of what is reserved and what joins it.

    Their sum grows with the wall clock, and is at least the hours of the machines at usd_per_hour: the search
    relies on both.
    """
    paid, billed = paid_s(offering, wall_clock_s), np.maximum(machines, offering.least_machines)
    if (mixed := offering.overflow) is None:
        return [Line(billed, paid, offering.usd_per_hour)]
    reserved = np.minimum(billed, mixed.reserved)
    return [
        Line(reserved, wall_clock_s, mixed.reserved_usd),
        Line(billed - reserved, paid, mixed.further_usd),
    ]


def rent_usd(offering: Offering, machines: Ints, wall_clock_s: Floats) -> Floats:
    """Price of the machines for the run. (N,)"""
    return sum((line.usd for line in lines(offering, machines, wall_clock_s)), np.zeros(len(wall_clock_s)))
