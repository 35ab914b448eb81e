"""How few devices hold a model: counts that are the least, figures that evaluate gives back, plain words."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import solver
from solver.cli import main
from solver.errors import InputError
from solver.fitting import Wanted, fit
from solver.fitting.record import DeviceFit, FitOption

BIG = Wanted("llama-3-70b", ("h100-sxm",))
SMALL = Wanted("llama-3-8b", ("rtx4090",))
KEYS = {  # adding one is a decision, taken here and in docs/fit.md
    "changes", "layout_changes", "devices", "machine", "machines", "devices_paid", "fabric", "framework",
    "precision", "optimizer", "sequence_length", "layout", "memory", "biggest_part", "step_s",
    "tokens_per_s_per_device", "price_pct", "slower_pct",
}  # fmt: skip


@cache
def fitted(wanted: Wanted) -> DeviceFit:
    [device] = fit(wanted).devices
    return device


def evaluated(model: str, option: FitOption) -> Any:
    """What evaluate says of the very layout, on the same machines."""
    layout = option.layout.model_dump(exclude={"edp", "stages", "schedule"})
    batch = option.layout.dp * option.layout.micro_batch * option.layout.grad_accum
    training = {
        "sequence_length": option.sequence_length,
        "global_batch": f"{batch} sequences",
        "precision": option.precision,
        "optimizer": option.optimizer,
    }
    hardware = {"machine": option.machine, "devices": option.devices}
    run = {"model": model, "training": training, "hardware": hardware, "framework": option.framework}
    return solver.evaluate(run | {"layout": layout})


@pytest.mark.parametrize("wanted", [BIG, SMALL])
def test_every_option_is_what_evaluate_gives_for_its_layout(wanted: Wanted) -> None:
    for option in fitted(wanted).options:
        told = evaluated(wanted.model, option)
        assert (told.legal, told.fits) == (True, True)
        assert told.memory == option.memory
        assert told.time.step_s == pytest.approx(option.step_s, rel=1e-12)


def solved(most: int) -> str:
    """Whether the search finds a plan without recompute and offload on up to so many devices."""
    problem = {
        "model": "llama-3-70b",
        "training": {"steps": 1, "sequence_length": 8192, "global_batch": "480 sequences"},
        "limits": {"devices": "h100-sxm", "max_devices": most, "layout": {"recompute": "none"}},
        "hardware": [{"machine": "h100-sxm-8", "count": 64}],
    }
    return solver.solve(problem, top=1).status


def test_the_search_finds_a_plan_on_as_many_devices_and_on_none_fewer() -> None:
    as_is = fitted(BIG).as_is
    assert as_is is not None
    assert (solved(as_is), solved(as_is - 1)) == ("optimal", "infeasible")


def test_a_70b_takes_two_machines_or_host_memory() -> None:
    """C185: 16 to 18 B a parameter are 1.13 to 1.26 TB, so 16 devices of 80 GB or more, in whole machines."""
    device = fitted(BIG)
    assert device.as_is is not None
    assert device.as_is >= 16
    assert all(option.devices % 8 == 0 for option in device.options)
    assert all(option.layout.offload != "none" for option in device.options if option.devices < 16)


def test_a_70b_does_not_train_on_one_card_of_141_gb() -> None:  # C186
    smallest = fitted(Wanted("llama-3-70b", ("h200-sxm",))).smallest
    assert smallest is not None
    assert smallest > 1


def test_changes_are_told_and_save_devices() -> None:
    options = fitted(SMALL).options
    plain = [option for option in options if not option.changes]
    recompute = [option for option in options if option.changes == ["full recompute"]]
    assert all(option.layout.recompute == "none" and option.layout.offload == "none" for option in plain)
    assert all(option.price_pct > 0 and option.layout.recompute == "full" for option in recompute)
    assert min(option.devices for option in options) < min(option.devices for option in plain)
    assert [option.devices for option in options] == sorted((o.devices for o in options), reverse=True)


def test_the_first_sentence_names_the_devices_that_do_most_each_and_slow_ways_are_told_as_such() -> None:
    device = fitted(Wanted("llama-3-70b", ("rtx4090",)))
    same = [o for o in device.options if o.optimizer == "adamw" and o.sequence_length == 8192]
    best = max((o for o in same if not o.memory.fragile), key=lambda o: o.tokens_per_s_per_device)
    assert device.advice[0].startswith(f"Best use of each device: {best.devices:,} devices ")
    plain = [o for o in device.options if not o.changes]
    assert max(o.tokens_per_s_per_device for o in plain) < 0.9 * best.tokens_per_s_per_device
    assert "of the best below" in device.advice[1]
    assert "It runs well" not in device.advice[1]


def test_a_lesser_count_misses_what_it_is_said_to_miss() -> None:
    device = fitted(BIG)
    short = device.too_few
    assert short is not None
    assert device.smallest is not None
    assert short.devices < device.smallest
    memory = short.memory
    if short.short_of == "device":
        assert memory.peak_gib > memory.usable_gib
    else:
        assert memory.host_usable_gib is not None
        assert memory.host_gib > memory.host_usable_gib


def test_a_precision_that_is_not_stated_is_one_of_the_device() -> None:
    device = fitted(Wanted("1B", ("v100-32-sxm",)))
    assert {option.precision for option in device.options if not option.changes} == {"fp16"}
    assert "has no bf16, so fp16 is taken" in device.advice[0]


def test_a_precision_that_is_stated_is_refused_where_it_does_not_run() -> None:
    device = fitted(Wanted("1B", ("v100-32-sxm",), precision=("bf16",)))
    assert device.options == []
    assert device.refused is not None
    assert "fp16" in device.refused


def test_what_fits_nowhere_is_told_with_the_component_that_is_too_large() -> None:
    device = fitted(Wanted("deepseek-v3", ("trn1",)))
    assert (device.as_is, device.smallest, device.options) == (None, None, [])
    assert device.too_few is not None
    assert device.advice[-1].startswith("Nothing holds it")


def test_every_wrong_word_is_told_by_its_option_with_the_nearest() -> None:
    with pytest.raises(InputError) as error:
        fit(Wanted("llama-3-8z", ("rtx409",), sequence_length="x"))
    told = str(error.value)
    assert 'fit: model: "llama-3-8z" is no model of the catalog; the nearest is "llama-3-8b"' in told
    assert 'fit: --device: "rtx409" matches none of the devices; the nearest is "rtx4090"' in told
    assert "fit: --sequence-length: " in told


def test_the_keys_of_an_option_are_these() -> None:
    assert FitOption.model_fields.keys() == KEYS


def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str]:
    """Exit code and standard output of the command."""
    monkeypatch.setattr(sys, "argv", ["trainplan", "fit", *arguments])
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main()
    assert isinstance(stopped.value.code, int)
    return stopped.value.code, capsys.readouterr().out


def test_the_command_prints_what_python_returns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = printed(capsys, monkeypatch, "1B", "--device", "rtx4090", "--json")
    [device] = json.loads(out)["devices"]
    assert (code, device["device"], device["as_is"]) == (0, "rtx4090", 1)
    assert device["options"][0]["memory"]["peak_gib"] < device["usable_gib"]


def test_the_report_reads_in_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = printed(capsys, monkeypatch, "llama-3-8b", "--device", "rtx4090")
    assert code == 0
    assert "hold it as it is" in out
    assert "With full recompute" in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "None" not in out


def test_nothing_that_fits_and_bad_words_have_exit_codes_of_their_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = printed(capsys, monkeypatch, "1B", "--device", "v100-32-sxm", "--precision", "bf16")
    assert (code, "it does not fit" in out) == (3, True)
    assert printed(capsys, monkeypatch, "1B", "--device", "h100x", "--json")[0] == 2


@pytest.mark.parametrize("key", sorted({*DeviceFit.model_fields, *FitOption.model_fields}))
def test_every_key_is_in_the_guide(key: str) -> None:
    assert f"`{key}`" in (Path(__file__).parents[1] / "docs" / "fit.md").read_text("utf-8")


def test_one_card_holds_8_billion_parameters_whose_weights_live_in_its_host() -> None:
    """A single replica shards nothing, and yet its weights leave in stage 3 alone."""
    least = fitted(SMALL).options[-1]
    assert (least.devices, least.layout.zero, least.layout.offload) == (1, 3, "parameters")
    assert least.sequence_length == 8192
