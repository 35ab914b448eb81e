"""One model by itself: what is named, how it is read, and what its states weigh."""

import json
from pathlib import Path
from typing import Any

import pytest

from solver.architecture import Options
from solver.catalog import load
from solver.errors import InputError
from solver.physics.optimizers import OPTIMIZERS
from solver.sizing import byte_models, size_of

HUB: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "hub_configs.json").read_text("utf-8"))


def config(folder: Path, **changes: Any) -> str:
    """A config.json of Llama 3.1 8B with some of its keys changed."""
    values = HUB["meta-llama/Meta-Llama-3.1-8B"]["config"] | changes
    (folder / "config.json").write_text(json.dumps(values), "utf-8")
    return str(folder / "config.json")


def test_a_model_may_be_an_id_an_alias_a_file_a_folder_or_a_size(tmp_path: Path) -> None:
    path = config(tmp_path)
    names = ("llama-3.1-8b", "llama-3.3-70b", path, str(tmp_path), "8B")
    totals = [size_of(name).total_parameters for name in names]
    assert totals[0] == totals[2] == totals[3] == 8_030_261_248
    assert totals[1] == 70_553_706_496
    assert totals[4] == pytest.approx(8e9, rel=0.05)


def test_a_custom_type_is_counted_as_the_family_that_is_assumed(tmp_path: Path) -> None:
    path = config(tmp_path, model_type="our_own")
    with pytest.raises(InputError, match="refused, never guessed"):
        size_of(path)
    told = size_of(path, options=Options(assume="llama"))
    assert told.total_parameters == 8_030_261_248
    assert "counted as llama, as asked for" in told.notes


def test_prediction_layers_are_as_many_as_asked_for() -> None:
    none, one, two = (size_of("deepseek-v3", options=Options(prediction_layers=n)) for n in range(3))
    assert one.total_parameters - none.total_parameters == two.total_parameters - one.total_parameters > 0
    assert any("as asked for: 2; the config has 1" in note for note in two.notes)


def test_the_image_tower_can_be_left_out(tmp_path: Path) -> None:
    case = HUB["meta-llama/Llama-4-Maverick-17B-128E-Instruct"]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(case["config"]), "utf-8")
    whole, text = size_of(str(path)), size_of(str(path), options=Options(text_only=True))
    assert whole.total_parameters - text.total_parameters == case["vision"]


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("llama-3-8", Options(), 'the nearest is "llama-3-8b"'),
        ("./no/config.json", Options(), '"./no/config.json" is no file'),
        ("1.2.3B", Options(), "is not a number"),
        ("7B", Options(assume="llama"), "can be assumed of a config.json only"),
        ("7B", Options(prediction_layers=1), "only a config.json can state"),
        ("phi-4", Options(prediction_layers=1), "has no multi-token-prediction layers"),
        ("phi-4", Options(assume="phi5"), "refused, never guessed"),
        ("1000T", Options(), "outside 10M to 10T"),
    ],
)
def test_what_cannot_be_counted_is_told_in_a_sentence(name: str, options: Options, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        size_of(name, options=options)
    assert sentence in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_byte_model_names_the_frameworks_whose_records_have_its_sum() -> None:
    sums: dict[float, list[str]] = {}
    for name, f in load().frameworks.items():
        held = f.weight_bytes + f.gradient_bytes + f.master_bytes + OPTIMIZERS["adamw"].matrices
        sums.setdefault(held, []).append(name)
    assert {float(way.total): list(way.frameworks) for way in byte_models() if way.frameworks} == sums
    assert [way.total for way in byte_models()] == [8, 12, 16, 18, 20]
    assert all(way.how for way in byte_models())
