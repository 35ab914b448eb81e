"""The user's limits as integers: candidates rounded up, limits down, so that rounding never makes a plan
feasible.
"""

from typing import NamedTuple

import numpy as np

from solver.layout import Bools, Ints
from solver.physics.hardware import Floats
from solver.problem import Limits
from solver.search.candidates import Candidates

RESOLUTION = {  # steps of the model in one of our units: milliseconds, hundredths of cents, grams, ...
    "wall_clock_s": 1000.0,
    "cost_usd": 10_000.0,
    "energy_wh": 1.0,
    "carbon_kg": 1000.0,
    "quota_use": 1.0,
    "power_w": 1.0,
    "devices": 1.0,
}
MOST = 10**15  # beyond it a quantity is only "too much": keeps sums of a thousand rows within 64 bits


class Limit(NamedTuple):
    """quantity (of Candidates) <= most, or >= most where `least` is set. field: of the requirements file."""

    field: str
    quantity: str
    bound: float
    least: bool = False

    @property
    def integer(self) -> int:
        """The bound in units of the model, rounded to the strict side."""
        scaled = self.bound * RESOLUTION[self.quantity]
        return int(min(np.ceil(scaled) if self.least else np.floor(scaled), MOST))

    def kept(self, integers: Ints) -> Bools:
        """Rows that keep it. (R,)"""
        return integers >= self.integer if self.least else integers <= self.integer

    def excess(self, values: Floats) -> Floats:
        """By how much rows miss it, relative to the bound; 0 where they keep it. (R,)"""
        missed = self.bound - values if self.least else values - self.bound
        return np.maximum(missed, 0.0) / max(self.bound, 1e-9)


def limits_of(limits: Limits) -> list[Limit]:
    """Those that the user states, and the most devices that are looked at."""
    stated = [
        Limit("limits.deadline", "wall_clock_s", limits.deadline) if limits.deadline is not None else None,
        Limit("limits.budget", "cost_usd", limits.budget) if limits.budget is not None else None,
        Limit("limits.max_power", "power_w", limits.max_power) if limits.max_power is not None else None,
        Limit("limits.max_energy", "energy_wh", limits.max_energy) if limits.max_energy is not None else None,
        Limit("limits.max_carbon", "carbon_kg", limits.max_carbon) if limits.max_carbon is not None else None,
        Limit("limits.quotas", "quota_use", 1.0) if limits.quotas else None,
        Limit("limits.max_devices", "devices", float(limits.max_devices)),
        Limit("limits.min_devices", "devices", float(limits.min_devices), least=True)
        if limits.min_devices > 1
        else None,
    ]
    return [limit for limit in stated if limit is not None]


def integers(table: Candidates, quantity: str) -> Ints:
    """A quantity in units of the model, rounded up. (R,)"""
    values: Floats = getattr(table, quantity)
    return np.minimum(np.ceil(values * RESOLUTION[quantity]), MOST + 1).astype(np.int64)


def violated(table: Candidates, limits: list[Limit]) -> Ints:
    """Which limits each row breaks, as bits in the order of the limits. (R,)"""
    bits = np.zeros(len(table), np.int64)
    for position, limit in enumerate(limits):
        bits |= (~limit.kept(integers(table, limit.quantity))).astype(np.int64) << position
    return bits
