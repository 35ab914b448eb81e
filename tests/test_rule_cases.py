"""What users met (tests/data/rule_cases.yaml): each run is refused or taken as their case states."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import solver
from solver.errors import InputError

FILE = yaml.safe_load((Path(__file__).parent / "data" / "rule_cases.yaml").read_text("utf-8"))
CASES: list[dict[str, Any]] = FILE["cases"]
NAMES = [f"{case['id']} {case['says']}" for case in CASES]


def run_of(case: dict[str, Any]) -> dict[str, Any]:
    """The run, laid over the base part by part."""
    base: dict[str, Any] = FILE["base"]
    run: dict[str, Any] = case["run"]
    parts = {n: base.get(n, {}) | v for n, v in run.items() if isinstance(base.get(n, {}), dict)}
    return base | run | {name: part for name, part in parts.items() if name != "model"}


@pytest.mark.parametrize("case", [c for c in CASES if "bad" in c], ids=lambda case: str(case["says"]))
def test_what_does_not_exist_is_bad_input(case: dict[str, Any]) -> None:
    with pytest.raises(InputError) as error:
        solver.evaluate(run_of(case))
    assert case["bad"] in [fault.field for fault in error.value.faults]


@pytest.mark.parametrize("case", [c for c in CASES if c.get("broken")], ids=lambda case: str(case["says"]))
def test_what_users_saw_refused_is_refused_by_the_same_rules(case: dict[str, Any]) -> None:
    result = solver.evaluate(run_of(case))
    broken = {violation.rule: violation for violation in result.violations}
    assert set(case["broken"]) <= set(broken)
    assert {rule: broken[rule].legal_values for rule in case.get("legal", {})} == case.get("legal", {})
    assert case.get("told", "") in " ".join(violation.message for violation in broken.values())


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.get("broken") == []], ids=lambda case: str(case["says"])
)
def test_what_users_ran_is_legal(case: dict[str, Any]) -> None:
    result = solver.evaluate(run_of(case))
    assert result.violations == []
    assert result.memory is not None
    if "fits" in case:
        assert (result.fits and not result.memory.fragile) == case["fits"]
    assert result.layout is not None
    assert result.layout.grad_accum == case.get("rounds", result.layout.grad_accum)
