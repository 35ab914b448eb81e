"""A run as stated: names become records, what is left out of the layout takes a default that is told."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from solver.catalog import Catalog, load
from solver.catalog.build import sentence as told_of
from solver.catalog.fact import Fact
from solver.catalog.framework import Framework
from solver.catalog.records import Link, Machine
from solver.errors import Fault, InputError
from solver.estimate import Job, Pool
from solver.jobs import job_of
from solver.layout import OFFLOAD, RECOMPUTE, Layouts, Stages
from solver.models import nearest
from solver.physics.schedules import NAMED
from solver.problem import Run
from solver.problem.run import RunLayout
from solver.question import resolve_model
from solver.rules import older_rules
from solver.units import shown

AnyFact = TypeVar("AnyFact", bound=Fact)
ZERO_NAMES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}
DEGREES = ("tp", "cp", "pp", "vpp", "ep", "etp", "micro_batch")  # 1 where they are not stated


@dataclass(frozen=True)
class Stated:
    """A run with its names resolved and its layout completed."""

    catalog: Catalog
    job: Job
    pool: Pool
    devices: int
    layouts: Layouts
    stages: Stages | None
    dealt: str | list[int]
    """As the run states the stages."""
    assumptions: tuple[str, ...]
    version: str | None = None
    """Of the framework, where it is stated."""


def state(run: Run) -> Stated:
    """Names to records, and the layout completed by stated defaults. Raises InputError with every fault."""
    catalog = load(run.catalog)
    faults: list[Fault] = []
    model = resolve_model(run.model, catalog, run.training, faults)
    machine, called = _machine(run, catalog, faults)
    fabric = _fabric(run, catalog, machine, faults)
    framework = catalog.frameworks.get(run.framework)
    if framework is None:
        known = f"; there are {', '.join(catalog.frameworks)}"
        faults.append(Fault("framework", f'"{run.framework}" is no framework of the catalog{known}'))
    _unmodelled(run, faults)
    if machine:
        _check(run, catalog, machine, faults)
    if faults or model is None or machine is None or framework is None:
        raise InputError(run.source, faults)
    architecture, notes = model
    job = job_of(architecture, run.training, catalog, run.layout.schedule)
    job = replace(job, steps=run.steps, flash=run.software.attention != "unfused")
    pool = Pool.of(catalog, machine, fabric, (framework, run.precision))
    layouts, taken = complete(run, job, pool, faults)
    stages = _stages(run, job, layouts, faults)
    if faults:
        raise InputError(run.source, faults)
    dealt = "even" if stages is None else [int(n) for n in run.layout.stages or ()]
    version = run.software.version
    told = (*called, *notes, *taken, *_release(framework, version))
    return Stated(catalog, job, pool, run.hardware.devices, layouts, stages, dealt, told, version)


def _machine(run: Run, catalog: Catalog, faults: list[Fault]) -> tuple[Machine | None, list[str]]:
    """The machine, by id, alias or inline; and how an alias is read."""
    given = run.hardware.machine
    known = catalog.machine(given) if isinstance(given, str) else None
    note = catalog.alias_note(given) if isinstance(given, str) else None
    found = known or _record(given, ("machine", Machine, catalog.machines), faults)
    return found, [f"hardware.machine: {note}"] if note else []


def _record(
    given: Any, what: tuple[str, type[AnyFact], Mapping[str, AnyFact]], faults: list[Fault]
) -> AnyFact | None:
    """A record by id, or of the fields written inline."""
    kind, record, known = what
    if isinstance(given, str):
        if given not in known:
            sentence = f'"{given}" is no {kind} of the catalog{nearest(given, known)}'
            faults.append(Fault(f"hardware.{kind}", sentence))
        return known.get(given)
    try:
        return record.model_validate({"id": "inline", "source": ["user"], "date": "2026-01-01"} | given)
    except ValidationError as error:
        for e in error.errors(include_url=False):
            path = ".".join(str(part) for part in e["loc"])
            faults.append(Fault(f"hardware.{kind}.{path}", told_of(e)))
    return None


def _fabric(run: Run, catalog: Catalog, machine: Machine | None, faults: list[Fault]) -> Link | None:
    given = run.hardware.fabric
    if isinstance(given, dict):
        defaults = {"scope": "inter-node", "technology": "inline", "name": "inline"}
        return _record(defaults | given, ("fabric", Link, {}), faults)
    name = given or (machine.default_fabric if machine else None)
    if name is None:
        return None
    link = catalog.fabric(name)
    if link is None or link.scope != "inter-node":
        sentence = f'"{name}" is no fabric of the catalog{nearest(name, catalog.scale_out)}'
        faults.append(Fault("hardware.fabric", sentence))
    return link


def _check(run: Run, catalog: Catalog, machine: Machine, faults: list[Fault]) -> None:
    """What no layout can mend: the device must be known, come in blocks, and its machines be joined."""
    if machine.device not in catalog.devices:
        faults.append(Fault("hardware.machine.device", f'"{machine.device}" is no device of the catalog'))
    _check_machines(run, machine, faults)
    devices, block = run.hardware.devices, machine.block
    if devices % block:
        whole = -(-devices // block) * block
        taken = f"the {block} devices that {machine.id} is taken in"
        sentence = f"{devices} is no multiple of {taken}; write e.g. {whole}"
        faults.append(Fault("hardware.devices", sentence))


def _check_machines(run: Run, machine: Machine, faults: list[Fault]) -> None:
    """As many machines as one job can join, and a network between them."""
    machines = machine.count_for(run.hardware.devices)
    taken = f"{run.hardware.devices:,} devices are {machines:,} of {machine.id}"
    if machine.max_machines and machines > machine.max_machines:
        most = machine.max_machines * machine.devices
        sentence = f"{taken}, of which a job can join {machine.max_machines}; write at most {most:,}"
        faults.append(Fault("hardware.devices", sentence))
    elif machines > 1 and not (run.hardware.fabric or machine.default_fabric):
        sentence = f"{taken}, and no network between them is known; state one, or at most {machine.devices:,}"
        faults.append(Fault("hardware.fabric", sentence))


def complete(run: Run, job: Job, pool: Pool, faults: list[Fault]) -> tuple[Layouts, list[str]]:
    """The stated layout, gaps filled: dp from the ranks, grad_accum from the batch, the rest by framework."""
    given = _parted(run.layout, faults)
    stated = {name: getattr(given, name) for name in DEGREES if getattr(given, name) is not None}
    chunks = job.schedule.chunks if (given.pp or 1) > 1 else 0
    one = dict.fromkeys(DEGREES, 1) | {"vpp": chunks or 1} | stated
    ranks = run.hardware.devices * pool.device.ranks
    taken = {"dp": given.dp or max(ranks // (one["tp"] * one["cp"] * one["pp"]), 1)}
    rounds = max(job.global_batch // (taken["dp"] * one["micro_batch"]), 1)
    serial = "no_sequence_parallel" in pool.framework.rules
    parallel = given.sequence_parallel
    taken |= {
        "grad_accum": given.grad_accum or rounds,
        "zero": _zero(given.zero, pool.framework, taken["dp"] * one["cp"], faults),
        "shard": _shard(given.shard, job, taken["dp"] * one["cp"], faults),
        "recompute": _recompute(given.recompute, pool.framework, faults),
        "sequence_parallel": int(one["tp"] > 1 and not serial if parallel is None else parallel),
        "offload": OFFLOAD.index(given.offload) if given.offload in OFFLOAD else 0,
    }
    edp = taken["dp"] * one["tp"] * one["cp"] // max(one["ep"] * one["etp"], 1)
    if given.edp not in (None, edp):
        faults.append(
            Fault("layout.edp", f"{given.edp} does not follow from the others; write {edp}, or nothing")
        )
    filled = [name for name in (*DEGREES, *taken) if getattr(given, name) is None]
    words = {"recompute": RECOMPUTE[taken["recompute"]], "offload": OFFLOAD[taken["offload"]]}
    words["sequence_parallel"] = "true" if taken["sequence_parallel"] else "false"
    values = one | taken | words
    told = f"layout: not stated, so taken: {', '.join(f'{name} {values[name]}' for name in filled)}"
    return Layouts.of({name: [value] for name, value in (one | taken).items()}), [told] if filled else []


def _unmodelled(run: Run, faults: list[Fault]) -> None:
    """What a run may state and no estimate takes in is refused, not passed over."""
    given = run.layout
    if given.offload not in (None, *OFFLOAD):
        sentence = f'"{given.offload}" is no offload; write {", ".join(OFFLOAD)}'
        faults.append(Fault("layout.offload", sentence))
    known = (*NAMED, "1f1b", "interleaved-1f1b")
    if given.schedule not in (None, "none", "interleaved", *known):
        sentence = f'"{given.schedule}" is no schedule; write {", ".join(known)}'
        faults.append(Fault("layout.schedule", sentence))


def _shard(given: int | str | None, job: Job, replicas: int, faults: list[Fault]) -> int:
    """Left out, all replicas; those of one worker where several train apart."""
    if isinstance(given, str):
        sentence = f'"{given}" is no number of replicas; write e.g. {replicas}, or 0 for all'
        faults.append(Fault("layout.shard", sentence))
    if isinstance(given, int):
        return given
    return max(replicas // job.local.workers, 1) if job.local.workers > 1 else 0


def _parted(given: RunLayout, faults: list[Fault]) -> RunLayout:
    """With stage and shard apart where one word tells both: "zero3:8" shards over groups of 8 replicas."""
    stage, colon, shard = (part.strip() for part in str(given.zero).partition(":"))
    if not colon:
        return given
    if given.shard is not None and str(given.shard) != shard:
        faults.append(
            Fault("layout.shard", f"{given.shard} differs from zero {shown(given.zero)}; state one")
        )
    numbers = [int(text) if text.isdecimal() and len(text) < 8 else text for text in (stage, shard)]
    return given.model_copy(update=dict(zip(("zero", "shard"), numbers, strict=True)))


def _release(framework: Framework, version: str | None) -> list[str]:
    """What a stated version of the framework changes."""
    if version is None:
        return []
    older = older_rules(((o.before, o.rules) for o in framework.older), version)
    held = f"it also refuses what later ones lifted: {', '.join(older)}" if older else "taken as today's is"
    return [f"software.version: {framework.id} {version}: {held}"]


def _zero(given: int | str | None, framework: Framework, replicas: int, faults: list[Fault]) -> int:
    """The stage by number or name; left out, the least that shards, and 0 for one replica."""
    if given is None:
        sharding = [stage for stage in framework.zero if stage > 0]
        return min(sharding, default=0) if replicas > 1 else 0
    if isinstance(given, int):
        return given
    if given not in ZERO_NAMES:
        sentence = f'"{given}" is no stage; write 0 to 3, or {", ".join(ZERO_NAMES)}; zero3:8 for groups of 8'
        faults.append(Fault("layout.zero", sentence))
    return ZERO_NAMES.get(given, 0)


def _recompute(given: str | None, framework: Framework, faults: list[Fault]) -> int:
    """The index of a user's word, or of the framework's name for it."""
    words = {word: word for word in framework.recompute}
    names = {own: word for word, own in framework.recompute.items()} | words
    if given is not None and given not in names:
        sentence = f'"{given}" is none of those of {framework.id}: {", ".join(sorted(names))}'
        faults.append(Fault("layout.recompute", sentence))
    return RECOMPUTE.index(names.get(given or "none", "none"))


def _stages(run: Run, job: Job, layouts: Layouts, faults: list[Fault]) -> Stages | None:
    """The layers of the fullest, the first and the last stage, where they are dealt by hand."""
    given = run.layout.stages
    if given is None or given == "even":
        return None
    layers, pp = job.architecture.layers, int(layouts.pp[0])
    if sum(given) != layers or len(given) != pp:
        sentence = f"{len(given)} stages of {sum(given)} layers; write {pp} numbers that add up to {layers}"
        faults.append(Fault("layout.stages", sentence))
    return Stages(np.array([max(given)]), np.array([given[0]]), np.array([given[-1]]))
