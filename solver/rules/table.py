"""The rules by which a framework accepts or refuses a layout.

A rule is one row of RULES: the same function filters a million layouts and explains one to the user.

Source, at the dates of the frameworks' records: Megatron-LM transformer_config.py, model_parallel_config.py,
training/arguments.py, schedules.py and moe_layer.py; torchtitan trainer.py, distributed/ and decoder.py, with
PyTorch's pipelining schedules; DeepSpeed runtime/engine.py and runtime/pipe/engine.py; MaxText
configs/types.py; guides of optimum-neuron and AWS Neuron.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solver.layout import OFFLOAD, Bools, Layouts
from solver.rules.case import Case

WHOLE = 3  # the stage that shards the weights


class Rule(NamedTuple):
    """fields: the columns it looks at, the one to change first; violated: True where it is broken."""

    fields: tuple[str, ...]
    violated: Callable[[Case, Layouts], Bools]
    message: str


RULES = {  # a framework's record lists the names that hold for it; GENERAL hold for all
    "tp_divides_heads": Rule(
        ("tp",), lambda c, x: (c.heads > 0) & (c.heads % x.tp != 0), "tp {tp} must divide the {heads} heads"
    ),
    "tp_divides_kv_heads": Rule(
        ("tp",),
        lambda c, x: (c.kv_heads > 0) & (c.kv_heads % x.tp != 0),
        "tp {tp} must divide the {kv_heads} KV heads",
    ),
    "tp_divides_or_multiplies_kv_heads": Rule(
        ("tp",),
        lambda c, x: (c.kv_heads > 0) & (c.kv_heads % x.tp != 0) & (x.tp % max(c.kv_heads, 1) != 0),
        "tp {tp} must divide the {kv_heads} KV heads or be a multiple of them",
    ),
    "tp_divides_hidden": Rule(
        ("tp",), lambda c, x: c.hidden % x.tp != 0, "tp {tp} must divide the hidden size {hidden}"
    ),
    "tp_divides_ffn": Rule(
        ("tp",), lambda c, x: c.ffn % x.tp != 0, "tp {tp} must divide the feed-forward size {ffn}"
    ),
    "tp_of_cores": Rule(
        ("tp",),
        lambda c, x: ~np.isin(x.tp, c.core_counts),
        "tp {tp} must be one of {core_counts}: collectives exist for these core counts only",
    ),
    "tp_divides_vocabulary": Rule(
        ("tp",), lambda c, x: c.vocab % x.tp != 0, "tp {tp} must divide the vocabulary of {vocab}"
    ),
    "narrow_features_in_sixteens": Rule(
        ("tp",),
        lambda c, x: c.narrow & ((c.hidden % (c.grain * x.tp) != 0) | (c.ffn % (c.grain * x.tp) != 0)),
        "hidden {hidden} and feed-forward {ffn} over tp {tp} must be multiples of {grain} in 8 bits",
    ),
    "sequence_parallel_splits_sequence": Rule(
        ("tp", "cp", "sequence_parallel"),
        lambda c, x: (x.sequence_parallel == 1) & (c.sequence % (x.tp * x.cp) != 0),
        "tp {tp} x cp {cp} must divide the sequence of {sequence} tokens under sequence parallelism; "
        "the nearest multiple of {split} is {nearest_split}",
    ),
    "no_sequence_parallel": Rule(
        ("sequence_parallel",),
        lambda c, x: x.sequence_parallel != 0,
        "sequence_parallel {sequence_parallel}: the framework has none; only 0",
    ),
    "no_context_parallel": Rule(
        ("cp",), lambda c, x: x.cp != 1, "cp {cp}: the framework has no context parallelism; only 1"
    ),
    "cp_splits_sequence_in_pairs": Rule(
        ("cp",),
        lambda c, x: (x.cp > 1) & (c.sequence % (2 * x.cp) != 0),
        "cp {cp}: 2 x cp must divide the sequence of {sequence} tokens (two chunks a rank); the nearest "
        "multiple of {pairs} is {nearest_pairs}",
    ),
    "cp_pairs_split_over_tp": Rule(
        ("cp", "tp", "sequence_parallel"),
        lambda c, x: (x.cp > 1) & (x.sequence_parallel == 1) & (c.sequence % (2 * x.cp * x.tp) != 0),
        "2 x cp {cp} x tp {tp} must divide the sequence of {sequence} tokens: each rank takes two chunks, "
        "which sequence parallelism splits; the nearest multiple of {split_pairs} is {nearest_split_pairs}",
    ),
    "no_pipeline": Rule(
        ("pp",), lambda c, x: x.pp != 1, "pp {pp}: the framework has no pipeline parallelism here; only 1"
    ),
    "pipeline_needs_untied_tables": Rule(
        ("pp",),
        lambda c, x: c.tied & (x.pp > 1),
        "pp {pp}: the framework cannot tie input and output tables over stages; only 1",
    ),
    "even_pipelined_layers": Rule(
        ("pp", "vpp"),
        lambda c, x: (x.pp > 1) & (c.pipelined_layers % (x.pp * x.vpp) != 0),
        "pp {pp} x vpp {vpp} must divide the {pipelined_layers} layers that are pipelined (of {layers})",
    ),
    "even_stages": Rule(
        ("pp", "vpp"),
        lambda c, x: c.layers % (x.pp * x.vpp) != 0,
        "pp {pp} x vpp {vpp} must divide the {layers} layers",
    ),
    "nearly_even_stages": Rule(  # a stage may hold one layer less, for each of these in its place
        ("pp", "vpp"),
        lambda c, x: ((-c.layers) % (x.pp * x.vpp) > 3) & (x.pp * x.vpp > 1),
        "pp {pp} x vpp {vpp} must divide the {layers} layers, plus up to 3 (embedding, loss, further heads)",
    ),
    "no_interleaving": Rule(
        ("vpp",), lambda c, x: x.vpp != 1, "vpp {vpp}: the framework has no interleaved schedule here; only 1"
    ),
    "interleaving_needs_stages": Rule(
        ("vpp", "pp"), lambda c, x: (x.vpp > 1) & (x.pp < 2), "vpp {vpp} needs pp of 2 or more"
    ),
    "interleaving_needs_near_even_stages": Rule(
        ("vpp", "pp"),
        lambda c, x: (x.vpp > 1) & ((-c.layers) % (x.pp * x.vpp) > 3),
        "vpp {vpp} x pp {pp} must divide the {layers} layers, plus up to 3 (embedding, loss, further heads): "
        "stages of other sizes are not interleaved",
    ),
    "interleaving_in_rounds": Rule(
        ("grad_accum", "pp", "vpp"),
        lambda c, x: (x.vpp > 1) & (x.grad_accum % x.pp != 0),
        "grad_accum {grad_accum} must be a multiple of pp {pp} when stages are interleaved",
    ),
    "interleaving_in_equal_rounds": Rule(
        ("grad_accum", "pp", "vpp"),
        lambda c, x: (x.vpp > 1) & (x.grad_accum % np.maximum(x.grad_accum // x.pp, 1) != 0),
        "grad_accum {grad_accum} must split into equal rounds of pp {pp} or more when stages are interleaved",
    ),
    "pipeline_in_rounds": Rule(
        ("grad_accum", "pp"),
        lambda c, x: x.grad_accum % x.pp != 0,
        "grad_accum {grad_accum} must be a multiple of pp {pp}",
    ),
    "pipeline_is_filled": Rule(
        ("grad_accum", "pp"),
        lambda c, x: x.grad_accum < x.pp,
        "grad_accum {grad_accum} must be at least pp {pp}, so the global batch at least pp x dp {dp} x "
        "micro_batch {micro_batch}: every stage needs a micro-batch",
    ),
    "stages_hold_layers": Rule(
        ("pp", "vpp"), lambda c, x: x.pp * x.vpp > c.layers, "pp {pp} x vpp {vpp} exceeds the {layers} layers"
    ),
    "batch_is_kept": Rule(
        ("grad_accum", "dp", "micro_batch"),
        lambda c, x: x.dp * x.micro_batch * x.grad_accum != c.global_batch,
        "dp {dp} x micro_batch {micro_batch} x grad_accum {grad_accum} must equal the global batch of "
        "{global_batch} sequences; the nearest batch that dp x micro_batch divides is {nearest_batch}",
    ),
    "no_expert_parallel": Rule(
        ("ep",), lambda c, x: x.ep != 1, "ep {ep}: the framework has no expert parallelism; only 1"
    ),
    "ep_divides_experts": Rule(
        ("ep",),
        lambda c, x: max(c.experts, 1) % x.ep != 0,
        "ep {ep} must divide the {experts} experts (1 where the model has none)",
    ),
    "etp_is_one": Rule(
        ("etp",), lambda c, x: x.etp != 1, "etp {etp}: the framework has no expert tensor parallelism; only 1"
    ),
    "etp_is_one_or_tp": Rule(
        ("etp", "tp"), lambda c, x: (x.etp != 1) & (x.etp != x.tp), "etp {etp} must be 1 or tp {tp}"
    ),
    "etp_needs_experts": Rule(
        ("etp",), lambda c, x: (c.experts == 0) & (x.etp != 1), "etp {etp}: the model has no experts; only 1"
    ),
    "expert_mesh_fits": Rule(
        ("ep", "etp", "tp", "cp", "dp"),
        lambda c, x: (x.tp * x.cp * x.dp) % (x.ep * x.etp) != 0,
        "ep {ep} x etp {etp} must divide tp {tp} x cp {cp} x dp {dp}",
    ),
    "ep_inside_data_parallel": Rule(
        ("ep", "dp", "cp"),
        lambda c, x: (x.cp * x.dp) % x.ep != 0,
        "ep {ep} must divide cp {cp} x dp {dp}",
    ),
    "experts_need_sequence_parallel": Rule(
        ("sequence_parallel", "tp"),
        lambda c, x: (c.experts > 0) & (x.tp > 1) & (x.sequence_parallel == 0),
        "sequence_parallel {sequence_parallel}: a model with experts needs 1 with tp {tp}",
    ),
    "zero_stage_exists": Rule(
        ("zero", "dp", "cp"),
        lambda c, x: ~np.isin(x.zero, c.zero) & ~((x.zero == 0) & (x.replicas == 1)),
        "zero {zero} is not among the stages {zero_stages}",
    ),
    "zero_3_without_pipeline": Rule(
        ("zero", "pp"), lambda c, x: (x.zero == 3) & (x.pp > 1), "zero {zero} cannot be combined with pp {pp}"
    ),
    "zero_2_without_pipeline": Rule(
        ("zero", "pp"), lambda c, x: (x.zero >= 2) & (x.pp > 1), "zero {zero} cannot be combined with pp {pp}"
    ),
    "zero_3_without_expert_parallel": Rule(
        ("zero", "ep"), lambda c, x: (x.zero == 3) & (x.ep > 1), "zero {zero} cannot be combined with ep {ep}"
    ),
    "shard_divides_hidden": Rule(
        ("shard", "dp", "cp"),
        lambda c, x: c.hidden % np.where(x.shard > 0, x.shard, x.replicas) != 0,
        "shard {shard} (0: all dp {dp} x cp {cp} replicas) must divide the hidden size {hidden}",
    ),
    "shard_divides_replicas": Rule(
        ("shard", "dp", "cp"),
        lambda c, x: (x.shard > 0) & (x.replicas % np.maximum(x.shard, 1) != 0),
        "shard {shard} must divide the dp {dp} x cp {cp} replicas",
    ),
    "ep_inside_shard": Rule(
        ("ep", "shard", "tp"),
        lambda c, x: (x.shard > 0) & ((x.shard * x.tp) % x.ep != 0),
        "ep {ep} must divide shard {shard} x tp {tp}",
    ),
    "load_fills_devices": Rule(  # a smaller batch of a forward pass is loaded for every device and cut
        ("micro_batch", "tp", "cp", "pp", "dp"),
        lambda c, x: (x.micro_batch >= x.tp * x.cp) & (c.global_batch % x.ranks != 0),
        "tp {tp} x cp {cp} x pp {pp} x dp {dp} must divide the global batch of {global_batch} sequences "
        "where micro_batch {micro_batch} gives each rank a whole one",
    ),
    "no_partial_shard": Rule(
        ("shard",), lambda c, x: x.shard != 0, "shard {shard}: the framework shards over all replicas; only 0"
    ),
    "narrow_tokens_in_sixteens": Rule(
        ("micro_batch", "cp", "tp"),
        lambda c, x: c.narrow & (x.micro_batch * c.sequence // x.cp % (c.grain * x.tp) != 0),
        "{micro_batch} x {sequence} tokens / (cp {cp} x tp {tp}) must be a multiple of {grain} in 8 bits",
    ),
    "local_sgd_exists": Rule(
        ("dp", "cp"),
        lambda c, x: (c.workers > 1) & (not c.local_sgd) & (x.replicas > 1),
        "dp {dp} in {workers} workers that train apart: the framework has no local SGD",
    ),
    "workers_share_nothing": Rule(
        ("shard", "dp", "cp"),
        lambda c, x: (c.workers > 1) & (x.shard * c.workers != x.replicas),
        "shard {shard} must be the dp {dp} x cp {cp} replicas over the {workers} workers that train apart",
    ),
    "schedule_exists": Rule(
        ("pp",),
        lambda c, x: (x.pp > 1) & (c.schedule not in ("", *c.schedules)),
        "pp {pp} with schedule {schedule}: the framework has {schedule_words}",
    ),
    "schedule_sets_chunks": Rule(
        ("vpp", "pp"),
        lambda c, x: (c.chunks > 0) & (x.pp > 1) & (x.vpp != c.chunks),
        "vpp {vpp}: schedule {schedule} has {chunks} chunks on a rank",
    ),
    "offload_exists": Rule(
        ("offload",),
        lambda c, x: ~np.isin(x.offload, c.offload),
        "offload {offload_word}: the framework has {offload_words}",
    ),
    "optimizer_runs_on_host": Rule(
        ("offload",),
        lambda c, x: (x.offload > 0) & (not c.hosted),
        "offload {offload_word}: the optimizer runs on no host here; Adam with its state in float32 does",
    ),
    "offload_without_pipeline": Rule(
        ("pp", "offload"),
        lambda c, x: (x.offload > 0) & (x.pp > 1),
        "pp {pp} cannot be combined with offload {offload_word}",
    ),
    "parameters_leave_sharded": Rule(
        ("zero", "offload"),
        lambda c, x: (x.offload == OFFLOAD.index("parameters")) & (x.zero != WHOLE),
        "zero {zero}: weights leave for host memory only where they are sharded, in stage 3",
    ),
    "optimizer_leaves_sharded": Rule(
        ("zero", "offload"),
        lambda c, x: (x.offload > 0) & (x.zero == 0) & (x.replicas > 1),
        "zero {zero}: the optimizer leaves for host memory only where it is sharded, from stage 1 on",
    ),
    "whole_blocks": Rule(
        ("dp", "tp", "cp", "pp"),
        lambda c, x: x.ranks % c.block != 0,
        "tp {tp} x cp {cp} x pp {pp} x dp {dp} must be a multiple of the {block} ranks taken at once",
    ),
}
GENERAL = (
    "batch_is_kept",
    "pipeline_is_filled",
    "stages_hold_layers",
    "interleaving_needs_stages",
    "ep_divides_experts",
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
