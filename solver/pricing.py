"""Money: rent by the second, commitments paid whole, storage. USD; arrays are (N,), one entry a row."""

import numpy as np

from solver.catalog.records import Offering
from solver.estimate import Job
from solver.layout import Ints
from solver.physics.hardware import Floats

HOUR_S = 3600.0
DAY_S = 86400.0
MONTH_S = 365.25 / 12 * DAY_S
PARTS = ("accelerators", "storage")


def rent_usd(offering: Offering, machines: Ints, wall_clock_s: Floats) -> Floats:
    """Price of the machines for the run. (N,)

    By the second; a commitment is paid for its whole terms, as many as the run touches.
    """
    paid_s = wall_clock_s
    if offering.term_days is not None:
        term_s = offering.term_days * DAY_S
        paid_s = np.ceil(wall_clock_s / term_s) * term_s
    return offering.usd_per_hour / HOUR_S * machines * paid_s


def stored_bytes(job: Job) -> float:
    """The data set and the checkpoints that are kept."""
    tokens = job.steps * job.tokens_per_step
    return tokens * job.operations.token_bytes + job.operations.checkpoints_kept * job.checkpoint_bytes


def storage_usd(job: Job, offering: Offering, wall_clock_s: Floats) -> Floats:
    """Object storage of data and checkpoints while the run lasts; on owned machines their own. (N,)"""
    rented = offering.pricing != "owned"
    return rented * stored_bytes(job) / 1e9 * job.operations.storage_price * wall_clock_s / MONTH_S


def cost_parts(job: Job, offering: Offering, machines: Ints, wall_clock_s: Floats) -> dict[str, Floats]:
    """Cost of a run by part (PARTS). Each (N,)"""
    parts = (rent_usd(offering, machines, wall_clock_s), storage_usd(job, offering, wall_clock_s))
    return dict(zip(PARTS, parts, strict=True))


def energy_wh(job: Job, watts: float, machines: Ints, wall_clock_s: Floats) -> Floats:
    """Energy at the meter: the machines under load for the whole run, times the facility's overhead. [Wh],
    (N,)
    """
    return watts * machines * wall_clock_s / HOUR_S * job.operations.pue
