"""Reports: rendered from the JSON alone, readable at any width, numbers whole."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import solver
from solver.report import answer_report, evaluation_report, show, validation_report
from solver.report.holds import holds
from solver.report.words import band, energy, grouped, hardware, layout_words, power, usd

PROBLEMS = Path(__file__).parents[1] / "problems"
WIDTHS = [60, 80, 120, 200]
LAYOUT = {
    "tp": 4, "cp": 1, "pp": 4, "vpp": 5, "ep": 1, "etp": 1, "dp": 64, "edp": 256, "zero": 1, "shard": 0,
    "micro_batch": 1, "grad_accum": 8, "recompute": "none", "sequence_parallel": True, "schedule": "",
    "offload": "none", "stages": "even", "precision": "bf16",
}  # fmt: skip


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    """What `solve --json` prints of a small problem that has several plans."""
    found = solver.solve(PROBLEMS / "sft-8b-a100-box.yaml", top=3, distinct="layout")
    return dict(json.loads(found.model_dump_json()))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Prints a report at a width."""

    def printed(report: Any, width: int = 80) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        show(report)
        return capsys.readouterr().out

    return printed


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_longer_than_the_terminal(answer: dict[str, Any], page: Any, width: int) -> None:
    lines = page(answer_report(answer), width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off(answer: dict[str, Any], page: Any, width: int) -> None:
    text = page(answer_report(answer), width)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    for plan in answer["plans"]:
        assert f"{plan['memory']['peak_gib']:.1f}" in text


def test_what_no_terminal_reads_has_no_colours(answer: dict[str, Any], page: Any) -> None:
    assert "\x1b" not in page(answer_report(answer))


def test_brackets_of_a_name_are_printed_as_they_stand(answer: dict[str, Any], page: Any) -> None:
    named = answer | {"question": answer["question"] | {"model": "[bold]x[/bold] :smile:"}}
    assert "[bold]x[/bold] :smile:" in page(answer_report(named))


def test_a_page_without_unicode_has_bars(answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_page = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", ascii_page)
    show(answer_report(answer))
    ascii_page.seek(0)
    assert "####" in ascii_page.read()


def test_energy_and_power_are_told_without_powers_of_ten() -> None:
    assert [energy(mwh) for mwh in (0.01738, 5061.4, 35_190.2)] == ["17.38 kWh", "5,061 MWh", "35,190 MWh"]
    assert power(20_888.4) == "20,888 kW"


def test_a_price_that_is_nearly_level_does_not_differ_by_nothing() -> None:
    prices = [
        {"rank": 1, "usd_per_device_hour": 3.9, "stands_to": 3.92, "stands_from": None},
        {"rank": 2, "usd_per_device_hour": 8.6, "stands_to": None, "stands_from": 7.77},
    ]
    answer = {"objective": "cost", "sensitivity": {"limits": [], "prices": prices, "speeds": []}}
    told = "plan 1 stays first up to 3.92 USD (+0.5%) a device-hour; plan 2 is first below 7.77 USD (-10%)"
    assert holds(answer) == [("prices", told)]


def test_every_assumption_warning_and_proof_is_told(answer: dict[str, Any], page: Any) -> None:
    text = re.sub(r"\s+", " ", page(answer_report(answer), 400))
    for sentence in [*answer["assumptions"], *answer["search"]["proof"]]:
        assert sentence in text
    for plan in answer["plans"][1:]:
        assert plan["why_not_first"] in text


def test_a_deadline_inside_the_band_is_told(answer: dict[str, Any], page: Any) -> None:
    days = answer["plans"][0]["time"]["days"] * 1.1
    limits = answer["question"]["limits"] | {"deadline": f"{days} days"}
    text = page(answer_report(answer | {"question": answer["question"] | {"limits": limits}}))
    assert "misses the deadline" in text
    assert "misses the deadline" not in page(answer_report(answer))


def test_a_limit_that_is_reached_is_named(answer: dict[str, Any], page: Any) -> None:
    limits = answer["question"]["limits"] | {"max_devices": answer["plans"][0]["devices"]}
    text = page(answer_report(answer | {"question": answer["question"] | {"limits": limits}}))
    assert "At its limit: number of devices." in text


def test_a_stopped_search_is_not_called_proved(answer: dict[str, Any], page: Any) -> None:
    assert "not proved" in page(answer_report(answer | {"status": "feasible"}))
    stopped = page(answer_report(answer | {"status": "unknown", "plans": []}))
    assert "No plan was found within the time limit" in stopped


def test_relaxations_are_told_with_what_they_give(answer: dict[str, Any], page: Any) -> None:
    relaxation = {
        "field": "limits.deadline", "from": "1 hour", "to": "19 hours", "together_with": ["limits.budget"],
        "plan": answer["plans"][0],
    }  # fmt: skip
    none = {"status": "infeasible", "plans": [], "conflict": ["memory"], "other_conflicts": []}
    near = relaxation | {"field": "limits.devices", "from": "a", "to": ["a", "b"], "together_with": []}
    text = page(answer_report(answer | none | {"relaxations": [relaxation, near]}), 200)
    assert "memory cannot be met." in text
    assert "limits.deadline: 1 hour -> 19 hours, together with limits.budget: 8 x " in text
    assert text.count("USD; 19 times what is asked, so hardly a practical way") == 1
    plan = answer["plans"][0]
    slow = near | {"plan": plan | {"time": plan["time"] | {"days": 1655.0}}}
    text = page(answer_report(answer | none | {"relaxations": [slow]}), 200)
    assert "1,655 days, 0.00 USD; it takes years, so hardly a practical way" in text


def test_where_memory_lacks_what_was_not_tried_is_told(answer: dict[str, Any], page: Any) -> None:
    none = {"status": "infeasible", "plans": [], "conflict": ["memory"], "explanation": ["it does not fit"]}
    tip = "perhaps: limits.layout.offload: [none, optimizer, parameters], which keeps state in host memory"
    assert tip in page(answer_report(answer | none), 200)
    tried = {"limits": answer["question"]["limits"] | {"layout": {"offload": ["optimizer"]}}}
    asked = answer | none | {"question": answer["question"] | tried}
    assert "perhaps:" not in page(answer_report(asked), 200)


@pytest.mark.parametrize(("objective", "told"), [("energy", "61.44 MWh"), ("carbon", "18.4 t"), ("cost", "")])
def test_the_table_tells_what_is_made_least(
    answer: dict[str, Any], page: Any, objective: str, told: str
) -> None:
    plan = answer["plans"][0] | {"energy": {"mwh": 61.44, "kg_co2e": 18_400.0}}
    text = page(answer_report(answer | {"objective": objective, "plans": [plan]}), 200)
    table = text.split("The first plan")[0]
    assert told in table
    assert ("MWh" in table, " t\n" in table) == (objective == "energy", objective == "carbon")


def test_other_regions_are_told_with_what_they_may_cost(answer: dict[str, Any], page: Any) -> None:
    first = answer["plans"][0] | {"also_in": ["here", "there"]}
    text = page(answer_report(answer | {"plans": [first]}), 200)
    assert "here and there, at this price or a higher one" in text


@pytest.mark.parametrize(
    ("provider", "told"), [("aws", "from aws"), ("owned", "of your own"), ("bought", "to buy")]
)
def test_whose_devices_are_is_told(provider: str, told: str) -> None:
    assert hardware({"devices": 4096, "device": "b", "provider": provider}) == f"4,096 x b {told}"


def test_a_layout_in_words() -> None:
    assert layout_words(LAYOUT) == "TP4+SP PP4x5 DP64 ZeRO-1 mb1x8 no recompute"
    full = LAYOUT | {"zero": 3, "shard": 8, "stages": [9, 8], "recompute": "every_second"}
    assert layout_words(full).endswith("ZeRO-3 over 8 mb1x8 recompute every second stages 9-8")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0.00 USD"),
        (3.517, "3.52 USD"),
        (2805.6, "2,806 USD"),
        (19.09e6, "19.1M USD"),
        (11e6, "11.0M USD"),
    ],
)
def test_money_in_words(value: float, told: str) -> None:
    assert usd(value) == told


