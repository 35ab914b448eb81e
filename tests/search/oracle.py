"""Brute force: every offering, framework, precision and layout in plain loops, one estimate at a time.

Nothing here comes from the search: its values are typed again from what is documented, prices are added up
again, and the best are picked by sorting. What a layout takes comes from the one place that `evaluate` asks.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import product
from typing import NamedTuple

import numpy as np

from solver.catalog.records import Framework, Machine, Offering
from solver.estimate import Job, Pool, Space, case_of, rules_of, run_of, setting_of
from solver.layout import RECOMPUTE, Layouts
from solver.problem import Problem, Quota
from solver.problem.ranges import Span
from solver.question import Question, ask
from solver.rules import violations

DAY_S = 86400.0
WORDS = {name: index for index, name in enumerate(RECOMPUTE)}

Columns = dict[str, int]
Pins = dict[str, tuple[int | Span, ...]]


class Row(NamedTuple):
    """One layout on one offering: what it takes, and what identifies it."""

    offering: Offering
    device: str
    framework: str
    precision: str
    layout: tuple[tuple[str, int], ...]
    devices: int
    wall_clock_s: float
    cost_usd: float
    energy_wh: float
    carbon_kg: float
    power_w: float
    machines: int
    machine: Machine

    @property
    def price_list(self) -> tuple[str, str, str, str]:
        """What two regions of one offering share."""
        o = self.offering
        return (o.provider, o.instance, o.fabric or "", o.pricing)


class Known(NamedTuple):
    """What was found before: legal layouts by geometry, step time (None: too large) by pool and layout."""

    layouts: dict[object, list[Columns]]
    estimates: dict[object, list[float | None]]


VALUE: dict[str, Callable[[Row], float]] = {
    "cost": lambda row: row.cost_usd,
    "time": lambda row: row.wall_clock_s,
    "energy": lambda row: row.energy_wh,
    "carbon": lambda row: row.carbon_kg,
}
KEY: dict[str, Callable[[Row], object]] = {
    "device": lambda row: row.device,
    "offering": lambda row: row.price_list,
    "layout": lambda row: (row.price_list, row.offering.machine, row.framework, row.precision, row.layout),
}


def best(problem: Problem, rows: list[Row], top: int, distinct: str) -> list[Row]:
    """The `top` best of the rows that keep the limits, no two with one key."""
    chosen: dict[object, Row] = {}
    for row in sorted((r for r in rows if keeps(problem, r)), key=VALUE[problem.objective]):
        chosen.setdefault(KEY[distinct](row), row)
    return list(chosen.values())[:top]


def keeps(problem: Problem, row: Row) -> bool:
    """The limits on numbers, in steps of milliseconds, hundredths of cents and watts; rows rounded up."""
    limits = problem.limits
    return (
        within(row.wall_clock_s, limits.deadline, 1000)
        and within(row.cost_usd, limits.budget, 10_000)
        and within(row.power_w, limits.max_power, 1)
        and within(row.energy_wh, limits.max_energy, 1)
        and within(row.carbon_kg, limits.max_carbon, 1000)
        and all(keeps_quota(row, quota) for quota in limits.quotas)
        and limits.min_devices <= row.devices <= limits.max_devices
        and row.machines % limits.machines_step == 0
    )


def keeps_quota(row: Row, quota: Quota) -> bool:
    """Machines or their devices, where a quota speaks of the row."""
    names = {
        quota.provider: row.offering.provider,
        quota.region: row.offering.region,
        quota.device: row.device,
        quota.machine: row.machine.id,
        quota.pricing or "*": row.offering.pricing,
    }
    if not all(fnmatchcase(name, glob) for glob, name in names.items() if glob != "*"):
        return True
    if quota.machines is not None:
        return row.machines <= quota.machines
    return row.machines * row.machine.devices <= (quota.devices or 0)


def within(value: float, limit: float | None, units: int) -> bool:
    return limit is None or math.ceil(value * units) <= math.floor(limit * units)


def everything(problem: Problem) -> list[Row]:
    """Every legal layout that fits, on every offering that the lists of the limits leave."""
    question = ask(problem)
    catalog, known = question.catalog, Known({}, {})
    return [
        row
        for offering in catalog.offerings
        if allowed(question, offering)
        for how in product(catalog.frameworks.values(), problem.training.precision)
        if runs(question, offering, how)
        for row in rows_of(question, offering, how, known)
    ]


def allowed(question: Question, offering: Offering) -> bool:
    """Whether the lists of the limits leave an offering."""
    limits, machine = question.problem.limits, question.catalog.machines[offering.machine]
    names = {
        "devices": machine.device,
        "machines": machine.id,
        "providers": offering.provider,
        "regions": offering.region,
        "fabrics": offering.fabric or "",
    }
    listed = all(
        any(fnmatchcase(name, glob) for glob in getattr(limits, kind)) or not getattr(limits, kind)
        for kind, name in names.items()
    )
    refused = any(
        fnmatchcase(name, glob) for kind, name in names.items() for glob in getattr(limits, f"exclude_{kind}")
    )
    return offering.pricing in limits.pricing and listed and not refused


def runs(question: Question, offering: Offering, how: tuple[Framework, str]) -> bool:
    """Whether a framework may be used and runs on the offering's device in a precision."""
    framework, precision = how
    limits, catalog = question.problem.limits, question.catalog
    device = catalog.devices[catalog.machines[offering.machine].device]
    named = not limits.frameworks or any(fnmatchcase(framework.id, glob) for glob in limits.frameworks)
    refused = any(fnmatchcase(framework.id, glob) for glob in limits.exclude_frameworks)
    there = any(device.family in s.families and precision in s.precisions for s in framework.supports)
    return named and not refused and there and precision in device.peak


