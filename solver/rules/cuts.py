"""How tensor and context parallelism may cut layers and sequences."""

from solver.layout import one_of
from solver.rules.rule import Rule

CUTS = {
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
        lambda c, x: ~one_of(x.tp, c.core_counts),
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
    "narrow_tokens_in_sixteens": Rule(
        ("micro_batch", "cp", "tp"),
        lambda c, x: c.narrow & (x.micro_batch * c.sequence // x.cp % (c.grain * x.tp) != 0),
        "{micro_batch} x {sequence} tokens / (cp {cp} x tp {tp}) must be a multiple of {grain} in 8 bits",
    ),
}