def test_a_band_is_told_in_the_unit_of_the_time() -> None:
    assert band({"days": 1.9, "low_days": 1.5, "high_days": 2.5}) == "36.0 to 60.0 hours"
    assert band({"days": 57.2, "low_days": 42.9, "high_days": 71.5}) == "42.9 to 71.5 days"


def test_warnings_that_say_the_same_are_told_once() -> None:
    warnings = ["plan 1: it may not start", "plan 3: it may not start", "limits.pricing leaves out spot"]
    assert grouped(warnings) == ["plans 1, 3: it may not start", "limits.pricing leaves out spot"]


def test_a_run_that_does_not_fit_has_whole_bars(page: Any) -> None:
    evaluation = {
        "legal": True, "fits": False, "violations": [], "layout": LAYOUT, "framework": "f", "machine": "m",
        "devices": 8, "assumptions": [], "warnings": ["it is old"], "version": "1",
        "catalog": {"date": "2026-12-01", "hash": "0"},
        "time": {
            "step_s": 2.0, "steps": 1, "mfu_pct": 40.0, "tokens_per_s": 9.0, "tokens_per_s_per_device": 1.0,
            "parts": {"matmul": 2.0},
        },
        "memory": {
            "peak_gib": 389.0, "usable_gib": 79.1, "parts": {"weights": 389.0}, "byte_model": "18 B",
            "saving_host_gib": 9.0, "loading_host_gib": 9.0,
        },
    }  # fmt: skip
    lines = page(evaluation_report(evaluation)).splitlines()
    assert any(re.fullmatch(r"  weights +\S+ +389 GiB +100%", line) for line in lines)
    assert "  - it is old" in lines


def test_a_validation_ends_with_its_sums(page: Any) -> None:
    errors = {"step_time_mape_pct": 12.0, "step_time_median_ape_pct": 9.5, "step_time_bias_pct": -3.0}
    group = {"rows": 1, "timed": 1, "within_10_pct": 50.0, "memory_mape_pct": None} | errors
    order = {
        "groups": 2,
        "pairs": 3,
        "pairs_right_pct": 66.7,
        "regret_mean_pct": 1.5,
        "regret_worst_pct": 3.0,
    }
    result = {
        "id": "a-1", "step_time_s": 1.1, "measured_step_time_s": 1.0,
        "error_pct": 10.0, "memory_error_pct": None,
    }  # fmt: skip
    skipped = [{"id": "b", "reason": "no layout"}, {"id": "c", "reason": "no layout"}]
    found = group | {
        "rows": 3, "evaluated": 1, "skipped": skipped, "by_device": {"d": group}, "results": [result],
        "order": order,
    }  # fmt: skip
    text = page(validation_report(found))
    assert re.search(r"a-1 +1\.10 s +1\.00 s +\+10\.0% +-\n", text)
    assert "- no layout: b and c" in text
    assert text.splitlines()[-6:] == [
        "  step time  12.0% mean absolute error",
        "             9.5% median, 50.0% within 10%",
        "             -3.0% mean error: above 0, predictions are too slow",
        "  memory     - mean absolute error",
        "  order      66.7% of 3 pairs of layouts in the measured order",
        "  regret     1.5% mean, 3.0% worst, of the layout predicted fastest in 2 groups",
    ]
