"""What a row must not exceed to matter: ceilings of the limits, and of the best plans found so far."""

from typing import NamedTuple, Protocol

import numpy as np

from solver.layout import Bools, Ints
from solver.physics.hardware import Floats


class Ceiling(Protocol):
    """What tells rows that can matter from those that cannot."""

    def admits(self, seconds: Floats, devices: Ints) -> Bools:
        """Rows whose lower bounds of a run [s] do not reach it. (N,)"""
        ...


class Cap(NamedTuple):
    """A ceiling on what a run takes: seconds x (per_s + per_device_s x devices) <= most."""

    per_s: float
    per_device_s: float
    most: float

    def admits(self, seconds: Floats, devices: Ints) -> Bools:
        """Rows whose lower bounds stay below. (N,)"""
        return seconds * (self.per_s + self.per_device_s * devices) <= self.most


class Worth(NamedTuple):
    """What a row must not exceed to matter to the limits and to what has been found."""

    steps: int
    caps: tuple[Ceiling, ...]

    def able(self, floor_s: Floats, devices: Ints) -> Bools:
        """Rows whose lower bounds stay below every cap. (N,)"""
        admitted = np.ones(len(devices), np.bool_)
        for cap in self.caps:
            admitted &= cap.admits(floor_s * self.steps, devices)
        return admitted
