"""Scans of state-space layers, as a whole model was measured on three architectures."""

import pytest

from solver.architecture import from_hf
from solver.catalog import load
from solver.layout import Layouts
from solver.physics.compute import Workload, ends_s, mean_layer
from solver.physics.hardware import Rank

MAMBA_2 = {
    "model_type": "mamba2",
    "hidden_size": 2048,
    "num_hidden_layers": 48,
    "num_heads": 64,
    "head_dim": 64,
    "state_size": 128,
    "n_groups": 1,
    "conv_kernel": 4,
    "vocab_size": 50288,
    "tie_word_embeddings": True,
}


# github.com/state-spaces/mamba/issues/904: 4 sequences of 4,096 a step, TFLOP/s by 6 FLOP a parameter and
# token. The optimizer and the host take some of the step.
@pytest.mark.parametrize(
    ("device", "tflops"), [("a100-80-sxm", 102.5), ("h200-sxm", 239.2), ("gb200", 360.4)]
)
def test_a_model_of_scans_computes_as_long_as_measured(device: str, tflops: float) -> None:
    model, rank = from_hf(MAMBA_2), Rank.of(load().devices[device], "bf16")
    work = Workload(4096, 1.0, flash=True, imbalance=1.0, cast_bytes=4.0, document=4096, joined=True)
    cut = Layouts.of({"micro_batch": [4]})
    passes = mean_layer(model, cut, rank, work)
    embedding, loss = ends_s(model, cut, rank, work)
    computed = model.layers * (passes.forward.total + passes.backward.total) + embedding + loss
    assert computed == pytest.approx(6 * model.total_parameters * 4 * 4096 / (tflops * 1e12), rel=0.25)