def rows_of(
    question: Question, offering: Offering, how: tuple[Framework, str], known: Known
) -> Iterator[Row]:
    """The rows of one offering with one framework in one precision."""
    catalog, job = question.catalog, question.job
    machine = catalog.machines[offering.machine]
    device = catalog.devices[machine.device]
    pool = Pool.of(catalog, machine, catalog.fabrics[offering.fabric] if offering.fabric else None, how)
    most = min(question.problem.limits.max_devices, offering.max_devices) * device.ranks
    geometry = (*names(how), pool.domain_ranks, pool.block_ranks, most)
    if geometry not in known.layouts:
        known.layouts[geometry] = list(layouts(job, pool, most, stated(question.problem)))
    found = known.layouts[geometry]
    key = (geometry, machine.id, offering.fabric)
    if key not in known.estimates:
        known.estimates[key] = estimates(job, pool, found) if found else []
    for columns, step_s in zip(found, known.estimates[key], strict=True):
        identity = tuple(sorted(columns.items()))
        devices = columns["tp"] * columns["cp"] * columns["pp"] * columns["dp"] // device.ranks
        row = priced(job, (offering, pool), step_s, devices) if step_s is not None else None
        if row is not None:
            yield row._replace(framework=how[0].id, precision=how[1], layout=identity)


def names(how: tuple[Framework, str]) -> tuple[str, str]:
    return how[0].id, how[1]


def estimates(job: Job, pool: Pool, found: list[Columns]) -> list[float | None]:
    """Step time of each layout; None where it does not fit. Each is estimated whole, none is left out."""
    layouts = Layouts.of({name: [columns[name] for columns in found] for name in found[0]})
    every = np.arange(len(found))
    space = Space.of(setting_of(job, pool.framework, pool.precision), layouts.take(every))
    step_s = space.step(pool, space.layer_cost(pool)).step_s
    fits = space.memory.peak <= pool.rank.usable_bytes
    return [float(s) if fit else None for s, fit in zip(step_s, fits, strict=True)]


