"""The files of a catalog folder as records: kind -> id -> fields, nothing interpreted yet; and their overlay.

A YAML file is one record, its name the id, or a family: `records:` by id, and beside it the fields that all
of them share. A CSV file is a family too, one row a record; an empty cell is not stated.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from solver.errors import Fault, InputError
from solver.units import shown

KINDS = (
    "devices",
    "machines",
    "fabrics",
    "providers",
    "offerings",
    "models",
    "frameworks",
    "stacks",
    "migrations",
    "byte_models",
    "operations",
    "ownership",
    "grids",
    "accuracy",
    "sources",
)
BESIDE = ("runs",)  # folders that a catalog may hold and this room does not read
OWN_SOURCE = "user"  # of an overlay's records that name none
LIST_COLUMN = "source"  # the one CSV column that holds a list, its items parted by ";"
SUFFIXES = (".yaml", ".yml", ".csv")
MOST_BYTES = 8_000_000
DEEPEST = 32

Fields = dict[str, Any]
Texts = tuple[tuple[str, str], ...]  # (path below the folder, content)


class _Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """Safe; refuses duplicate keys; leaves dates as text."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Fields:  # noqa: FBT001, FBT002 (yaml's own shape)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if odd := [name for name in mapping if not isinstance(name, str)]:
            told = f"{shown(odd[0])} is not a field name; put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, told, node.start_mark)
        if len(mapping) != len(node.value):
            names = [key.value for key, _ in node.value]
            twice = next(name for name in names if names.count(name) > 1)
            raise yaml.constructor.ConstructorError(
                None, None, f"{shown(twice)} stands twice", node.start_mark
            )
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass
class Folder:
    """What the files say. `places`: the file that each record stands in; `faults`: what could not be read."""

    records: dict[str, dict[str, Fields | None]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def place(self, kind: str, name: str) -> str:
        """Where a reader finds the record: the file, and the id where the file holds several."""
        file = self.places.get((kind, name), kind)
        return file if Path(file).stem == name else f"{file}: {name}"


def shipped_folder() -> Path:
    """Where the records stand: inside the package once installed, beside it in a clone."""
    package = Path(__file__).parent
    inside = package / "catalogs"
    return inside if inside.is_dir() else package.parent / "catalogs"


def texts(folder: Path, kinds: Iterable[str] = KINDS) -> Texts:
    """The files of a folder, in the order of their names. Raises InputError."""
    paths = [
        path
        for kind in kinds
        for path in [folder / f"{kind}.yaml", folder / f"{kind}.csv", *_inside(folder / kind)]
        if path.is_file()
    ]
    try:
        if sum(path.stat().st_size for path in paths) > MOST_BYTES:
            raise InputError(str(folder), [Fault("", f"is larger than {MOST_BYTES:,} bytes in all")])
        return tuple((path.relative_to(folder).as_posix(), path.read_text("utf-8-sig")) for path in paths)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(folder), [Fault("", f"could not be read: {error}")]) from None


def _inside(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES) if folder.is_dir() else []


def strangers(folder: Path) -> list[Fault]:
    """Folders and files that would not be read: a slip that would otherwise be silent."""
    return [fault for path in sorted(folder.iterdir()) if (fault := _stranger(path))]


def _stranger(path: Path) -> Fault | None:
    if path.name.startswith((".", "README")) or path.name in (*KINDS, *BESIDE):
        return None
    if path.is_dir():
        return Fault(path.name, f"no such kind of record{nearest(path.name, KINDS)}")
    if path.suffix in SUFFIXES and not (path.stem in KINDS and path.suffix in (".yaml", ".csv")):
        return Fault(
            path.name, "stands outside the folders of records; move it into devices/, offerings/, ..."
        )
    return None


def nearest(name: str, known: Any) -> str:
    """A suggestion to end a sentence with, or nothing."""
    close = get_close_matches(str(name), [str(k) for k in known], n=1)
    return (
        f'; did you mean "{close[0]}"?'
        if close
        else f"; there are {', '.join(sorted(known)[:12])}"
        if known
        else ""
    )


