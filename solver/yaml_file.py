"""Files that people write by hand, read safely: any bytes give a mapping, or an InputError that teaches."""

import difflib
from pathlib import Path
from typing import NamedTuple

from solver.errors import Fault, InputError
from solver.units import shown

MAX_BYTES = 1 << 20


class Document(NamedTuple):
    """The top mapping of a file, and its duplicate keys (the first of each holds)."""

    fields: dict[str, object]
    faults: list[Fault]


def read_yaml(path: Path) -> dict[str, object]:
    """The top mapping of the file. Raises InputError for anything else, and for duplicate keys."""
    document = read_document(path)
    if document.faults:
        raise InputError(str(path), document.faults)
    return document.fields


def read_document(path: Path) -> Document:
    """The top mapping of the file, duplicate keys told apart, so that all faults can be told at once."""
    return parse_document(read_bytes(path, MAX_BYTES), str(path))


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file. Raises InputError where there are none, or more than `most`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(str(path), [Fault("", unreadable(path, error))]) from None
    if len(data) > most:
        raise InputError(str(path), [Fault("", f"the file is larger than the {most:,} bytes that are read")])
    return data


def unreadable(path: Path, error: OSError | ValueError) -> str:
    """Why a file could not be read, without the words of the system."""
    if isinstance(error, UnicodeDecodeError):
        return _not_utf8(error)
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file; name a file in it"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        beside = {Path(name).stem: name for name in _names_beside(path)}  # why: endings are alike anyway
        near = difflib.get_close_matches(path.stem, beside, n=1)
        return "no such file" + (f'; did you mean "{path.with_name(beside[near[0]])}"?' if near else "")
    if isinstance(error, PermissionError):
        return "the file may not be read; check its permissions"
    return "the file cannot be read; check its name"


def _names_beside(path: Path) -> list[str]:
    try:
        return [p.name for p in path.parent.iterdir()][:10_000]
    except OSError:
        return []


def parse_document(data: bytes | str, source: str) -> Document:
    """As read_document, of text at hand; `source` is what messages call it."""
    from solver.yaml_values import YamlError, values

    try:
        fields, faults = values(_text(data))
    except (UnicodeDecodeError, YamlError) as error:
        message = _not_utf8(error) if isinstance(error, UnicodeDecodeError) else str(error)
        raise InputError(source, [Fault("", message)]) from None
    if not isinstance(fields, dict):
        what = "the file is empty" if fields is None else f"the file holds {shown(fields)}"
        raise InputError(source, [Fault("", f'{what}; write one "name: value" on each line')])
    return Document(fields, faults)


def _text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode("utf-8-sig")


def _not_utf8(error: UnicodeDecodeError) -> str:
    line = error.object.count(b"\n", 0, error.start) + 1
    return f"line {line}: byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8 text"
