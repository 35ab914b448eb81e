"""Every bound that leaves something out is below what it stands for; with and without them, one answer."""

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from oracle import everything
from strategies import SHAPES, pins, problems

import solver
from solver.catalog import load
from solver.estimate import Space, setting_of
from solver.layout import Layouts
from solver.physics.layer import layer_cost
from solver.question import ask
from solver.search.bounds import market_floors
from solver.search.candidates import Candidates, Explorer, pool_key
from solver.search.counting import legal_layouts
from solver.search.explore import Goal, explore
from solver.search.hunt import way_floors
from solver.search.limits import limits_of, violated
from solver.search.rank import scan
from solver.search.solve import explorer_of
from solver.search.space import ORDER, WAY, layouts_of, ways_of, ways_within

MODELS = (
    "llama-3-8b",
    "llama-3-70b",
    "mixtral-8x7b",
    "deepseek-v3",
    "gpt2-xl",
    "gemma-3-27b",
    "qwen3-30b-a3b",
)
SUM = 1e-12  # relative: what the order of a sum may change


@st.composite
def large(draw: st.DrawFn) -> dict[str, Any]:
    """A real or small model on some machine of the catalog, as if one had eight of them."""
    machine = load().machines[draw(st.sampled_from(sorted(load().machines)))]
    count = 8 if machine.default_fabric and machine.max_machines != 1 else 1
    return {
        "model": draw(st.sampled_from([*MODELS, *SHAPES])),
        "training": {
            "steps": 1000,
            "sequence_length": draw(st.sampled_from([1024, 4096, 65536])),
            "global_batch": f"{draw(st.sampled_from([8, 24, 64]))} sequences",
            "precision": draw(st.sampled_from(["bf16", ["bf16", "fp8"], "fp32", "fp16"])),
        },
        "hardware": [{"machine": machine.id, "count": count}],
        "limits": {"machines": machine.id, "pricing": "owned", "max_devices": 256},
    }


def explorer_and_goal(
    file: dict[str, Any], top: int = 3, distinct: str = "offering"
) -> tuple[Explorer, Goal]:
    problem = solver.load(file)
    goal = Goal(problem.objective, limits_of(problem.limits), top, distinct)
    return explorer_of(ask(problem), goal)[0], goal


@settings(max_examples=40)
@given(large())
def test_every_floor_of_a_step_is_below_the_step(file: dict[str, Any]) -> None:
    explorer, _ = explorer_and_goal(file)
    whole = market_floors(explorer)
    for number, market in enumerate(explorer.markets):
        space = space_of(explorer, number)
        if len(space.layouts) == 0:
            continue
        cost = space.layer_cost(market.pool)
        step = space.step(market.pool, cost)
        floors = way_floors(explorer.job, space.cuts.ways, cost)
        ranks = space.layouts.ranks
        assert (step.floor_s <= step.step_s * (1 + SUM)).all()
        assert (floors[space.cuts.of] <= ranks * step.floor_s * (1 + SUM)).all()
        assert whole[number] <= floors.min() * (1 + 3 * SUM)  # one is rounded down
        assert whole[number] > 0


@settings(max_examples=25)
@given(large())
def test_a_way_takes_at_least_its_compute_and_the_first_stage_at_most_the_peak(file: dict[str, Any]) -> None:
    explorer, _ = explorer_and_goal(file)
    market_floors(explorer)
    for number, market in enumerate(explorer.markets):
        space = space_of(explorer, number)
        if len(space.layouts) == 0:
            continue
        fits = space.fits(market.pool, np.arange(len(space.layouts)))
        assert (fits <= space.first_stage_fits(market.pool)).all()
        rough = explorer.rough[pool_key(market.pool)]
        ways, of = ways_within(explorer.frame(number), rough.ways)
        assert rows(ways) == rows(ways_of(explorer.frame(number)))
        assert rows(space.cuts.ways, WAY) <= rows(ways, WAY)
        cost = layer_cost(space.setting, market.pool.rank, market.pool.network, ways)
        assert (rough.rank_s[of] * (1 - 3 * SUM) <= way_floors(explorer.job, ways, cost)).all()


@settings(max_examples=60)
@given(large(), st.data())
def test_layouts_are_counted_as_they_are_laid_out(file: dict[str, Any], data: st.DataObject) -> None:
    file["limits"]["layout"] = data.draw(pins()) or {"cp": 1}
    explorer, _ = explorer_and_goal(file)
    for number in range(len(explorer.markets)):
        frame = explorer.frame(number)
        layouts = layouts_of(frame)
        assert legal_layouts(frame) == len(layouts) == len(rows(layouts))


