"""Bad requirements files: each fault is told with its field, the value and the fix; all of them at once."""

# ruff: noqa: E501  (a table of inputs and sentences, one a line)

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.errors import Fault, InputError
from solver.problem import Problem, Run, read_problem, read_run, schema

TRAINING = {"tokens": "2T", "sequence_length": 8192, "global_batch": "512 sequences"}
DATA = {"dataset": "54 GB", "sequence_length": 8192, "global_batch": "512 sequences"}
SHAPE = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocab": 128256}
MOE = SHAPE | {"experts": 8, "experts_per_token": 2}
BAD: list[tuple[dict[Any, Any], str]] = [
    # unknown and misplaced fields
    ({"limits": {"deadlin": "30 days"}}, 'limits.deadlin: no such field; did you mean "deadline"?'),
    ({"modell": "x"}, 'modell: no such field; did you mean "model"?'),
    ({"deadline": "30 days"}, 'deadline: no such field here; it belongs under "limits"'),
    ({"tokens": "2T"}, 'tokens: no such field here; it belongs under "training"'),
    ({"limits": {"tp": 8}}, 'limits.tp: no such field here; it belongs under "limits.layout"'),
    ({"limits": {"objective": "cost"}}, "limits.objective: no such field here; it belongs at the top of the file"),
    ({"colour": "red"}, "colour: no such field; known are model, training, limits, hardware, catalog, objective"),
    ({"hardware": [{"machine": "x", "count": 1, "prize": 3}]}, 'hardware[0].prize: no such field; did you mean "price"?'),
    ({"limits": {"layout": {"tpp": 8}}}, 'limits.layout.tpp: no such field; did you mean "tp"?'),
    ({7: "x"}, "7: no such field; known are model"),
    # quantities
    ({"limits": {"deadline": "soon"}}, 'limits.deadline: "soon" is not a duration; write e.g. "30 days", "36 hours", "90 s"'),
    ({"limits": {"deadline": "1:30"}}, 'limits.deadline: "1:30" is not a duration'),
    ({"limits": {"deadline": 0}}, 'limits.deadline: 0 is not above zero; write e.g. "30 days"'),
    ({"limits": {"deadline": 30}}, 'limits.deadline: 30 has no unit; write e.g. "30 days"'),
    ({"limits": {"deadline": "1,000.5"}}, 'limits.deadline: "1,000.5" has no unit; write e.g. "30 days"'),
    ({"limits": {"max_power": 2e6}}, 'limits.max_power: 2000000 has no unit; write e.g. "2 MW"'),
    ({"limits": {"max_energy": 5}}, 'limits.max_energy: 5 has no unit; write e.g. "500 MWh"'),
    ({"limits": {"max_carbon": "20"}}, 'limits.max_carbon: "20" has no unit; write e.g. "20 t CO2e"'),
    ({"limits": {"deadline": "-3 days"}}, 'limits.deadline: "-3 days" is negative; write e.g. "30 days"'),
    ({"limits": {"deadline": True}}, "limits.deadline: true is not a duration"),
    ({"limits": {"deadline": "9000 years"}}, 'limits.deadline: "9000 years" is above 1000 years; write e.g. "30 days"'),
    ({"limits": {"deadline": float("nan")}}, "limits.deadline: nan is not a duration"),
    ({"limits": {"deadline": ["30 days"]}}, "limits.deadline: a list is not a duration"),
    ({"limits": {"budget": "3M EUR"}}, 'limits.budget: "3M EUR" is not in USD; convert it and write e.g. "3M USD"'),
    ({"limits": {"budget": "cheap"}}, 'limits.budget: "cheap" is not an amount of money; write e.g. "3M USD"'),
    ({"limits": {"budget": "0 USD"}}, 'limits.budget: "0 USD" is not above zero; write e.g. "3M USD", or leave the field out'),
    ({"limits": {"budget": 1e300}}, 'limits.budget: 1e+300 is above 1e15 USD; write e.g. "3M USD"'),
    ({"limits": {"max_power": "2 mW"}}, 'limits.max_power: "2 mW" is not a power; write e.g. "2 MW"'),
    ({"limits": {"max_devices": True}}, "limits.max_devices: true is not a number of devices; write e.g. 64"),
    ({"limits": {"max_devices": 0}}, "limits.max_devices: 0 is below 1; write e.g. 64"),
    ({"limits": {"max_devices": -8}}, "limits.max_devices: -8 is negative; write e.g. 64"),
    ({"limits": {"max_devices": 1.5}}, "limits.max_devices: 1.5 is not a whole number of devices; write e.g. 64"),
    ({"limits": {"max_devices": "1e8"}}, 'limits.max_devices: "1e8" is above 1e+07, more than can be believed; write e.g. 64'),
    ({"limits": {"min_devices": 64, "max_devices": 8}}, "limits.max_devices: 8 is below min_devices 64; write at least 64"),
    ({"limits": {"max_power": Fraction(10**400)}}, "limits.max_power: inf is not a power"),
    ({"limits": {"budget": Decimal(3)}}, "limits.budget: a value of type Decimal is not an amount of money"),
    ({"limits": {"deadline": timedelta(3)}}, "limits.deadline: a value of type timedelta is not a duration"),
    ({"limits": {"devices": {"a"}}}, "limits.devices[0]: a value of type set is not text"),
    # data
    ({"training": TRAINING | {"dataset": "54 GB"}}, "training.dataset: clashes with tokens; state only one of tokens, dataset"),
    ({"training": TRAINING | {"bytes_per_token": 4}}, 'training.bytes_per_token: says nothing without dataset; write e.g. "dataset: 54 GB"'),
    ({"training": TRAINING | {"packing": "padded"}}, 'training.mean_length: is missing; write the mean length of a sample, "mean_length: 600"'),
    ({"training": TRAINING | {"packing": "loose"}}, 'training.packing: "loose" is not one of packed, padded'),
    ({"training": TRAINING | {"mean_length": 8193}}, "training.mean_length: 8193 is above sequence_length 8192; write at most 8192"),
    ({"training": TRAINING | {"mean_length": 0}}, "training.mean_length: 0 is below 1"),
    ({"training": DATA | {"dataset": "54 tokens"}}, 'training.dataset: "54 tokens" is not an amount of memory'),
    ({"training": DATA | {"dataset": 0}}, 'training.dataset: 0 is not above zero; write e.g. "54 GB"'),
    ({"training": DATA | {"dataset": "9000 PB"}}, 'training.dataset: "9000 PB" is above 1e18 bytes; write e.g. "54 GB"'),
    ({"training": DATA | {"bytes_per_token": 0}}, "training.bytes_per_token: 0 is not above zero"),
    ({"training": DATA | {"bytes_per_token": "many"}}, 'training.bytes_per_token: "many" is not a number'),
    ({"training": DATA | {"dataset": 54}}, 'training.dataset: 54 has no unit; write e.g. "54 GB"'),
    ({"training": TRAINING | {"images": {"each": 1}}}, "training.images: a mapping is not a number of images; write e.g. 1"),
    # lists and names
    ({"limits": {"devices": ["h100*", 7]}}, "limits.devices[1]: 7 is not text; put it in quotes if it is a name"),
    ({"limits": {"devices": []}}, "limits.devices: the list is empty; name at least one, or leave the field out"),
    ({"limits": {"regions": [False]}}, "limits.regions[0]: false is not text; put it in quotes if it is a name"),
    ({"limits": {"providers": " "}}, "limits.providers[0]: the text is empty; write a name, or leave the field out"),
    ({"limits": {"frameworks": {"a": 1}}}, "limits.frameworks[0]: a mapping is not text"),
    ({"limits": {"fabrics": "a\nb"}}, 'limits.fabrics[0]: "a\\nb" is not a name; write at most 200 printable characters'),
    ({"limits": {"pricing": "on demand"}}, 'limits.pricing[0]: "on demand" is not one of on-demand, spot, committed-1y'),
    ({"limits": {"pricing": "spott"}}, '; did you mean "spot"?'),
    ({"limits": {"layout": {"tp": [4, 0]}}}, "limits.layout.tp[1]: 0 is below 1; write e.g. 8"),
    ({"limits": {"layout": {"zero": 4}}}, "limits.layout.zero[0]: 4 is above 3"),
    ({"limits": {"layout": {"recompute": "some"}}}, 'limits.layout.recompute[0]: "some" is not one of none, selective, full'),
    ({"limits": {"layout": {"sequence_parallel": 1}}}, "limits.layout.sequence_parallel[0]: 1 is not true or false; write true"),
    ({"limits": "cheap"}, 'limits: "cheap" is not a mapping; write its fields below it, one "name: value" a line'),
    ({"limits": ["a"]}, "limits: a list is not a mapping"),
    # hardware
    ({"hardware": "a100"}, 'hardware: "a100" is not a list; write it as [first, second]'),
    ({"hardware": [3]}, "hardware[0]: 3 is not a mapping"),
    ({"hardware": [{"count": 1}]}, "hardware[0].machine: is missing; write the id that `trainplan catalog machines` lists"),
    ({"hardware": {"machine": "x"}}, 'hardware[0].count: is missing; write e.g. "count: 1"'),
    ({"hardware": [{"machine": "x", "count": 1, "price": "5 USD/day"}]}, 'hardware[0].price: "5 USD/day" is not a price per hour; write e.g. "55.04 USD/hour"'),
    ({"hardware": [{"machine": "x", "count": 1, "price": -1}]}, "hardware[0].price: -1 is negative"),
    # the rest of the top
    ({"objective": "cheap"}, 'objective: "cheap" is not one of cost, time, energy'),
    ({"catalog": "./nowhere"}, 'catalog: "./nowhere" is not a folder (looked for nowhere); write the path of one'),
    ({"catalog": 3}, "catalog: 3 is not text"),
    # model
    ({"model": "7B"}, 'model: "7B" is a size, not a model; write {parameters: 7B}'),
    ({"model": 7}, "model: 7 is not text"),
    ({"model": None}, 'model: is missing; write e.g. "model: {parameters: 7B}"'),
    ({"model": "org/model"}, 'model: "org/model" is no file (looked for org/model); write the id of a model of the catalog'),
    ({"model": "config.json"}, 'model: "config.json" is no file'),
    ({"model": {"parameters": "1e17"}}, 'model.parameters: "1e17" is above 1e+16, more than can be believed; write e.g. "7B"'),
    ({"model": {"parameters": 0}}, 'model.parameters: 0 is below 1; write e.g. "7B"'),
    ({"model": {"parameters": "7B", "layers": 3}}, "model.layers: no such field; known are parameters, name"),
    ({"model": {"layers": 32}}, 'model.hidden: is missing; write e.g. "hidden: 4096"'),
    ({"model": SHAPE | {"heads": 30}}, "model.head_dim: hidden 4096 is not a multiple of heads 30; state head_dim, e.g. 128"),
    ({"model": SHAPE | {"head_dim": 0}}, "model.head_dim: 0 is below 1; write e.g. 128"),
    ({"model": SHAPE | {"kv_heads": 5}}, "model.kv_heads: 5 does not divide the 32 heads; write a divisor of 32"),
    ({"model": {k: v for k, v in SHAPE.items() if k != "ffn"}}, 'model.ffn: is missing; write e.g. "ffn: 14336"'),
    ({"model": SHAPE | {"experts": 8}}, 'model.experts_per_token: is missing; write e.g. "experts_per_token: 2"'),
    ({"model": MOE | {"experts_per_token": 9}}, "model.experts_per_token: 9 of 8 experts cannot be; write 1 to 8"),
    ({"model": MOE | {"dense_layers": 33}}, "model.dense_layers: 33 is more than the 32 layers; write at most 32"),
    ({"model": SHAPE | {"expert_ffn": 1}}, 'model.expert_ffn: says nothing of a model without experts; state "experts"'),
    ({"model": SHAPE | {"gated_mlp": "maybe"}}, 'model.gated_mlp: "maybe" is not true or false; write true or false'),
    ({"model": SHAPE | {"positions": "alibi"}}, 'model.positions: "alibi" is not one of rope, learned, none'),
    ({"model": SHAPE | {"attention": "sparse"}}, 'model.attention: "sparse" is not an attention; write "full"'),
    ({"model": SHAPE | {"attention": {"window": 0}}}, "model.attention: a mapping is not an attention"),
    ({"model": SHAPE | {"layer": 3}}, 'model.layer: no such field; did you mean "layers"?'),
    # training
    ({"training": None}, "training: is missing; write its fields below it: tokens, sequence_length, global_batch"),
    ({"training": TRAINING | {"tokens": None}}, 'training.tokens: is missing; write e.g. "tokens: 15T", or state steps'),
    ({"training": TRAINING | {"tokens": "2e18"}}, 'training.tokens: "2e18" is above 1e+18, more than can be believed'),
    ({"training": TRAINING | {"tokens": "lots"}}, 'training.tokens: "lots" is not a number of tokens; write e.g. "15T"'),
    ({"training": TRAINING | {"tokens": "1.5"}}, 'training.tokens: "1.5" is not a whole number of tokens'),
    ({"training": TRAINING | {"steps": 5}}, "training.steps: clashes with tokens; state only one of tokens, steps"),
    ({"training": TRAINING | {"samples": 5, "epochs": 1}}, "training.samples: clashes with tokens"),
    ({"training": TRAINING | {"epochs": 2}}, "training.epochs: clashes with tokens; remove one of the two"),
    ({"training": TRAINING | {"sequence_length": None}}, 'training.sequence_length: is missing; write e.g. "sequence_length: 8192"'),
    ({"training": TRAINING | {"sequence_length": "long"}}, 'training.sequence_length: "long" is not a number of tokens'),
    ({"training": TRAINING | {"global_batch": None}}, 'training.global_batch: is missing; write e.g. "global_batch: 1024 sequences"'),
    ({"training": TRAINING | {"global_batch": 1024}}, 'training.global_batch: 1024 does not say of what; write "1024 sequences" or "1024 tokens"'),
    ({"training": TRAINING | {"global_batch": "4M"}}, 'training.global_batch: "4M" does not say of what; write "4M sequences" or "4M tokens"'),
    ({"training": TRAINING | {"global_batch": "big"}}, 'training.global_batch: "big" is not a batch; write e.g. "1024 sequences" or "4M tokens"'),
    ({"training": TRAINING | {"global_batch": "0 sequences"}}, 'training.global_batch: "0 sequences" is not above zero'),
    ({"training": TRAINING | {"global_batch": "1.5 sequences"}}, 'is not a whole number; write "1 sequences" or "2 sequences"'),
    ({"training": TRAINING | {"global_batch": "1e12 sequences"}}, 'training.global_batch: "1e12 sequences" is above 1e+09 sequences'),
    ({"training": TRAINING | {"global_batch": "5000000 tokens"}}, 'training.global_batch: "5000000 tokens" is 610.352 sequences of 8,192 tokens, which must be whole; write "610 sequences" (4,997,120 tokens) or "611 sequences" (5,005,312 tokens)'),
    ({"training": TRAINING | {"global_batch": "100 tokens"}}, 'which must be whole; write "1 sequences" (8,192 tokens)'),
    ({"training": TRAINING | {"global_batch": True}}, "training.global_batch: true is not a batch"),
    ({"training": TRAINING | {"precision": "bf8"}}, 'training.precision[0]: "bf8" is not one of fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, int8'),
    ({"training": TRAINING | {"precision": []}}, "training.precision: the list is empty"),
    ({"training": TRAINING | {"optimizer": "adamww"}}, 'training.optimizer: "adamww" is not one of adamw, adam,'),
    ({"training": TRAINING | {"task": "lora"}}, 'training.task: "lora" is not one of pretrain, sft'),
    ({"training": TRAINING | {"gradient_dtype": "fp8"}}, 'training.gradient_dtype: "fp8" is not one of fp32, bf16, fp16'),
]  # fmt: skip


