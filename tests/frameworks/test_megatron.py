"""Megatron-Core's own checks on random layouts, where the package is installed."""

from unittest.mock import MagicMock, patch

import pytest
from framework_layouts import MODEL, Row, differences

pytest.importorskip("megatron.core")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def configured(row: Row) -> None:
    """Heads, sequence parallelism, and the layers of each stage."""
    import torch
    from megatron.core.transformer.transformer_block import get_num_layers_to_build
    from megatron.core.transformer.transformer_config import TransformerConfig

    uneven = -MODEL.layers % (row["pp"] * row["vpp"]) if row["pp"] > 1 else 0
    config = TransformerConfig(
        num_layers=MODEL.layers,
        hidden_size=MODEL.hidden,
        num_attention_heads=MODEL.heads,
        num_query_groups=MODEL.kv_heads,
        ffn_hidden_size=MODEL.ffn,
        bf16=True,
        params_dtype=torch.bfloat16,
        pipeline_dtype=torch.bfloat16,
        tensor_model_parallel_size=row["tp"],
        pipeline_model_parallel_size=row["pp"],
        virtual_pipeline_model_parallel_size=row["vpp"] if row["vpp"] > 1 else None,
        context_parallel_size=row["cp"],
        sequence_parallel=bool(row["sequence_parallel"]),
        account_for_loss_in_pipeline_split=uneven >= 1,
        account_for_embedding_in_pipeline_split=uneven >= 2,
    )
    if row["pp"] > 1:
        get_num_layers_to_build(config, vp_stage=0 if row["vpp"] > 1 else None, pp_rank=0)


def meshed(row: Row) -> None:
    """The groups of ranks; no process is started."""
    from megatron.core import parallel_state

    world = {"get_world_size": row["ranks"], "get_rank": 0, "is_initialized": True, "new_group": MagicMock()}
    mocks = {name: MagicMock(return_value=value) for name, value in world.items()}
    with patch.multiple("torch.distributed", **mocks):
        parallel_state.destroy_model_parallel()
        parallel_state.initialize_model_parallel(
            tensor_model_parallel_size=row["tp"],
            pipeline_model_parallel_size=row["pp"],
            virtual_pipeline_model_parallel_size=row["vpp"] if row["vpp"] > 1 else None,
            context_parallel_size=row["cp"],
            expert_model_parallel_size=row["ep"],
            expert_tensor_parallel_size=row["etp"],
        )


def fed(row: Row) -> None:
    """The micro-batches of a step."""
    from megatron.core.num_microbatches_calculator import ConstantNumMicroBatchesCalculator

    ConstantNumMicroBatchesCalculator(
        MODEL.global_batch,
        row["micro_batch"],
        row["dp"],
        decrease_batch_size_if_needed=False,
        rank=1,
    )


def test_heads_and_stages_are_judged_alike() -> None:
    rules = ("tp_divides_heads", "tp_divides_or_multiplies_kv_heads", "nearly_even_stages")

    def layered(row: Row) -> None:
        deep = row["pp"] * row["vpp"]
        if row["pp"] > 1 and -MODEL.layers % deep == 3:
            raise ValueError("a third head takes a place too")  # not among the flags that are tried here
        configured(row)

    found = [
        (row, told, said)
        for row, told, said in differences(rules, layered)
        if "a third head" not in said and (row["pp"] > 1 or row["vpp"] == 1)
    ]
    assert found == []


def test_meshes_are_judged_alike() -> None:
    assert differences(("expert_mesh_fits", "interleaving_needs_stages"), meshed) == []


def test_batches_are_judged_alike() -> None:
    assert differences(("batch_is_kept",), fed) == []
