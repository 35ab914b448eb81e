"""Compiled catalogs kept between processes: what files came to, under the hash of all that decided it.

Why: reading 140 files of YAML and checking 2,000 records takes 150 ms of every command; what they came to is
read in 25. The name of an entry is a hash of the records' text, of the code that reads them and of the
versions of Python and pydantic, so an entry is never stale: what changes has another name. An entry is taken
only with its checksum right, and holds records and nothing else: no other class is ever called into being.
"""

import hashlib
import io
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import VERSION

from solver.catalog.catalog import Catalog
from solver.catalog.fact import Record
from solver.record_files import Texts

FOLDER = "trainplan"  # below the user's cache folder
KEPT = 16  # entries, of some 750 kB; those not read for longest go
SUFFIX = ".catalog"
DIGEST_BYTES = hashlib.sha256().digest_size
READERS = ("record_files.py", "units.py", "errors.py")  # beside this room, what decides how a record is read


def stored(files: Texts, make: Callable[[], Catalog]) -> Catalog:
    """The catalog of these files: compiled before, or made now and kept for the next process."""
    folder = _folder()
    if folder is None:
        return make()
    path = folder / f"{_name(files)}{SUFFIX}"
    known = _read(path)
    if known is None:
        known = make()
        _write(path, known)
    return known


def _name(files: Texts) -> str:
    """Of all that decides what the files come to."""
    room = Path(__file__).parent
    digest = hashlib.sha256(f"{sys.version} {VERSION}".encode())
    for path in (*sorted(room.glob("*.py")), *(room.parent / name for name in READERS)):
        digest.update(path.read_bytes())
    for name, text in files:
        digest.update(f"{len(name)} {len(text)} {name}{text}".encode())
    return digest.hexdigest()


def _folder() -> Path | None:
    """The user's own cache folder, made where it is missing; None: there is none that only he writes to."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):  # why: a home that is not there or not writable costs time, no more
        return None
    strange = hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o022)
    return None if strange else folder


def _read(path: Path) -> Catalog | None:
    try:
        content = path.read_bytes()
        os.utime(path)
        body = content[DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != content[:DIGEST_BYTES]:
            return None
        found = _Records(io.BytesIO(body)).load()
    except (OSError, pickle.UnpicklingError):
        return None
    return found if isinstance(found, Catalog) else None


def _write(path: Path, catalog: Catalog) -> None:
    """Whole or not at all; a folder that takes no files is no fault."""
    body = pickle.dumps(catalog, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(body).digest() + body)
        Path(file.name).replace(path)
        others = sorted(path.parent.glob(f"*{SUFFIX}"), key=lambda entry: entry.stat().st_mtime)
        for entry in others[:-KEPT]:
            entry.unlink()
    except OSError:
        return


class _Records(pickle.Unpickler):
    """Takes the classes of this room's records and no others."""

    def find_class(self, module: str, name: str) -> Any:
        known = _classes().get((module, name))
        if known is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no record")
        return known


@lru_cache(maxsize=1)
def _classes() -> dict[tuple[str, str], type]:
    known: list[type] = [Catalog, *_kinds(Record)]
    return {(found.__module__, found.__qualname__): found for found in known}


def _kinds(base: type[Record]) -> Iterator[type[Record]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
