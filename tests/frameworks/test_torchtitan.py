"""torchtitan's and PyTorch's own checks on random layouts, where the packages are installed."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from framework_layouts import MODEL, Row, differences

pytest.importorskip("torchtitan")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def configured(row: Row) -> None:
    """Heads over tensor ranks; tied tables over stages."""
    from torchtitan.config import ParallelismConfig
    from torchtitan.models.common.decoder import Decoder

    model = SimpleNamespace(
        enable_weight_tying=True,
        first_attention=SimpleNamespace(n_heads=MODEL.heads, n_kv_heads=MODEL.kv_heads),
        layers=[],
    )
    parallelism = ParallelismConfig(
        tensor_parallel_degree=row["tp"], pipeline_parallel_degree=row["pp"], expert_parallel_degree=row["ep"]
    )
    Decoder.Config.update_from_config(model, config=SimpleNamespace(parallelism=parallelism))


def dealt(row: Row) -> None:
    """The layers on the stages; the tables weigh nothing here."""
    from torchtitan.distributed import pipeline_parallel

    deal = pipeline_parallel._generate_llm_fqn_per_model_part
    stages = deal(row["pp"] * row["vpp"], 12, 0, 0)
    assert sum(name.startswith("layers.") for stage in stages for name in stage) == 12


def scheduled(row: Row) -> None:
    """The micro-batches on the stages."""
    from torch.distributed.pipelining import schedules

    pp, vpp = row["pp"], row["vpp"]
    if pp == 1:
        assert vpp == 1, "interleaving needs stages"
        return
    shape = {"num_stages": pp * vpp, "group_size": pp, "group_rank": 0, "has_backward": True}
    stages = [MagicMock(stage_index=number * pp, **shape) for number in range(vpp)]
    if vpp == 1:
        schedules.Schedule1F1B(stages[0], row["grad_accum"])
    else:
        schedules.ScheduleInterleaved1F1B(stages, row["grad_accum"])


def test_heads_and_tied_tables_are_judged_alike() -> None:
    rules = ("tp_divides_heads", "tp_divides_kv_heads", "pipeline_needs_untied_tables")
    assert differences(rules, configured, MODEL._replace(tied=True)) == []


def test_layers_are_dealt_wherever_every_stage_holds_some() -> None:
    assert differences(("stages_hold_layers",), dealt, MODEL._replace(layers=12)) == []


def test_micro_batches_are_judged_alike() -> None:
    """PyTorch takes fewer micro-batches than stages when interleaved; ours are as many as ranks."""
    rules = ("pipeline_is_filled", "interleaving_in_equal_rounds", "interleaving_needs_stages")
    found = differences(rules, scheduled)
    assert [one for one in found if one[0]["vpp"] == 1 or one[1] != ["pipeline_is_filled"]] == []
