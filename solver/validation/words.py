"""The free text of published runs as records: frameworks, networks, sharding."""

import csv
import re
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple, get_args

from solver import units
from solver.catalog import Catalog
from solver.catalog.framework import Sharding
from solver.catalog.records import Device, Era, Framework, Link, Machine
from solver.physics.setting import Schedule
from solver.record_files import shipped_folder
from solver.validation.rows import Row

SHARDING = {word: stage for stage, word in enumerate(get_args(Sharding))}
METHOD = re.compile(r"pipeline method (\S+)")
# Source: Yeung et al. 2024, arXiv 2411.05288, sec. 5 and 6.
SCHEDULES = {
    "vocab-1": Schedule(extra=2, shares_tables=True),
    "vocab-2": Schedule(extra=1, shares_tables=True),
    "interlaced": Schedule(factor=1.5, shares_tables=True),
}


def framework_of(catalog: Catalog, row: Row) -> Framework | None:
    """The record whose longest alias matches the run's software, as it was then; None where none matches."""
    name = row.text("framework")
    found = [
        (len(alias), framework)
        for framework in catalog.frameworks.values()
        for alias in (framework.id, *framework.aliases, *(a for era in framework.eras for a in era.aliases))
        if fnmatchcase(name.lower(), alias.lower())
    ]
    if not found:
        return None
    return as_of(max(found, key=lambda match: match[0])[1], row)


def as_of(framework: Framework, row: Row) -> Framework:
    """The framework with the constants of the first era that the run falls into."""
    era = era_of(framework, row)
    return framework.model_copy(update=era.differences | {"eras": []}) if era else framework


def era_of(framework: Framework, row: Row) -> Era | None:
    """The first era whose names, dates, compilation, precisions and notes fit the run."""
    name, precision, notes = (row.text(column) for column in ("framework", "precision", "notes"))
    compiled = compiled_of(row)
    for era in framework.eras:
        named, told = fits(name, era.aliases), fits(notes, era.notes) and fits(precision, era.precisions)
        if named and told and row.date <= era.until and era.compiled in (None, compiled):
            return era
    return None


def fits(text: str, globs: list[str]) -> bool:
    """Whether one of the globs fits, in whatever case; none fit everything."""
    return not globs or any(fnmatchcase(text.lower(), glob.lower()) for glob in globs)


def compiled_of(row: Row) -> bool | None:
    """Whether the run's notes say that its graph was compiled; None where they do not speak of it."""
    notes = row.text("notes").lower()
    return True if "compile" in notes else False if "eager" in notes else None


class Known(NamedTuple):
    """A network that runs are known to have used: globs on row id, printed network and device."""

    run: str
    network: str
    device: str
    fabric: str


def _table(name: str) -> list[dict[str, str]]:
    """The rows of a file in catalogs/runs."""
    with (shipped_folder() / "runs" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def known_networks() -> tuple[Known, ...]:
    """catalogs/runs/networks.csv, the first that matches holds."""
    return tuple(Known(*(row[f] for f in Known._fields)) for row in _table("networks.csv"))


class Recipe(NamedTuple):
    """An optimizer that runs are known to have used: globs on printed framework and model."""

    framework: str
    model: str
    optimizer: str


@cache
def known_optimizers() -> tuple[Recipe, ...]:
    """catalogs/runs/optimizers.csv."""
    return tuple(Recipe(*(row[f] for f in Recipe._fields)) for row in _table("optimizers.csv"))


def optimizer_of(row: Row) -> str:
    """That of the recipe; Adam where none is known to differ."""
    framework, model = row.text("framework").lower(), row.text("model_name").lower()
    for recipe in known_optimizers():
        if fnmatchcase(framework, recipe.framework) and fnmatchcase(model, recipe.model):
            return recipe.optimizer
    return "adamw"


class Routing(NamedTuple):
    """What runs print of their routing: a glob on notes, tokens of the busiest expert rank over the mean."""

    notes: str
    imbalance: float


@cache
def known_routings() -> tuple[Routing, ...]:
    """catalogs/runs/routing.csv."""
    return tuple(Routing(row["notes"], float(row["imbalance"])) for row in _table("routing.csv"))


def imbalance_of(row: Row) -> float:
    """Of what the run prints; 1 where it says nothing: benchmarks force balance."""
    found = (known.imbalance for known in known_routings() if fits(row.text("notes"), [known.notes]))
    return next(found, 1.0)


class Part(NamedTuple):
    """A variant of a device that some runs print: globs on notes and device, and what differs."""

    notes: str
    device: str
    memory: float
    memory_bandwidth: float
    tdp: float


@cache
def known_parts() -> tuple[Part, ...]:
    """catalogs/runs/parts.csv."""
    return tuple(
        Part(
            row["notes"],
            row["device"],
            units.bytes_(row["memory"]),
            units.bytes_per_s(row["memory_bandwidth"]),
            units.watts(row["tdp"]),
        )
        for row in _table("parts.csv")
    )


def as_printed(device: Device, row: Row) -> Device:
    """The device, or the variant of it that the run prints.

    Under a lower power limit the clock falls with the square root of it: power goes with clock times voltage
    squared, and the voltage falls with the clock until its floor.
    """
    for part in known_parts():
        if device.id == part.device and fnmatchcase(row.text("notes"), f"*{part.notes}*"):
            slower = device.kernels.sustained * (part.tdp / device.tdp) ** 0.5
            kernels = device.kernels.model_copy(update={"sustained": slower})
            return device.model_copy(
                update={
                    "usable_memory": device.usable_memory * part.memory / device.memory,
                    "memory_bandwidth": part.memory_bandwidth,
                    "kernels": kernels,
                }
            )
    return device


def fabric_of(catalog: Catalog, row: Row, machine: Machine) -> Link | None:
    """What joined the machines of a run: as known of its source, else what usually joins such machines."""
    for known in known_networks():
        given = (row.id, row.text("network").lower(), row.text("device"))
        globs = (known.run, known.network.lower(), known.device)
        if all(fnmatchcase(text, glob or "*") for text, glob in zip(given, globs, strict=True)):
            return catalog.fabric(known.fabric)
    if machine.default_fabric:
        return catalog.fabric(machine.default_fabric)
    family = [m for m in catalog.machines.values() if m.device == machine.device and m.default_fabric]
    return catalog.fabric(family[-1].default_fabric or "") if family else None


def sharding_of(row: Row, framework: Framework) -> tuple[int, int]:
    """ZeRO stage and the replicas that share one copy (0: all) from words such as zero3 or zero3:8.

    Of a run that has no such words: what its software does.
    """
    word, _, shard = (row.text("fsdp_or_zero_stage") or framework.sharding).partition(":")
    return SHARDING.get(word, 0), int(shard or 0)


def schedule_of(row: Row) -> Schedule:
    """The pipeline schedule that a run's notes name; 1F1B, interleaved or not, where they name none."""
    method = METHOD.search(row.text("notes"))
    return SCHEDULES.get(method.group(1), Schedule()) if method else Schedule()
