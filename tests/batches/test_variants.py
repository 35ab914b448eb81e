"""The variants of a batch, and their ids."""

import json
from pathlib import Path
from typing import Any

import pytest

import solver
from solver.batches import variants_of
from solver.batches.variants import Variant
from solver.errors import InputError


def written(path: Path, fields: dict[str, Any]) -> Path:
    path.write_text(json.dumps(fields), "utf-8")
    return path


def one(problem: object, **given: Any) -> Variant:
    return variants_of([problem], {f: [v] for f, v in given.items()}).variants[0]  # type: ignore[list-item]


def test_an_id_follows_from_the_content(problem: Path, tmp_path: Path) -> None:
    before = one(problem, objective="time")
    assert one(problem, objective="time").id == before.id
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copied = written(elsewhere / problem.name, json.loads(problem.read_text("utf-8")))
    assert one(copied, objective="time").id == before.id
    problem.write_text(f"# a comment\n{problem.read_text('utf-8')}", "utf-8")
    assert one(problem, objective="time").id == before.id


def test_an_id_changes_with_whatever_changes_the_answer(
    problem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {one(problem).id, one(problem, objective="time").id}
    ids.add(variants_of([problem], top=2).variants[0].id)
    written(problem, json.loads(problem.read_text("utf-8")) | {"objective": "energy"})
    ids.add(one(problem).id)
    monkeypatch.setattr("solver.batches.variants.__version__", "9.9")
    ids.add(one(problem).id)
    assert len(ids) == 5


def test_an_id_changes_with_the_files_that_a_problem_names(problem: Path, tmp_path: Path) -> None:
    config = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}
    written(tmp_path / "config.json", config)
    (tmp_path / "prices").mkdir()
    ids = {one(problem, model="./config.json", catalog="prices").id}
    written(tmp_path / "config.json", config | {"n_layer": 24})
    ids.add(one(problem, model="./config.json", catalog="prices").id)
    (tmp_path / "prices" / "machines").mkdir()
    written(tmp_path / "prices" / "machines" / "h100-sxm-8.yaml", {"power": "9 kW"})
    ids.add(one(problem, model="./config.json", catalog="prices").id)
    assert len(ids) == 3


def test_folders_and_globs_are_looked_into_and_nothing_stands_twice(problem: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other.yml", json.loads(problem.read_text("utf-8")) | {"objective": "time"})
    (tmp_path / "notes.txt").write_text("no problem", "utf-8")
    found = variants_of([tmp_path, f"{tmp_path}/*.y*ml", problem])
    assert [variant.problem for variant in found.variants] == [str(other), str(problem)]
    assert found.repeated == 0
    assert variants_of([problem], {"objective": ["cost", "cost"]}).repeated == 1


def test_what_differs_in_limits_and_amounts_shares_its_work(problem: Path) -> None:
    shared = {"training.tokens": ["1B", "2B"], "limits.deadline": ["1 day", "2 days"], "objective": ["time"]}
    assert len({variant.group for variant in variants_of([problem], shared).variants}) == 1
    apart = {"training.global_batch": ["4 sequences", "8 sequences"], "model": ["phi-4", "llama-3-8b"]}
    assert len({variant.group for variant in variants_of([problem], apart).variants}) == 4


def test_a_problem_read_before_keeps_its_paths(problem: Path, tmp_path: Path) -> None:
    (tmp_path / "prices").mkdir()
    fields = json.loads(problem.read_text("utf-8")) | {"catalog": "./prices"}
    read = solver.load(written(problem, fields))
    assert one(read).document.fields["catalog"] == str((tmp_path / "prices").absolute())


def test_a_batch_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        variants_of([tmp_path / "none.yaml"])
    with pytest.raises(InputError, match="there is no problem"):
        variants_of([tmp_path])


def test_an_empty_name_is_not_the_folder_one_stands_in(
    problem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(problem.parent)
    with pytest.raises(InputError, match="this is a folder, not a file"):
        variants_of([""])
