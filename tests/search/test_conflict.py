"""Why nothing fits: conflicts are minimal, relaxations are true and smallest."""

import re
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import HealthCheck, Phase, assume, given, settings
from strategies import PRICINGS, SHAPES, problems, small_catalog

import solver
from solver.answer import Answer, Relaxation
from solver.problem import Problem, read_problem
from solver.problem.quantities import PrecisionName
from solver.search.conflict import MEMORY, hitting_sets, minimal
from solver.search.demands import LAYOUT, STEP, parts
from solver.search.solve import best_plan

QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]
MASKS = st.lists(st.integers(1, 63), min_size=1, max_size=8)
CARD = {
    "model": SHAPES[0],
    "training": {"steps": 10**6, "sequence_length": 512, "global_batch": "4 sequences"},
    "catalog": small_catalog(),
}
UNIT = {"deadline": "s", "budget": "USD", "max_power": "W", "max_devices": "", "min_devices": ""}


def subsets(mask: int) -> list[int]:
    """Every mask within a mask, itself left out."""
    return [other for other in range(mask) if other & mask == other]


@given(MASKS)
def test_minimal_keeps_the_masks_that_contain_no_other(masks: list[int]) -> None:
    expected = {mask for mask in masks if not any(o != mask and o & mask == o for o in masks)}
    assert set(minimal(masks)) == expected
    assert len(minimal(masks)) == len(expected)


@given(MASKS)
def test_hitting_sets_are_all_smallest_sets_that_meet_every_mask(masks: list[int]) -> None:
    hits = {c for c in range(64) if all(c & mask for mask in masks)}
    assert set(hitting_sets(minimal(masks))) == {c for c in hits if not any(o in hits for o in subsets(c))}


@given(MASKS)
def test_the_hitting_sets_of_the_hitting_sets_are_the_masks(masks: list[int]) -> None:
    assert set(hitting_sets(hitting_sets(minimal(masks)))) == set(minimal(masks))


def met(file: dict[str, Any], overrides: dict[str, Any]) -> bool:
    """Whether there is a plan; without the conflict that `solve` would tell of each question in between."""
    return best_plan(read_problem(file, overrides)) is not None


