"""What full recomputation leaves out where it ends with the last matmul."""

import pytest

from solver.architecture import from_hf, from_inline
from solver.architecture.blocks import Architecture
from solver.catalog import load
from solver.estimate import Job, Space, setting_of
from solver.layout import RECOMPUTE, Layouts
from solver.physics.layer import LayerTime
from solver.physics.recompute import last_share
from solver.pool import Pool

PLAIN = {"layers": 24, "hidden": 2048, "heads": 16, "ffn": 8192, "gated_mlp": False, "vocab": 50432}
LLAMA_3_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
MIXTRAL = LLAMA_3_8B | {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}


@pytest.mark.parametrize(
    ("config", "share"),
    [
        (LLAMA_3_8B, 14336 / (3 * 14336 + 2.5 * 4096)),  # gate, up, down; q, o and k, v of a quarter
        (MIXTRAL, 0.0),  # what routed experts put out is weighted: the gates' gradient needs it
    ],
)
def test_the_last_matmul_of_a_layer_is_the_down_projection(config: dict[str, object], share: float) -> None:
    assert last_share(from_hf(config)) == pytest.approx(share)


def layer(model: Architecture, kind: str) -> LayerTime:
    """Of one micro-batch on one device, its layers recomputed so."""
    catalog = load()
    framework = catalog.frameworks["torchtitan"].model_copy(update={"recompute": {"full": kind}})
    pool = Pool.of(catalog, catalog.machines["h100-sxm-8"], None, (framework, "bf16"))
    job = Job(model, 2048, 8, 1, None, catalog.operations["operations"])
    layouts = Layouts.of({"micro_batch": [8], "recompute": [RECOMPUTE.index("full")]})
    space = Space.of(setting_of(job, framework, "bf16"), layouts)
    return space.layer_cost(pool).compute


# docs.pytorch.org, torch.utils.checkpoint: the non-reentrant variant stops as soon as all needed activations
# are there, the reentrant one always runs the whole again.
def test_a_checkpoint_that_stops_early_saves_the_last_matmul() -> None:
    model = from_inline(PLAIN)
    early, whole = layer(model, "full_but_last"), layer(model, "full")
    assert last_share(model) == pytest.approx(1 / 3)  # 4 h^2 of attention, 8 h^2 of the MLP
    forward = whole.matmul / 3  # of the three passes
    assert float(whole.recompute[0] - early.recompute[0]) == pytest.approx(float(forward[0]) / 3, rel=0.05)
