"""The fewest devices that hold a job, over every machine, framework and layout; on them the fastest one."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from solver.catalog import Catalog
from solver.catalog.records import Device, Framework, Machine
from solver.estimate import Job, Pool, Space, case_of, rules_of, setting_of, supports
from solver.layout import OFFLOAD, RECOMPUTE, Bools, Ints, Wanted
from solver.physics.hardware import Floats
from solver.search.field import recomputable
from solver.search.space import SMALL, Frame, layouts_of

COUNTS = (8, 64, 512, 4096)  # devices: looked at in steps, up to the first that holds the job
NEAR = 0.9  # of the best speed of a device: about as good


class Trial(NamedTuple):
    """A job as asked or changed. recompute, offload: the words of layout.RECOMPUTE and OFFLOAD it may use."""

    job: Job
    precisions: tuple[str, ...]
    recompute: tuple[str, ...]
    offload: tuple[str, ...]
    changes: tuple[str, ...] = ()
    """What was changed in the job, in words."""
    saving: bool = False
    """Told only where it takes fewer devices than everything before it: it changes the training."""

    @property
    def sound_share(self) -> float:
        """Of the memory, that a layout may take which fits whatever the estimate is off."""
        return 1 / (1 + self.job.operations.memory_error)


class Found(NamedTuple):
    """One layout on one pool: a space of this layout alone."""

    trial: Trial
    pool: Pool
    space: Space
    devices: int
    step_s: float

    @property
    def machines(self) -> int:
        return self.pool.machine.count_for(self.devices)

    @property
    def devices_paid(self) -> int:
        return self.machines * self.pool.machine.devices

    @property
    def tokens_per_s_per_device(self) -> float:
        return self.trial.job.tokens_per_step / self.step_s / self.devices

    @property
    def sound(self) -> bool:
        """Whether it leaves more of the memory than the estimate may be off."""
        return bool(self.space.sound(self.pool, np.zeros(1, np.int64))[0])

    @property
    def price(self) -> float:
        """Its step over that of the same layout without recomputation and offload."""
        none = np.zeros(1, np.int64)
        plain = Space.of(self.space.setting, replace(self.space.layouts, recompute=none, offload=none))
        return self.step_s / float(plain.step(self.pool, plain.layer_cost(self.pool)).step_s[0])

    @property
    def order(self) -> tuple[int, bool, int, float, str, str]:
        """Fewest devices first, then with room to spare, then fewest paid, then the fastest."""
        names = self.pool.machine.id, self.pool.framework.id
        return (self.devices, not self.sound, self.devices_paid, self.step_s, *names)


@dataclass
class Bench:
    """The spaces that were laid out, by everything that decides them."""

    catalog: Catalog
    frameworks: tuple[Framework, ...]
    spaces: dict[tuple[object, ...], Space] = field(default_factory=dict)

    def pools(self, device: Device, trial: Trial) -> Iterator[Pool]:
        """The ways to try it on a device: its machines, each framework and precision that it supports."""
        able = [f for f in self.frameworks if trial.job.optimizer in f.optimizers]
        for machine in self.catalog.machines.values():
            if machine.device != device.id:
                continue
            fabric = self.catalog.fabric(machine.default_fabric) if machine.default_fabric else None
            for framework in able:
                for precision in trial.precisions:
                    if supports(framework, device, precision):
                        yield Pool.of(self.catalog, machine, fabric, (framework, precision))

    def space(self, trial: Trial, pool: Pool, devices: int) -> Space:
        """Every legal layout of a trial on up to so many devices."""
        frame = frame_of(trial, pool, devices)
        job = trial.job
        key = (job.optimizer, job.sequence, pool.framework.id, pool.precision, frame)
        if key not in self.spaces:
            setting = setting_of(job, pool.framework, pool.precision)
            self.spaces[key] = Space.of(setting, layouts_of(frame))
        return self.spaces[key]


def frame_of(trial: Trial, pool: Pool, devices: int) -> Frame:
    """What decides the layouts of a trial."""
    tried = tuple(OFFLOAD.index(w) for w in trial.offload if w == OFFLOAD[0] or w in pool.framework.offload)
    return Frame(
        case=case_of(trial.job, pool),
        rules=rules_of(pool.framework),
        domain=pool.domain_ranks,
        most_ranks=devices * pool.device.ranks,
        recompute=recomputable(pool, ()),
        small=trial.job.architecture.total_parameters < SMALL,
        pinned=(("offload", Wanted(listed=tried)),) if len(tried) > 1 else (),
    )


def reach(catalog: Catalog, machine: Machine, most: int) -> int:
    """Devices of the largest job on machines of one kind; several only of the largest kind of a device."""
    largest = max(m.devices for m in catalog.machines.values() if m.device == machine.device)
    joined = machine.default_fabric is not None and machine.devices == largest
    together = machine.max_machines or most
    return min(most, machine.devices * (together if joined else 1))


def fewest(bench: Bench, trial: Trial, device: Device, below: int, room: float = 1.0) -> Found | None:
    """The fewest devices, less than `below`, that hold a trial in a share `room` of their memory."""
    pools = list(bench.pools(device, trial))
    for count in COUNTS:
        most = min(count, below - 1)
        tried = (_fewest(bench, trial, pool, (most, room)) for pool in pools)
        found = [one for one in tried if one]
        if found or most < count:
            return min(found, key=lambda one: one.order, default=None)
    return None


def quickest(bench: Bench, trial: Trial, device: Device, most: int) -> Found | None:
    """Of all that hold a trial with room to spare on up to `most` devices: where a device does most of its
    work; of those about as good the fewest devices.
    """
    tried = (_quickest(bench, trial, pool, most) for pool in bench.pools(device, trial))
    found = [one for one in tried if one]
    best = max((one.tokens_per_s_per_device for one in found), default=0.0)
    near = [one for one in found if one.tokens_per_s_per_device >= NEAR * best]
    return min(near, key=lambda one: one.order, default=None)


def _fewest(bench: Bench, trial: Trial, pool: Pool, limit: tuple[int, float]) -> Found | None:
    """On one pool. limit: as _holding."""
    held = _holding(bench, trial, pool, limit)
    if held is None:
        return None
    space, rows = held
    ranks = space.layouts.take(rows).ranks
    return _fastest(trial, pool, space, rows[ranks == ranks.min()])


def _quickest(bench: Bench, trial: Trial, pool: Pool, most: int) -> Found | None:
    """As quickest, on one pool."""
    held = _holding(bench, trial, pool, (most, trial.sound_share))
    if held is None:
        return None
    space, rows = held
    taken = space.take(rows)
    work = taken.step(pool, space.layer_cost(pool)).step_s * taken.layouts.ranks
    ranks = taken.layouts.ranks
    near = work <= work.min() / NEAR
    return _fastest(trial, pool, space, rows[near & (ranks == ranks[near].min())])


def _holding(bench: Bench, trial: Trial, pool: Pool, limit: tuple[int, float]) -> tuple[Space, Ints] | None:
    """The layouts on a pool, and those of them that a trial may use and that fit; None: none fits.

    limit: devices, and share of their memory, that may be used.
    """
    devices = reach(bench.catalog, pool.machine, limit[0])
    if devices < pool.machine.block:
        return None
    space = bench.space(trial, pool, devices)
    rows = np.flatnonzero(allowed(trial, space))
    rows = rows[space.fits(pool, rows)]
    rows = rows[space.peak(rows) <= limit[1] * pool.rank.usable_bytes]
    return (space, rows) if len(rows) else None


def allowed(trial: Trial, space: Space) -> Bools:
    """Layouts that use no more than the trial allows. (N,)"""
    recompute = [RECOMPUTE.index(word) for word in trial.recompute]
    offload = [OFFLOAD.index(word) for word in trial.offload]
    columns = space.layouts
    allowed = np.isin(columns.recompute, recompute) & np.isin(columns.offload, offload)
    return np.broadcast_to(allowed, len(columns))


def _fastest(trial: Trial, pool: Pool, space: Space, rows: Ints) -> Found:
    """Of layouts on as many devices; those with room to spare go first."""
    sound = rows[space.sound(pool, rows)]
    rows = sound if len(sound) else rows
    taken = space.take(rows)
    times: Floats = taken.step(pool, space.layer_cost(pool)).step_s
    best = int(times.argmin())
    devices = int(taken.layouts.ranks[best]) // pool.device.ranks
    return Found(trial, pool, taken.take(np.array([best])), devices, float(times[best]))