def only(file: dict[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """The file with those demands alone. A stated list of pricing kinds or precisions that is dropped admits
    all of them.
    """
    limits, training = dict(file.get("limits", {})), dict(file["training"])
    kept = set(fields)
    layout = {k: v for k, v in limits.get("layout", {}).items() if kept & {LAYOUT, f"{LAYOUT}.{k}"}}
    limits = {name: value for name, value in limits.items() if f"limits.{name}" in kept}
    limits |= {"layout": layout} if layout else {}
    if "pricing" in file.get("limits", {}) and "limits.pricing" not in kept:
        limits["pricing"] = list(PRICINGS)
    if "precision" in training and "training.precision" not in kept:
        training["precision"] = list(get_args(PrecisionName))
    return file | {"limits": limits, "training": training}


def group(answer: Answer, relaxation: Relaxation) -> list[Relaxation]:
    """A relaxation and those that must go with it."""
    fields = {relaxation.field, *relaxation.together_with}
    return [r for r in answer.relaxations if {r.field, *r.together_with} == fields]


def at_95_percent(problem: Problem, relaxation: Relaxation) -> Any:
    """A limit on a number, not quite as far as its relaxation."""
    name = relaxation.field.removeprefix("limits.")
    override = {relaxation.field: relaxation.to}
    old = getattr(problem.limits, name)
    new = getattr(read_problem(dict(problem.given), override).limits, name)
    value = old + 0.95 * (new - old)
    if name == "max_devices":
        return int(value)
    return -int(-value // 1) if name == "min_devices" else f"{value:.12g} {UNIT[name]}"


@st.composite
def strict(draw: st.DrawFn) -> dict[str, Any]:
    """A file with some limits that cannot all be kept, and that name what the small catalog has."""
    file = draw(problems(pinned=False))
    if draw(st.integers(0, 3)):  # why: with every precision a search of all that could be had takes longer
        del file["training"]["precision"]
    file["training"]["steps"] = 5_000_000  # why: so that a cent, the model's resolution, is little
    answer = solver.solve(file | {"limits": {}}, top=1)
    assume(answer.plans)
    plan = answer.plans[0]
    factor = st.sampled_from([0.3, 0.8, 0.99, 1.5])
    limits: dict[str, Any] = {
        "deadline": f"{plan.time.days * draw(factor):.3f} days",
        "budget": f"{plan.cost.total_usd * draw(factor) + 0.02:.4f} USD",
        "max_power": f"{plan.power_kw * draw(factor):.4f} kW",
        "max_devices": max(1, plan.devices - 1),
        "min_devices": draw(st.sampled_from([2, 16, 48])),
        "machines_step": draw(st.sampled_from([2, 4, 6])),
        "machines": file["limits"]["machines"],
        "frameworks": file["limits"]["frameworks"],
        "pricing": draw(st.sampled_from([["on-demand"], ["spot"], ["community", "flex-start"], ["owned"]])),
        "exclude_devices": draw(st.sampled_from(["h100*", ["rtx4090", "a100*"]])),
        "providers": draw(st.sampled_from(["north", "west", ["south", "east"]])),
        "layout": draw(st.sampled_from([{"tp": 3}, {"dp": 8, "micro_batch": 1}, {"zero": 0, "pp": [1, 2]}])),
    }
    limits["max_devices"] = max(limits["max_devices"], limits["min_devices"])
    names = draw(st.lists(st.sampled_from(sorted(limits)), min_size=1, max_size=4, unique=True))
    return file | {"limits": {name: limits[name] for name in names}}


# why: an example takes a second, and shrinking hundreds of them
FEW = settings(max_examples=4, suppress_health_check=QUIET, phases=[Phase.generate])
MANY = settings(max_examples=80, suppress_health_check=QUIET, phases=[Phase.generate])


@FEW
@given(strict())
def test_conflicts_are_minimal_and_relaxations_true_and_smallest(file: dict[str, Any]) -> None:
    is_explained(file)


@pytest.mark.slow
@MANY
@given(strict())
def test_many_conflicts_are_minimal_and_relaxations_true_and_smallest(file: dict[str, Any]) -> None:
    is_explained(file)


LARGE = {"model": "llama-3-70b"}
TPU = {"machines": "tpu-v5e:2x4"}


@pytest.mark.parametrize(
    ("limits", "model", "conflict"),
    [
        ({"deadline": "1 minute"}, {}, ["deadline"]),
        ({"budget": "1 USD", "deadline": "60 days"}, {}, ["budget"]),
        ({"max_power": "100 W"}, {}, ["max_power"]),
        ({"max_devices": 4, "budget": "1M USD"}, LARGE, ["max_devices"]),
        ({"machines": "rtx4090-[124]"}, LARGE, ["machines", "memory"]),
        (TPU | {"pricing": "spot"}, {}, ["machines", "pricing"]),
        (TPU | {"min_devices": 16}, {}, ["min_devices", "machines"]),
        ({"devices": "h100*", "frameworks": "neuronx"}, {}, ["devices", "frameworks"]),
        ({"devices": "rtx4090", "exclude_providers": "south"}, {}, ["devices", "exclude_providers"]),
        ({"layout": {"tp": 3}}, {}, ["layout.tp"]),
        ({"layout": {"tp": 3, "pp": 2, "dp": 1, "zero": 0}}, {}, ["layout"]),
        ({"machines": "rtx4090-[124]", "machines_step": 2}, {}, ["machines", "machines_step"]),
        ({"machines_step": 64}, {}, ["machines_step"]),
        (
            {"layout": {"tp": 2, "dp": 2}, "max_devices": 2},
            {},
            ["max_devices", "layout.tp", "layout.dp"],
        ),
    ],
)
def test_a_conflict_names_what_clashes(
    limits: dict[str, Any], model: dict[str, Any], conflict: list[str]
) -> None:
    answer = is_explained(CARD | model | {"limits": limits})
    assert [field.removeprefix("limits.") for field in answer.conflict] == conflict
    assert {r.field for r in answer.relaxations} == {field for field in answer.conflict if field != MEMORY}


def is_explained(file: dict[str, Any]) -> Answer:
    """Every conflict that is told, if any, is minimal; every relaxation true and smallest."""
    problem = solver.load(file)
    answer = solver.solve(problem)
    for conflict in [answer.conflict, *answer.other_conflicts] if answer.conflict else []:
        is_minimal(file, [field for field in conflict if field != MEMORY])
    for relaxation in answer.relaxations:
        is_smallest(file, problem, group(answer, relaxation))
    return answer


def is_minimal(file: dict[str, Any], conflict: list[str]) -> None:
    """These limits alone cannot be kept; without any one of them they can."""
    assert not met(only(file, conflict), {})
    for fewer in combinations(conflict, len(conflict) - 1):
        assert met(only(file, fewer), {})


def is_smallest(file: dict[str, Any], problem: Problem, changes: list[Relaxation]) -> None:
    """Together the changes help; with a number at 95 % of its step they do not."""
    overrides = {change.field: change.to for change in changes}
    assert met(file, overrides)
    assert {change.field for change in changes} == {changes[0].field, *changes[0].together_with}
    for change in changes:
        if change.field == STEP:
            for step in parts(problem.limits.machines_step):
                if step % change.to == 0 and step > change.to:
                    assert not met(file, overrides | {STEP: step})
        if change.field.removeprefix("limits.") in UNIT:
            short = at_95_percent(problem, change)
            assert not met(file, overrides | {change.field: short})


def test_a_list_that_nothing_may_stay_in_is_left_out() -> None:
    file = CARD | {"limits": {"machines": "h100-sxm-8", "exclude_devices": "h100*"}}
    for change in solver.solve(file).relaxations:
        assert met(file, {change.field: change.to})


def test_a_relaxed_layout_can_be_pasted_back() -> None:
    limits = {"machines": "a100-80-sxm-8", "frameworks": "torchtitan", "max_devices": 8}
    training = {"steps": 1000, "sequence_length": 65536, "global_batch": "8 sequences"}
    file = {"model": "llama-2-13b", "training": training, "catalog": small_catalog()}
    file["limits"] = limits | {"layout": {"tp": 3, "recompute": "none"}}
    answer = solver.solve(file)
    assert {change.field for change in answer.relaxations} >= {"limits.layout.tp", "limits.layout.recompute"}
    for change in answer.relaxations:
        is_smallest(file, solver.load(file), group(answer, change))


INFEASIBLE = Path(__file__).parents[1] / "data" / "infeasible"
KINDS = {  # a file of each kind, and what clashes there
    "few-devices": ["limits.deadline", "limits.max_devices", "limits.devices"],
    "hurry": ["limits.deadline", "limits.budget"],
    "layout": ["limits.devices", "limits.layout.tp", "limits.layout.pp", "limits.layout.zero"],
    "power": ["limits.deadline", "limits.max_power", "limits.devices"],
    "precision": ["limits.devices", "training.precision"],
    "small-cards": ["limits.machines", MEMORY],
}
HEAVY = ("few-devices", "hurry", "layout", "power")  # seconds each: they search the whole catalog many times


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in HEAVY else k for k in KINDS]
)
def test_a_file_of_each_kind_is_explained(kind: str) -> None:
    answer = is_explained(yaml.safe_load((INFEASIBLE / f"{kind}.yaml").read_text("utf-8")))
    assert answer.conflict == KINDS[kind]
    assert {r.field for r in answer.relaxations} == {field for field in answer.conflict if field != MEMORY}
    assert all(r.plan is not None for r in answer.relaxations)


def test_by_how_much_memory_is_missed_is_told() -> None:
    # 70.6e9 parameters: weights, gradients and optimizer states of 12 B or more each on 8 cards
    (sentence,) = solver.solve(INFEASIBLE / "small-cards.yaml").explanation
    needed = re.search(r"takes ([\d.]+) GiB of the ([\d.]+) GiB", sentence)
    assert needed is not None
    assert float(needed[1]) > 70.6e9 * 12 / 8 / 2**30 > float(needed[2])
    assert "recompute full" in sentence


def test_memory_is_not_blamed_where_something_fits() -> None:
    assert solver.solve(CARD | {"limits": {"budget": "1 USD"}}).explanation == []
