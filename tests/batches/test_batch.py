"""Batches through the command and from Python, with real workers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import Trainplan

import solver
from solver.errors import InputError

ROOT = Path(__file__).parents[2]
DEADLINES = ",".join(f"{n} days" for n in range(1, 11))
TOKENS = ",".join(f"{n}00M" for n in range(1, 7))


def command(problem: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "solver", "batch", str(problem), "--out", str(out), *options]


def ran(problem: Path, out: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(problem, out, *options), cwd=ROOT, capture_output=True, text=True, check=False
    )


@contextmanager
def running(arguments: list[str]) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def wait_for(path: Path, lines: int) -> None:
    """Until a file has so many lines."""
    for _ in range(1200):
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not come to {lines} lines")


def test_a_batch_writes_records_table_page_and_summary(problem: Path, tmp_path: Path) -> None:
    grid = ("--set", "training.tokens=1B,2B", "--set", "limits.deadline=10 days,20 days,<b>soon</b>")
    done = ran(problem, tmp_path / "r.csv", *grid, "--html", str(tmp_path / "r.html"), "--top", "2")
    assert done.returncode == 1  # some failed
    assert done.stderr == ""  # no progress where nobody looks
    records = read(tmp_path / "r.jsonl")
    assert len(records) == 6
    assert [r["status"] for r in sorted(records, key=lambda r: r["status"])] == ["error"] * 2 + [
        "optimal"
    ] * 4
    for record in records:
        assert list(record)[:5] == ["id", "problem", "set", "status", "seconds"]
        assert record["problem"] == str(problem)
    failed = next(record for record in records if record["status"] == "error")
    assert failed["set"] == {"training.tokens": "1B", "limits.deadline": "<b>soon</b>"}
    assert failed["error"]["field"] == "limits.deadline"
    assert '"<b>soon</b>" is not a duration' in failed["error"]["message"]
    plans = sum(len(record.get("answer", {}).get("plans", ())) for record in records)
    assert len((tmp_path / "r.csv").read_text("utf-8").splitlines()) == plans + 1
    assert "6 variants: 4 optimal, 2 error" in done.stdout
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<b>" not in page
    assert "&lt;b&gt;soon&lt;/b&gt;" in page
    assert page.count('class="map"') == 1
    assert page.count('class="none"') == 2  # no plan for either number of tokens where the deadline is bad
    assert "src=" not in page  # it stands alone
    assert "href=" not in page


def test_a_batch_killed_goes_on_without_losing_or_repeating_anything(problem: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    grid = ("--set", f"training.tokens={TOKENS}", "--set", f"limits.deadline={DEADLINES}", "--jobs", "2")
    with running(command(problem, out, *grid)) as process:
        wait_for(out, 12)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = out.read_bytes()
    kept = before[: before.rindex(b"\n") + 1]
    assert 12 <= kept.count(b"\n") < 60
    out.write_bytes(before + b'{"id":"cut')  # as if the disk had been slower than the signal
    done = ran(problem, out, *grid, "--resume")
    assert done.returncode == 0
    assert out.read_bytes().startswith(kept)  # their times too: they were not done again
    records = read(out)
    assert len(records) == len({record["id"] for record in records}) == 60
    assert {record["status"] for record in records} == {"optimal"}
    again = ran(problem, out, *grid, "--resume")
    assert again.returncode == 0
    assert len(read(out)) == 60


def test_ctrl_c_finishes_what_is_under_way_and_says_how_to_go_on(problem: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    grid = ("--set", f"training.tokens={TOKENS}", "--set", f"limits.deadline={DEADLINES}", "--jobs", "1")
    with running(command(problem, out, *grid)) as process:
        wait_for(out, 2)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    records = read(out)
    assert process.returncode == 130
    assert 2 <= len(records) < 60
    assert f"{60 - len(records)} variants are left; go on with: trainplan batch" in stderr
    assert "--resume" in stderr
    assert f"{len(records)} variants: " in stdout


def test_workers_end_with_their_batch(problem: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    with running(command(problem, out, "--set", f"limits.deadline={DEADLINES}", "--jobs", "2")) as process:
        wait_for(out, 1)
        workers = children(process.pid)
        process.send_signal(signal.SIGKILL)
    assert len(workers) == 2
    for _ in range(200):
        if not any(alive(worker) for worker in workers):
            return
        time.sleep(0.05)
    pytest.fail("workers are left")


def test_a_worker_that_is_killed_costs_nothing(problem: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    grid = (
        "--set",
        f"training.tokens={TOKENS}",
        "--set",
        "limits.deadline=1 day,2 days,3 days",
        "--jobs",
        "2",
    )
    with running(command(problem, out, *grid)) as process:
        wait_for(out, 3)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        process.communicate(timeout=60)
    assert process.returncode == 0
    records = read(out)
    assert len(records) == len({record["id"] for record in records}) == 18
    assert {record["status"] for record in records} == {"optimal"}


def children(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text("utf-8").split()
    return [int(child) for child in found]


def alive(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False


def test_what_changed_is_done_again_and_the_rest_is_not(problem: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    other = tmp_path / "other.yaml"
    other.write_text(problem.read_text("utf-8"), "utf-8")
    ran(problem, out, str(other))
    before = {record["problem"]: record for record in read(out)}
    fields = json.loads(problem.read_text("utf-8"))
    problem.write_text(json.dumps(fields | {"objective": "time"}), "utf-8")
    assert ran(problem, out, str(other), "--resume").returncode == 0
    after = {record["problem"]: record for record in read(out)}
    assert after[str(other)] == before[str(other)]
    assert after[str(problem)]["answer"]["objective"] == "time"
    assert [r["id"] for r in read(tmp_path / "r.outdated.jsonl")] == [before[str(problem)]["id"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "limits.deadline"), "write it as field=value"),
        (("--sweep", "no-such-file.yaml"), "no-such-file.yaml: no such file"),
        (("--out", "r.xlsx"), "must end in .jsonl, .csv or .parquet"),
        (("--out", "results"), "must end in .jsonl, .csv or .parquet"),
        (("--html", "tests"), "tests: is a folder; name a file"),
        (("--out", os.devnull + "/r.jsonl"), "could not be written"),
        (("--engine", "slurm"), "Invalid value for '--engine'"),
        (("--set", "model=nothing*"), "matches no model of the catalog"),
        (("--set", "bogus.key=1"), "--set: bogus.key: no such field; known are model, training"),
        (("--set", "tp=1,2"), '--set: tp: no such field here; it belongs under "limits.layout"'),
        (("--set", "limits.deadlin=1 day"), '--set: limits.deadlin: no such field; did you mean "deadline"?'),
    ],
)
def test_a_batch_that_cannot_start_exits_2(
    trainplan: Trainplan, problem: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = trainplan("batch", str(problem), "--out", str(tmp_path / "r.jsonl"), *options)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "r.jsonl").exists()


def test_results_that_stand_are_kept_and_their_table_can_be_written(
    trainplan: Trainplan, problem: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "r.jsonl"
    first = trainplan("batch", str(problem), "--out", str(out))
    assert (first.code, first.err) == (0, f"{out.parent} did not exist; the folder is made\n")
    before = out.read_bytes()
    again = trainplan("batch", str(problem), "--out", str(out))
    assert again.code == 2
    assert "exists; add --resume" in again.err
    assert out.read_bytes() == before
    table = tmp_path / "t.parquet"
    assert f"plans in {table}" in trainplan("batch-table", str(out), str(table)).err
    assert table.exists()


def test_answers_from_python_come_in_order_and_equal_single_ones(problem: Path) -> None:
    sets = {
        "training.global_batch": ["8 sequences", "4 sequences"],
        "limits.deadline": ["9 days", "now", "1 day"],
    }
    answers = list(solver.batch(problem, sets, jobs=2))
    assert len(answers) == 6
    for number, answer in enumerate(answers):
        batch, deadline = sets["training.global_batch"][number // 3], sets["limits.deadline"][number % 3]
        if deadline == "now":
            assert isinstance(answer, InputError)
            assert answer.faults[0].field == "limits.deadline"
            continue
        fields = json.loads(problem.read_text("utf-8"))
        fields["training"]["global_batch"] = batch
        fields["limits"]["deadline"] = deadline
        alone = solver.solve(fields).model_dump(mode="json", exclude={"search"})
        assert not isinstance(answer, InputError)
        assert answer.model_dump(mode="json", exclude={"search"}) == alone


def test_python_refuses_at_once_what_cannot_start(problem: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        solver.batch("no-such-file.yaml")
    with pytest.raises(InputError, match='"slurm" is no engine'):
        list(solver.batch(problem, engine="slurm"))
    with pytest.raises(InputError, match="--engine: Ray is not installed"):
        _without_ray(problem)


def _without_ray(problem: Path) -> None:
    before = sys.modules.get("ray")
    sys.modules["ray"] = None  # type: ignore[assignment]  # what Python takes for "not installed"
    try:
        list(solver.batch(problem, engine="ray"))
    finally:
        if before is None:
            del sys.modules["ray"]
        else:
            sys.modules["ray"] = before
