"""From a file or a dict to a Problem or a Run; every fault is told at once."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar

from pydantic import ValidationError

from solver.errors import Fault, InputError
from solver.problem.clashes import problem_clashes, run_clashes
from solver.problem.faults import faults_of, field_name
from solver.problem.fields import Problem
from solver.problem.plain import plain
from solver.problem.quantities import Model
from solver.problem.run import Run
from solver.units import shown
from solver.yaml_file import Document, read_document

Source = Path | str | Mapping[str, Any]
Clashes = Callable[[dict[str, Any]], list[Fault]]
File = TypeVar("File", Problem, Run)

_STEP = re.compile(r"[^.\[\]]+")  # of a dotted field: hardware[1].price or hardware.1.price


def read_problem(
    source: Source, overrides: Mapping[str, object] | None = None, folder: Path | None = None
) -> Problem:
    """The problem in a requirements file, or in a dict of the same shape. Raises InputError.

    overrides: values by dotted field ("limits.budget": "1000 USD") that take the place of the file's.
    folder: where relative paths start; that of the file, for a dict the working directory.
    """
    return _read(source, overrides or {}, Problem, problem_clashes, folder)


def read_run(source: Source, overrides: Mapping[str, object] | None = None) -> Run:
    """The run in a run file, or in a dict of the same shape. Raises InputError."""
    return _read(source, overrides or {}, Run, run_clashes)


def _read(
    source: Source,
    overrides: Mapping[str, object],
    kind: type[File],
    clashes: Clashes,
    folder: Path | None = None,
) -> File:
    name = _name(source, kind)
    if folder is None:
        folder = Path(source).parent if isinstance(source, str | Path) else Path()
    document: Document = _document(source)
    given: dict[str, Any] = plain(document.fields, name)
    faults = [*document.faults]
    for field, value in overrides.items():
        # why: a Path is not the text of a file but comes from a command line, so from the working directory
        stated = Path(value).absolute() if isinstance(value, PurePath) else value
        faults += _override(given, str(field), plain(stated, name))
    faults += clashes(given)
    try:
        result = kind.model_validate(given, context={"folder": folder, "given": given, "source": name})
    except ValidationError as error:
        faults += faults_of(error, kind)
    else:
        if not faults:
            return result
    raise InputError(name, _in_order(faults, given), given)


def _name(source: object, kind: type[Model]) -> str:
    """What messages call the input."""
    return kind.__name__.lower() if isinstance(source, Mapping) else str(source)


def _document(source: object) -> Document:
    if isinstance(source, Mapping):
        return Document(dict(source), [])
    if isinstance(source, str | Path):
        return read_document(Path(source))
    raise InputError(
        "problem", [Fault("", f"{shown(source)} is neither a path nor a mapping; give one of the two")]
    )


def _override(given: dict[str, Any], field: str, value: object) -> list[Fault]:
    """Puts a value in place of the file's; None takes the field out."""
    *way, last = _STEP.findall(field) or [""]
    node: Any = given
    for step in way:
        if isinstance(node, list) and step.isdecimal() and int(step[:9]) < len(node):
            node = node[int(step)]
        elif isinstance(node, dict):
            node = node.setdefault(step, {})
    if not isinstance(node, dict):
        return [Fault(field, "no such field in the file; write e.g. limits.budget")]
    node.pop(last, None)
    if value is not None:
        node[last] = value
    return []


def _in_order(faults: list[Fault], given: dict[str, Any]) -> list[Fault]:
    """In the order of the file; what is missing comes where its mapping starts. Each fault once."""
    order = {name: index for index, name in enumerate(_field_names(given, ()))}

    def position(fault: Fault) -> int:
        field = fault.field
        while field and field not in order:
            field = field[: max(field.rfind("."), field.rfind("["), 0)]
        return order.get(field, -1)

    return sorted(dict.fromkeys(faults), key=position)


def _field_names(node: Any, location: tuple[int | str, ...]) -> Iterator[str]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, value in inner:
        yield field_name((*location, step))
        yield from _field_names(value, (*location, step))
