"""Image towers: counts and FLOPs of the published profile, and what images cost a step."""

from typing import Any

import pytest

import solver
from solver.architecture import from_hf
from solver.architecture.flops import training_flops_per_image, training_flops_per_token
from solver.plan import Evaluation

CONTEXT = 77
# model_profile.csv of mlfoundations/open_clip: millions of parameters, GFLOPs of a forward pass on one pair
PROFILE = {
    "ViT-B-32": ((512, 8, 12), (768, 12, 12, 32), 512, 151.28, 14.78),
    "ViT-L-14": ((768, 12, 12), (1024, 16, 24, 14), 768, 427.62, 175.33),
    "ViT-H-14": ((1024, 16, 24), (1280, 16, 32, 14), 1024, 986.11, 381.68),
}


def clip(text: tuple[int, int, int], image: tuple[int, int, int, int], width: int) -> dict[str, Any]:
    """Config of a pair of encoders: hidden, heads, layers (and patch)."""
    names = ("hidden_size", "num_attention_heads", "num_hidden_layers", "patch_size")
    return {
        "model_type": "clip",
        "architectures": ["CLIPModel"],
        "projection_dim": width,
        "text_config": dict(zip(names, text, strict=False)) | {"intermediate_size": 4 * text[0]},
        "vision_config": dict(zip(names, image, strict=True))
        | {"intermediate_size": 4 * image[0], "image_size": 224},
    }


@pytest.mark.parametrize("name", PROFILE)
def test_pairs_have_the_published_parameters_and_flops(name: str) -> None:
    text, image, width, millions, gflops = PROFILE[name]
    model = from_hf(clip(text, image, width))
    forward = training_flops_per_token(model, CONTEXT) * CONTEXT + training_flops_per_image(model, 0)
    assert model.total_parameters / 1e6 == pytest.approx(millions, rel=2e-4)
    assert forward / 3 / 1e9 == pytest.approx(gflops, rel=0.02)


def estimate(**training: Any) -> Evaluation:
    run = {
        "model": "qwen2.5-vl-7b",
        "training": {"sequence_length": 4096, "global_batch": "32 sequences", "precision": "bf16"} | training,
        "hardware": {"machine": "h100-sxm-8", "devices": 8},
        "framework": "megatron-core",
        "layout": {"pp": 2, "dp": 4},
    }
    return solver.evaluate(run)


def test_images_cost_time_and_memory_on_the_first_stage() -> None:
    text, some, more = estimate(), estimate(images=2), estimate(images=4)
    assert any("the image tower is left out" in sentence for sentence in text.assumptions)
    assert text.time is not None
    assert some.time is not None
    assert more.time is not None
    assert text.time.step_s < some.time.step_s < more.time.step_s
    assert some.memory is not None
    assert some.memory.stage == "first"


def test_a_model_without_towers_sees_no_images() -> None:
    with pytest.raises(solver.InputError, match="no image tower"):
        solver.evaluate(
            {
                "model": "llama-2-7b",
                "training": {"sequence_length": 4096, "global_batch": "8 sequences", "images": 1},
                "hardware": {"machine": "h100-sxm-8", "devices": 8},
                "framework": "megatron-core",
            }
        )