def test_groups_are_laid_out_inside_of_racks() -> None:
    """deepseek-v3 in racks of 72: 16 devices with each token, 64 of experts, on up to 8 racks."""
    layout = {"pp": [1, 2, 3], "cp": 1, "micro_batch": 1, "zero": 1, "recompute": "none", "vpp": 1}
    file = {
        "model": "deepseek-v3",
        "training": {"steps": 1000, "sequence_length": 4096, "global_batch": "1152 sequences"},
        "hardware": [{"machine": "gb200-nvl72", "count": 8}],
        "limits": {"pricing": "owned", "frameworks": "megatron-core", "layout": layout, "max_devices": 461},
    }
    explorer, _ = explorer_and_goal(file)
    layouts = layouts_of(explorer.frame(0))
    groups = set(zip(layouts.ranks.tolist(), (layouts.ep * layouts.etp).tolist(), strict=True))
    groups |= set(zip(layouts.ranks.tolist(), layouts.tp.tolist(), strict=True))
    assert {(512, 64), (64, 64), (576, 8)} <= groups
    assert (576, 64) not in groups
    assert (576, 16) not in groups
    for ranks, group in groups:
        racks = [72] * -(-ranks // 72)
        for _ in range(ranks // group):
            place = next(i for i, free in enumerate(racks) if free >= group)
            racks[place] -= group


def rows(layouts: Layouts, names: Sequence[str] = ORDER) -> set[tuple[int, ...]]:
    """The layouts as what they are."""
    columns = np.broadcast_arrays(*(layouts.columns[name] for name in names))
    return set(zip(*(column.tolist() for column in columns), strict=True))


def space_of(explorer: Explorer, number: int) -> Space:
    """Every legal layout of a market."""
    pool = explorer.markets[number].pool
    setting = setting_of(explorer.job, pool.framework, pool.precision)
    return Space.of(setting, layouts_of(explorer.frame(number)))


@settings(max_examples=15)
@given(large())
def test_the_parts_of_a_step_are_not_negative_and_sum_to_it(file: dict[str, Any]) -> None:
    explorer, _ = explorer_and_goal(file)
    for number, market in enumerate(explorer.markets):
        space = space_of(explorer, number)
        step = space.step(market.pool, space.layer_cost(market.pool))
        parts = np.array([np.broadcast_to(part, len(space.layouts)) for part in step.parts().values()])
        assert (parts >= 0).all()
        assert np.allclose(step.step_s, parts.sum(axis=0), rtol=SUM, atol=0)


def feasible(explorer: Explorer, table: Candidates, goal: Goal) -> list[tuple[object, ...]]:
    """The chosen rows of a table, as what they are."""
    picks = table.take(scan(explorer, table, violated(table, goal.limits), goal))
    return [
        (explorer.offerings[offering].id, pool, explorer.layouts(pool).row(layout), value)
        for offering, pool, layout, value in zip(
            picks.offering.tolist(),
            picks.pool.tolist(),
            picks.layout.tolist(),
            getattr(picks, goal.quantity).tolist(),
            strict=True,
        )
    ]


@settings(max_examples=50)
@given(st.data())
def test_with_and_without_bounds_the_same_plans_are_found(data: st.DataObject) -> None:
    file = data.draw(problems())
    file["limits"] |= data.draw(st.sampled_from([{}, {"deadline": "10 days"}, {"budget": "3000 USD"}]))
    top, distinct = data.draw(st.integers(1, 5)), data.draw(st.sampled_from(["offering", "device", "layout"]))
    explorer, goal = explorer_and_goal(file, top, distinct)
    other = explorer_and_goal(file, top, distinct)[0]
    unbounded = explore(other, Goal(goal.objective, [], 10**9, "layout"))
    assert feasible(explorer, explore(explorer, goal), goal) == feasible(other, unbounded, goal)


@pytest.mark.parametrize("objective", ["cost", "time", "carbon"])
def test_on_the_whole_catalog_too_the_same_plans_are_found(objective: str) -> None:
    training = {"tokens": "100B", "sequence_length": 4096, "global_batch": "64 sequences"}
    limits = {"deadline": "30 days", "max_devices": 64, "machines": ["[abhl]*-8", "tpu-v5p*"]}
    file = {"model": "qwen3-30b-a3b", "training": training, "limits": limits, "objective": objective}
    explorer, goal = explorer_and_goal(file, 8)
    other = explorer_and_goal(file, 8)[0]
    found = feasible(explorer, explore(explorer, goal), goal)
    assert found == feasible(other, explore(other, Goal(objective, [], 10**9, "layout")), goal)
    assert len(found) == 8
    assert explorer.counters.pools > 0  # some were excluded whole


@settings(max_examples=5)
@given(problems(pinned=False))
def test_no_plan_of_a_market_beats_its_floor(file: dict[str, Any]) -> None:
    problem = solver.load(file)
    explorer, _ = explorer_and_goal(file)
    floors = {
        (
            m.pool.machine.id,
            m.pool.fabric.id if m.pool.fabric else None,
            m.pool.framework.id,
            m.pool.precision,
        ): (floor * explorer.job.steps / m.pool.device.ranks)
        for m, floor in zip(explorer.markets, market_floors(explorer).tolist(), strict=True)
    }
    for row in everything(problem):
        offering = row.offering
        machine = explorer.question.catalog.machines[offering.machine]
        device_s = floors[offering.machine, offering.fabric, row.framework, row.precision] * (1 - SUM)
        assert row.wall_clock_s >= device_s / row.devices
        assert row.cost_usd >= device_s * offering.usd_per_hour / machine.devices / 3600
        load = explorer.job.operations.load[explorer.question.device(offering).kind]
        power = load * machine.power * offering.site.pue
        assert row.energy_wh >= device_s * power / machine.devices / 3600
        assert row.carbon_kg >= device_s * power / machine.devices / 3.6e6 * offering.site.carbon
