"""The rules by which a framework accepts or refuses a layout.

A rule is one row of RULES: the same function filters a million layouts and explains one to the user.

Source, at the dates of the frameworks' records: Megatron-LM transformer_config.py, model_parallel_config.py,
training/arguments.py, schedules.py and moe_layer.py; torchtitan trainer.py, distributed/ and decoder.py, with
PyTorch's pipelining schedules; DeepSpeed runtime/engine.py and runtime/pipe/engine.py; MaxText
configs/types.py; guides of optimum-neuron and AWS Neuron.
"""

from solver.rules.cuts import CUTS
from solver.rules.shares import SHARES
from solver.rules.stages import STAGES

RULES = CUTS | STAGES | SHARES  # a framework's record lists the names that hold for it; GENERAL hold for all
GENERAL = (
    "batch_is_kept",
    "pipeline_is_filled",
    "stages_hold_layers",
    "interleaving_needs_stages",
    "ep_divides_experts",
    "ep_needs_experts",
    "etp_needs_experts",
    "expert_mesh_fits",
    "zero_stage_exists",
    "shard_divides_replicas",
    "local_sgd_exists",
    "workers_share_nothing",
    "schedule_exists",
    "schedule_sets_chunks",
    "offload_exists",
    "optimizer_runs_on_host",
    "parameters_leave_sharded",
    "optimizer_leaves_sharded",
    "whole_blocks",
)
SEARCHED = ("nearly_even_stages",)  # of the search alone: the framework takes other deals of its layers too
