"""Random layouts, and which of our rules they break: to be held against a framework's own checks."""

import random
from collections.abc import Callable, Iterator, Sequence

from solver.layout import OFFLOAD, Layouts
from solver.rules import Case, violations

NUMBER = 200
MODEL = Case(
    heads=24, kv_heads=6, layers=24, experts=8, hidden=768, ffn=3072, sequence=3072, global_batch=96,
    block=1, narrow=False, zero=(0, 1, 2, 3), offload=tuple(range(len(OFFLOAD))), expert_layers=24,
    vocab=32256,
)  # fmt: skip
Row = dict[str, int]


def random_layouts(number: int = NUMBER) -> Iterator[Row]:
    """Small degrees, about as often legal as not."""
    draw = random.Random(0)
    for _ in range(number):
        row = {
            "tp": draw.choice((1, 2, 3, 4, 6, 8, 12)),
            "cp": draw.choice((1, 1, 2, 3, 4)),
            "pp": draw.choice((1, 1, 2, 3, 4, 5, 8)),
            "vpp": draw.choice((1, 1, 2, 3)),
            "ep": draw.choice((1, 1, 2, 3, 4, 8)),
            "etp": draw.choice((1, 1, 2)),
            "dp": draw.choice((1, 2, 3, 4, 5, 8)),
            "zero": draw.choice((0, 1, 2, 3)),
            "micro_batch": draw.choice((1, 2, 4)),
            "sequence_parallel": 1,
        }
        row["sequence_parallel"] = int(row["tp"] > 1)
        rounds = max(MODEL.global_batch // (row["dp"] * row["micro_batch"]), 1)
        yield row | {"grad_accum": rounds, "ranks": row["tp"] * row["cp"] * row["pp"] * row["dp"]}


def ours(rules: Sequence[str], row: Row, case: Case = MODEL) -> list[str]:
    """Those of the rules that a layout breaks."""
    columns = {name: [value] for name, value in row.items() if name != "ranks"}
    return [violation.rule for violation in violations(rules, case, Layouts.of(columns))]


def refused(check: Callable[[], object]) -> str:
    """Why a framework refuses; empty where it does not."""
    try:
        check()
    except (AssertionError, ValueError, RuntimeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def differences(
    rules: Sequence[str], theirs: Callable[[Row], object], case: Case = MODEL
) -> list[tuple[Row, list[str], str]]:
    """The layouts that one side refuses and the other takes, with what each says."""
    found = []
    kept = 0
    for row in random_layouts():
        told, said = ours(rules, row, case), refused(lambda row=row: theirs(row))  # type: ignore[misc]
        kept += not said
        if bool(told) != bool(said):
            found.append((row, told, said))
    assert 0 < kept < NUMBER  # both verdicts occur
    return found