def refused(fields: dict[str, Any]) -> InputError:
    with pytest.raises(InputError) as error:
        read_problem({"model": "m", "training": TRAINING} | fields)
    return error.value


@pytest.mark.parametrize(("fields", "sentence"), BAD, ids=lambda x: str(x)[:60])
def test_a_fault_tells_field_value_and_fix(fields: dict[str, Any], sentence: str) -> None:
    lines = refused(fields).lines()
    assert [line for line in lines if sentence in line] != []
    assert all(line.startswith("problem: ") and len(line) < 330 for line in lines)
    assert not any(jargon in line for line in lines for jargon in ("Input should", "type=", "pydantic", "<"))


RUN: dict[str, Any] = {
    "model": "m",
    "training": {"sequence_length": 8192, "global_batch": "8 sequences", "precision": "bf16"},
    "hardware": {"machine": "x", "devices": 8},
    "framework": "f",
}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"hardware": {"machine": "x"}}, 'run: hardware.devices: is missing; write e.g. "devices: 64"'),
        ({"hardware": None}, "run: hardware: is missing; write its fields below it: machine, devices"),
        ({"hardware": {"machine": 3, "devices": 8}}, "run: hardware.machine: 3 is not text"),
        ({"framework": None}, "run: framework: is missing; write the id that `trainplan catalog frameworks` lists"),
        ({"layout": {"tp": 0}}, "run: layout.tp: 0 is below 1; write e.g. 8"),
        ({"layout": {"tp": [1, 2]}}, "run: layout.tp: a list is not a number of ways"),
        ({"layout": {"zero": -1}}, "run: layout.zero: -1 is neither a number nor a name; write e.g. 1"),
        ({"layout": {"stages": "odd"}}, 'run: layout.stages: "odd" is no deal of layers; write "even" or'),
        ({"layout": {"stages": [1, "x"]}}, "run: layout.stages: a list is no deal of layers; write"),
        ({"layout": {"precision": "fp8"}}, "run: layout.precision: differs from training.precision; state one of"),
        ({"layout": {"microbatch": 1}}, 'run: layout.microbatch: no such field; did you mean "micro_batch"?'),
        ({"training": RUN["training"] | {"precision": ["bf16", "fp8"]}}, "run: training.precision: a run has one"),
        ({"training": RUN["training"] | {"tokens": 9, "steps": 9}}, "run: training.steps: clashes with tokens"),
        ({"software": {"version": 0.1}}, "run: software.version: 0.1 is a number, in which 0.10 is 0.1; write it in"),
        ({"software": {"version": "newest"}}, 'run: software.version: "newest" is no number of a release; write e.g. "0.12.0"'),
        ({"software": {"attention": "fast"}}, 'run: software.attention: "fast" is not one of flash, unfused'),
        ({"limits": {}}, "run: limits: no such field; known are model, training"),
    ],
)  # fmt: skip
def test_a_fault_of_a_run_file_tells_field_value_and_fix(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        read_run(RUN | fields)
    assert [line for line in error.value.lines() if line.startswith(sentence)] != []


def test_all_faults_of_a_file_are_told_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "five.yaml"
    path.write_text("""\
model: 7B
training: {tokens: lots, steps: 3, global_batch: 1024, sequence_length: 8192}
limits:
  deadline: soon
  deadlin: 3 days
  budget: 3M EUR
  budget: 4M USD
  devices: [h100*, 7]
objective: cheap
""")
    with pytest.raises(InputError) as error:
        read_problem(path)
    assert [fault.field for fault in error.value.faults] == [
        "model",
        "training.tokens",
        "training.steps",
        "training.global_batch",
        "limits.deadline",
        "limits.deadlin",
        "limits.budget",
        "limits.budget",
        "limits.devices[1]",
        "objective",
    ]
    assert all(line.startswith(f"{path}: ") for line in error.value.lines())


def test_a_fault_of_an_override_names_its_field() -> None:
    with pytest.raises(InputError) as error:
        read_problem({"model": "m", "training": TRAINING}, {"limits.budgett": 1, "limits.deadline": "soon"})
    assert [fault.field for fault in error.value.faults] == ["limits.budgett", "limits.deadline"]
    with pytest.raises(InputError, match=r"model\.layers: no such field"):
        read_problem({"model": "m", "training": TRAINING}, {"model.layers": 3})
    for field in ("", ".", "limits", "training.tokens.x", "hardware.0.count"):
        with pytest.raises(InputError):
            read_problem({"model": "m", "training": TRAINING}, {field: 3})


def test_messages_stay_short_however_much_is_wrong() -> None:
    for fields in (
        {f"field-{i}": i for i in range(10_000)},
        {"limits": {"devices": list(range(10_000))}},
        {"x" * 100_000: 1, "y\n" * 100: 1, "\ud800": 1, "": 1, "limits": {"deadline": "z" * 100_000}},
    ):
        error = refused(fields)
        assert len(error.lines()) <= 40
        assert len(str(error)) <= 2_500
        assert all(line.isprintable() for line in error.lines())
    assert str(refused({f"field-{i}": i for i in range(10_000)})).endswith(" more")


def test_what_never_ends_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["limits"] = loop
    bomb: list[Any] = ["x"]
    for _ in range(35):
        bomb = [bomb, bomb]
    assert "nested deeper than 40 levels; flatten it" in str(refused(loop))
    assert "more than 200,000 values; make it smaller" in str(refused({"hardware": bomb}))


@pytest.mark.parametrize("source", [None, 3, [], b"a.yaml", object(), True])
def test_what_is_neither_path_nor_mapping_is_refused(source: Any) -> None:
    with pytest.raises(InputError, match="is neither a path nor a mapping; give one of the two"):
        read_problem(source)


NAMES = sorted(
    {n for d in schema()["$defs"].values() for n in d.get("properties", {})} | set(schema()["properties"])
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        [
            "7B",
            "30 days",
            "4M tokens",
            "8 sequences",
            "bf16",
            "even",
            "1e18",
            "3M USD",
            "a/b.json",
            "window: 3",
            "",
        ]
    )
    | st.binary(max_size=3)
    | st.just(object())
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=20,
)
TOP = ["model", "training", "limits", "hardware", "catalog", "objective", "layout", "software", "framework"]
FILES = st.fixed_dictionaries({}, optional=dict.fromkeys(TOP, TREES)) | st.dictionaries(
    st.sampled_from(NAMES) | st.text(max_size=5), TREES, max_size=6
)


