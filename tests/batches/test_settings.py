"""What sets variants apart: options and sweep files."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.batches.settings import combinations, split
from solver.errors import InputError

MODELS = ["llama-2-7b", "llama-3-8b", "llama-3-70b", "phi-4"]


def values(sets: list[str] | dict[str, Any], sweep: Path | None = None) -> list[dict[str, object]]:
    found = combinations(sets, sweep, MODELS)
    return [{field: setting.value for field, setting in c.settings.items()} for c in found]


def texts(sets: list[str]) -> list[dict[str, str]]:
    found = combinations(sets, None, MODELS)
    return [{field: setting.text for field, setting in c.settings.items()} for c in found]


def sweep_file(folder: Path, text: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1T,2T", ["1T", "2T"]),
        ("[1, 2],[3]", ["[1, 2]", "[3]"]),
        ("{a: [1, 2], b: 3},x", ["{a: [1, 2], b: 3}", "x"]),
        ('"1,000 USD",2k USD', ['"1,000 USD"', "2k USD"]),
        ("'a,b',c", ["'a,b'", "c"]),
        ("don't,won't", ["don't", "won't"]),
        ('["a,b", c],d', ['["a,b", c]', "d"]),
        ("", [""]),
    ],
)
def test_values_are_parted_at_commas_outside_brackets_and_quotes(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@given(st.text(max_size=40))
def test_parting_loses_nothing(text: str) -> None:
    assert ",".join(split(text)) == text


def test_options_make_a_grid_whose_last_field_changes_fastest() -> None:
    grid = texts(["training.tokens=1T, 2T", "limits.deadline=30 days,60 days"])
    assert [tuple(row.values()) for row in grid] == [
        ("1T", "30 days"), ("1T", "60 days"), ("2T", "30 days"), ("2T", "60 days")
    ]  # fmt: skip


def test_values_are_yaml_and_null_leaves_a_field_out() -> None:
    assert values(["limits.devices=[h100*, a100*],null"]) == [
        {"limits.devices": ["h100*", "a100*"]},
        {"limits.devices": None},
    ]
    assert values(["limits.max_devices=64"]) == [{"limits.max_devices": 64}]


def test_a_glob_under_model_means_every_model_that_it_matches() -> None:
    assert values(["model=llama-3*,phi-4"]) == [
        {"model": "llama-3-70b"},
        {"model": "llama-3-8b"},
        {"model": "phi-4"},
    ]
    assert values(["model=*-7b"]) == [{"model": "llama-2-7b"}]


def test_without_settings_a_problem_is_its_only_variant() -> None:
    assert values([]) == [{}]


def test_python_gives_values_by_field() -> None:
    assert values({"limits.max_devices": [8, 16]}) == [{"limits.max_devices": 8}, {"limits.max_devices": 16}]


@pytest.mark.parametrize(
    ("sets", "field", "message"),
    [
        (["training.tokens"], '"training.tokens"', "write it as field=value"),
        (["training.tokens="], '"training.tokens="', "write it as field=value"),
        (["training.tokens=1T,,2T"], "training.tokens", "an empty value"),
        (["a=1", "a=2"], "a", "is set twice"),
        (["limits.devices=[a"], "limits.devices", "close the bracket"),
        (["limits.layout={tp: 1, tp: 2}"], "limits.layout.tp", "stated twice"),
        (["model=lama*"], "model", 'matches no model of the catalog; the nearest is "llama-'),
    ],
)
def test_a_bad_option_is_refused(sets: list[str], field: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        combinations(sets, None, MODELS)
    assert refused.value.faults[0].field == field
    assert message in refused.value.faults[0].message


def test_a_sweep_crosses_its_sections(tmp_path: Path) -> None:
    sweep = sweep_file(
        tmp_path,
        """
grid: {limits.max_devices: [8, 16]}
zip: {training.tokens: [1T, 2T], limits.budget: [10k USD, 20k USD]}
list:
  - {name: plain}
  - {name: slow, limits.deadline: 90 days}
""",
    )
    found = combinations(["objective=cost,time"], sweep, MODELS)
    assert len(found) == 2 * 2 * 2 * 2
    assert {c.name for c in found} == {"plain", "slow"}
    slow = next(c for c in found if c.name == "slow")
    assert {field: setting.text for field, setting in slow.settings.items()} == {
        "objective": "cost",
        "limits.max_devices": "8",
        "training.tokens": "1T",
        "limits.budget": "10k USD",
        "limits.deadline": "90 days",
    }
    plain = next(c for c in found if c.name == "plain")
    assert "limits.deadline" not in plain.settings  # as the problem has it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grids: {a: [1]}", "no such section; write grid, zip, list"),
        ("zip: {a: [1, 2], b: [1]}", "its lists must be of one length, but a has 2, b has 1"),
        ("grid: 3", "write the values of each field"),
        ("grid: {a: []}", "write the values of each field"),
        ("list: {a: 1}", "write one mapping a variant"),
        ("grid: {a: [1]}\nzip: {a: [1]}", "is set in two places"),
        ("a: [", "this is not YAML"),
    ],
)
def test_a_bad_sweep_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match="sweep") as refused:
        combinations([], sweep_file(tmp_path, text), MODELS)
    assert message in str(refused.value)


def test_a_batch_beyond_what_anybody_waits_for_is_refused() -> None:
    many = {f"a{n}": list(range(10)) for n in range(6)}
    with pytest.raises(InputError, match="1,000,000 variants are more than 200,000"):
        combinations(many, None, MODELS)
