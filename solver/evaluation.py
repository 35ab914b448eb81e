"""One stated layout on stated hardware: its estimate, or every rule it breaks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from solver.catalog import Catalog, load
from solver.catalog.build import sentence as told_of
from solver.catalog.records import Framework, Link, Machine
from solver.errors import Fault, InputError
from solver.estimate import Job, Pool, Space, case_of, rules_of, setting_of, supports
from solver.layout import RECOMPUTE, Layouts, Stages
from solver.plan import CatalogStamp, Evaluation, Layout, Refusal
from solver.present import layout_words, memory_use, time_of
from solver.problem import Run
from solver.question import resolve_model
from solver.rules import Violation, violations

ZERO_NAMES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}


@dataclass(frozen=True)
class Stated:
    """A run with its names resolved and its layout completed."""

    catalog: Catalog
    job: Job
    pool: Pool
    devices: int
    layouts: Layouts
    stages: Stages | None
    assumptions: tuple[str, ...]


def evaluate_run(run: Run) -> Evaluation:
    """What `evaluate --json` prints. Raises InputError."""
    stated = state(run)
    broken = violations_of(stated)
    setting = setting_of(stated.job, stated.pool.framework, stated.pool.precision)
    space = Space.of(setting, stated.layouts, stated.stages)
    common = {
        "framework": stated.pool.framework.id,
        "machine": stated.pool.machine.id,
        "devices": stated.devices,
        "assumptions": list(stated.assumptions),
        "warnings": [],
        "catalog": CatalogStamp(date=stated.catalog.date, hash=stated.catalog.hash),
    }
    return _evaluation(stated, space, broken, common)


def _evaluation(stated: Stated, space: Space, broken: list[Violation], common: dict[str, Any]) -> Evaluation:
    from solver import __version__

    refusals = [Refusal(rule=v.rule, message=v.message, legal_values=v.legal_values) for v in broken]
    if refusals:
        return Evaluation(
            legal=False, violations=refusals, fits=None, time=None, memory=None, layout=None,
            version=__version__, **common,
        )  # fmt: skip
    pool, job = stated.pool, stated.job
    step = space.step(pool, space.layer_cost(pool))
    memory = memory_use(space, pool, 0)
    return Evaluation(
        legal=True,
        violations=[],
        fits=memory.peak_gib <= memory.usable_gib,
        time=time_of(job, pool, step, (0, stated.devices, False)),
        memory=memory,
        layout=Layout(**layout_words(space, pool, 0)),
        version=__version__,
        **common,
    )


def state(run: Run) -> Stated:
    """Names to records, and the layout completed by stated defaults. Raises InputError with every fault."""
    catalog = load(run.catalog)
    faults: list[Fault] = []
    model = resolve_model(run.model, catalog, run.training, faults)
    machine = _record(run.hardware.machine, ("machine", Machine, catalog.machines), faults)
    fabric = _fabric(run, catalog, machine, faults)
    framework = catalog.frameworks.get(run.framework)
    if framework is None:
        known = f"; there are {', '.join(catalog.frameworks)}"
        faults.append(Fault("framework", f'"{run.framework}" is no framework of the catalog{known}'))
    if machine and framework:
        _check(run, catalog, (machine, framework), faults)
    if faults or model is None or machine is None or framework is None:
        raise InputError(run.source, faults)
    architecture, notes = model
    training = run.training
    job = Job(
        architecture=architecture,
        sequence=training.sequence_length,
        global_batch=training.global_batch,
        steps=run.training.steps or 1,
        gradient_dtype=training.gradient_dtype,
        operations=catalog.operations["operations"],
        flash=run.software.attention != "unfused",
    )
    pool = Pool.of(catalog, machine, fabric, (framework, run.precision))
    try:
        layouts, stages = complete(run, job, pool)
    except InputError as error:
        raise InputError(run.source, error.faults) from None
    return Stated(catalog, job, pool, run.hardware.devices, layouts, stages, notes)


def _record(given: Any, what: tuple[str, Any, Any], faults: list[Fault]) -> Any:
    """A record by id, or of the fields written inline."""
    kind, record, known = what
    if isinstance(given, str):
        if given not in known:
            faults.append(Fault(f"hardware.{kind}", f'"{given}" is no {kind} of the catalog'))
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
        link = _record(defaults | given, ("fabric", Link, {}), faults)
        return link if isinstance(link, Link) else None
    name = given or (machine.default_fabric if machine else None)
    if name is None:
        return None
    link = catalog.fabric(name)
    if link is None or link.scope != "inter-node":
        faults.append(Fault("hardware.fabric", f'"{name}" is no fabric of the catalog'))
    return link


def _check(run: Run, catalog: Catalog, parts: tuple[Machine, Framework], faults: list[Fault]) -> None:
    """What no layout can mend: device, framework and precision must go together, devices come in blocks."""
    machine, framework = parts
    device = catalog.devices.get(machine.device)
    if device is None:
        faults.append(Fault("hardware.machine.device", f'"{machine.device}" is no device of the catalog'))
    elif not supports(framework, device, run.precision):
        can = sorted(p for p in device.peak if supports(framework, device, p))
        told = f"; it trains there in {', '.join(can)}" if can else ""
        sentence = f"{framework.id} does not train in {run.precision} on {device.id}{told}"
        faults.append(Fault("training.precision", sentence))
    devices, block = run.hardware.devices, machine.block
    if devices % block:
        whole = -(-devices // block) * block
        taken = f"the {block} devices that {machine.id} is taken in"
        sentence = f"{devices} is no multiple of {taken}; write e.g. {whole}"
        faults.append(Fault("hardware.devices", sentence))


def complete(run: Run, job: Job, pool: Pool) -> tuple[Layouts, Stages | None]:
    """The stated layout with its gaps filled: dp from the ranks, grad_accum from the batch, the rest by
    framework.
    """
    given = run.layout
    one = {name: getattr(given, name) or 1 for name in ("tp", "cp", "pp", "vpp", "ep", "micro_batch")}
    ranks = run.hardware.devices * pool.device.ranks
    dp = given.dp or max(ranks // (one["tp"] * one["cp"] * one["pp"]), 1)
    etp = given.etp or 1
    replicas = dp * one["cp"]
    zero = _zero(given.zero, pool.framework, replicas)
    parallel = given.sequence_parallel
    if parallel is None:
        parallel = one["tp"] > 1 and "no_sequence_parallel" not in pool.framework.rules
    columns = one | {
        "dp": dp,
        "etp": etp,
        "zero": zero,
        "shard": _number(given.shard, 0),
        "grad_accum": given.grad_accum or max(job.global_batch // (dp * one["micro_batch"]), 1),
        "recompute": _recompute(given.recompute, pool.framework),
        "sequence_parallel": int(parallel),
    }
    return Layouts.of({name: [value] for name, value in columns.items()}), _stages(given.stages)


def _zero(given: int | str | None, framework: Framework, replicas: int) -> int:
    if given is None:
        return (
            0
            if replicas == 1
            else min(stage for stage in framework.zero if stage or len(framework.zero) == 1)
        )
    if isinstance(given, int):
        return given
    if given not in ZERO_NAMES:
        raise InputError(
            "", [Fault("layout.zero", f'"{given}" is no stage; write 0 to 3, or {", ".join(ZERO_NAMES)}')]
        )
    return ZERO_NAMES[given]


def _number(given: int | str | None, default: int) -> int:
    return given if isinstance(given, int) else default


def _recompute(given: str | None, framework: Framework) -> int:
    """The index of a user's word, or of the framework's name for it. Raises InputError."""
    names = {own: word for word, own in framework.recompute.items()} | {
        word: word for word in framework.recompute
    }
    word = names.get(given or "none")
    if word is None:
        known = ", ".join(sorted(names))
        raise InputError(
            "", [Fault("layout.recompute", f'"{given}" is none of those of {framework.id}: {known}')]
        )
    return RECOMPUTE.index(word)


def _stages(given: Any) -> Stages | None:
    if given is None or given == "even":
        return None
    most, first, last = max(given), given[0], given[-1]
    return Stages(np.array([most]), np.array([first]), np.array([last]))


def violations_of(stated: Stated) -> list[Violation]:
    """Every rule that the layout breaks, the mesh against the devices included."""
    pool, layouts = stated.pool, stated.layouts
    case = case_of(stated.job, pool)
    found = violations(rules_of(pool.framework), case, layouts)
    ranks, present = int(layouts.ranks[0]), stated.devices * pool.device.ranks
    if ranks != present:
        sentence = f"tp x cp x pp x dp = {ranks} must be the {present} ranks of the {stated.devices} devices"
        found.insert(0, Violation("mesh_fills_devices", sentence, _fitting_dp(layouts, present)))
    return found


def _fitting_dp(layouts: Layouts, ranks: int) -> list[int]:
    """The dp that would use all ranks, where there is one."""
    model = int(layouts.ranks[0] // layouts.dp[0])
    return [ranks // model] if ranks % model == 0 else []
