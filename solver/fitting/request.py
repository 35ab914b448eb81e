"""What `fit` is asked: a model, how it is trained, on which devices; joined with the catalog."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from solver.catalog import Catalog
from solver.catalog.records import Device, Framework
from solver.errors import Fault, InputError
from solver.estimate import Job
from solver.model_words import is_size
from solver.problem.quantities import PrecisionName
from solver.question import Question, admitted, ask, understand

USUAL_SEQUENCE = 8192  # tokens; shorter where the model's positions end before
USUAL_BATCH = 480  # sequences: with many divisors, so that odd numbers of devices can share it
SHOWN = 8  # devices, where none is asked for

OPTIONS = {  # fields of a requirements file -> options of the command
    "devices": "--device",
    "frameworks": "--framework",
    "sequence_length": "--sequence-length",
    "global_batch": "--global-batch",
    "precision": "--precision",
    "optimizer": "--optimizer",
    "catalog": "--catalog",
}


class Wanted(NamedTuple):
    """The words of the command; what is left out takes a default that is told."""

    model: str
    devices: Sequence[str] = ()
    sequence_length: str | int | None = None
    global_batch: str | None = None
    precision: Sequence[str] = ()
    optimizer: str | None = None
    frameworks: Sequence[str] = ()
    catalog: Path | None = None


@dataclass(frozen=True)
class Request:
    """The words resolved. stated_precision: whether the user fixed it."""

    model: str
    catalog: Catalog
    job: Job
    devices: tuple[Device, ...]
    frameworks: tuple[Framework, ...]
    precisions: tuple[PrecisionName, ...]
    stated_precision: bool
    optimizer: str
    assumptions: tuple[str, ...]


def request_of(wanted: Wanted) -> Request:
    """Raises InputError with every fault, as of a requirements file."""
    question = _question(wanted)
    problem = question.problem
    job, told = question.job, []
    longest = job.architecture.max_sequence or USUAL_SEQUENCE
    if wanted.sequence_length is None:
        job = replace(job, sequence=min(longest, USUAL_SEQUENCE))
        told.append(f"sequence length not stated: {job.sequence:,} tokens")
    if wanted.global_batch is None:
        told.append(
            f"global batch not stated: {USUAL_BATCH} sequences, which odd numbers of devices divide too"
        )
    notes = [text for text in question.assumptions if text.startswith("model")]
    catalog, training = question.catalog, problem.training
    if wanted.devices:
        names = sorted(admitted(catalog, problem.limits, "devices"))
    else:
        names = usual_devices(catalog)
        told.append(f"device not stated: the {SHOWN} that most providers offer")
    return Request(
        model=job.architecture.name or wanted.model,
        catalog=catalog,
        job=job,
        devices=tuple(catalog.devices[name] for name in names),
        frameworks=question.frameworks,
        precisions=training.precision,
        stated_precision=bool(wanted.precision),
        optimizer=training.optimizer,
        assumptions=(*notes, *told),
    )


def _question(wanted: Wanted) -> Question:
    """The request as a question; faults are told by the options of the command."""
    try:
        return ask(understand(_problem(wanted)))
    except InputError as error:
        faults = [Fault(_option(fault.field), fault.message) for fault in error.faults]
        raise InputError("fit", faults) from None


def _option(field: str) -> str:
    """How the command calls a field of a requirements file."""
    stem = field.split("[", maxsplit=1)[0].rsplit(".", maxsplit=1)[-1]
    return OPTIONS.get(stem, field)


def _problem(wanted: Wanted) -> dict[str, Any]:
    """The request in the words of a requirements file of one step."""
    training = {
        "steps": 1,
        "sequence_length": wanted.sequence_length or USUAL_SEQUENCE,
        "global_batch": wanted.global_batch or f"{USUAL_BATCH} sequences",
        "precision": list(wanted.precision),
        "optimizer": wanted.optimizer,
    }
    limits = {"devices": list(wanted.devices), "frameworks": list(wanted.frameworks)}
    fields: dict[str, Any] = {
        "model": {"parameters": wanted.model} if is_size(wanted.model) else wanted.model,
        "training": {name: value for name, value in training.items() if value},
        "limits": {name: value for name, value in limits.items() if value},
    }
    return fields | ({"catalog": str(wanted.catalog)} if wanted.catalog else {})


def usual_devices(catalog: Catalog) -> list[str]:
    """Those that most providers offer, the most memory first."""
    providers: dict[str, set[str]] = defaultdict(set)
    for offering in catalog.offerings:
        providers[catalog.machines[offering.machine].device].add(offering.provider)
    by_number = sorted(providers, key=lambda name: (-len(providers[name]), name))[:SHOWN]
    return sorted(by_number, key=lambda name: (-catalog.devices[name].usable_memory, name))
