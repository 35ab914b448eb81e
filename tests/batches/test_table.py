"""The flat table of a batch, and what the guide says about it."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

import solver
from solver.batches import write_table
from solver.errors import InputError

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "batch.md").read_text("utf-8")
SETS = {"training.tokens": ["1B", "2B"], "limits.budget": ["100k USD", '"quoted", 3% USD']}


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    """With several plans."""
    training = {"tokens": "1B", "sequence_length": 8192, "global_batch": "32 sequences"}
    limits = {"devices": ["h100-sxm", "l40s"], "frameworks": "megatron-core", "max_devices": 16}
    problem = {"model": "llama-3.1-8b", "training": training, "limits": limits}
    return solver.solve(problem, top=3).model_dump(mode="json")


@pytest.fixture
def results(tmp_path: Path, answer: dict[str, Any]) -> Path:
    """Three variants with plans, one without, one that failed."""
    none = answer | {"plans": [], "status": "infeasible"}
    failed = {"error": {"field": "limits", "message": "bad"}}
    outcomes: list[dict[str, Any]] = [{"answer": answer}, {"answer": answer}, {"answer": none}, failed]
    records = [
        {"id": str(n), "problem": "p.yaml", "set": {"model": f"m{n % 2}", "x": 'a, "b"\nc'}, "seconds": 0.5}
        | {"status": outcome.get("answer", {"status": "error"})["status"]}
        | outcome
        for n, outcome in enumerate(outcomes)
    ]
    path = tmp_path / "plans.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def test_csv_has_a_row_a_plan(results: Path, answer: dict[str, Any]) -> None:
    table = results.with_suffix(".csv")
    assert write_table(results, table) == 6
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["0"] * 3 + ["1"] * 3
    assert [row["rank"] for row in rows[:3]] == ["1", "2", "3"]
    assert rows[0]["set.x"] == 'a, "b"\nc'
    assert float(rows[1]["cost.total_usd"]) == answer["plans"][1]["cost"]["total_usd"]
    assert rows[2]["layout.tp"] == str(answer["plans"][2]["layout"]["tp"])
    assert [path.name for path in results.parent.iterdir() if path.name.startswith(".")] == []


def test_parquet_keeps_types_and_values(results: Path, answer: dict[str, Any]) -> None:
    table = results.with_suffix(".parquet")
    write_table(results, table)
    read = polars.read_parquet(table)
    assert read.height == 6
    plan = answer["plans"][2]
    assert read["cost.total_usd"][2] == plan["cost"]["total_usd"]
    assert read["devices"].to_list()[:3] == [p["devices"] for p in answer["plans"]]
    assert read["layout.sequence_parallel"].dtype == polars.Boolean
    assert read["set.x"][0] == 'a, "b"\nc'
    assert read["name"].to_list() == [None] * 6
    assert read["why_not_first"][0] is None
    assert read["also_in"][0] == json.dumps(answer["plans"][0]["also_in"])


def test_the_guides_example_opens_the_parquet(
    results: Path, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(results, results.with_suffix(".parquet"))
    example = next(text for text in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "duckdb" in text)
    monkeypatch.chdir(results.parent)
    names: dict[str, Any] = {}
    exec(example, names)  # what a reader would paste
    first = answer["plans"][0]["cost"]["total_usd"]
    assert names["cheapest"] == [("m0", first), ("m1", first)]
    assert names["fastest"]["set.model"].to_list() == ["m0", "m1"]
    assert names["fastest"]["time.days"][0] == min(plan["time"]["days"] for plan in answer["plans"])


def test_a_table_without_plans_has_its_columns(tmp_path: Path) -> None:
    source = tmp_path / "r.jsonl"
    source.write_text("", "utf-8")
    for suffix in (".csv", ".parquet"):
        assert write_table(source, tmp_path / f"r{suffix}") == 0
    assert (tmp_path / "r.csv").read_text("utf-8") == "id,problem,name,status,seconds\n"
    assert duckdb.execute(f"SELECT count(*) FROM '{tmp_path}/r.parquet'").fetchall() == [(0,)]


def test_an_old_table_stands_until_the_new_one_is_whole(results: Path) -> None:
    table = results.with_suffix(".csv")
    table.write_text("old", "utf-8")
    with results.open("a", encoding="utf-8") as file:
        file.write("no record\n")
    with pytest.raises(InputError, match="is no record of a batch"):
        write_table(results, table)
    assert table.read_text("utf-8") == "old"


def test_a_table_is_csv_or_parquet(results: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.jsonl, \.csv or \.parquet"):
        write_table(results, results.with_suffix(".xlsx"))
