"""From a problem to its comparison: the leaders of all groups, what each would need to win, how to get
there.
"""

from typing import Literal, NamedTuple

import numpy as np

from solver.catalog import Catalog
from solver.catalog.records import Device, Fact
from solver.catalog.stacks import JOINED, reference, stack_of
from solver.comparing.leaders import NAMES, Walk, admitted_groups
from solver.comparing.reasons import reason
from solver.comparing.record import Comparison, Group, Looked, Move, Software
from solver.comparing.winning import to_win
from solver.errors import Fault, InputError
from solver.plan import CatalogStamp, Plan
from solver.problem import Problem
from solver.question import Question, ask
from solver.record_files import nearest
from solver.search.candidates import Candidates
from solver.search.explore import Goal
from solver.search.limits import limits_of
from solver.search.plans import Seat, plans_of
from solver.search.solve import explorer_of
from solver.units import HOUR_S

By = Literal["device", "family", "provider"]
PFLOP_HOUR = 1e15 * HOUR_S  # model FLOPs of an hour at a PFLOP/s


class Ground(NamedTuple):
    """What every group of a comparison is told on. start: the stack that moves are told from."""

    walk: Walk
    by: By
    start: str

    @property
    def question(self) -> Question:
        return self.walk.explorer.question


def compare_problem(problem: Problem, by: By = "device", start: str | None = None) -> Comparison:
    """The best plan of each device, family or provider that the limits admit. Raises InputError.

    start: the stack that moves are told from; None: the reference of the catalog.
    """
    from solver import __version__

    question = ask(problem)
    catalog = question.catalog
    start = known_stack(catalog, start)
    goal = Goal(problem.objective, limits_of(problem.limits), 1, "offering")
    explorer, also_in = explorer_of(question, goal)
    walk = Walk(explorer, goal, [NAMES[by](question, o) for o in explorer.offerings])
    table = walk.leaders()
    ground = Ground(walk, by, start)
    plans = plans_of(Seat(explorer, also_in), table, goal)
    found = {walk.groups[offering]: place for place, offering in enumerate(table.offering.tolist())}
    return Comparison(
        by=by,
        objective=problem.objective,
        question=problem.question(),
        assumptions=list(question.assumptions),
        reference_stack=start,
        groups=[
            *(with_plan(ground, name, plans[place], (table, place)) for name, place in found.items()),
            *(without(ground, name, table) for name in admitted_groups(question, by) if name not in found),
        ],
        search=Looked(markets=len(explorer.markets), looked_at=walk.looked_at, proof=proof(walk, len(found))),
        catalog=CatalogStamp(date=catalog.date, hash=catalog.hash),
        version=__version__,
    )


def known_stack(catalog: Catalog, name: str | None) -> str:
    if name is None:
        return reference(catalog.stacks)
    if name not in catalog.stacks:
        raise InputError(
            "", [Fault("from", f'"{name}" is no stack of the catalog{nearest(name, catalog.stacks)}')]
        )
    return name


def with_plan(ground: Ground, name: str, plan: Plan, at: tuple[Candidates, int]) -> Group:
    """A group that can train the model; `at`: the table of leaders, and which of them it is."""
    question, (table, place) = ground.question, at
    catalog = question.catalog
    device, framework = catalog.devices[plan.device], catalog.frameworks[plan.framework]
    stack = stack_of(catalog.stacks, framework, device)
    row, target = table.take(np.array([place])), float(getattr(table, ground.walk.goal.quantity)[0])
    flops = question.job.flops_per_token * question.job.tokens_per_step * question.job.steps
    return Group(
        name=name,
        title=titled(catalog, ground.by, name),
        status="fits" if place else "best",
        plan=plan,
        usd_per_effective_pflop_hour=plan.cost.total_usd / (flops / PFLOP_HOUR),
        memory_slack_gib=plan.memory.usable_gib - plan.memory.peak_gib,
        software=Software(
            stack=stack.id if stack else None, framework=plan.framework, precision=plan.layout.precision
        ),
        migration=move(catalog, ground.start, stack.id) if stack else None,
        availability=[device.availability] if device.availability else [],
        lacks=lacking(device),
        estimated=estimated(catalog, plan),
        to_win=to_win(ground.walk.explorer, ground.walk.goal, row, target) if place else None,
        reason=None,
    )


def without(ground: Ground, name: str, table: Candidates) -> Group:
    """A group that cannot, and why; `table`: of leaders."""
    goal = ground.walk.goal
    why = reason(ground.walk, ground.by, name)
    wins = None
    if len(table) and why.nearest is not None and why.cured_by_price(goal):
        wins = to_win(ground.walk.explorer, goal, why.nearest, float(getattr(table, goal.quantity)[0]))
    devices = ground.question.catalog.devices
    device = devices.get(name) if ground.by == "device" else None
    return Group(
        name=name,
        title=titled(ground.question.catalog, ground.by, name),
        status="nothing",
        plan=None,
        usd_per_effective_pflop_hour=None,
        memory_slack_gib=None,
        software=None,
        migration=None,
        availability=[device.availability] if device and device.availability else [],
        lacks=lacking(device) if device else [],
        estimated=[],
        to_win=wins,
        reason=why.told,
    )


def titled(catalog: Catalog, by: By, name: str) -> str:
    """A group as a reader knows it: of a family, whose letters say little, its maker and devices."""
    if by != "family":
        return name
    devices = [device for device in catalog.devices.values() if device.family == name]
    makers = "/".join(sorted({device.vendor for device in devices}))
    kinds = ", ".join(sorted({device.architecture for device in devices}))
    return f"{makers} {kinds}: {', '.join(sorted(device.id for device in devices))}"


def move(catalog: Catalog, start: str, end: str) -> Move | None:
    """What a code written for one stack needs to run on another; None: it stays on its own."""
    found = catalog.migrations.get(f"{start}{JOINED}{end}")
    if found is None:
        return None
    return Move(from_stack=start, to_stack=end, **found.model_dump(include=set(Move.model_fields)))


def lacking(device: Device) -> list[str]:
    """What does not work on a device: precisions that training asks for, and the rest."""
    without = [name for name in ("bf16", "fp8", "mxfp8", "nvfp4") if name not in device.peak]
    return [*([f"no {', '.join(without)}"] if without else []), *device.lacks]


def estimated(catalog: Catalog, plan: Plan) -> list[str]:
    """Figures that no source states, of the device, machine and links of a plan."""
    wires = plan.interconnect
    facts: list[Fact] = [
        catalog.devices[plan.device],
        catalog.machines[plan.machine],
        catalog.fabrics[wires.scale_up],
    ]
    if wires.scale_out and plan.machines > 1:
        facts.append(catalog.fabrics[wires.scale_out])
    return [f"{name} of {fact.id}" for fact in facts for name in fact.estimated]


def proof(walk: Walk, found: int) -> list[str]:
    looked = f"{walk.looked_at:,} of {len(walk.explorer.markets):,} markets were looked at whole, "
    looked += f"{walk.explorer.counters.configurations:,} legal layouts"
    if not found:
        return [f"exhaustion: {looked}; on none does a layout keep the limits"]
    return [
        f"exhaustion: {looked}; the others cannot beat the best of their own group",
        f"the plan of each group ({found} in all) is its best: `solve`, asked for the group alone, finds it",
        "break-even prices and speed-ups: over every count that the group's price list offers",
    ]