def outcome(read: Callable[[Any], Problem | Run], source: Any) -> Problem | Run | InputError:
    """What is read, or the refusal; anything else that escapes fails the test."""
    try:
        return read(source)
    except InputError as error:
        return error


def check(read: Callable[[Any], Problem | Run], source: Any) -> None:
    result = outcome(read, source)
    if not isinstance(result, InputError):
        return
    assert result.faults
    assert all(isinstance(fault, Fault) for fault in result.faults)
    assert len(result.lines()) <= 40
    assert len(str(result)) <= 2_500
    assert str(result).replace("\n", "").isprintable()
    assert "Input should" not in str(result)


@settings(max_examples=150)
@given(FILES)
def test_any_mapping_gives_a_problem_or_sentences(source: dict[str, Any]) -> None:
    check(read_problem, source)
    check(read_problem, {"model": "m", "training": TRAINING} | source)
    check(read_run, RUN | source)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(NAMES), TREES, max_size=6))
def test_any_section_gives_a_problem_or_sentences(fields: dict[str, Any]) -> None:
    for section in ("model", "training", "limits"):
        check(read_problem, {"model": "m", "training": TRAINING, section: fields})
    check(read_problem, {"model": SHAPE | fields, "training": TRAINING | fields})
    check(read_run, RUN | {"layout": fields, "hardware": {"machine": "x", "devices": 1} | fields})


@given(st.dictionaries(st.text(max_size=20) | st.sampled_from(NAMES), SCALARS, max_size=5))
def test_any_override_gives_a_problem_or_sentences(overrides: dict[str, Any]) -> None:
    check(lambda source: read_problem(source, overrides), {"model": "m", "training": TRAINING})


@settings(max_examples=60)
@given(FILES)
def test_a_problem_that_is_read_can_be_asked_again(source: dict[str, Any]) -> None:
    first = outcome(read_problem, {"model": "m", "training": TRAINING} | source)
    if not isinstance(first, Problem):
        return
    question = json.loads(json.dumps(first.question()))
    assert read_problem(question).question() == question
