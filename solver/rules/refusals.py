"""Why a single layout is refused: every rule that it breaks, and what would pass."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from solver.layout import OFFLOAD, Layouts
from solver.rules.case import Case
from solver.rules.table import RULES

MOST_VALUES = 32  # told of one field
FROM_ZERO = ("zero", "shard", "sequence_parallel", "offload")


class Violation(NamedTuple):
    """Why a layout is refused, and the values of the first field that would pass with the others kept.

    source: where the framework says so; empty where it is what the words mean
    """

    rule: str
    message: str
    legal_values: list[int] | list[str]
    source: str = ""


def older_rules(older: Iterable[tuple[str, Mapping[str, str]]], version: str | None) -> dict[str, str]:
    """The rules, with their sources, that hold for a version beside those of today.

    older: number of the version that lifted the rules, and the rules. What is no number is of today.
    """
    numbers = _numbers(version or "")
    lifted = [rules for before, rules in older if numbers and numbers < _numbers(before)]
    return {name: source for rules in lifted for name, source in rules.items()}


def _numbers(version: str) -> tuple[int, ...]:
    """0.9 -> (0, 9, 0); nothing of what is no number."""
    found = re.fullmatch(r"v?(\d{1,6}(?:\.\d{1,6})+).*", version)
    return tuple([*(int(part) for part in found[1].split(".")), 0, 0][:3]) if found else ()


def violations(
    names: Iterable[str], case: Case, layouts: Layouts, sources: Mapping[str, str] = MappingProxyType({})
) -> list[Violation]:
    """Every rule that a single layout breaks. sources: of the framework, by rule."""
    known = tuple(names)
    row = layouts.row(0)
    offload = {"offload_word": OFFLOAD[row["offload"]]}
    batch = nearest_batch(case.global_batch, row["dp"] * row["micro_batch"])
    facts = case.facts | row | offload | batch | sequences(case.sequence, row["tp"], row["cp"])
    broken = [name for name in known if RULES[name].violated(case, layouts).any()]
    return [
        Violation(
            name,
            RULES[name].message.format_map(facts),
            in_words(name, known, case, layouts),
            sources.get(name, ""),
        )
        for name in broken
    ]


def in_words(name: str, names: Iterable[str], case: Case, layouts: Layouts) -> list[int] | list[str]:
    """As legal_values, offload as users write it."""
    values = legal_values(name, names, case, layouts)
    return [OFFLOAD[value] for value in values] if RULES[name].fields[0] == "offload" else values


def nearest_batch(batch: int, step: int) -> dict[str, int]:
    """The nearest global batch that a step of all replicas divides, by the name that messages use."""
    return {"nearest_batch": max(round(batch / step), 1) * step}


def sequences(tokens: int, tp: int, cp: int) -> dict[str, int]:
    """What must divide a sequence, and the nearest length that it divides, by the names that messages use."""
    steps = {"split": tp * cp, "pairs": 2 * cp, "split_pairs": 2 * tp * cp}
    nearest = {f"nearest_{name}": max(round(tokens / step), 1) * step for name, step in steps.items()}
    return steps | nearest


def legal_values(name: str, names: Iterable[str], case: Case, layouts: Layouts) -> list[int]:
    """Values of the rule's first field that pass while the other fields stay.

    They pass every rule of `names` that looks at no other field than this rule does.
    """
    fields = RULES[name].fields
    field = fields[0]
    tried = np.arange(0 if field in FROM_ZERO else 1, most(field, case, layouts) + 1)
    changed = replace(layouts, **{field: tried})
    passes = np.ones(len(tried), np.bool_)
    for other in names:
        if field in RULES[other].fields and set(RULES[other].fields) <= set(fields):
            passes &= ~RULES[other].violated(case, changed)
    return [int(value) for value in tried[passes][:MOST_VALUES]]


def most(field: str, case: Case, layouts: Layouts) -> int:
    """The largest value of a field that is worth trying."""
    largest = {
        "tp": max(case.heads, 64),
        "pp": case.layers,
        "vpp": case.layers,
        "ep": case.experts,
        "dp": case.global_batch,
        "grad_accum": case.global_batch,
        "zero": 3,
        "shard": int(layouts.replicas[0]),
        "sequence_parallel": 1,
        "offload": len(OFFLOAD) - 1,
    }
    return max(min(largest.get(field, 64), 65536), 1)
