"""The question as understood: a problem joined with the catalog. Names become records, every fault is told at
once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from solver.architecture import Architecture, ArchitectureError, from_hf, from_inline, from_size
from solver.catalog import Catalog, Hardware, load
from solver.catalog.records import Device, Framework, Link, Machine, Offering
from solver.errors import Fault, InputError
from solver.estimate import Job, Pool, supports
from solver.globs import (
    LISTS,
    admitted,
    alias_notes,
    allowed_ids,
    matches,
    offers,
    unmatched,
    unmatched_quotas,
)
from solver.jobs import job_of
from solver.models import absurd, canonical, model_faults, nearest, of_catalog, read_config
from solver.pricing.assumed import assumed
from solver.pricing.market import offered
from solver.pricing.stock import Shop
from solver.problem import (
    InlineModel,
    ModelName,
    ModelPath,
    Problem,
    SizeModel,
    Training,
    read_problem,
)

__all__ = ["LISTS", "Question", "admitted", "ask", "matches", "resolve_model", "understand"]

Model = ModelName | ModelPath | InlineModel | SizeModel


@dataclass(frozen=True)
class Question:
    """A problem with every name resolved. offerings and frameworks: those that the limits allow."""

    problem: Problem
    catalog: Catalog
    job: Job
    offerings: tuple[Offering, ...]
    frameworks: tuple[Framework, ...]
    assumptions: tuple[str, ...]

    def offering(self, name: str) -> Offering:
        return next(offering for offering in self.offerings if offering.id == name)

    def device(self, offering: Offering) -> Device:
        return self.catalog.devices[self.machine(offering).device]

    def machine(self, offering: Offering) -> Machine:
        return self.catalog.machines[offering.machine]

    def fabric(self, offering: Offering) -> Link | None:
        return self.catalog.fabrics[offering.fabric] if offering.fabric else None

    def pools(self, offering: Offering) -> Iterable[Pool]:
        """The ways to train on an offering: each framework in each precision that its device supports."""
        device, machine, fabric = self.device(offering), self.machine(offering), self.fabric(offering)
        for framework in self.frameworks:
            for precision in self.problem.training.precision:
                if supports(framework, device, precision):
                    yield Pool.of(self.catalog, machine, fabric, (framework, precision))


def understand(
    source: Path | str | Mapping[str, Any],
    overrides: Mapping[str, object] | None = None,
    folder: Path | None = None,
) -> Problem:
    """The problem in a requirements file. Raises InputError with every fault, of names in the catalog too."""
    try:
        return read_problem(source, overrides, folder)
    except InputError as error:
        raise InputError(error.source, [*error.faults, *name_faults(error.given)], error.given) from None


def name_faults(given: Mapping[str, Any]) -> list[Fault]:
    """Names that the catalog does not have, in a file that could not be read as a problem.

    Of a file with a catalog of its own nothing is said: the names may stand there.
    """
    if "catalog" in given:
        return []
    catalog, faults = load(), []
    model, limits, hardware = (given.get(name) for name in ("model", "limits", "hardware"))
    if isinstance(model, str) and re.fullmatch(r"[\w.-]+", model) and not model.endswith(".json"):
        faults += model_faults(model, catalog.models)
    if isinstance(limits, Mapping):
        faults += unmatched(catalog, {field: _texts(limits.get(field)) for field in LISTS})
    for index, item in enumerate(hardware if isinstance(hardware, list) else []):
        name = item.get("machine") if isinstance(item, Mapping) else None
        if isinstance(name, str) and catalog.machine(name) is None:
            sentence = f'"{name}" is no machine of the catalog{nearest(name, catalog.machines)}'
            faults.append(Fault(f"hardware[{index}].machine", sentence))
    return faults


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [text for text in listed if isinstance(text, str)]


def _market(problem: Problem, faults: list[Fault]) -> Catalog:
    """The catalog at the user's prices and with his machines; without those that are at fault."""
    catalog = load(problem.catalog)
    holdings = [
        Hardware(_machine_id(catalog, h.machine), h.count, h.fabric, h.price) for h in problem.hardware
    ]
    try:
        catalog = catalog.with_hardware(holdings, problem.source)
    except InputError as error:
        faults += error.faults
    return offered(Shop(catalog, problem, faults))


def _machine_id(catalog: Catalog, name: str) -> str:
    """The id of a machine that may be called by an alias; another name as it stands."""
    machine = catalog.machine(name)
    return machine.id if machine else name