def priced(job: Job, what: tuple[Offering, Pool], step_s: float, devices: int) -> Row | None:
    """A row's money and energy, added up anew; None where the offering does not last that long."""
    offering, pool = what
    machine, device, site = pool.machine, pool.device, offering.site
    machines = math.ceil(devices / machine.devices)
    run = run_of(
        job, np.array([step_s]), np.array([devices]), (machine, device), spot=offering.pricing == "spot"
    )
    wall_s = float(run.wall_clock_s[0])
    if offering.max_days is not None and wall_s > offering.max_days * DAY_S:
        return None
    operations = job.operations
    stored_gb = job.steps * job.sequence * job.global_batch * operations.token_bytes / 1e9
    stored_gb += (
        operations.checkpoints_kept * operations.checkpoint_bytes * job.architecture.total_parameters / 1e9
    )
    months = wall_s / (365.25 / 12 * DAY_S)
    out_gb = operations.weight_bytes * job.architecture.total_parameters / 1e9
    beside_usd = stored_gb * site.storage * months + out_gb * site.egress + site.head_node * wall_s / 3600
    beside_usd += machines * machine.devices * site.host * wall_s / 3600
    beside_usd *= offering.pricing != "owned" or offering.overflow is not None
    cards = pool.fabric.nics * machine.hosts if pool.fabric else 0
    hosts = machines * machine.hosts
    ports = 0 if machines == 1 else 1 if hosts <= 64 else 3 if hosts <= 2048 else 5
    mean_w = operations.load[device.kind] * machine.power + cards * ports * operations.port_power
    energy_wh = machines * mean_w * wall_s / 3600 * site.pue
    return Row(
        offering=offering,
        device=device.id,
        framework="",
        precision="",
        layout=(),
        devices=devices,
        wall_clock_s=wall_s,
        cost_usd=rent(offering, machines, wall_s) + beside_usd,
        energy_wh=energy_wh,
        carbon_kg=energy_wh / 1000 * site.carbon,
        power_w=machines * machine.power,
        machines=machines,
        machine=machine,
    )


def rent(offering: Offering, machines: int, wall_s: float) -> float:
    """What is paid for the machines: whole terms, least terms and counts, reserved ones beside others."""
    paid_s = max(wall_s, offering.least_days * DAY_S)
    if offering.term_days is not None:
        paid_s = math.ceil(wall_s / (offering.term_days * DAY_S)) * offering.term_days * DAY_S
    if offering.weeks_beyond is not None and paid_s > offering.weeks_beyond * DAY_S:
        paid_s = math.ceil(wall_s / (7 * DAY_S)) * 7 * DAY_S
    billed = max(machines, offering.least_machines)
    if (mixed := offering.overflow) is None:
        return billed * offering.usd_per_hour * paid_s / 3600
    few = min(billed, mixed.reserved)
    return (few * mixed.reserved_usd * wall_s + (billed - few) * mixed.further_usd * paid_s) / 3600


def stated(problem: Problem) -> Pins:
    """What the user says of each dimension, words as numbers."""
    layout = {name: getattr(problem.limits.layout, name) for name in type(problem.limits.layout).model_fields}
    layout["recompute"] = tuple(WORDS[word] for word in layout["recompute"])
    return {name: tuple(values) for name, values in layout.items() if values}


def tried(pins: Pins, name: str, own: Iterable[int]) -> list[int]:
    """The values of a dimension: those that are listed, and of the search's own those that ranges leave."""
    said = pins.get(name, ())
    numbers = [value for value in said if not isinstance(value, Span)]
    spans = [value for value in said if isinstance(value, Span)]
    inside, outside = ([s for s in spans if s.excluded == out] for out in (False, True))
    left = [] if numbers and not inside else list(own)
    if inside:
        left = [value for value in left if any(s.least <= value <= s.most for s in inside)]
    every = dict.fromkeys([*numbers, *left])
    return [value for value in every if not any(s.least <= value <= s.most for s in outside)]


def layouts(job: Job, pool: Pool, most: int, pins: Pins) -> Iterator[Columns]:
    """Every legal layout on at most `most` ranks; each is shown to the rules alone."""
    case = case_of(job, pool)
    rules = rules_of(pool.framework)
    serial = "no_sequence_parallel" in pool.framework.rules
    for columns in finished(job, pool, most, pins):
        whole = columns | {"sequence_parallel": int(columns["tp"] > 1 and not serial)}
        layout = Layouts.of({name: [value] for name, value in whole.items()})
        if not violations(rules, case, layout):
            yield whole


