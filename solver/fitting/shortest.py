"""What falls short where a model does not fit: the layout that comes closest."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from solver.catalog.records import Device
from solver.estimate import Pool, Space
from solver.fitting.fewest import COUNTS, Bench, Trial, allowed, reach
from solver.physics.hardware import Floats


class Short(NamedTuple):
    """The layout that needs least of its devices, and still more than they have."""

    pool: Pool
    space: Space
    devices: int
    over: float
    """What it takes, over what there is: of the device, or of the host where that is short."""


def shortest(bench: Bench, trials: Sequence[Trial], device: Device, below: int | None) -> Short | None:
    """The layout that comes closest to fitting in any of the trials: on the largest count below a number, or
    on any.
    """
    most = COUNTS[-1] if below is None else below - 1
    closest: list[Short] = []
    for trial in trials:
        for pool in bench.pools(device, trial):
            devices = reach(bench.catalog, pool.machine, most)
            if devices >= pool.machine.block:
                closest += _closest(trial, pool, bench.space(trial, pool, devices), largest=below is not None)
    count = max((one.devices for one in closest), default=0)
    asked = [one for one in closest if below is None or one.devices == count]
    return min(asked, key=lambda one: one.over, default=None)


def _closest(trial: Trial, pool: Pool, space: Space, *, largest: bool) -> Iterator[Short]:
    rows = np.flatnonzero(allowed(trial, space))
    if not len(rows):
        return
    ranks = space.layouts.take(rows).ranks
    if largest:
        rows = rows[ranks == ranks.max()]
    over = np.maximum(space.peak(rows) / pool.rank.usable_bytes, host_share(pool, space.take(rows)))
    row = int(over.argmin())
    closest = space.take(rows[row : row + 1])
    yield Short(pool, closest, int(closest.layouts.ranks[0]) // pool.device.ranks, float(over[row]))


def host_share(pool: Pool, space: Space) -> Floats:
    """What layouts take of the memory of a host, over what it has; 0 where that is not known. (N,)"""
    memory = pool.machine.host_memory / pool.machine.hosts
    return space.host_bytes(pool) / memory if memory else np.zeros(len(space.layouts))
