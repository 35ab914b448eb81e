"""From chosen rows to plans: the words, the numbers, the bottleneck, and why a plan is not the first."""

from typing import NamedTuple

import numpy as np

from solver.catalog.records import Offering
from solver.plan import Cost, Energy, Interconnect, Layout, Plan, RentLine
from solver.present import layout_words, memory_use, time_of
from solver.pricing import Deal, cost_parts, cost_split
from solver.pricing.rent import lines
from solver.search.candidates import Candidates, Explorer
from solver.search.causes import Case, why_not_first
from solver.search.explore import Goal
from solver.units import HOUR_S

COMMUNICATION = (
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "pipeline_parallel",
    "data_parallel",
)
WAITING = ("pipeline_bubble", "launch", "overhead")


class Seat(NamedTuple):
    """Where plans are told from. also_in: by offering, the other regions that have it."""

    explorer: Explorer
    also_in: dict[str, list[str]]


def plans_of(seat: Seat, table: Candidates, goal: Goal) -> list[Plan]:
    """A plan for each row, in order."""
    cases = [Case(plan_of(seat, table, row), _device_hour_usd(seat, table, row)) for row in range(len(table))]
    reasons = [None, *(why_not_first(case, cases[0], goal.objective) for case in cases[1:])]
    return [
        case.plan.model_copy(update={"why_not_first": reason})
        for case, reason in zip(cases, reasons[: len(cases)], strict=True)
    ]


def _device_hour_usd(seat: Seat, table: Candidates, row: int) -> float:
    """List price; 0 of one's own machines."""
    offering = seat.explorer.offerings[int(table.offering[row])]
    owned = offering.pricing == "owned"
    return 0.0 if owned else seat.explorer.question.catalog.device_hour_usd(offering)


def plan_of(seat: Seat, table: Candidates, row: int) -> Plan:
    """One row, told whole."""
    explorer = seat.explorer
    offering = explorer.offerings[int(table.offering[row])]
    market = explorer.markets[int(table.pool[row])]
    pool, devices, machines = market.pool, int(table.devices[row]), int(table.machines[row])
    space = explorer.known(int(table.pool[row])).take(table.layout[row : row + 1])
    step = space.step(pool, explorer.cost(int(table.pool[row])))
    wall = table.wall_clock_s[row : row + 1]
    deal = Deal(explorer.job, offering, pool)
    parts = {name: float(v[0]) for name, v in cost_parts(deal, np.array([machines]), wall).items()}
    used = (float(table.energy_wh[row]), machines * float(wall[0]))
    duration = time_of(explorer.job, pool, step, (0, devices, offering.pricing == "spot"))
    return Plan(
        rank=row + 1,
        offering=offering.id,
        provider=offering.provider,
        machine=pool.machine.id,
        instance=offering.instance,
        region=offering.region,
        also_in=seat.also_in.get(offering.id, []),
        pricing=offering.pricing,
        device=pool.device.id,
        machines=machines,
        devices=devices,
        devices_paid=max(machines, offering.least_machines) * pool.machine.devices,
        ranks=devices * pool.device.ranks,
        framework=pool.framework.id,
        interconnect=Interconnect(scale_up=pool.link.id, scale_out=pool.fabric.id if pool.fabric else None),
        layout=Layout(**layout_words(space, pool, 0)),
        time=duration,
        memory=memory_use(space, pool, 0),
        cost=Cost(
            total_usd=float(table.cost_usd[row]),
            per_hour_usd=float(table.cost_usd[row]) / float(wall[0]) * HOUR_S,
            parts=parts,
            split=cost_split(deal, parts, used, explorer.question.catalog.ownership["ownership"]),
            rent=rent_of(offering, machines, float(wall[0])),
        ),
        energy=Energy(mwh=used[0] / 1e6, kg_co2e=float(table.carbon_kg[row])),
        power_kw=float(table.power_w[row]) / 1e3,
        price_date=offering.date,
        bottleneck=bottleneck(duration.parts),
        why_not_first=None,
    )


def rent_of(offering: Offering, machines: int, wall_clock_s: float) -> list[RentLine]:
    """What is paid for machines that are rented; nothing of those that are bought or stand there."""
    if offering.owned is not None:
        return []
    paid = lines(offering, np.array([machines]), np.array([wall_clock_s]))
    return [
        RentLine(
            machines=int(line.machines[0]),
            hours=float(line.paid_s[0]) / HOUR_S,
            usd_per_hour=line.usd_per_hour,
        )
        for line in paid
    ]


def bottleneck(parts: dict[str, float]) -> str:
    """What the step is spent on most, in words."""
    total = sum(parts.values())
    share = {name: value / total for name, value in parts.items()}
    grouped = {
        "compute": share["matmul"] + share["attention"],
        "memory bandwidth": share["elementwise"] + share["optimizer"],
        "recomputation": share["recompute"],
        "communication": sum(share[name] for name in COMMUNICATION),
        "waiting": sum(share[name] for name in WAITING),
        "embedding and loss": share["embedding_and_loss"],
    }
    first, second = sorted(grouped, key=lambda name: -grouped[name])[:2]
    return f"{first} ({grouped[first]:.0%} of the step), then {second} ({grouped[second]:.0%})"