def finished(job: Job, pool: Pool, most: int, pins: Pins) -> Iterator[Columns]:
    """Meshes with a batch, a sharding and a recompute word."""
    small = (16, 32, 64) if job.architecture.total_parameters < 3e9 else ()
    words = [WORDS[word] for word, kind in pool.framework.recompute.items() if kind != "core_attention"]
    for mesh in meshes(job, pool, most, pins):
        for micro_batch in tried(pins, "micro_batch", (1, 2, 4, 8, *small)):
            grad_accum, rest = divmod(job.global_batch, mesh["dp"] * micro_batch)
            if rest or grad_accum < mesh["pp"] or grad_accum not in tried(pins, "grad_accum", (grad_accum,)):
                continue
            for (zero, shard), recompute in product(
                shardings(pool, mesh, pins), tried(pins, "recompute", words)
            ):
                yield mesh | {
                    "micro_batch": micro_batch,
                    "grad_accum": grad_accum,
                    "zero": zero,
                    "shard": shard,
                    "recompute": recompute,
                }


def meshes(job: Job, pool: Pool, most: int, pins: Pins) -> Iterator[Columns]:
    """Degrees of parallelism that fill at most `most` ranks in whole blocks."""
    a = job.architecture
    long = (16, 32) if job.sequence >= 65536 else ()
    tensor = [d for d in range(1, min(pool.domain_ranks, 16) + 1) if a.heads % d == 0]
    for tp, cp in product(tried(pins, "tp", tensor), tried(pins, "cp", (1, 2, 4, 8, *long))):
        for ep, etp in experts(a.experts, tp, pins):
            for pp, vpp in product(
                tried(pins, "pp", range(1, min(64, a.layers) + 1)), tried(pins, "vpp", (1, 2, 4, 6, 8))
            ):
                for dp in tried(pins, "dp", range(1, job.global_batch + 1)):
                    ranks = tp * cp * pp * dp
                    whole = ranks <= most and ranks % pool.block_ranks == 0 and (pp > 1 or vpp == 1)
                    whole &= all(grouped(ranks, group, pool.domain_ranks) for group in (tp * cp, ep * etp))
                    if whole and tp * cp <= 64 and pp * vpp <= a.layers and job.global_batch % dp == 0:
                        yield {"tp": tp, "cp": cp, "ep": ep, "etp": etp, "pp": pp, "vpp": vpp, "dp": dp}


def grouped(ranks: int, group: int, domain: int) -> bool:
    """Whether groups of ranks can stand each within a scale-up domain; those that are larger always can."""
    return group > domain or math.ceil(ranks / group) <= math.ceil(ranks / domain) * (domain // group)


def experts(count: int, tp: int, pins: Pins) -> Iterator[tuple[int, int]]:
    """Expert parallel and expert tensor parallel degrees."""
    degrees = [d for d in range(1, 65) if max(count, 1) % d == 0]
    for ep, etp in product(tried(pins, "ep", degrees), tried(pins, "etp", sorted({1, tp} if count else {1}))):
        if ep * etp <= 64:
            yield ep, etp


def shardings(pool: Pool, mesh: Columns, pins: Pins) -> Iterator[tuple[int, int]]:
    """ZeRO stage, and the replicas that share one copy: all of them (0), or those of one machine."""
    replicas = mesh["dp"] * mesh["cp"]
    stages = [stage for stage in pool.framework.zero if stage > 0] or [0]
    inside = pool.domain_ranks // mesh["tp"]
    for zero in tried(pins, "zero", stages if replicas > 1 else [0]):
        partial = zero > 0 and inside > 1 and replicas > inside and replicas % inside == 0
        machine = [inside] if partial and "no_partial_shard" not in pool.framework.rules else []
        for shard in tried(pins, "shard", [0, *machine]):
            yield zero, shard
