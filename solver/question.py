"""The question as understood: a problem joined with the catalog. Names become records, every fault is told at
once.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from solver.architecture import ArchitectureError, from_catalog, from_hf, from_inline, from_size
from solver.architecture.blocks import Architecture
from solver.catalog import Catalog, Hardware, load
from solver.catalog.records import Device, Framework, Link, Machine, Offering
from solver.errors import Fault, InputError
from solver.estimate import Job, Pool, supports
from solver.problem import InlineModel, Limits, ModelName, ModelPath, Problem, SizeModel, Training

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


def ask(problem: Problem) -> Question:
    """Joins a problem with the catalog. Raises InputError."""
    catalog = load(problem.catalog).with_hardware(
        [Hardware(h.machine, h.count, h.fabric, h.price) for h in problem.hardware], problem.source
    )
    faults: list[Fault] = []
    model = resolve_model(problem.model, catalog, problem.training, faults)
    allowed = _allowed(catalog, problem.limits, faults)
    if faults or model is None:
        raise InputError(problem.source, faults)
    architecture, notes = model
    training = problem.training
    return Question(
        problem=problem,
        catalog=catalog,
        job=Job(
            architecture=architecture,
            sequence=training.sequence_length,
            global_batch=training.global_batch,
            steps=problem.steps,
            gradient_dtype=training.gradient_dtype,
            operations=catalog.operations["operations"],
        ),
        offerings=tuple(o for o in catalog.offerings if allowed.offers(catalog, o)),
        frameworks=tuple(f for f in catalog.frameworks.values() if f.id in allowed.frameworks),
        assumptions=(*problem.assumptions, *notes),
    )


def resolve_model(
    model: Model, catalog: Catalog, training: Training, faults: list[Fault]
) -> tuple[Architecture, tuple[str, ...]] | None:
    """The architecture that the file means, and what was assumed for it; or a fault."""
    try:
        if isinstance(model, ModelName):
            return _of_catalog(model.id, catalog), ()
        if isinstance(model, ModelPath):
            return from_hf(_read_config(model.path)), ()
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
    aliases = {alias: i for i, r in catalog.models.items() for alias in r.get("aliases", ())}
    record = catalog.models.get(aliases.get(name, name))
    if record is None:
        raise InputError(
            "", [Fault("model", f'"{name}" is no model of the catalog{_nearest(name, catalog.models)}')]
        )
    return from_catalog(record)


def _read_config(path: Path) -> Mapping[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("", [Fault("model", f"{path} is no config.json: {error}")]) from None
    if not isinstance(config, dict):
        raise InputError("", [Fault("model", f"{path} is no config.json: it holds no fields")])
    return config


@dataclass(frozen=True)
class Allowed:
    """Ids that the limits leave, by kind."""

    devices: frozenset[str]
    machines: frozenset[str]
    providers: frozenset[str]
    regions: frozenset[str]
    fabrics: frozenset[str]
    frameworks: frozenset[str]
    pricing: tuple[str, ...]
    fabric_is_free: bool

    def offers(self, catalog: Catalog, offering: Offering) -> bool:
        """Whether an offering is among them. One without a known fabric passes where no fabric is asked for."""
        return (
            offering.pricing in self.pricing
            and catalog.machines[offering.machine].device in self.devices
            and offering.machine in self.machines
            and offering.provider in self.providers
            and offering.region in self.regions
            and (offering.fabric in self.fabrics if offering.fabric else self.fabric_is_free)
        )


def _allowed(catalog: Catalog, limits: Limits, faults: list[Fault]) -> Allowed:
    def left(
        kind: str, known: Iterable[str], ids: Callable[[str], str] = lambda glob: glob
    ) -> frozenset[str]:
        return _left(kind, limits, sorted(set(known)), (ids, faults))

    fabrics = [name for name, link in catalog.fabrics.items() if link.scope == "inter-node"]
    return Allowed(
        devices=left("devices", catalog.devices),
        machines=left("machines", catalog.machines),
        providers=left("providers", [o.provider for o in catalog.offerings]),
        regions=left("regions", [o.region for o in catalog.offerings]),
        fabrics=left("fabrics", fabrics, lambda glob: link.id if (link := catalog.fabric(glob)) else glob),
        frameworks=left("frameworks", catalog.frameworks),
        pricing=limits.pricing,
        fabric_is_free=not limits.fabrics,
    )


def _left(
    kind: str, limits: Limits, known: list[str], how: tuple[Callable[[str], str], list[Fault]]
) -> frozenset[str]:
    """The ids that `limits.KIND` admits and `limits.exclude_KIND` does not."""
    ids, faults = how
    chosen: dict[str, set[str]] = {}
    for field in (kind, f"exclude_{kind}"):
        chosen[field] = set()
        for position, glob in enumerate(getattr(limits, field)):
            hits = {name for name in known if fnmatchcase(name, ids(glob))}
            if not hits:
                faults.append(
                    Fault(
                        f"limits.{field}[{position}]",
                        f'"{glob}" matches none of the {kind}{_nearest(glob, known)}',
                    )
                )
            chosen[field] |= hits
    admitted = chosen[kind] if getattr(limits, kind) else set(known)
    return frozenset(admitted - chosen[f"exclude_{kind}"])


def _nearest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name.strip("*"), list(known), n=1, cutoff=0.3)
    return f'; the nearest is "{close[0]}"' if close else ""