def ask(problem: Problem) -> Question:
    """Joins a problem with the catalog. Raises InputError."""
    faults: list[Fault] = []
    catalog = _market(problem, faults)
    model = resolve_model(problem.model, catalog, problem.training, faults)
    faults += unmatched(catalog, {field: getattr(problem.limits, field) for field in LISTS})
    faults += unmatched_quotas(catalog, problem.limits)
    if faults or model is None:
        raise InputError(problem.source, faults)
    architecture, notes = model
    limits = problem.limits
    allowed = allowed_ids(catalog, limits)
    frameworks = _able(catalog, allowed["frameworks"], problem, architecture)
    return Question(
        problem=problem,
        catalog=catalog,
        job=replace(
            job_of(architecture, problem.training, catalog, limits.layout.schedule),
            steps=problem.steps,
            bill=problem.bill,
            memory_margin=limits.memory_margin or 0.0,
        ),
        offerings=tuple(
            o for o in catalog.offerings if o.pricing in limits.pricing and offers(catalog, allowed, o)
        ),
        frameworks=frameworks,
        assumptions=(
            *problem.assumptions,
            *notes,
            *alias_notes(catalog, problem),
            *assumed(Shop(catalog, problem, [])),
            *_idle(catalog, problem, frameworks),
        ),
    )


def _able(
    catalog: Catalog, allowed: set[str], problem: Problem, architecture: Architecture
) -> tuple[Framework, ...]:
    """The frameworks that may be used and have optimizer and model. Raises InputError where none has."""
    optimizer, kind = problem.training.optimizer, architecture.model_type
    having: dict[str, tuple[str, Callable[[Framework], bool]]] = {
        "training.optimizer": (optimizer, lambda f: optimizer in f.optimizers),
        "model": (f"code for models of type {kind}", lambda f: f.lack_of(kind) is None),
    }
    able = [f for f in catalog.frameworks.values() if f.id in allowed]
    for field, (what, has) in having.items():
        able = [f for f in able if has(f)]
        if not able and allowed:
            others = ", ".join(f.id for f in catalog.frameworks.values() if has(f))
            told = f"no framework that may be used has {what}; there is {others}"
            raise InputError(problem.source, [Fault(field, told)])
    return tuple(able)


def _idle(catalog: Catalog, problem: Problem, frameworks: tuple[Framework, ...]) -> Iterable[str]:
    """Devices that the user has or names one by one, and that train in no precision asked for."""
    owned = {h.machine: catalog.machine(h.machine) for h in problem.hardware}
    names = {machine.device for machine in owned.values() if machine} | set(problem.limits.devices)
    asked = problem.training.precision
    for device in (catalog.devices[name] for name in sorted(names & catalog.devices.keys())):
        can = sorted(p for p in device.peak if any(supports(f, device, p) for f in frameworks))
        if not set(asked) & set(can):
            told = f"; it trains in {', '.join(can)}" if can else ""
            yield f"training.precision: {device.id} does not train in {' or '.join(asked)}{told}"


def resolve_model(
    model: Model, catalog: Catalog, training: Training, faults: list[Fault]
) -> tuple[Architecture, tuple[str, ...]] | None:
    """The architecture that the file means, and what was assumed for it; or a fault."""
    found = _architecture(model, catalog, training, faults)
    if found and (slips := absurd(found[0])):
        faults += slips
        return None
    if found and training.images and not found[0].towers:
        faults.append(Fault("training.images", f"{found[0].name} has no image tower; leave it out"))
        return None
    return found and (found[0], (*found[1], *_of_images(found[0], training)))


def _of_images(architecture: Architecture, training: Training) -> Iterator[str]:
    """What is taken for a model with image towers where the file does not say."""
    if not architecture.towers or training.images:
        return
    if not architecture.images:
        yield "training.images is not stated: sequences are text alone, and the image tower is left out"
    else:
        yield f"training.images is not stated: {architecture.images} a sequence"


def apart(training: Training) -> list[str]:
    """The warning that belongs to workers that train apart."""
    stated = training.local_sgd
    if stated is None:
        return []
    sentence = (
        f"training.local_sgd: {stated.workers} workers average their weights every {stated.steps:,} steps; "
        "that is another experiment than one where every step is shared, and its loss has to be tried"
    )
    return [sentence]


def _architecture(
    model: Model, catalog: Catalog, training: Training, faults: list[Fault]
) -> tuple[Architecture, tuple[str, ...]] | None:
    try:
        if isinstance(model, ModelName):
            return _of_catalog(model.id, catalog), ()
        if isinstance(model, ModelPath):
            return from_hf(read_config(model.path)), ()
        if isinstance(model, SizeModel):
            architecture, note = from_size(model.parameters)
            return architecture, (f"model: {note}",)
        kind, span = model.attention
        fields = model.model_dump() | {"attention": {kind: span} if span else kind}
        return from_inline(fields, training.sequence_length), ()
    except ArchitectureError as error:
        faults.append(Fault(f"model.{error.key}" if getattr(error, "key", "") else "model", str(error)))
    except InputError as error:
        faults += error.faults
    return None


def _of_catalog(name: str, catalog: Catalog) -> Architecture:
    known = catalog.hash, canonical(name, catalog.models)
    if known not in _ARCHITECTURES:
        _ARCHITECTURES[known] = of_catalog(name, catalog.models)
    return _ARCHITECTURES[known]


# By catalog and model: counting one takes a millisecond.
_ARCHITECTURES: dict[tuple[str, str], Architecture] = {}
