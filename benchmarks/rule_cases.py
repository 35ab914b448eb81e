"""The tables of docs/rules.md: the rules of each framework, and what `evaluate` says of what users met.

python benchmarks/rule_cases.py
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

import solver
from solver.catalog import load
from solver.errors import InputError
from solver.rules import RULES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "rules.md"
CASES = ROOT / "tests" / "data" / "rule_cases.yaml"
PARTS = ("training", "hardware", "layout")


def main() -> None:
    text = PAGE.read_text("utf-8")
    for name, rows in {"rules": rules(), "cases": cases()}.items():
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda mark, rows=rows: f"{mark[1]}{table(rows)}{mark[2]}",
            text,
            flags=re.DOTALL,
        )
    PAGE.write_text(text, "utf-8")


def table(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def rules() -> Iterator[tuple[str, ...]]:
    """Every rule of every framework, with where the framework says so."""
    yield "framework", "rule", "a layout is refused with", "said in"
    yield ("---",) * 4
    for framework in load(None).frameworks.values():
        for rule, source in framework.rules.items():
            yield framework.id, rule, RULES[rule].message.split("; the nearest")[0], source


def cases() -> Iterator[tuple[str, ...]]:
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
