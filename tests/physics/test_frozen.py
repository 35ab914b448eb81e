"""Weights that stay as they are (adapters are trained) cost neither gradients nor an optimizer."""

import pytest

from solver.architecture import from_catalog, from_inline
from solver.catalog import load
from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import Layouts
from solver.physics.memory import Memory
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


def memory_of(task: str, layouts: dict[str, list[int]]) -> Memory:
    """Of Llama-2-13B on samples of 1,304 tokens, with torchtitan's loss of 2024."""
    catalog = load()
    record = catalog.frameworks["torchtitan"]
    era = next(e for e in record.eras if e.name == "torchtitan 2024")
    job = Job(
        trained(from_catalog(catalog.models["llama-2-13b"]), task),
        1304,
        8,
        1,
        None,
        catalog.operations["operations"],
        flash=True,
    )
    return Space.of(
        setting_of(job, record.model_copy(update=era.differences), "bf16"), Layouts.of(layouts)
    ).memory


# Lightning-AI/litgpt, tutorials/resource-tables.md: LoRA of Llama-2-13B on one A100, 38.12 GB; the adapters
# themselves, some tens of millions of parameters, are not counted here.
def test_adapters_on_one_device_hold_what_litgpt_measured() -> None:
    found = memory_of("lora", {"dp": [1]})
    assert found.allocated[0] / 2**30 == pytest.approx(35.5, rel=0.1)


def test_frozen_weights_keep_their_activations_and_nothing_else() -> None:
    whole, adapted = (memory_of(task, {"dp": [8], "zero": [3]}).parts for task in ("sft", "lora"))
    assert adapted["gradients"][0] == adapted["optimizer"][0] == 0
    assert adapted["weights"][0] == pytest.approx(whole["weights"][0] / 2)  # in 16 bits, not in 32
    assert adapted["activations"][0] == whole["activations"][0]
    assert adapted["gathered"][0] == whole["gathered"][0]
