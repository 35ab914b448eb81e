"""Devices, machines, fabrics, offerings, models, frameworks: catalogs/, and a user's folder over it."""

from functools import lru_cache
from pathlib import Path
from threading import Lock

from solver.catalog.build import catalog_of
from solver.catalog.catalog import STALE_DAYS, Catalog, Hardware, age_days
from solver.catalog.checks import check
from solver.catalog.listing import difference, filtered, listing, one
from solver.catalog.store import stored
from solver.errors import Fault, InputError
from solver.record_files import (
    Folder,
    Texts,
    exhausting,
    overlaid,
    parse,
    shipped_folder,
    strangers,
    texts,
)

__all__ = [
    "BUILT_IN",
    "STALE_DAYS",
    "Catalog",
    "Hardware",
    "age_days",
    "check",
    "difference",
    "filtered",
    "listing",
    "load",
    "one",
    "read",
]

BUILT_IN = "built-in"
WHOLE = "operations.yaml"  # the file without which no catalog stands alone

_LOCK = Lock()  # one reading for all threads


def load(overlay: Path | None = None) -> Catalog:
    """The catalog, with a folder of the same form over it. Raises InputError.

    Read once a process, and once for each content of an overlay.
    """
    with _LOCK:
        if overlay is None:
            return _shipped()
        if not overlay.is_dir():
            raise InputError(
                str(overlay), [Fault("", "no such folder; name one with devices/, offerings/, ...")]
            )
        if faults := strangers(overlay):
            raise InputError(str(overlay), faults)
        files = texts(overlay)
        if faults := exhausting([file for file in files if not file[0].endswith(".csv")]):
            raise InputError(str(overlay), faults)
        return _overlaid(str(overlay), files)


@lru_cache(maxsize=1)
def _shipped() -> Catalog:
    return stored(_shipped_texts(), lambda: catalog_of(_records(), str(shipped_folder())))


@lru_cache(maxsize=1)
def _records() -> Folder:
    return parse(_shipped_texts())


@lru_cache(maxsize=1)
def _shipped_texts() -> Texts:
    return texts(shipped_folder())


@lru_cache(maxsize=8)
def _overlaid(name: str, files: Texts) -> Catalog:
    """Stored under the text of both, as it is of both."""
    return stored(
        (*_shipped_texts(), ("", ""), *files),
        lambda: catalog_of(overlaid(_records(), parse(files), _shipped().date), name),
    )


def read(name: str) -> Catalog:
    """A catalog by name: the built-in one, a folder that is whole, or one laid over it. Raises InputError."""
    if name == BUILT_IN:
        return load()
    folder = Path(name)
    if not (folder / WHOLE).is_file():
        return load(folder)
    return catalog_of(parse(texts(folder)), name)
