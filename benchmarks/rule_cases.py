"""The table of docs/rules.md: what users met, and what `evaluate` says of it.

python benchmarks/rule_cases.py
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import solver
from solver.errors import InputError

CASES = Path(__file__).parents[1] / "tests" / "data" / "rule_cases.yaml"
PARTS = ("training", "hardware", "layout")


def main() -> None:
    for cells in rows():
        print(f"| {' | '.join(cells)} |")


def rows() -> Iterator[tuple[str, ...]]:
    """Each case: what was asked, what users found, what is said here."""
    yield "case", "met at", "what", "asked", "said"
    yield ("---",) * 5
    file = yaml.safe_load(CASES.read_text("utf-8"))
    for case in file["cases"]:
        said = verdict(merged(file["base"], case["run"]))
        yield case["id"], case["page"], case["says"], expected(case), said


def merged(base: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """A run laid over the base, part by part."""
    parts = {name: base.get(name, {}) | run[name] for name in PARTS if name in run}
    return base | run | parts


def expected(case: dict[str, Any]) -> str:
    """What the users' case states."""
    if "bad" in case:
        return f"refused: {case['bad']}"
    if case["broken"]:
        return f"refused: {', '.join(case['broken'])}"
    return {True: "legal, fits", False: "legal, does not fit", None: "legal"}[case.get("fits")]


def verdict(run: dict[str, Any]) -> str:
    """What evaluate says."""
    try:
        result = solver.evaluate(run)
    except InputError as error:
        return f"refused: {', '.join(fault.field for fault in error.faults)}"
    if not result.legal:
        return f"refused: {', '.join(violation.rule for violation in result.violations)}"
    if not result.fits:
        return "legal, does not fit"
    fragile = result.memory is not None and result.memory.fragile
    return "legal, fits by less than the estimate may be off" if fragile else "legal, fits"


if __name__ == "__main__":
    main()
