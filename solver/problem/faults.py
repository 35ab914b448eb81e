"""Pydantic's list of errors as sentences that a user can act on."""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from solver.errors import Fault
from solver.problem.quantities import Model
from solver.problem.shape import INLINE, NAME, PATH, SIZE, InlineModel, SizeModel
from solver.units import shown

Location = tuple[int | str, ...]

_HINTED = 1_000  # more faults than anybody reads are named without a hint: looking for near names takes time
_TAGS: Mapping[int | str, type[Model] | None] = {INLINE: InlineModel, SIZE: SizeModel, NAME: None, PATH: None}


def faults_of(error: ValidationError, root: type[Model]) -> list[Fault]:
    """One fault for each error, its field told as a.b[1].c."""
    told = [d for d in error.errors(include_url=False) if d["type"] != "default_factory_not_called"]
    hinted = [_fault(details, root) for details in told[:_HINTED]]
    return hinted + [Fault(field_name(details["loc"]), "cannot stand here") for details in told[_HINTED:]]


def _fault(details: Mapping[str, Any], root: type[Model]) -> Fault:
    location: Location = details["loc"]
    return Fault(field_name(location), _sentence(details, location, root))


def field_name(location: Location) -> str:
    """As messages write it: limits.devices[1]."""
    steps = (f"[{s}]" if isinstance(s, int) else f".{_in_line(s)}" for s in location if s not in _TAGS)
    return "".join(steps).removeprefix(".")


def _in_line(step: str) -> str:
    return step if step.isprintable() and 0 < len(step) <= 60 else shown(step)


def _sentence(details: Mapping[str, Any], location: Location, root: type[Model]) -> str:
    match details["type"]:
        case "extra_forbidden":
            return _no_such_field(str(location[-1]), location[:-1], root)
        case "missing":
            return _missing(location, root)
        case "value_error":
            return str(details["ctx"]["error"])
        case "tuple_type":
            return f"{shown(details['input'])} is not a list; write it as [first, second]"
        case "model_type" | "model_attributes_type":
            given = shown(details["input"])
            return f'{given} is not a mapping; write its fields below it, one "name: value" a line'
        case _:
            return f"{shown(details['input'])} cannot stand here; see `trainplan schema` for what can"


def stray(field: str, root: type[Model]) -> str:
    """What is wrong with the dotted name of a field that the sections of a file do not have; else nothing."""
    owner, steps = root, re.findall(r"[^.\[\]]+", field) or [field]
    for place, step in enumerate(steps):
        if step not in owner.model_fields:
            return _no_such_field(step, tuple(steps[:place]), root)
        inner = owner.model_fields[step].annotation
        if not (isinstance(inner, type) and issubclass(inner, Model)):
            return ""
        owner = inner
    return ""


def _no_such_field(name: str, within: Location, root: type[Model]) -> str:
    owner = _owner(within, root)
    known = list(owner.model_fields)
    place = next((path for path, fields in _places(root) if name in fields), None)
    if place is not None:
        where = f'under "{place}"' if place else "at the top of the file"
        return f"no such field here; it belongs {where}"
    near = difflib.get_close_matches(name[:60].lower(), known, n=1)
    if near:
        return f'no such field; did you mean "{near[0]}"?'
    return f"no such field; known are {', '.join(known[:14])}{', ...' if len(known) > 14 else ''}"


def _missing(location: Location, root: type[Model]) -> str:
    name = str(location[-1])
    field = _owner(location[:-1], root).model_fields[name]
    if field.examples:
        return f'is missing; write e.g. "{name}: {field.examples[0]}"'
    inner = _model_in(field)
    if inner is None:
        return f"is missing; write the id that `trainplan catalog {name.removesuffix('s')}s` lists"
    needs = [name for name, info in inner.model_fields.items() if info.is_required() or info.examples]
    return f"is missing; write its fields below it: {', '.join(needs)}"


def _owner(location: Location, root: type[Model]) -> type[Model]:
    """The class whose field stands at a location."""
    owner = root
    for step in location:
        if isinstance(step, str):
            owner = (
                _TAGS.get(step)
                or (_model_in(owner.model_fields[step]) if step in owner.model_fields else None)
                or owner
            )
    return owner


@cache
def _places(root: type[Model], path: str = "") -> tuple[tuple[str, frozenset[str]], ...]:
    """Every mapping of the file with the names of its fields."""
    within = ((name, _model_in(info)) for name, info in root.model_fields.items() if name != "model")
    inner = [_places(kind, f"{path}.{name}".removeprefix(".")) for name, kind in within if kind is not None]
    return ((path, frozenset(root.model_fields)), *(place for places in inner for place in places))


def _model_in(info: FieldInfo) -> type[Model] | None:
    return next(_models(info.annotation), None)


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
