"""Who may share experts, states and host memory, and which machines are taken."""

import numpy as np

from solver.layout import OFFLOAD, one_of
from solver.rules.rule import Rule

WHOLE = 3  # the stage that shards the weights

SHARES = {
    "no_expert_parallel": Rule(
        ("ep",), lambda c, x: x.ep != 1, "ep {ep}: the framework has no expert parallelism; only 1"
    ),
    "ep_divides_experts": Rule(
        ("ep",),
        lambda c, x: c.experts % x.ep != 0,
        "ep {ep} must divide the {experts} experts",
    ),
    "ep_needs_experts": Rule(
        ("ep",), lambda c, x: (c.experts == 0) & (x.ep != 1), "ep {ep}: the model has no experts; only 1"
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
        lambda c, x: ~one_of(x.zero, c.zero) & ~((x.zero == 0) & (x.replicas == 1)),
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
    "no_partial_shard": Rule(
        ("shard",), lambda c, x: x.shard != 0, "shard {shard}: the framework shards over all replicas; only 0"
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
    "offload_exists": Rule(
        ("offload",),
        lambda c, x: ~one_of(x.offload, c.offload),
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
