"""Compiled catalogs between processes: never stale, never in the way, nothing but records in them."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from solver.catalog import Catalog, load, store
from solver.record_files import Texts

FILES: Texts = (("devices/x.yaml", "tdp: 1 W"),)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    load()  # before, from the place of every day
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / store.FOLDER


def never() -> Catalog:
    raise AssertionError("was read again")


def named(name: str) -> Catalog:
    return replace(load(), hash=name)


def test_what_was_compiled_is_taken_as_it_was(folder: Path) -> None:
    made = store.stored(FILES, load)
    again = store.stored(FILES, never)
    assert again == made == load()
    assert again is not made
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    "other",
    [
        (("devices/x.yaml", "tdp: 2 W"),),
        (("devices/y.yaml", "tdp: 1 W"),),
        (("devices/x.yaml", "tdp: 1"), ("", " W")),
    ],
)
def test_another_text_is_another_catalog(other: Texts) -> None:
    store.stored(FILES, lambda: named("first"))
    assert store.stored(other, lambda: named("second")).hash == "second"
    assert store.stored(FILES, never).hash == "first"


def test_other_code_or_another_pydantic_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store.stored(FILES, lambda: named("first"))
    monkeypatch.setattr(store, "VERSION", "0")
    assert store.stored(FILES, lambda: named("second")).hash == "second"
    monkeypatch.setattr(store, "READERS", ("units.py",))
    assert store.stored(FILES, lambda: named("third")).hash == "third"


@pytest.mark.parametrize("damaged", [b"", b"x", b"xx" * 400])
def test_a_damaged_entry_is_made_again(folder: Path, damaged: bytes) -> None:
    store.stored(FILES, lambda: named("first"))
    (entry,) = folder.iterdir()
    entry.write_bytes(damaged)
    assert store.stored(FILES, lambda: named("second")).hash == "second"
    assert store.stored(FILES, never).hash == "second"


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("never()",)


def test_an_entry_with_anything_but_records_is_not_unpacked(folder: Path) -> None:
    store.stored(FILES, lambda: named("first"))
    (entry,) = folder.iterdir()
    body = pickle.dumps(Harm())
    entry.write_bytes(hashlib.sha256(body).digest() + body)
    assert store.stored(FILES, lambda: named("second")).hash == "second"


def test_a_folder_that_is_open_to_others_or_missing_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.stored(FILES, lambda: named("first"))
    folder.chmod(0o777)
    assert store.stored(FILES, lambda: named("second")).hash == "second"
    monkeypatch.setenv("XDG_CACHE_HOME", str(next(folder.iterdir())))  # a file, where a folder should be
    assert store.stored(FILES, lambda: named("third")).hash == "third"


def test_the_entries_are_few(folder: Path) -> None:
    for number in range(store.KEPT + 3):
        store.stored((("x", str(number)),), lambda: load().with_hardware([]))
    assert len(list(folder.iterdir())) == store.KEPT
