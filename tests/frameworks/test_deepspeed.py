"""DeepSpeed's own checks on random layouts, where the package is installed."""

from unittest.mock import MagicMock, patch

import pytest
from framework_layouts import MODEL, Row, differences

pytest.importorskip("deepspeed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def fed(row: Row) -> None:
    """The batch against its parts."""
    from deepspeed.runtime.config import DeepSpeedConfig

    fields = {
        "train_batch_size": MODEL.global_batch,
        "train_micro_batch_size_per_gpu": row["micro_batch"],
        "gradient_accumulation_steps": row["grad_accum"],
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": row["zero"]},
    }
    mesh = MagicMock()
    mesh.get_data_parallel_world_size.return_value = row["dp"]
    mesh.get_world_size.return_value = row["dp"]
    with (
        patch("deepspeed.comm.get_rank", return_value=0),
        patch("deepspeed.comm.get_world_size", return_value=row["dp"]),
    ):
        DeepSpeedConfig(fields, mpu=None)


def pipelined(row: Row) -> None:
    """ZeRO beside the pipeline: the first check of its engine; what comes after needs processes."""
    from deepspeed.runtime.pipe.engine import PipelineEngine
    from deepspeed.runtime.pipe.module import PipelineModule

    if row["pp"] == 1:
        return
    engine = object.__new__(PipelineEngine)
    stage = patch.object(PipelineEngine, "zero_optimization_stage", lambda _: row["zero"])
    built = patch("deepspeed.runtime.engine.DeepSpeedEngine.__init__", lambda *_, **__: None)
    module = patch.object(PipelineEngine, "module", MagicMock(spec=PipelineModule), create=True)
    with stage, built, module:
        try:
            PipelineEngine.__init__(engine)
        except AssertionError as error:
            if "incompatible with pipeline parallelism" in str(error):
                raise
        except (AttributeError, TypeError):
            return


def grouped(row: Row) -> None:
    """Groups of experts inside the data parallel ranks."""
    from deepspeed.utils.groups import _get_expert_parallel_ranks

    _get_expert_parallel_ranks(row["tp"] * row["pp"] * row["dp"], row["tp"], row["ep"], row["pp"])


def held(row: Row) -> None:
    """Experts over their ranks."""
    import torch
    from deepspeed.moe.layer import MoE

    MoE(8, torch.nn.Linear(8, 8), num_experts=MODEL.experts, ep_size=row["ep"])


def test_batches_are_judged_alike() -> None:
    assert differences(("batch_is_kept",), fed) == []


def test_zero_beside_a_pipeline_is_judged_alike() -> None:
    assert differences(("zero_2_without_pipeline",), pipelined) == []


def test_groups_of_experts_are_judged_alike() -> None:
    found = differences(("ep_inside_data_parallel",), grouped)
    assert [one for one in found if one[0]["cp"] == 1] == []


def test_experts_are_judged_alike() -> None:
    assert differences(("ep_divides_experts",), held) == []
