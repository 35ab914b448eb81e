"""How layers are dealt over the stages of a pipeline, and the batch over replicas and micro-batches."""

import numpy as np

from solver.rules.rule import Rule

STAGES = {
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
    "load_fills_devices": Rule(  # a smaller batch of a forward pass is loaded for every device and cut
        ("micro_batch", "tp", "cp", "pp", "dp"),
        lambda c, x: (x.micro_batch >= x.tp * x.cp) & (c.global_batch % x.ranks != 0),
        "tp {tp} x cp {cp} x pp {pp} x dp {dp} must divide the global batch of {global_batch} sequences "
        "where micro_batch {micro_batch} gives each rank a whole one",
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
}
