"""Weights that stay as they are (adapters are trained) cost neither gradients nor an optimizer."""

import pytest

from solver.architecture import from_inline
from solver.catalog import load
from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import Layouts
from solver.physics.step import Step
from solver.validation.predict import trained

SHAPE = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 32000}


def step_of(task: str, zero: int) -> Step:
    catalog = load()
    machine = catalog.machines["h100-sxm-8"]
    fabric = catalog.fabric(machine.default_fabric or "")
    pool = Pool.of(catalog, machine, fabric, (catalog.frameworks["torchtitan"], "bf16"))
    job = Job(
        trained(from_inline(SHAPE, 2048), task),
        2048,
        64,
        1,
        None,
        catalog.operations["operations"],
        flash=True,
    )
    layouts = Layouts.of({"dp": [16], "zero": [zero], "micro_batch": [4]})
    space = Space.of(setting_of(job, pool.framework, pool.precision), layouts)
    return space.step(pool, space.layer_cost(pool))


@pytest.mark.parametrize("zero", [0, 1])
def test_frozen_weights_are_neither_reduced_nor_updated(zero: int) -> None:
    whole, adapted = step_of("pretrain", zero).parts(), step_of("lora", zero).parts()
    for part in ("data_parallel", "optimizer"):
        assert whole[part][0] > 0
        assert adapted[part][0] < 0.01 * whole[part][0]


# Forward and input gradient: two products of three.
def test_frozen_weights_save_a_third_of_the_products() -> None:
    whole, adapted = step_of("pretrain", 0).parts(), step_of("lora", 0).parts()
    assert adapted["matmul"][0] / whole["matmul"][0] == pytest.approx(2 / 3, rel=0.03)


def test_frozen_weights_are_gathered_where_they_are_sharded() -> None:
    whole, adapted = step_of("pretrain", 3), step_of("lora", 3)
    assert 0 < adapted.data_parallel_s[0] < whole.data_parallel_s[0]
