"""The CP-SAT model alone, on small tables of integers, against a plain scan."""

from dataclasses import fields, replace
from typing import Any, NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from solver.search.candidates import Candidates
from solver.search.limits import Limit, integers, violated
from solver.search.model import Rows, Verdict, build, decide, forbid


class Table(NamedTuple):
    """R rows as plain lists: rank, cost in cents, time in milliseconds, devices, and a decision."""

    rank: list[int]
    cost: list[int]
    time: list[int]
    devices: list[int]
    tp: list[int]

    @property
    def rows(self) -> Rows:
        decisions = {"tp": np.array(self.tp), "devices": np.array(self.devices)}
        quantities = {"cost_usd": self.cost, "wall_clock_s": self.time, "devices": self.devices}
        return Rows(decisions, {k: np.array(v) for k, v in quantities.items()}, np.array(self.rank))


BUDGET = Limit("limits.budget", "cost_usd", 0.0)
DEADLINE = Limit("limits.deadline", "wall_clock_s", 0.0)
FEWEST = Limit("limits.min_devices", "devices", 0.0, least=True)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    count = draw(st.integers(1, 12))

    def column(most: int) -> list[int]:
        return draw(st.lists(st.integers(0, most), min_size=count, max_size=count))

    rank = draw(st.permutations(range(count)))
    return Table(rank, column(10**9), column(10**9), [8 * n for n in column(4)], column(3))


@st.composite
def limit_lists(draw: st.DrawFn) -> list[Limit]:
    chosen = [
        BUDGET._replace(bound=draw(st.integers(0, 10**9)) / 100),
        DEADLINE._replace(bound=draw(st.integers(0, 10**9)) / 1000),
        FEWEST._replace(bound=float(draw(st.integers(1, 32)))),
    ]
    return draw(st.lists(st.sampled_from(chosen), max_size=3, unique_by=lambda limit: limit.field))


def scan(table: Table, limits: list[Limit], tp: list[int] | None) -> list[int]:
    """The rows that are admitted, best first."""
    columns = {"cost_usd": table.cost, "wall_clock_s": table.time, "devices": table.devices}
    fine = [
        row
        for row in range(len(table.rank))
        if (tp is None or table.tp[row] in tp)
        and all(
            columns[x.quantity][row] >= x.integer if x.least else columns[x.quantity][row] <= x.integer
            for x in limits
        )
    ]
    return sorted(fine, key=lambda row: table.rank[row])


@settings(max_examples=150)
@given(tables(), limit_lists(), st.none() | st.lists(st.integers(0, 3), min_size=1, unique=True))
def test_the_model_chooses_the_row_of_least_rank_within_the_limits(
    table: Table, limits: list[Limit], tp: list[int] | None
) -> None:
    model, chosen = build(table.rows, limits, {} if tp is None else {"tp": tp})
    verdict, expected = decide(model, chosen), scan(table, limits, tp)
    if not expected:
        assert verdict == Verdict("INFEASIBLE", None, None, None)
    else:
        best = table.rank[expected[0]]
        assert verdict == Verdict("OPTIMAL", expected[0], best, best)


@settings(max_examples=50)
@given(tables(), limit_lists())
def test_forbidding_the_best_again_and_again_gives_the_order_of_the_scan(
    table: Table, limits: list[Limit]
) -> None:
    model, chosen = build(table.rows, limits, {})
    found = []
    while (verdict := decide(model, chosen)).row is not None:
        found.append(verdict.row)
        forbid(model, [chosen[verdict.row]])
    assert found == scan(table, limits, None)
    assert verdict.status == "INFEASIBLE"


def test_rows_equal_in_all_but_rank_are_decided_by_rank() -> None:
    table = Table([2, 0, 1], [100] * 3, [100] * 3, [8] * 3, [1] * 3)
    model, chosen = build(table.rows, [BUDGET._replace(bound=1.0)], {})
    assert decide(model, chosen).row == 1


@pytest.mark.parametrize(
    ("limit", "value", "admitted"),
    [
        (BUDGET._replace(bound=10.0), 10.0, True),
        (BUDGET._replace(bound=10.0), 10.0000001, False),
        # why: the model counts hundredths of cents, to the strict side
        (BUDGET._replace(bound=10.00009), 10.00009, False),
        (DEADLINE._replace(bound=86400.0), 86400.0, True),
        (DEADLINE._replace(bound=86400.0), 86400.0000001, False),
        (Limit("limits.max_power", "power_w", 2e6), 2e6, True),
        (Limit("limits.max_power", "power_w", 2e6), 2000000.25, False),
        (FEWEST._replace(bound=64.0), 64.0, True),
        (FEWEST._replace(bound=64.0), 63.0, False),
    ],
)
def test_rounding_never_admits_a_row_beyond_a_limit(limit: Limit, value: float, *, admitted: bool) -> None:
    table = one_row(limit.quantity, value)
    assert violated(table, [limit]).tolist() == [0 if admitted else 1]
    rows = Rows({}, {limit.quantity: integers(table, limit.quantity)}, np.array([0]))
    model, chosen = build(rows, [limit], {})
    assert decide(model, chosen).status == ("OPTIMAL" if admitted else "INFEASIBLE")


def one_row(quantity: str, value: float) -> Candidates:
    """A candidate of ones but for one quantity."""
    ones: dict[str, Any] = {field.name: np.ones(1, np.int64) for field in fields(Candidates)}
    row = Candidates(**ones)
    return replace(row, **{quantity: np.array([value])})


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_a_row_that_the_integers_admit_keeps_the_limit(value: float, bound: float) -> None:
    limit = BUDGET._replace(bound=bound)
    if violated(one_row("cost_usd", value), [limit])[0] == 0:
        assert value <= bound


def test_amounts_beyond_belief_do_not_overflow() -> None:
    table = Table([0, 1], [10**15, 10**15], [10**15, 5], [8, 8], [1, 1])
    model, chosen = build(table.rows, [BUDGET._replace(bound=1e15), DEADLINE._replace(bound=1.0)], {})
    assert decide(model, chosen).row == 1
