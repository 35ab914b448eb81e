"""The variants of a batch: each problem under each combination of settings, with an id by its content."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

from solver import __version__
from solver.batches.settings import Combination
from solver.catalog import load
from solver.errors import Fault, InputError
from solver.model_words import config_file, is_file, is_path
from solver.problem import Problem
from solver.problem.clashes import AMOUNTS
from solver.problem.plain import plain
from solver.yaml_file import read_document

SUFFIXES = (".yaml", ".yml")
ID_DIGITS = 16
LARGEST_CONFIG = 1 << 24
OWN = tuple(f"training.{name}" for name in (*AMOUNTS, "epochs", "bytes_per_token"))  # besides whole sections:
OWN_SECTIONS = ("limits", "objective", "hardware")  # variants that differ in these alone share their work

Source = str | Path | Mapping[str, Any] | Problem


class Document(NamedTuple):
    """A problem of the batch before it is checked: its fields, and the folder that its paths start in."""

    problem: str
    fields: dict[str, Any]
    folder: str
    faults: list[Fault]


@dataclass(frozen=True)
class Variant:
    """One problem to solve. given: values by dotted field in place of the problem's, `set`: their texts.

    group: variants of one group share their work; order: those next to each other share most. alone: no
    other variant is in its group.
    """

    id: str
    problem: str
    set: Mapping[str, str]
    given: Mapping[str, object]
    document: Document
    top: int
    group: str
    order: str
    name: str | None = None
    alone: bool = False

    @property
    def head(self) -> dict[str, Any]:
        """What its record starts with."""
        named = {"name": self.name} if self.name else {}
        return {"id": self.id, "problem": self.problem, **named, "set": dict(self.set)}

    @property
    def task(self) -> dict[str, Any]:
        """As JSON, for a worker."""
        told = self.document._asdict() | {"faults": [list(fault) for fault in self.document.faults]}
        return {
            "head": self.head,
            "document": told,
            "given": dict(self.given),
            "top": self.top,
            "group": self.group,
            "alone": self.alone,
        }


def documents(problems: Iterable[Source]) -> list[Document]:
    """The problems of files, folders, globs and mappings; what cannot be read is told in its faults."""
    found: dict[object, Document] = {}
    for number, source in enumerate(problems):
        if isinstance(source, Problem):
            found[number] = Document(source.source, _absolute(source), "", [])
        elif isinstance(source, Mapping):
            found[number] = _mapping(f"problem[{number}]", source)
        else:
            for path in _files(str(source)):
                found.setdefault(str(path), _read(path))
    return list(found.values())


def _absolute(problem: Problem) -> dict[str, Any]:
    """The fields of a problem that was read before, its paths from the root."""
    paths = {"catalog": problem.catalog, "model": getattr(problem.model, "path", None)}
    return problem.given | {name: str(path.absolute()) for name, path in paths.items() if path is not None}


def _mapping(name: str, source: Mapping[str, Any]) -> Document:
    try:
        return Document(name, plain(source, name), "", [])
    except InputError as error:
        return Document(name, {}, "", error.faults)


def _files(pattern: str) -> list[Path]:
    """A file, those of a folder, or those that a glob matches; a name that is nothing stands for itself."""
    path = Path(pattern)
    if pattern and path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if has_magic(pattern) and not is_file(path):
        return sorted(Path(name) for name in glob(pattern, recursive=True) if is_file(Path(name))) or [path]
    return [path]


def _read(path: Path) -> Document:
    try:
        fields, faults = read_document(path)
    except InputError as error:
        return Document(str(path), {}, str(path.parent), error.faults)
    return Document(str(path), fields, str(path.parent), faults)


@dataclass
class Expansion:
    """The variants of a batch, each once; repeated: how many more stood in it twice."""

    variants: list[Variant] = field(default_factory=list)
    repeated: int = 0


def expanded(found: list[Document], combinations: list[Combination], top: int) -> Expansion:
    """Every problem under every combination, those that share work side by side."""
    _file_digest.cache_clear()
    _hash_of.cache_clear()
    variants: dict[str, Variant] = {}
    for document in found:
        for combination in combinations:
            variant = _variant(document, combination, top)
            variants.setdefault(variant.id, variant)
    members: dict[str, int] = {}
    for variant in variants.values():
        members[variant.group] = members.get(variant.group, 0) + 1
    told = [replace(v, alone=members[v.group] == 1) for v in variants.values()]
    return Expansion(told, len(found) * len(combinations) - len(variants))


def _variant(document: Document, combination: Combination, top: int) -> Variant:
    given = {name: setting.value for name, setting in combination.settings.items()}
    content = dict(_flat(document.fields)) | given
    files = [_model_file(content, document.folder), _catalog_hash(content, document.folder)]
    told = [[*fault] for fault in document.faults]
    name = Path(document.problem).name
    own = {field: value for field, value in content.items() if _is_own(field)}
    shared = {field: value for field, value in content.items() if field not in own}
    return Variant(
        id=_digest([name, content, files, told, top, __version__]),
        problem=document.problem,
        set={name: setting.text for name, setting in combination.settings.items()},
        given=given,
        document=document,
        top=top,
        group=_digest([shared, files, told]),
        order=_text([{f: v for f, v in own.items() if f in OWN}, own]),
        name=combination.name,
    )


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Fields of the training and of other sections by their dotted names, as settings have them."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and name != "model":
            yield from ((f"{name}.{inner}", item) for inner, item in value.items())
        else:
            yield name, value


def _is_own(field: str) -> bool:
    return field in OWN or field.partition(".")[0] in OWN_SECTIONS


def _text(content: object) -> str:
    return json.dumps(content, sort_keys=True, default=str)


def _digest(content: object) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()[:ID_DIGITS]


def _model_file(content: Mapping[str, Any], folder: str) -> str:
    """Of the config.json that `model` names."""
    model = content.get("model")
    if not isinstance(model, str) or not is_path(model):
        return ""
    return _file_digest(str(Path(folder) / model))


@cache
def _file_digest(path: str) -> str:
    file = config_file(Path(path).expanduser())
    if not is_file(file):
        return "missing"
    with file.open("rb") as config:
        return hashlib.sha256(config.read(LARGEST_CONFIG)).hexdigest()


def _catalog_hash(content: Mapping[str, Any], folder: str) -> str:
    catalog = content.get("catalog")
    return _hash_of(str(Path(folder) / catalog) if isinstance(catalog, str) else "")


@cache
def _hash_of(folder: str) -> str:
    try:
        return load(Path(folder).expanduser() if folder else None).hash
    except InputError as error:
        return str(error)
