"""Optimizers: what the papers keep of a parameter, what they compute, who has them."""

from typing import get_args

import pytest

from solver.architecture import from_catalog
from solver.architecture.blocks import Architecture
from solver.catalog import load
from solver.estimate import Job, Space, setting_of
from solver.layout import Layouts
from solver.physics.optimizers import OPTIMIZERS, newton_schulz_flops
from solver.problem.quantities import OptimizerName


def model(name: str) -> Architecture:
    return from_catalog(load().models[name])


def optimizer_held(name: str, software: str, optimizer: str) -> float:
    """Bytes a parameter of master copy and optimizer state on the first stage, whatever the shards."""
    operations = load().operations["operations"]
    job = Job(model(name), 2048, 1, 1, None, operations, optimizer=optimizer)
    space = Space.of(setting_of(job, load().frameworks[software], "bf16"), Layouts.of({}))
    held = space.memory.parts
    return float(held["optimizer"][0] / (held["weights"][0] / space.setting.model.weight))


@pytest.mark.parametrize(  # beside a float32 master copy of 4 B
    ("optimizer", "state"),
    [("adamw", 8), ("adamw-8bit", 2.03125), ("adafactor", 0), ("sgd", 0), ("sgd-momentum", 4)],
)
def test_an_optimizer_keeps_its_master_copy_and_its_moments(optimizer: str, state: float) -> None:
    assert optimizer_held("llama-2-7b", "deepspeed", optimizer) == pytest.approx(4 + state)


def test_muon_keeps_one_momentum_of_matrices_and_two_moments_of_tables() -> None:
    """Jordan et al. 2024: hidden matrices by Muon, embeddings and head by Adam."""
    architecture = model("gpt-neox-20b")
    tables = 2 * 50_432 * architecture.hidden / 20_554_567_680  # EleutherAI/gpt-neox-20b: both tables
    found = optimizer_held("gpt-neox-20b", "deepspeed", "muon")
    assert found == pytest.approx(4 + 4 + 4 * tables, rel=1e-3)


@pytest.mark.parametrize(("name", "hidden"), [("gpt-3-175b", 12288), ("llama-2-7b", 4096)])
def test_muon_costs_no_more_than_its_author_bounds(name: str, hidden: int) -> None:
    """Jordan et al. 2024: at most T m / B of the FLOP of training; T iterations, m the narrow side, B tokens.

    So 6 m FLOP a parameter and iteration at most, reached by square matrices.
    """
    each = newton_schulz_flops(model(name))
    assert 4 * hidden < each < 6 * hidden


def test_every_framework_has_adamw_and_names_optimizers_that_are_known() -> None:
    for record in load().frameworks.values():
        assert "adamw" in record.optimizers
        assert set(record.optimizers) <= OPTIMIZERS.keys() == set(get_args(OptimizerName))
