"""A problem joined with the catalog: which offerings the limits leave, and every name that is not known."""

import json
from pathlib import Path
from typing import Any

import pytest
from strategies import CARDS, ROWS, SHAPES, small_catalog

import solver
from solver.errors import InputError
from solver.question import Question, ask, understand

TRAINING = {"steps": 1000, "sequence_length": 512, "global_batch": "8 sequences"}


def question(**limits: Any) -> Question:
    """Over the small catalog."""
    file = {"model": SHAPES[0], "training": TRAINING, "catalog": small_catalog(), "limits": limits}
    return ask(solver.load(file))


def faults(**fields: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        ask(solver.load({"model": SHAPES[0], "training": TRAINING, "catalog": small_catalog()} | fields))
    return [f"{fault.field}: {fault.message}" for fault in error.value.faults]


def names(asked: Question) -> set[str]:
    """Rows of the offerings, without kind of price and machine."""
    return {
        ":".join(offering.id.split(":")[: 3 if "north" in offering.id else 2]) for offering in asked.offerings
    }


def test_without_limits_everything_on_demand_is_looked_at() -> None:
    assert names(question()) == set(ROWS)
    assert {offering.pricing for offering in question().offerings} == {"on-demand"}
    assert len(question().frameworks) == len(question().catalog.frameworks)


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        ({"devices": "h100*"}, {"north:big:eu", "north:big:us", "north:slow:eu"}),
        ({"devices": ["tpu-v5e", "trn?"]}, {"east:slice", "east:cores"}),
        ({"machines": "rtx4090-4"}, {"south:cards"}),
        ({"providers": ["west", "south"]}, {"west:old", "south:cards"}),
        ({"regions": "eu"}, {"north:big:eu", "north:slow:eu"}),
        ({"fabrics": "eth-*"}, {"north:slow:eu"}),
        ({"exclude_devices": ["h100*", "a100*"]}, {"south:cards", "east:slice", "east:cores"}),
        ({"exclude_providers": "north", "devices": "[ha]*"}, {"west:old"}),
        ({"exclude_regions": "u*", "providers": "north"}, {"north:big:eu", "north:slow:eu"}),
        ({"exclude_machines": "h100-sxm-8", "exclude_fabrics": "ib-hdr*"},
         {"south:cards", "east:slice", "east:cores"}),
    ],
)  # fmt: skip
def test_lists_of_globs_leave_what_they_name(limits: dict[str, Any], left: set[str]) -> None:
    assert names(question(**limits)) == left


def test_kinds_of_price_are_those_asked_for() -> None:
    kinds = {offering.pricing for offering in question(pricing=["spot", "committed-1y"]).offerings}
    assert kinds == {"spot", "committed-1y"}
    assert question(pricing="owned").offerings == ()


def test_frameworks_are_those_asked_for() -> None:
    assert [f.id for f in question(frameworks="m*").frameworks] == ["maxtext", "megatron-core"]
    assert [f.id for f in question(exclude_frameworks=["m*", "neuronx"]).frameworks] == [
        "deepspeed",
        "torchtitan",
    ]


def test_a_pool_is_an_offering_with_each_framework_and_precision_that_runs_on_it() -> None:
    asked = question(frameworks=["maxtext", "torchtitan", "neuronx"])
    (slice_, *_) = (offering for offering in asked.offerings if offering.machine == "tpu-v5e:2x4")
    assert [(pool.framework.id, pool.precision) for pool in asked.pools(slice_)] == [("maxtext", "bf16")]


