"""What runs behind what: messages of tensor ranks behind pieces of products, hand-offs behind chunks."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from solver.architecture import from_inline
from solver.catalog import load
from solver.catalog.framework import Framework
from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import Layouts
from solver.physics import kernels
from solver.physics.step import Step

CATALOG = load()
MEGATRON = CATALOG.frameworks["megatron-core"]
SHAPE = {"layers": 16, "hidden": 4096, "heads": 32, "ffn": 16384, "vocab": 32000}


def step_of(framework: Framework, precision: str = "fp8", *, flash: bool = True, **columns: int) -> Step:
    machine = CATALOG.machines["h100-sxm-8"]
    pool = Pool.of(CATALOG, machine, CATALOG.fabric(machine.default_fabric or ""), (framework, precision))
    layouts = Layouts.of({name: [value] for name, value in columns.items()})
    batch = int((layouts.dp * layouts.micro_batch * layouts.grad_accum)[0])
    job = Job(from_inline(SHAPE, 2048), 2048, batch, 1, None, CATALOG.operations["operations"], flash=flash)
    space = Space.of(setting_of(job, framework, precision), layouts)
    return space.step(pool, space.layer_cost(pool))


def part(step: Step, name: str) -> float:
    return float(np.asarray(step.parts()[name])[0])


@settings(max_examples=20)
@given(tp=st.sampled_from([2, 4, 8]), micro_batch=st.sampled_from([1, 4, 16]), share=st.floats(0, 1))
def test_hiding_messages_behind_products_saves_at_most_their_share(
    tp: int, micro_batch: int, share: float
) -> None:
    def exposed(overlap: float) -> float:
        framework = MEGATRON.model_copy(update={"tensor_overlap": overlap})
        step = step_of(framework, tp=tp, micro_batch=micro_batch, sequence_parallel=1)
        return part(step, "tensor_parallel")

    whole = exposed(0.0)
    assert (1 - share) * whole * (1 - 1e-9) <= exposed(share) <= whole


# The outputs that its last wave leaves out, 2 x 490,000 x (k + 132) FLOP at 0.751 of 1979 TFLOP/s at 0.85
# of the clock, and 6.4 us (catalogs/devices/h100-sxm.yaml).
def test_a_piece_costs_its_part_filled_wave_and_its_launch() -> None:
    rank = step_of(MEGATRON, tp=8).rank
    by_hand = 2 * 490e3 * (8192 + 132) / (0.751 * 1979e12 * 0.85) + 6.4e-6
    assert kernels.start_s(8192, rank) == pytest.approx(by_hand, rel=1e-3)


def test_interleaved_hand_offs_are_exposed_only_while_the_pipeline_fills_and_drains() -> None:
    framework = MEGATRON.model_copy(update={"send_pause": 0.0})
    columns: dict[str, Any] = {"tp": 8, "sequence_parallel": 1, "pp": 4, "grad_accum": 16, "micro_batch": 2}
    plain = part(step_of(framework, vpp=1, **columns), "pipeline_parallel")
    interleaved = part(step_of(framework, vpp=4, **columns), "pipeline_parallel")
    # 16 micro-batches and 3 to fill and drain; a chunk of one layer takes longer than its message.
    assert interleaved == pytest.approx(3 / 19 * plain, rel=1e-9)


def test_products_of_one_input_take_longer_apart() -> None:
    apart = MEGATRON.model_copy(update={"joined": False})
    for tp in (1, 8):
        assert part(step_of(MEGATRON, tp=tp), "matmul") < part(step_of(apart, tp=tp), "matmul")


# 6 + 8.5 passes over scores of 2 B each: 32 heads x 2048 x 2048 a sequence and layer, at 0.7 of 3350 GB/s.
def test_unfused_attention_reads_and_writes_its_scores() -> None:
    more = part(step_of(MEGATRON, "bf16", flash=False), "attention") - part(
        step_of(MEGATRON, "bf16"), "attention"
    )
    by_hand = 16 * 14.5 * 2 * 32 * 2048**2 / (0.7 * 3350e9)
    assert more == pytest.approx(by_hand, rel=1e-6)
