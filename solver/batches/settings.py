"""What sets variants apart: `--set` and sweep files as combinations of field values."""

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from solver.errors import Fault, InputError
from solver.models import nearest
from solver.problem import Problem
from solver.problem.faults import stray
from solver.units import shown
from solver.yaml_file import read_yaml
from solver.yaml_values import YamlError, values

MOST = 200_000  # variants of one batch
SECTIONS = ("grid", "zip", "list")
NAME = "name"
_OPENING, _CLOSING = "([{", ")]}"


class Setting(NamedTuple):
    """A value of a field, and the text that it was given as."""

    text: str
    value: object


Settings = Mapping[str, Setting]
Options = Mapping[str, list[Setting]]  # the values of each field to choose from


class Combination(NamedTuple):
    """The settings of one variant; name: what a sweep calls it."""

    settings: Settings
    name: str | None = None


def joined(name: str | None, other: str | None) -> str | None:
    return " ".join(part for part in (name, other) if part) or None


def combinations(
    sets: Iterable[str] | Mapping[str, Iterable[object]], sweep: Path | None, models: Iterable[str]
) -> list[Combination]:
    """Every combination of the options with those of a sweep file. Raises InputError.

    sets: "field=value,value", or values by field. models: ids that a glob under `model` may mean.
    """
    options = parsed(sets) if not isinstance(sets, Mapping) else {f: _settings(v) for f, v in sets.items()}
    known = sorted(models)
    axes = [_grid(_widened(options, "--set", known)), *(_sweep(sweep, known) if sweep else ())]
    fields = [field for axis in axes for field in {f for combination in axis for f in combination.settings}]
    if twice := sorted({field for field in fields if fields.count(field) > 1}):
        told = [Fault(field, "is set in two places; keep one of them") for field in twice]
        raise InputError(str(sweep or "--set"), told)
    strays = {field: wrong for field in fields if (wrong := stray(field, Problem))}
    if strays:
        raise InputError(str(sweep or "--set"), [Fault(*stated) for stated in strays.items()])
    _bounded([len(axis) for axis in axes])
    return [_together(parts) for parts in product(*axes)]


def _bounded(sizes: Iterable[int]) -> None:
    """Refuses what nobody waits for, before it is spelled out."""
    if (count := prod(sizes)) > MOST:
        raise InputError("trainplan", [Fault("", f"{count:,} variants are more than {MOST:,}")])


def _together(parts: Iterable[Combination]) -> Combination:
    settings: dict[str, Setting] = {}
    name = None
    for part in parts:
        settings |= part.settings
        name = joined(name, part.name)
    return Combination(settings, name)


def parsed(sets: Iterable[str]) -> Options:
    """The options as written on a command line. Raises InputError."""
    options: dict[str, list[Setting]] = {}
    faults = []
    for text in sets:
        field, equals, rest = text.partition("=")
        field = field.strip()
        if not (field and equals and rest.strip()):
            faults.append(
                Fault(
                    shown(text),
                    'write it as field=value or field=value,value, e.g. "limits.deadline=30 days,60 days"',
                )
            )
        elif field in options:
            faults.append(Fault(field, "is set twice; write all its values in one option, parted by commas"))
        else:
            options[field] = [_read(field, part.strip(), faults) for part in split(rest)]
    if faults:
        raise InputError("--set", faults)
    return options


def split(text: str) -> list[str]:
    """Text at its commas, but for those in brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not parts[-1].strip(" \t[{(,:"):
            quote = character
        depth += (not quote) * ((character in _OPENING) - (character in _CLOSING))
        if character == "," and depth <= 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _read(field: str, text: str, faults: list[Fault]) -> Setting:
    if field == "model" and text.startswith("*"):  # a glob, which YAML would take for a reference
        return Setting(text, text)
    if not text:
        faults.append(Fault(field, 'an empty value; to leave the field out write "null"'))
        return Setting(text, None)
    try:
        value, twice = values(text)
    except YamlError as error:
        faults.append(Fault(field, f"{shown(text)}: {error}"))
        return Setting(text, None)
    faults += [Fault(f"{field}.{fault.field}", fault.message) for fault in twice]
    return Setting(text, value)


def _settings(given: object) -> list[Setting]:
    """Values of a file or of Python, one or a list of them."""
    listed = given if isinstance(given, list | tuple) else [given]
    return [Setting(v if isinstance(v, str) else json.dumps(v, default=str), v) for v in listed]


def _widened(options: Options, source: str, models: list[str]) -> Options:
    """With the models that a glob means in its place."""
    if not any(_is_glob(setting) for setting in options.get("model", ())):
        return options
    found: list[Setting] = []
    for setting in options["model"]:
        ids = [name for name in models if fnmatchcase(name, setting.text)] if _is_glob(setting) else []
        if _is_glob(setting) and not ids:
            told = f"{shown(setting.text)} matches no model of the catalog{nearest(setting.text, models)}"
            raise InputError(source, [Fault("model", told)])
        found += [Setting(name, name) for name in ids] or [setting]
    return {**options, "model": found}


def _is_glob(setting: Setting) -> bool:
    return isinstance(setting.value, str) and any(mark in setting.value for mark in "*?[")


def _grid(options: Options) -> list[Combination]:
    _bounded(map(len, options.values()))
    return [Combination(dict(zip(options, chosen, strict=True))) for chosen in product(*options.values())]


def _sweep(path: Path, models: list[str]) -> Iterator[list[Combination]]:
    """The combinations of each section of a sweep file."""
    content = read_yaml(path)
    source = str(path)
    if strange := [name for name in content if name not in SECTIONS]:
        told = f"no such section; write {', '.join(SECTIONS)}"
        raise InputError(source, [Fault(name, told) for name in strange])
    if "grid" in content:
        fields = _mapping(content["grid"], "grid", source)
        options = {field: _settings(given) for field, given in fields.items()}
        yield _grid(_widened(options, source, models))
    if "zip" in content:
        yield _zipped(_mapping(content["zip"], "zip", source), source)
    if "list" in content:
        yield _listed(content["list"], source)


def _mapping(section: Any, name: str, source: str) -> dict[str, Any]:
    if isinstance(section, dict) and section and all(value != [] for value in section.values()):
        return section
    told = 'write the values of each field, e.g. "training.tokens: [1T, 2T]"'
    raise InputError(source, [Fault(name, told)])


def _zipped(section: dict[str, Any], source: str) -> list[Combination]:
    """The first values together, the second together, and so on; `name` may stand among the fields."""
    fields = {field: _settings(given) for field, given in section.items()}
    lengths = {field: len(settings) for field, settings in fields.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{field} has {length}" for field, length in lengths.items())
        raise InputError(source, [Fault("zip", f"its lists must be of one length, but {told}")])
    rows = [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
    return [_named(row) for row in rows]


def _listed(section: Any, source: str) -> list[Combination]:
    """Combinations one by one, each a mapping of fields; `name` may stand among them."""
    if not (isinstance(section, list) and section and all(isinstance(item, dict) for item in section)):
        told = 'write one mapping a variant, e.g. "- {name: long, training.sequence_length: 32768}"'
        raise InputError(source, [Fault("list", told)])
    return [
        _named({field: Setting(*_settings([value])[0]) for field, value in item.items()}) for item in section
    ]


def _named(row: dict[str, Setting]) -> Combination:
    name = row.pop(NAME, None)
    return Combination(row, name.text if name else None)