def test_hardware_joins_the_offerings_at_its_price() -> None:
    file = {"model": SHAPES[0], "training": TRAINING, "catalog": small_catalog(), "hardware": [CARDS]}
    (own,) = (o for o in ask(solver.load(file)).offerings if o.pricing == "owned")
    assert (own.machine, own.usd_per_hour, own.max_devices, own.fabric) == ("rtx4090-8", 1.5, 16, "eth-100")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"model": "llama-3-80b"},
         'model: "llama-3-80b" is no model of the catalog; the nearest is "llama-3-8b"'),
        ({"limits": {"devices": ["h100*", "h101-sxm"]}},
         'limits.devices[1]: "h101-sxm" matches none of the devices; '),
        ({"limits": {"exclude_providers": "nort"}},
         'limits.exclude_providers[0]: "nort" matches none of the providers; the nearest is "north"'),
        ({"limits": {"fabrics": "nvlink4"}}, 'limits.fabrics[0]: "nvlink4" matches none of the fabrics'),
        ({"limits": {"devices": "trainium*"}},
         'limits.devices[0]: "trainium*" matches none of the devices; see trainplan catalog devices'),
        ({"limits": {"devices": "h1"}},
         'limits.devices[0]: "h1" matches none of the devices; write "h1*" for those that begin so'),
        ({"hardware": [{"machine": "h100-sxm-9", "count": 1}]},
         'hardware[0].machine: "h100-sxm-9" is no machine'),
    ],
)  # fmt: skip
def test_a_name_that_is_not_known_is_told_with_the_nearest(fields: dict[str, Any], told: str) -> None:
    (fault,) = faults(**fields)
    assert fault.startswith(told)


def test_every_name_that_is_not_known_is_told_at_once() -> None:
    found = faults(
        model="gpt9", limits={"devices": "zzz", "regions": "yyy"}, hardware=[{"machine": "q", "count": 1}]
    )
    fields = [text.split(":")[0] for text in found]
    assert sorted(fields) == ["hardware[0].machine", "limits.devices[0]", "limits.regions[0]", "model"]


def test_a_device_that_is_named_and_lacks_the_precision_is_told() -> None:
    file = {"model": {"parameters": "1B"}, "training": TRAINING, "limits": {"devices": "v100-16-sxm"}}
    told = [text for text in ask(solver.load(file)).assumptions if "does not train" in text]
    assert told == ["training.precision: v100-16-sxm does not train in bf16; it trains in fp16, fp32"]


def test_a_file_that_cannot_be_read_tells_its_unknown_names_too() -> None:
    with pytest.raises(InputError) as error:
        understand({"model": "gpt9", "training": TRAINING | {"steps": -1}, "limits": {"devices": "zzz"}})
    assert {fault.field for fault in error.value.faults} == {"model", "training.steps", "limits.devices[0]"}


@pytest.mark.parametrize(
    ("text", "told"),
    [("[1, 2]", "is no config.json: it holds no fields"), ("{", "is no config.json: "), ("{}", "model_type")],
)
def test_a_config_that_cannot_be_counted_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.json").write_text(text)
    (fault,) = faults(model=str(tmp_path / "config.json"))
    assert fault.startswith("model")
    assert told in fault


def test_a_config_is_counted_as_the_inline_model_of_its_shape(tmp_path: Path) -> None:
    config = {
        "model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 1024, "vocab_size": 4000, "tie_word_embeddings": False,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    file = {"model": str(tmp_path), "training": TRAINING, "catalog": small_catalog()}
    read = ask(solver.load(file)).job.architecture
    assert read.total_parameters == question().job.architecture.total_parameters


def test_frameworks_without_code_for_a_model_do_not_compete() -> None:
    """MaxText and torchtitan have decoders alone, Megatron-Core Mamba 2 alone."""
    left = {
        model: {f.id for f in ask(solver.load({"model": model, "training": TRAINING})).frameworks}
        for model in ("t5-11b", "mamba-2.8b", "nemotron-h-56b", "llama-3-8b")
    }
    assert left["t5-11b"] == left["nemotron-h-56b"] == {"deepspeed", "megatron-core"}
    assert left["mamba-2.8b"] == {"deepspeed"}
    assert left["llama-3-8b"] == {"deepspeed", "maxtext", "megatron-core", "neuronx", "torchtitan"}


def test_a_framework_that_has_no_code_for_the_model_is_told_those_that_have() -> None:
    told = faults(model="mamba-2.8b", limits={"frameworks": "maxtext"})
    assert told == [
        "model: no framework that may be used has code for models of type mamba; there is deepspeed"
    ]
