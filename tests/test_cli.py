"""The command through its entry point: what it prints where, and its exit codes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Trainplan

from solver import __version__
from solver.answer import Answer
from solver.cli import EXIT_CODE

ROOT = Path(__file__).parents[1]
BOX = str(ROOT / "problems" / "sft-8b-a100-box.yaml")  # the smallest search: one machine, four frameworks
RUN = {
    "model": "llama-3-8b",
    "training": {"sequence_length": 8192, "global_batch": "128 sequences", "precision": "bf16"},
    "hardware": {"machine": "h100-sxm-8", "devices": 64, "fabric": "ib-ndr-400x8"},
    "framework": "megatron-core",
    "layout": {"tp": 4, "cp": 1, "pp": 2, "dp": 8, "zero": 1, "micro_batch": 1, "recompute": "none"},
}


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "solver", *arguments], cwd=ROOT, capture_output=True, check=False, **options
    )


def written(path: Path, **changes: Any) -> str:
    """A run file with some of its fields changed; YAML reads JSON."""
    path.write_text(json.dumps(RUN | changes), "utf-8")
    return str(path)


def test_solve_prints_plans_for_people(trainplan: Trainplan) -> None:
    ran = trainplan("solve", BOX)
    assert ran.code == 0
    assert "proved optimal" in ran.out
    assert ran.err == ""


def test_solve_json_is_the_answer_and_nothing_else(trainplan: Trainplan) -> None:
    ran = trainplan("solve", BOX, "--json")
    assert ran.code == 0
    assert ran.document.keys() == Answer.model_fields.keys()
    assert ran.document["status"] == "optimal"
    assert ran.err == ""


def test_two_runs_agree_in_every_byte_but_the_seconds(trainplan: Trainplan) -> None:
    first, second = (trainplan("solve", BOX, "--json").out.splitlines() for _ in range(2))
    differing = {a.split(":")[0].strip() for a, b in zip(first, second, strict=True) if a != b}
    assert differing <= {'"seconds"'}


def test_options_take_the_place_of_fields(trainplan: Trainplan) -> None:
    asked = trainplan("solve", BOX, "--budget", "9M USD", "--deadline", "2 days", "--json").document
    assert asked["question"]["limits"]["budget"] == "9M USD"
    assert asked["question"]["limits"]["deadline"] == "2 days"


def test_top_and_distinct_set_the_plans(trainplan: Trainplan) -> None:
    plans = trainplan("solve", BOX, "--distinct", "layout", "--top", "3", "--json").document["plans"]
    assert [plan["rank"] for plan in plans] == [1, 2, 3]
    assert len({json.dumps(plan["layout"]) + plan["framework"] for plan in plans}) == 3


def test_what_cannot_be_met_exits_3_and_names_what_clashes(trainplan: Trainplan) -> None:
    ran = trainplan("solve", BOX, "--deadline", "1 hour", "--json")
    assert ran.code == 3
    assert ran.document["status"] == "infeasible"
    assert "limits.deadline" in ran.document["conflict"]
    assert "limits.deadline" in [relaxation["field"] for relaxation in ran.document["relaxations"]]


def test_the_conflict_is_told_to_people(trainplan: Trainplan) -> None:
    ran = trainplan("solve", BOX, "--deadline", "1 hour")
    assert ran.code == 3
    assert "limits.deadline 1 hour" in ran.out
    assert "limits.deadline: 1 hour -> " in ran.out


def test_a_search_stopped_without_a_plan_exits_4() -> None:
    assert EXIT_CODE["unknown"] == 4


def test_evaluate_tells_time_and_memory(trainplan: Trainplan, tmp_path: Path) -> None:
    ran = trainplan("evaluate", written(tmp_path / "run.yaml"), "--json")
    assert ran.code == 0
    assert ran.document["legal"]
    assert ran.document["fits"]
    assert sum(ran.document["time"]["parts"].values()) == pytest.approx(ran.document["time"]["step_s"])


def test_an_illegal_layout_exits_3_with_all_its_violations(trainplan: Trainplan, tmp_path: Path) -> None:
    path = written(tmp_path / "run.yaml", layout={"tp": 3, "pp": 5, "dp": 8})
    ran = trainplan("evaluate", path, "--json")
    assert ran.code == 3
    assert {"tp_divides_heads", "mesh_fills_devices"} <= {v["rule"] for v in ran.document["violations"]}
    told = trainplan("evaluate", path)
    assert told.code == 3
    assert "tp 3 must divide the 32 heads" in told.out


def test_a_layout_that_is_too_large_exits_3(trainplan: Trainplan, tmp_path: Path) -> None:
    path = written(tmp_path / "run.yaml", model="llama-3-70b", layout={"tp": 1, "pp": 2, "dp": 32, "zero": 1})
    ran = trainplan("evaluate", path)
    assert ran.code == 3
    assert "too large for the memory" in ran.out


def test_model_counts(trainplan: Trainplan) -> None:
    size = trainplan("model", "llama-3-8b", "--json").document
    # 32 layers of 218,112,000; 4096 in the last norm; two tables of 128,256 x 4096
    assert size["total_parameters"] == 32 * 218_112_000 + 4096 + 2 * 128_256 * 4096
    assert size["embedding_parameters"] == 2 * 128_256 * 4096
    assert size["model_type"] == "llama"


def test_longer_sequences_cost_more_flops_a_token(trainplan: Trainplan) -> None:
    short, long = (
        trainplan("model", "llama-3-8b", "--sequence-length", n, "--json").document for n in ("1024", "65536")
    )
    assert short["flops_per_token"] < long["flops_per_token"]
    assert short["sequence_length"] == 1024


def test_model_takes_a_config_and_a_size(trainplan: Trainplan, tmp_path: Path) -> None:
    config = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_positions": 1024}), "utf-8")
    assert (
        trainplan("model", str(tmp_path / "config.json"), "--json").document["total_parameters"] == 124439808
    )
    assert trainplan("model", "7B", "--json").document["total_parameters"] == pytest.approx(7e9, rel=0.05)


def test_model_prints_a_table(trainplan: Trainplan) -> None:
    ran = trainplan("model", "mixtral-8x7b")
    assert ran.code == 0
    assert "active, with input table" in ran.out
    assert "EP  1, 2, 4, 8" in ran.out


def test_model_takes_options_of_a_config(trainplan: Trainplan) -> None:
    plain, more = (
        trainplan("model", "deepseek-v3", "--json", *options).document
        for options in ((), ("--prediction-layers", "1", "--sequence-length", "4096"))
    )
    assert more["total_parameters"] > plain["total_parameters"]
    assert (plain["sequence_length"], more["sequence_length"]) == (8192, 4096)
    assert trainplan("model", "gpt2-xl", "--assume", "llama").code == 2


@pytest.mark.parametrize("kind", ["devices", "machines", "fabrics", "offerings", "models", "frameworks"])
def test_every_record_has_id_source_and_date(trainplan: Trainplan, kind: str) -> None:
    records = trainplan("catalog", kind, "--json").document
    assert records
    assert all(record["id"] and record["source"] and record["date"] for record in records)
    assert kind != "offerings" or all(record["provider"] for record in records)


@pytest.mark.parametrize("kind", ["devices", "machines", "fabrics", "offerings", "models", "frameworks"])
def test_every_kind_has_its_table(trainplan: Trainplan, kind: str) -> None:
    ran = trainplan("catalog", kind)
    assert ran.code == 0
    assert f" {kind}; --json gives every field" in ran.out


def test_filter_leaves_the_ids_that_match(trainplan: Trainplan) -> None:
    ids = [record["id"] for record in trainplan("catalog", "devices", "--filter", "h100*", "--json").document]
    assert ids
    assert all(name.startswith("h100") for name in ids)


def test_check_passes_the_catalog(trainplan: Trainplan) -> None:
    assert trainplan("catalog", "check").code == 0
    assert trainplan("catalog", "check", "--json").document["faults"] == []


def test_check_refuses_an_overlay_with_a_slip(trainplan: Trainplan, tmp_path: Path) -> None:
    (tmp_path / "offerings").mkdir()
    row = {
        "provider": "acme",
        "instance": "big",
        "machine": "h100-sxm-8",
        "on_demand": 4000,
        "max_devices": 8,
    }
    (tmp_path / "offerings" / "mine.yaml").write_text(json.dumps({"records": {"acme": row}}), "utf-8")
    ran = trainplan("catalog", "check", "--catalog", str(tmp_path), "--json")
    assert ran.code == 2
    assert "500.000 USD per device-hour" in ran.document["faults"][0]["message"]


def test_an_overlay_is_used_by_solve(trainplan: Trainplan, tmp_path: Path) -> None:
    (tmp_path / "machines").mkdir()
    record = {"device": "a100-80-sxm", "devices": 8, "scale_up": "nvlink3", "power": "8 kW"}
    (tmp_path / "machines" / "a100-80-sxm-8.yaml").write_text(json.dumps(record), "utf-8")
    plan = trainplan("solve", BOX, "--catalog", str(tmp_path), "--json").document["plans"][0]
    assert plan["power_kw"] == 8


def test_schema_describes_the_requirements_file(trainplan: Trainplan) -> None:
    assert {"model", "training", "limits"} <= trainplan("schema").document["properties"].keys()


def test_version(trainplan: Trainplan) -> None:
    assert trainplan("--version") == (0, f"trainplan {__version__}\n", "")


def test_every_fault_of_a_file_is_told(trainplan: Trainplan, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "model: llama-3-8b\nbudgett: 1\n"
        "training: {tokens: many, sequence_length: 8192, global_batch: 3, precision: bf17}\n"
        "limits: {deadline: soon}\n",
        "utf-8",
    )
    ran = trainplan("solve", str(path), "--json")
    assert ran.code == 2
    fields = [fault["field"] for fault in ran.document["faults"]]
    assert sorted(fields) == [
        "budgett", "limits.deadline", "training.global_batch", "training.precision[0]", "training.tokens"
    ]  # fmt: skip
    assert len(ran.err.splitlines()) == 5
    assert trainplan("solve", str(path)) == (2, "", ran.err)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing command"),
        (("sovle",), "No such command 'sovle'"),
        (("solve",), "Missing argument 'PROBLEM'"),
        (("solve", BOX, "--bugdet", "1"), "No such option: --bugdet"),
        (("solve", BOX, "--top", "0"), "Invalid value for '--top'"),
        (("solve", BOX, "--top", "many"), "Invalid value for '--top': Input should be a valid integer"),
        (
            ("solve", BOX, "--distinct", "price"),
            "Invalid value for '--distinct': 'price' is not one of 'device'",
        ),
        (("solve", BOX, "--budget", "a lot"), 'limits.budget: "a lot" is not an amount of money'),
        (("solve", BOX, "--catalog", "no-such-folder"), "no-such-folder"),
        (("solve", "no-such-file.yaml"), "no-such-file.yaml: no such file"),
        (("evaluate", "no-such-file.yaml"), "no-such-file.yaml: no such file"),
        (("validate", "no-such-file.csv"), "no-such-file.csv: no such file"),
        (("validate", "/dev/zero"), "/dev/zero: the file is larger than the 67,108,864 bytes that are read"),
        (("validate", "tests"), "tests: this is a folder, not a file; name a file in it"),
        (("model", "llama-3-9b"), '"llama-3-9b" is no model of the catalog; the nearest is'),
        (("model", "no/config.json"), '"no/config.json" is no file'),
        (("model", "zebra-9"), '"zebra-9" is no model of the catalog\n'),
        (("model", BOX), "is no config.json: it does not hold JSON (line 1)"),
        (("solve", BOX, "--catalog", ""), "argument 4 is empty; write it, or leave it out"),
        (("batch", "", "--out", "plans.jsonl"), "argument 2 is empty"),
        (("catalog", "prices"), "Invalid value for"),
        (("catalog", "devices", "--catalog", "no-such-folder"), "no-such-folder: no such folder"),
    ],
)
def test_bad_input_exits_2_with_a_sentence(
    trainplan: Trainplan, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = trainplan(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert sentence in ran.err
    assert len(ran.err.splitlines()) == 1
    told = trainplan(*arguments, "--json")
    assert told.code == 2
    assert told.document["faults"]


def test_help_comes_fast_without_the_heavy_libraries() -> None:
    heavy = "{'numpy', 'ortools', 'pydantic', 'yaml', 'rich'} & sys.modules.keys()"
    code = f"import sys; from solver.cli import app; app(['--help'], standalone_mode=False); print({heavy})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("arguments", ["['schema']", "['model', 'llama-3-8b']"])
def test_what_does_not_search_does_not_load_the_solver(arguments: str) -> None:
    code = f"import sys; from solver.cli import app; app({arguments}, standalone_mode=False)"
    code += "; print('ortools' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines()[-1] == "False"


def test_a_process_of_its_own_answers_the_same(trainplan: Trainplan) -> None:
    ran = process("model", "llama-3-8b", "--json")
    assert ran.returncode == 0
    assert json.loads(ran.stdout) == trainplan("model", "llama-3-8b", "--json").document


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    command = f"{sys.executable} -m solver catalog offerings --json | head -c 10"
    ran = subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, check=False)
    assert ran.stdout == b"[\n  {\n    "
    assert ran.stderr == b""


def test_a_terminal_without_unicode_gets_ascii(tmp_path: Path) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONUTF8": "0"}
    path = written(tmp_path / "run.yaml", model={**inline(), "name": "modèle-日本"})
    for arguments in (("evaluate", path), ("evaluate", path, "--json"), ("solve", BOX)):
        ran = process(*arguments, env=environment)
        assert ran.returncode == 0
        assert ran.stdout.isascii()
        assert ran.stderr == b""


def inline() -> dict[str, Any]:
    return {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256}
