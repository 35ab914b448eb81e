"""The file of results stands whatever happens."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from solver.batches.journal import Journal, records
from solver.errors import InputError


def line(name: str, **fields: Any) -> str:
    return json.dumps({"id": name, "problem": "p.yaml", "set": {}, "status": "optimal"} | fields)


def opened(path: Path, outdated: Callable[[Any], bool] = lambda _: False, *, resume: bool = True) -> Journal:
    return Journal(path, resume=resume, outdated=outdated)


def ids(path: Path) -> list[str]:
    return [record["id"] for record in records(path)]


def test_records_stand_as_soon_as_they_are_added(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.jsonl"
    with opened(path, resume=False) as journal:
        journal.add(line("a"))
        assert ids(path) == ["a"]
        journal.add(line("b"))
    assert path.read_text("utf-8") == f"{line('a')}\n{line('b')}\n"


@pytest.mark.parametrize("cut", [1, 3, 20, len(line("b"))])
def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f"{line('a')}\n{line('b')[:cut]}", "utf-8")
    assert ids(path) == ["a"]
    with opened(path) as journal:
        assert journal.done == {"a"}
        journal.add(line("b"))
    assert path.read_text("utf-8") == f"{line('a')}\n{line('b')}\n"


def test_results_are_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line("a") + "\n", "utf-8")
    with pytest.raises(InputError, match="add --resume"):
        opened(path, resume=False)
    assert ids(path) == ["a"]


@pytest.mark.parametrize("text", ["model: llama\ntraining: x\n", '{"a": 1}\n', "notes", line("a") + "\nx\n"])
def test_a_file_that_is_no_batch_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="is no record of a batch"):
        opened(path)
    assert path.read_text("utf-8") == text


def test_what_is_outdated_is_set_aside_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(line(name) + "\n" for name in "abca") + line("d")[:9], "utf-8")
    with opened(path, lambda record: record["id"] == "b") as journal:
        assert journal.done == {"a", "c"}
        journal.add(line("e"))
    assert ids(path) == ["a", "c", "e"]
    assert ids(tmp_path / "r.outdated.jsonl") == ["b", "a"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.jsonl", "r.outdated.jsonl"]


@pytest.mark.parametrize("outdated", [False, True])
def test_two_batches_do_not_write_to_one_file(tmp_path: Path, *, outdated: bool) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line("a") + "\n", "utf-8")
    with opened(path, lambda _: outdated), pytest.raises(InputError, match="another batch is writing"):
        opened(path)


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InputError, match="could not be written"):
        opened(tmp_path / "file" / "r.jsonl")
    with pytest.raises(InputError, match="could not be read"):
        ids(tmp_path / "none.jsonl")