def parse(files: Texts) -> Folder:
    """Every record of the files."""
    folder = Folder()
    for file, text in files:
        kind = file.split("/")[0].split(".")[0]
        try:
            found = _rows(text) if file.endswith(".csv") else _family(file, text)
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            folder.faults.append(Fault(file, _unread(error)))
            continue
        for name, fields in found:
            if (kind, name) in folder.places:
                folder.faults.append(Fault(f"{file}: {name}", f"stands in {folder.places[kind, name]} too"))
            folder.records[kind][name] = fields
            folder.places[kind, name] = file
    return folder


def _unread(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f"line {mark.line + 1}: " if mark else ""
    return f"{line}{getattr(error, 'problem', None) or error}"


def _family(file: str, text: str) -> list[tuple[str, Fields | None]]:
    content = yaml.load(text, Loader=_Loader)
    name = Path(file).stem
    if content is None and "null" in text:
        return [(name, None)]
    if not isinstance(content, dict):
        raise ValueError("holds no fields; write `field: value` lines, or `null` to remove the record")
    if "records" not in content:
        return [(name, content)]
    members = content.pop("records")
    if not isinstance(members, dict) or not all(isinstance(m, dict | None) for m in members.values()):
        raise ValueError("`records` must be a mapping from id to fields (or to null, to remove one)")
    return [(str(name), None if m is None else content | m) for name, m in members.items()]


def exhausting(files: Iterable[tuple[str, str]]) -> list[Fault]:
    """Files with references or deep nesting: both can be made to exhaust a reader."""
    faults = []
    for file, text in files:
        try:
            _guard(text)
        except (ValueError, yaml.YAMLError) as error:
            faults.append(Fault(file, _unread(error)))
    return faults


def _guard(text: str) -> None:
    depth = 0
    if "*" not in text and max(text.count(mark) for mark in ("[", "{", "- ", "? ")) < DEEPEST:
        return
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("`*` references are not taken; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"is nested deeper than {DEEPEST} levels")


def _rows(text: str) -> list[tuple[str, Fields | None]]:
    """Rows of a CSV file. A cell `null` clears the field; a row of nothing but `null` removes the record."""
    reader = csv.DictReader(io.StringIO(text), strict=True)
    if "id" not in (reader.fieldnames or []):
        raise ValueError("the first line must name the columns, `id` among them")
    found: list[tuple[str, Fields | None]] = []
    try:
        for row in reader:
            cells = {str(column): cell for column, cell in row.items() if cell}
            if None in row or "id" not in cells:
                raise ValueError(f"line {reader.line_num}: has no id, or more cells than there are columns")
            name = cells.pop("id")
            found.append((name, None if set(cells.values()) == {"null"} else _fields(cells)))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    return found


def _fields(cells: dict[str, str]) -> Fields:
    fields: Fields = {column: None if cell == "null" else cell for column, cell in cells.items()}
    if fields.get(LIST_COLUMN):
        fields[LIST_COLUMN] = fields[LIST_COLUMN].split(";")
    return fields


def combined(base: Fields, top: Fields) -> Fields:
    """Field by field, the upper one wins; mappings are combined in turn, `null` clears a field."""
    out = dict(base)
    for name, value in top.items():
        if (
            isinstance(value, dict)
            and isinstance(out.get(name), dict)
            and not {"value"} & {*value, *out[name]}
        ):
            out[name] = combined(out[name], value)
        elif value is None:
            out.pop(name, None)
        else:
            out[name] = value
    return out


def overlaid(base: Folder, top: Folder, date: str) -> Folder:
    """The upper folder's records over the base; the user's, and of `date`, unless they say otherwise."""
    out = Folder(
        {k: dict(v) for k, v in base.records.items()}, base.places | top.places, base.faults + top.faults
    )
    for kind, records in top.records.items():
        known = out.records[kind]
        for name, fields in records.items():
            if fields is not None:
                stated = {"source": [OWN_SOURCE], "date": date} | fields
                known[name] = combined(known.get(name) or {}, stated)
            elif known.pop(name, None) is None:
                out.faults.append(
                    Fault(top.place(kind, name), f"no such record to remove{nearest(name, known)}")
                )
    return out
