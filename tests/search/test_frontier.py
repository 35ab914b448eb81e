"""`frontier` against brute force: every trade-off, none too many; its ends are the plans of `solve`."""

import json
import re
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from oracle import Row, everything, keeps
from strategies import SHAPES, problems, small_catalog
from test_oracle import some_limits

import solver
from solver.errors import InputError
from solver.report import frontier_report, show, write_frontier
from solver.search.stairs import Stairs, undominated
from solver.search.trade_offs import Frontier

DAY_S = 86400.0
EXACT = 1e-9  # sums of float64 in another order
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
POINTS = st.integers(2, 3).flatmap(
    lambda axes: st.lists(st.tuples(*[st.integers(0, 5)] * axes), min_size=1, max_size=30)
)
SMALL = {
    "model": SHAPES[0],
    "training": {"steps": 10**6, "sequence_length": 512, "global_batch": "8 sequences"},
    "catalog": small_catalog(),
}


@given(POINTS)
def test_undominated_keeps_what_no_other_is_as_good_as(points: list[tuple[int, ...]]) -> None:
    kept = [points[i] for i in undominated(np.array(points, np.float64))]
    beaten = {p for p in points if any(q != p and all(np.less_equal(q, p)) for q in points)}
    assert sorted(kept) == sorted(set(points) - beaten)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 99)), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=30),
)
def test_stairs_admit_a_row_unless_a_point_beats_it(
    points: list[tuple[int, int]], rows: list[tuple[int, int]]
) -> None:
    time_s, device_s = np.array(points, np.float64).T
    seconds, devices = np.array(rows).T
    stairs = Stairs(time_s, device_s, 0 * time_s, 0 * time_s + 10)
    admitted = stairs.admits(seconds.astype(np.float64), devices)
    for told, s, n in zip(admitted, seconds, devices, strict=True):
        # one that a point equals in an axis may be let through: it is sorted out when it is priced
        assert told or any(t <= s and d < s * n for t, d in points)
        assert not told or not any(t < s and d < s * n for t, d in points)


def trade_offs(rows: list[Row], *, energy: bool) -> list[tuple[float, ...]]:
    """By brute force: values that no other row is as good as."""
    found = {(r.wall_clock_s, r.cost_usd, *([r.energy_wh] if energy else [])) for r in rows}
    return sorted(v for v in found if not any(beats(w, v) for w in found))


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """As good in everything, sums in another order aside; of two alike the smaller stays."""

    def as_good(values: tuple[float, ...], others: tuple[float, ...]) -> bool:
        return all(a <= b * (1 + EXACT) for a, b in zip(values, others, strict=True))

    return as_good(one, other) and (one < other or not as_good(other, one))


def agrees(data: st.DataObject) -> None:
    """One random problem: the same trade-offs."""
    file = data.draw(problems())
    rows = everything(solver.load(file))
    if rows:
        file["limits"] |= data.draw(st.composite(some_limits)(rows))
    problem, energy = solver.load(file), data.draw(st.booleans())
    expected = trade_offs([row for row in rows if keeps(problem, row)], energy=energy)
    found = solver.frontier(problem, energy=energy)
    assert found.status == ("optimal" if expected else "infeasible")
    values = [
        (p.time.days * DAY_S, p.cost.total_usd, *([p.energy.mwh * 1e6] if energy else []))
        for p in found.plans
    ]
    assert sorted(values) == [pytest.approx(value, rel=1e-8) for value in expected]


@settings(max_examples=8, suppress_health_check=QUIET)
@given(st.data())
def test_the_frontier_is_that_of_brute_force(data: st.DataObject) -> None:
    agrees(data)


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=QUIET)
@given(st.data())
def test_the_frontier_is_that_of_brute_force_on_many(data: st.DataObject) -> None:
    agrees(data)


@pytest.fixture(scope="module")
def found() -> Frontier:
    return solver.frontier(SMALL | {"limits": {"deadline": "1 day", "budget": "90 USD"}})


def test_its_ends_are_the_best_plans_by_time_and_by_cost(found: Frontier) -> None:
    for objective, plan in (("time", found.plans[0]), ("cost", found.plans[-1])):
        best = solver.solve(
            SMALL | {"objective": objective, "limits": found.question["limits"]}, top=1
        ).plans[0]
        assert best.model_dump(exclude={"rank"}) == plan.model_dump(exclude={"rank"})


def test_limits_cap_the_points(found: Frontier) -> None:
    free = solver.frontier(SMALL)
    inside = [p for p in free.plans if p.time.days <= 1 and p.cost.total_usd <= 90]
    assert 1 < len(found.plans) < len(free.plans)
    assert [p.cost for p in found.plans] == [p.cost for p in inside]


def test_the_knee_lies_farthest_below_the_line_between_the_ends(found: Frontier) -> None:
    points = [(p.time.days, p.cost.total_usd) for p in found.plans]
    (x0, y0), (x1, y1) = points[0], points[-1]
    below = [y0 + (x - x0) / (x1 - x0) * (y1 - y0) - y for x, y in points]
    assert found.knee == below.index(max(below))
    assert 0 < found.knee < len(points) - 1


def test_nothing_that_fits_is_told_as_by_solve() -> None:
    file = SMALL | {"limits": {"deadline": "1 minute"}}
    found, answer = solver.frontier(file), solver.solve(file)
    assert (found.status, found.plans, found.knee) == ("infeasible", [], None)
    assert (found.conflict, found.relaxations) == (answer.conflict, answer.relaxations)


def test_a_drawing_has_each_plan_the_limits_and_the_knee(found: Frontier, tmp_path: Path) -> None:
    document = json.loads(found.model_dump_json())
    for name in ("f.svg", "f.html"):
        write_frontier(document, tmp_path / name)
        text = (tmp_path / name).read_text("utf-8")
        assert len(re.findall(r"<circle class=\"plan\"", text)) == len(found.plans)
        assert "deadline 24 hours" in text
        assert "budget 90.0 USD" in text
        assert ">knee</text>" in text


def test_the_page_loads_nothing_and_holds_every_plan(found: Frontier, tmp_path: Path) -> None:
    write_frontier(json.loads(found.model_dump_json()), tmp_path / "f.html")
    text = (tmp_path / "f.html").read_text("utf-8")
    assert not re.findall(r"(?:src|href)\s*=|@import|url\(|fetch\(", text)
    held = re.search(r'<script type="application/json" id="plans">(.*?)</script>', text, re.DOTALL)
    assert held is not None
    assert len(json.loads(held[1])) == len(found.plans)


@pytest.mark.parametrize("width", [80, 120])
def test_the_report_tells_every_trade_off(
    found: Frontier, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show(frontier_report(json.loads(found.model_dump_json())))
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= width
    assert f"{len(found.plans)} trade-offs of time and cost" in "\n".join(lines)


def test_a_file_of_another_kind_is_refused(found: Frontier, tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(found.model_dump_json())
    with pytest.raises(InputError, match=r"must end in \.svg, \.html or \.png"):
        write_frontier(document, tmp_path / "f.pdf")
    with pytest.raises(InputError, match="nothing to draw"):
        write_frontier(document | {"plans": []}, tmp_path / "f.svg")
