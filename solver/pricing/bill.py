"""The bill of a run by part: machines rented or one's own, and what is billed beside them. USD; arrays are
(N,), one entry a row. Every part grows with the wall clock, and all of them are at least the hours of the
machines at the offering's price: the search relies on both.
"""

import numpy as np

from solver.estimate import Job
from solver.layout import Ints
from solver.physics.hardware import Floats
from solver.pricing import owning
from solver.pricing.deal import Deal
from solver.pricing.power import energy_wh
from solver.pricing.rent import rent_usd
from solver.units import HOUR_S, MONTH_S

PARTS = (
    "accelerators",
    "network",
    "storage",
    "egress",
    "hosts",
    "power",
    "facility",
    "operation",
    "evaluation",
)
BY_MACHINE_HOUR = ("accelerators", "network", "power", "facility", "operation")


def stored_bytes(job: Job) -> float:
    """What is kept: as the file says, else the token ids and the checkpoints."""
    if job.bill.storage is not None:
        return job.bill.storage
    tokens = job.steps * job.tokens_per_step
    return tokens * job.operations.token_bytes + job.operations.checkpoints_kept * job.checkpoint_bytes


def taken_out_bytes(job: Job) -> float:
    """Data that leaves the provider: as the file says, else the weights of the finished model."""
    weights = job.operations.weight_bytes * job.architecture.total_parameters
    return weights if job.bill.egress is None else job.bill.egress


def rented(deal: Deal, machines: Ints, wall_clock_s: Floats) -> dict[str, Floats]:
    """Parts of a bill for rent; of machines at an hourly price of the user, their hours alone. (N,)"""
    job, offering = deal.job, deal.offering
    parts = {"accelerators": rent_usd(offering, machines, wall_clock_s)}
    if offering.pricing == "owned" and offering.overflow is None:
        return parts
    nodes = 1 if job.bill.head_nodes is None else job.bill.head_nodes
    hosts = machines * deal.pool.machine.devices * offering.site.host
    once = np.ones(len(wall_clock_s))
    return parts | {
        "storage": stored_bytes(job) / 1e9 * offering.site.storage * wall_clock_s / MONTH_S,
        "egress": taken_out_bytes(job) / 1e9 * offering.site.egress * once,
        "hosts": (nodes * offering.site.head_node + hosts) * wall_clock_s / HOUR_S,
    }


def cost_parts(deal: Deal, machines: Ints, wall_clock_s: Floats) -> dict[str, Floats]:
    """Cost of a run by part (PARTS). Each (N,)"""
    if deal.offering.owned is not None:
        energy = energy_wh(deal, machines, wall_clock_s)
        known = owning.parts(deal, machines, wall_clock_s, energy)
        known["storage"] = stored_bytes(deal.job) / 1e9 * deal.offering.owned.storage * wall_clock_s / HOUR_S
    else:
        known = rented(deal, machines, wall_clock_s)
    nothing = np.zeros(len(wall_clock_s))
    parts = {name: known.get(name, nothing) for name in PARTS}
    hours = sum((parts[name] for name in BY_MACHINE_HOUR), nothing)
    return parts | {"evaluation": hours * (deal.job.bill.evaluation or 0.0)}
