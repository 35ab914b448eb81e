"""The requirements file: typed values, defaults that are told, the question given back, relative paths."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import InputError
from solver.problem import (
    Attention,
    InlineModel,
    ModelName,
    ModelPath,
    Problem,
    SizeModel,
    read_problem,
    read_run,
    schema,
)

PROBLEMS = sorted((Path(__file__).parent.parent / "problems").glob("*.yaml"))
TRAINING = {"tokens": "2T", "sequence_length": 8192, "global_batch": "4M tokens"}
SHAPE = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocab": 128256}
RUN = {
    "model": "llama-3-8b",
    "training": {"sequence_length": 8192, "global_batch": "128 sequences", "precision": "bf16"},
    "hardware": {"machine": "h100-sxm-8", "devices": 64, "fabric": "ib-ndr-400x8"},
    "framework": "megatron-core",
    "layout": {"tp": 4, "cp": 1, "pp": 2, "dp": 8, "zero": 1, "micro_batch": 1, "recompute": "none"},
}


def problem(**sections: Any) -> Problem:
    return read_problem({"model": "llama-3-70b", "training": TRAINING} | sections)


def test_every_field_of_the_file_is_read_in_si() -> None:
    read = problem(
        training=TRAINING | {"precision": ["bf16", "fp8"], "optimizer": "adamw", "gradient_dtype": "fp32"},
        limits={
            "deadline": "30 days",
            "budget": "3M USD",
            "devices": ["h100*", "tpu-v5p"],
            "exclude_regions": "us-*",
            "pricing": ["on-demand"],
            "min_devices": 64,
            "max_devices": "4k",
            "max_power": "2 MW",
            "layout": {"tp": [4, 8], "recompute": ["none", "selective"], "sequence_parallel": "yes"},
        },
        hardware=[{"machine": "a100-80-sxm-8", "count": 2, "fabric": "ib", "price": "$3/h"}],
        objective="time",
    )
    training, limits, holding = read.training, read.limits, read.hardware[0]
    assert (read.model, read.objective, read.catalog) == (ModelName("llama-3-70b"), "time", None)
    assert (training.tokens, training.sequence_length, training.global_batch) == (2 * 10**12, 8192, 512)
    assert (training.precision, training.gradient_dtype) == (("bf16", "fp8"), "fp32")
    assert (limits.deadline, limits.budget, limits.max_power) == (30 * 86400.0, 3e6, 2e6)
    assert (limits.devices, limits.exclude_regions, limits.machines) == (("h100*", "tpu-v5p"), ("us-*",), ())
    assert (limits.pricing, limits.min_devices, limits.max_devices) == (("on-demand",), 64, 4000)
    assert (limits.layout.tp, limits.layout.recompute) == ((4, 8), ("none", "selective"))
    assert (limits.layout.sequence_parallel, limits.layout.pp) == ((True,), ())
    assert (holding.machine, holding.count, holding.fabric, holding.price) == ("a100-80-sxm-8", 2, "ib", 3.0)


def test_numbers_of_numpy_are_plain_numbers() -> None:
    training = {
        "tokens": np.float64(2e12),
        "sequence_length": np.int64(8192),
        "global_batch": "512 sequences",
    }
    question = problem(
        training=training, limits={"budget": np.float32(60), "layout": {"tp": (2,)}}
    ).question()
    assert json.loads(json.dumps(question)) == question
    assert question["training"]["tokens"] == 2e12


def test_steps_are_tokens_by_batches_rounded_up() -> None:
    assert problem().steps == 476838  # 2e12 / (512 x 8192) = 476,837.16
    assert problem(training=TRAINING | {"tokens": 512 * 8192 * 3}).steps == 3
    assert problem(training=TRAINING | {"tokens": 512 * 8192 * 3 + 1}).steps == 4
    assert problem(training=TRAINING | {"tokens": 10**18}).steps == -(-(10**18) // (512 * 8192))


def test_steps_and_samples_say_how_many_tokens() -> None:
    batch = {"sequence_length": 4096, "global_batch": "128 sequences"}
    assert problem(training=batch | {"steps": "10k"}).tokens == 10_000 * 128 * 4096
    assert problem(training=batch | {"samples": "52k samples"}).tokens == 52_000 * 4096
    twice = problem(training=batch | {"samples": 1000, "epochs": 3})
    assert (twice.tokens, twice.steps) == (3 * 1000 * 4096, 24)  # 3000 / 128 = 23.4
    assert any("gone through 3 times, so 12,288,000 tokens" in text for text in twice.assumptions)
    once = problem(training=batch | {"samples": 1000, "epochs": 1})
    assert any("gone through once, so 4,096,000 tokens" in text for text in once.assumptions)


BATCH = {"sequence_length": 4096, "global_batch": "128 sequences"}
DATA = BATCH | {"dataset": "54 GB"}


@pytest.mark.parametrize(
    ("training", "tokens"),
    [
        (DATA, 13_705_583_757),  # 54e9 / 3.94 = 13,705,583,756.3
        (DATA | {"bytes_per_token": 4}, 13_500_000_000),
        (DATA | {"bytes_per_token": 4, "epochs": 3}, 3 * 13_500_000_000),
        # 13.5e9 / 1000 samples, each in a sequence of its own
        (DATA | {"bytes_per_token": 4, "packing": "padded", "mean_length": 1000}, 13_500_000 * 4096),
        (DATA | {"bytes_per_token": 4, "mean_length": 1000}, 13_500_000_000),
        (BATCH | {"samples": 1000, "packing": "padded", "mean_length": 600}, 1000 * 4096),
        (BATCH | {"samples": 1000, "mean_length": 600, "epochs": 2}, 2 * 1000 * 600),
        (BATCH | {"tokens": "1B", "packing": "padded", "mean_length": 600}, 10**9),
    ],
)
def test_a_data_set_and_its_packing_say_how_many_tokens(training: dict[str, Any], tokens: int) -> None:
    assert problem(training=training).tokens == tokens


def test_what_is_taken_of_a_data_set_is_told() -> None:
    told = " ".join(problem(training=DATA | {"epochs": 2}).assumptions)
    assert "bytes_per_token is not stated: 3.94 bytes a token" in told
    assert "13,705,583,757 tokens of text, gone through 2 times, so 27,411,167,514 tokens" in told
    padded = problem(training=DATA | {"packing": "padded", "mean_length": 1024})
    assert "75% of the tokens, of their time and cost are padding" in " ".join(padded.assumptions)
    assert (padded.training.fill, padded.training.document) == (0.25, None)
    masked = problem(training=DATA | {"packing": "packed", "mean_length": 1024})
    assert "attention stays inside documents, all taken to be of 1,024" in " ".join(masked.assumptions)
    assert (masked.training.fill, masked.training.document) == (1.0, 1024)
    assert "packing is not stated" in " ".join(problem().assumptions)
    assert "packing is not stated" not in " ".join(masked.assumptions)


@pytest.mark.parametrize(
    ("value", "model"),
    [
        ("llama-3-8b", ModelName("llama-3-8b")),
        ({"parameters": "7B"}, SizeModel(parameters=7_000_000_000)),
        (SHAPE, InlineModel(**SHAPE)),
    ],
)
def test_a_model_is_a_name_a_size_or_a_shape(value: object, model: object) -> None:
    assert problem(model=value).model == model


def test_an_inline_model_takes_its_heads_and_widths_from_what_is_stated() -> None:
    model = problem(model=SHAPE).model
    assert isinstance(model, InlineModel)
    assert (model.kv_heads, model.head_dim, model.gated_mlp, model.positions) == (32, 128, True, "rope")
    sparse = problem(model=SHAPE | {"experts": 8, "experts_per_token": 2, "kv_heads": 8}).model
    assert isinstance(sparse, InlineModel)
    assert (sparse.expert_ffn, sparse.kv_heads, sparse.dense_layers) == (14336, 8, 0)


@pytest.mark.parametrize("text", [{"window": 4096}, {"window": "4,096"}, "window: 4096", "window 4096"])
def test_an_attention_window_may_be_written_in_several_ways(text: object) -> None:
    model = problem(model=SHAPE | {"attention": text}).model
    assert isinstance(model, InlineModel)
    assert model.attention == Attention("window", 4096)


def test_paths_start_at_the_folder_of_the_file_and_those_of_a_dict_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "prices").mkdir(parents=True)
    (tmp_path / "a" / "hf").mkdir()
    (tmp_path / "a" / "hf" / "config.json").write_text("{}")
    text = {"model": "hf/config.json", "training": TRAINING, "catalog": "./prices"}
    (tmp_path / "a" / "problem.yaml").write_text(json.dumps(text))
    monkeypatch.chdir(tmp_path)
    read = read_problem("a/problem.yaml")
    assert isinstance(read.model, ModelPath)
    assert read.model.path.resolve() == tmp_path / "a" / "hf" / "config.json"
    assert read.catalog is not None
    assert read.catalog.resolve() == tmp_path / "a" / "prices"
    with pytest.raises(InputError, match=r"model: \"hf/config\.json\" is no file"):
        read_problem(text)
    monkeypatch.chdir(tmp_path / "a")
    assert isinstance(read_problem(text | {"model": "./hf"}).model, ModelPath)


def test_a_path_of_the_command_line_starts_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "problem.yaml").write_text(json.dumps({"model": "x", "training": TRAINING}))
    monkeypatch.chdir(tmp_path)
    assert read_problem("a/problem.yaml", {"catalog": Path("prices")}).catalog == tmp_path / "prices"
    with pytest.raises(InputError, match=r"catalog: \"prices\" is not a folder"):
        read_problem("a/problem.yaml", {"catalog": "prices"})


def test_what_the_user_left_out_is_told() -> None:
    assert problem().assumptions == (
        "training.precision is not stated: bf16 is taken",
        "training.packing is not stated: sequences are full of text",
        "training.optimizer is not stated: adamw is taken",
        "training.task is not stated: pretraining of all parameters",
        'training.global_batch: "4M tokens" is read as 4,194,304 tokens, 512 sequences of 8,192; '
        "4,000,000 would not be whole sequences",
        "limits.pricing is not stated: on-demand and owned prices are considered",
        "limits.max_devices is not stated: at most 16,384 are considered",
        "objective is not stated: the cost is made least",
    )


def test_what_could_be_misread_is_told() -> None:
    read = problem(
        training=TRAINING | {"sequence_length": "8k", "global_batch": "512 sequences"},
        limits={"budget": 30000, "pricing": "spot"},
        hardware={"machine": "a100-80-sxm-8", "count": 1},
    )
    told = "\n".join(read.assumptions)
    assert '"8k" is read as 8,000 tokens; write 8192 if multiples of 1024 are meant' in told
    assert "limits.budget: 30000 without a unit is read in USD" in told
    assert 'limits.pricing leaves out "owned", so nothing under hardware is used' in told
    assert "hardware[0].price is not stated: a100-80-sxm-8 costs 0 USD/hour" in told


def test_an_inline_model_tells_what_was_taken() -> None:
    assert problem(model=SHAPE | {"gated_mlp": False}).assumptions[0] == (
        "model: not stated, so taken: kv_heads 32, head_dim 128, tied_embeddings false, positions rope, "
        "attention full"
    )


def test_the_question_is_the_file_with_its_defaults() -> None:
    limits = {"deadline": "30 days", "devices": "h100*", "layout": {"tp": 8}}
    assert problem(limits=limits).question() == {
        "model": "llama-3-70b",
        "training": TRAINING
        | {"packing": "packed", "precision": ["bf16"], "optimizer": "adamw", "task": "pretrain"},
        "limits": {
            "deadline": "30 days",
            "devices": ["h100*"],
            "pricing": ["on-demand", "owned"],
            "min_devices": 1,
            "max_devices": 16384,
            "machines_step": 1,
            "layout": {"tp": [8]},
        },
        "objective": "cost",
    }


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_every_file_of_problems_is_read_and_says_who_would_write_it(path: Path) -> None:
    read = read_problem(path)
    again = read_problem(json.loads(json.dumps(read.question())))
    assert path.read_text().startswith("# ")
    assert again.question() == read.question()
    assert again == read or read.given != again.given
    assert (again.tokens, again.steps, again.limits) == (read.tokens, read.steps, read.limits)


def test_problems_reach_from_one_card_to_16384_devices() -> None:
    assert len(PROBLEMS) >= 9
    most = [read_problem(path).limits.max_devices for path in PROBLEMS]
    assert (min(most), max(most)) == (128, 16384)


def test_an_override_takes_the_place_of_the_files_value() -> None:
    source = {"model": "m", "training": TRAINING, "hardware": [{"machine": "x", "count": 1}]}
    read = read_problem(
        source,
        {
            "limits.budget": "1000 USD",
            "limits.layout.tp": [2],
            "training.tokens": None,
            "training.steps": 7,
            "hardware.0.count": 3,
            "hardware[0].price": 1,
        },
    )
    assert (read.limits.budget, read.limits.layout.tp, read.steps) == (1000.0, (2,), 7)
    assert (read.hardware[0].count, read.hardware[0].price) == (3, 1.0)
    assert source == {"model": "m", "training": TRAINING, "hardware": [{"machine": "x", "count": 1}]}


def test_an_alias_of_the_file_is_not_changed_by_an_override_of_another_field(tmp_path: Path) -> None:
    text = "model: m\ntraining: {tokens: 1B, sequence_length: 8, global_batch: 8 sequences}\n"
    text += "hardware: [&x {machine: a, count: 1}, *x]\n"
    (tmp_path / "a.yaml").write_text(text)
    counts = [h.count for h in read_problem(tmp_path / "a.yaml", {"hardware.0.count": 5}).hardware]
    assert counts == [5, 1]


def test_the_run_of_the_interface_is_read() -> None:
    run = read_run(RUN)
    assert (run.model, run.framework, run.precision) == (ModelName("llama-3-8b"), "megatron-core", "bf16")
    assert (run.training.global_batch, run.hardware.devices, run.hardware.machine) == (128, 64, "h100-sxm-8")
    assert (run.layout.tp, run.layout.zero, run.layout.recompute, run.layout.vpp) == (4, 1, "none", None)
    assert run.software.attention is None


def test_a_run_takes_records_inline_and_every_layout_word() -> None:
    words: dict[str, Any] = {
        "ep": 1,
        "etp": 1,
        "edp": 8,
        "vpp": 2,
        "grad_accum": 16,
        "sequence_parallel": True,
        "shard": 8,
    }
    words |= {"schedule": "1f1b", "offload": "none", "stages": [9, 8], "precision": "bf16", "zero": "zero-1"}
    run = read_run(
        RUN
        | {
            "hardware": {
                "machine": {"device": "h100-sxm", "devices": 8},
                "devices": 16,
                "fabric": {"nics": 8},
            },
            "layout": words,
            "software": {"version": "0.10", "attention": "flash", "compiled": True, "cuda_graphs": "no"},
        }
    )
    assert run.hardware.machine == {"device": "h100-sxm", "devices": 8}
    assert run.layout.model_dump(exclude_none=True) == words | {"stages": (9, 8)}
    assert (run.software.version, run.software.cuda_graphs) == ("0.10", False)


def test_a_problem_survives_pickling_with_the_users_words() -> None:
    read = problem(limits={"budget": "3M USD"})
    again = pickle.loads(pickle.dumps(read))
    assert again == read
    assert (again.given, again.assumptions, again.question()) == (
        read.given,
        read.assumptions,
        read.question(),
    )


def test_many_threads_read_the_same() -> None:
    with ThreadPoolExecutor(8) as threads:
        questions = list(threads.map(lambda _: problem().question(), range(64)))
    assert all(question == questions[0] for question in questions)


def test_importing_the_reader_loads_neither_solver_nor_numpy_nor_yaml() -> None:
    code = (
        "import sys, solver.problem; print(sorted({'ortools', 'numpy', 'yaml', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(st.integers(1, 4096), st.sampled_from([512, 1024, 2048, 4096, 8192, 131072]))
def test_a_batch_in_tokens_is_the_same_batch_in_sequences(sequences: int, length: int) -> None:
    def batch(text: str) -> int:
        training = {"steps": 1, "sequence_length": length, "global_batch": text}
        return problem(training=training).training.global_batch

    assert batch(f"{sequences * length} tokens") == batch(f"{sequences} sequences") == sequences
    assert batch(f"{sequences * length:,} Tokens") == sequences


@pytest.mark.parametrize(
    ("text", "length", "sequences", "is_told"),
    [
        ("4M tokens", 8192, 512, True),  # 4e6 / 8192 = 488.28; 2^22 / 8192 = 512
        ("4M tokens", 4000, 1000, False),  # decimal comes first
        ("0.5M tokens", 1024, 512, True),
        ("512k tokens", 4096, 125, True),  # whole as decimal, though 2^19 would be too: told
        ("512K tokens", 8192, 64, True),
        ("512k tokens", 1000, 512, False),
        ("16M tokens", 8192, 2048, True),
        ("1k sequences", 8192, 1000, False),  # never binary
        ("2048 seqs", 8192, 2048, False),
    ],
)
def test_a_batch_in_tokens_is_read_decimal_then_binary(
    text: str,
    length: int,
    sequences: int,
    is_told: bool,  # noqa: FBT001
) -> None:
    read = problem(training={"steps": 1, "sequence_length": length, "global_batch": text})
    assert read.training.global_batch == sequences
    told = [line for line in read.assumptions if line.startswith("training.global_batch")]
    assert len(told) == is_told


def test_only_the_batch_is_ever_read_binary() -> None:
    read = problem(training={"tokens": "4M", "sequence_length": 4096, "global_batch": "1 sequence"})
    assert (read.tokens, read.steps) == (4_000_000, 977)


def test_the_schema_describes_every_field_and_takes_text_or_numbers() -> None:
    root = schema()
    assert root["required"] == ["model", "training"]
    assert root["additionalProperties"] is False
    for name in ("Training", "Limits", "LayoutLimits", "Holding", "InlineModel", "SizeModel"):
        fields = root["$defs"][name]["properties"]
        assert [field for field, said in fields.items() if not said.get("description")] == []
    limits = root["$defs"]["Limits"]["properties"]
    assert limits["deadline"]["type"] == "string"
    assert limits["budget"]["type"] == ["string", "number"]
    assert "30 days" in limits["deadline"]["examples"]
    assert json.loads(json.dumps(root)) == root
