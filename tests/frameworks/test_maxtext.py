"""MaxText's own checks on random layouts, where the package is installed."""

from pathlib import Path

import pytest
from framework_layouts import MODEL, Row, differences

pytest.importorskip("maxtext")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def configured(row: Row) -> None:
    """Layers and micro-batches over the stages, and the batch over the devices."""
    import maxtext
    from maxtext.configs import pyconfig

    base = Path(maxtext.__file__).parent / "configs" / "base.yml"
    rounds = row["grad_accum"]
    fields = {
        "run_name": "layout",
        "hardware": "cpu",
        "enable_checkpointing": "false",
        "skip_jax_distributed_system": "true",
        "override_model_config": "true",
        "internal_compile": "true",
        "internal_compile_num_devices": row["ranks"],
        "base_num_decoder_layers": MODEL.layers,
        "max_target_length": MODEL.sequence,
        "ici_pipeline_parallelism": row["pp"],
        "num_pipeline_microbatches": rounds if row["pp"] > 1 else -1,
        "num_layers_per_pipeline_stage": max(MODEL.layers // row["pp"], 1) if row["pp"] > 1 else 1,
        "gradient_accumulation_steps": 1 if row["pp"] > 1 else rounds,
        "per_device_batch_size": row["dp"]
        * row["micro_batch"]
        * (rounds if row["pp"] > 1 else 1)
        / row["ranks"],
    }
    pyconfig.initialize(["layout", str(base), *(f"{name}={value}" for name, value in fields.items())])


def test_layers_and_micro_batches_are_judged_alike() -> None:
    """Its repeats of the pipeline are not those of virtual stages, which we do not grant it."""
    rules = ("even_pipelined_layers", "pipeline_in_rounds", "sequence_parallel_splits_sequence")
    found = differences(rules, configured)
    assert [one for one in found if one[0]["vpp"] == 1] == []
