"""From steady steps to days: checkpoints, failures, restarts, spot interruptions, start-up."""

from typing import NamedTuple

import numpy as np

from solver.layout import Ints
from solver.physics.hardware import Floats


class Operations(NamedTuple):
    """How a long run is operated. Times in seconds.

    device_mtbf_s        mean time between failures that stop the job, of one device
    spot_mtbf_s          mean time between interruptions of one spot machine (infinite for other pricing)
    restart_s            from a failure to the next step: detection, replacement, loading
    checkpoint_bytes_per_s  rate at which one device writes its part of a checkpoint, while training waits
    startup_s            before the first step
    """

    device_mtbf_s: float
    spot_mtbf_s: float
    restart_s: float
    checkpoint_bytes_per_s: float
    startup_s: float


def checkpoint_pause_s(checkpoint_bytes: float, devices: Ints, operations: Operations) -> Floats:
    """How long training waits for a checkpoint: each device copies out its part. [s], (N,)"""
    return checkpoint_bytes / devices / operations.checkpoint_bytes_per_s


def goodput(checkpoint_bytes: float, devices: Ints, machines: Ints, operations: Operations) -> Floats:
    """Share of the wall-clock time that goes into steps that count. (N,)

    1 / g = 1 + d/T + (T/2 + R)/M with the interval T = sqrt(2 d M) that minimises it; d: checkpoint pause,
    M: mean time between failures of the whole job, R: restart.

    Source: Young 1974, Commun. ACM 17(9), 530-531; Daly 2006, Future Gener. Comput. Syst. 22(3), 303-312.
    """
    failures = failures_per_s(devices, machines, operations)
    pause = checkpoint_pause_s(checkpoint_bytes, devices, operations)
    interval = interval_s(pause, failures)
    lost = pause / interval + (interval / 2 + operations.restart_s) * failures
    return 1 / (1 + lost)


def failures_per_s(devices: Ints, machines: Ints, operations: Operations) -> Floats:
    """How often something stops the job: a device, or the taking back of a spot machine. [1/s], (N,)"""
    return np.asarray(devices / operations.device_mtbf_s + machines / operations.spot_mtbf_s, np.float64)


def interval_s(pause_s: Floats, failures: Floats) -> Floats:
    """Time between checkpoints that loses least: sqrt(2 d M). [s], (N,)"""
    return np.sqrt(2 * pause_s / failures)


def wall_clock_s(steps: int, step_s: Floats, share: Floats, operations: Operations) -> Floats:
    """The whole run, start-up included. [s], (N,)"""
    return steps * step_s / share + operations.startup_s
