"""Laws of every problem: more freedom is never worse, money has no scale, workers do not matter."""

import copy
import json
from pathlib import Path
from typing import Any, get_args

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from strategies import CARDS, PRICINGS, markets, problems, small_catalog
from test_oracle import objective_of

import solver
from solver.answer import Answer
from solver.problem.quantities import PrecisionName
from solver.search.solve import best_plan

ROUNDING = 1 + 1e-12  # sums of float64 in another order
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]
FREE = {"storage": "0 GB", "egress": "0 GB"}  # what is billed at prices that no test changes


def best(file: dict[str, Any]) -> float:
    """The objective of the first plan; infinite where nothing fits."""
    plan = best_plan(solver.load(file))  # as solve has it, without the search for a conflict
    return objective_of(plan, file["objective"]) if plan else float("inf")


def limited(file: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return file | {"limits": file["limits"] | limits}


@st.composite
def bound(draw: st.DrawFn) -> dict[str, Any]:
    """A file whose deadline and budget are near what some plan takes, so that they bind or just do not."""
    file = draw(problems()) | draw(markets())
    plan = best_plan(solver.load(file))
    if plan is None:
        return file
    factor = st.sampled_from([0.7, 0.999, 1.001, 1.5])
    limits = {
        "deadline": f"{plan.time.days * draw(factor)} days",
        "budget": f"{plan.cost.total_usd * draw(factor) + 0.01} USD",
    }
    names = draw(st.sets(st.sampled_from(sorted(limits)), min_size=1))
    return limited(file, **{name: limits[name] for name in names})


def wider(file: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The file with one demand less strict."""
    limits, training = file["limits"], file["training"]
    files = {
        "max_devices": limited(file, max_devices=2 * limits["max_devices"]),
        "machines_step": limited(file, machines_step=1),
        "pricing": limited(file, pricing=list(PRICINGS)),
        "machines": limited(file, machines="*"),
        "layout": limited(file, layout={}),
        "precision": file | {"training": training | {"precision": list(get_args(PrecisionName))}},
        "hardware": file | {"hardware": [*file["hardware"], {"machine": "a100-80-sxm-8", "count": 1}]},
    }
    for name in ("deadline", "budget"):
        if name in limits:
            number, unit = limits[name].split()
            files[name] = limited(file, **{name: f"{1.3 * float(number)} {unit}"})
    return files


def is_never_worse(file: dict[str, Any], data: st.DataObject) -> None:
    files = wider(file)
    least = best(file)
    for name in sorted(data.draw(st.sets(st.sampled_from(sorted(files)), min_size=2, max_size=2))):
        assert best(files[name]) <= least * ROUNDING, name


@settings(max_examples=8, suppress_health_check=QUIET, phases=[Phase.generate])
@given(bound(), st.data())
def test_more_freedom_is_never_worse(file: dict[str, Any], data: st.DataObject) -> None:
    is_never_worse(file, data)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=QUIET, phases=[Phase.generate])
@given(bound(), st.data())
def test_more_freedom_is_never_worse_on_many(file: dict[str, Any], data: st.DataObject) -> None:
    is_never_worse(file, data)


@settings(max_examples=5, suppress_health_check=QUIET, phases=[Phase.generate])
@given(problems(), st.data())
def test_all_prices_doubled_double_every_cost_and_change_no_plan(
    file: dict[str, Any], data: st.DataObject
) -> None:
    """Offers with a least term and reservations that others join have their prices doubled as well."""
    market = data.draw(markets())
    double = copy.deepcopy(market)
    for item in (*double.get("offers", ()), *double.get("reservations", ())):
        for name in ("price", "overflow"):
            if "USD" in item.get(name, ""):
                item[name] = f"{2 * float(item[name].split()[0])} USD/hour"
    once = file | market | {"bill": FREE, "objective": "cost"}
    twice = once | double | {"catalog": small_catalog(2.0), "hardware": [CARDS | {"price": "3 USD/hour"}]}
    one, two = (solver.solve(f, top=4) for f in (once, twice))
    assert one.status == two.status
    assert [plan.cost.total_usd for plan in two.plans] == [2 * plan.cost.total_usd for plan in one.plans]
    assert told(one) == told(two)


def told(answer: Answer) -> list[dict[str, Any]]:
    """Plans without their money, and without the names that tell a price."""
    left_out = {"cost", "instance", "why_not_first"}
    return [plan.model_dump(mode="json", exclude=left_out) for plan in answer.plans]


def test_how_many_workers_answer_does_not_matter(tmp_path: Path) -> None:
    training = {"tokens": "1B", "sequence_length": 2048, "global_batch": "32 sequences"}
    file = {"model": {"parameters": "1B"}, "training": training, "limits": {"machines": "l40s-8"}}
    problem = tmp_path / "problem.yaml"
    problem.write_text(json.dumps(file), "utf-8")
    sets = {"training.tokens": ["1B", "2B"], "limits.deadline": ["1 day", "30 days"]}
    by_jobs = [answers(problem, sets, jobs) for jobs in (1, 2)]
    assert len(by_jobs[0]) == 4
    assert by_jobs[0] == by_jobs[1]


def answers(problem: Path, sets: dict[str, list[str]], jobs: int) -> list[str]:
    """Each answer but for its counts and seconds, which depend on what was looked at before."""
    found = list(solver.batch(problem, sets, jobs=jobs))
    assert all(isinstance(answer, Answer) for answer in found)
    return [json.dumps(a.model_dump(mode="json", exclude={"search"})) for a in found if isinstance(a, Answer)]
