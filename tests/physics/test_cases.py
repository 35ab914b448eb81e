"""Layouts measured against each other, as typed from the threads; runs in catalogs/runs/cases.csv."""

from functools import cache
from pathlib import Path

import pytest

from solver.catalog import load
from solver.validation.predict import predict
from solver.validation.rows import read

RUNS = Path(__file__).parents[2] / "catalogs" / "runs" / "cases.csv"
# Megatron-Bridge memory-tuning notes: 704, 668 and 509 TFLOP/s.
LLAMA_70B = ("C128-1", "C128-2", "C128-3")
# deepspeedai/DeepSpeed#8064: 3,588, 2,092 and 1,746 tokens a second and device.
QWEN_36 = ("C129-1", "C129-2", "C129-3")
# huggingface.co nanotron/old_bench, 8 devices: 23,800 and 11,200; 16 devices: 25,500, then 14,600 at most.
NANOTRON_8 = ("C130-2", "C130-5")
NANOTRON_16 = ("C130-1", "C130-3", "C130-4", "C130-6", "C130-7")
# Megatron-Bridge moe-hardware-configs notes, 13,010; NVIDIA-NeMo/Megatron-Bridge#947, 9,102.
QWEN_30B = ("C138-1", "C139-1")


@cache
def tokens_per_s_per_device() -> dict[str, float]:
    catalog = load(None)
    found = {}
    for row in read(RUNS):
        tokens = row.integer("global_batch_seq") * row.integer("seq_len") / row.integer("devices")
        found[row.id] = tokens / predict(row, catalog).step_time_s
    return found


@pytest.mark.parametrize("order", [LLAMA_70B, QWEN_36, NANOTRON_8, QWEN_30B])
def test_layouts_come_out_in_the_order_in_which_they_were_measured(order: tuple[str, ...]) -> None:
    rates = [tokens_per_s_per_device()[name] for name in order]
    assert rates == sorted(rates, reverse=True)


def test_the_layout_that_was_fastest_on_sixteen_devices_comes_first() -> None:
    rates = {name: tokens_per_s_per_device()[name] for name in NANOTRON_16}
    assert max(rates, key=lambda name: rates[name]) == "C130-1"


def test_the_canonical_recipe_is_met_within_a_fifth() -> None:
    # Megatron-Bridge moe-hardware-configs notes: 20.147 s a step of 1024 x 4096 tokens on 16 devices.
    measured = 1024 * 4096 / 16 / 20.147
    assert tokens_per_s_per_device()["C138-1"] == pytest.approx(measured, rel=0.2)
