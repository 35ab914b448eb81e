"""How much memory the fullest device needs, by component. Bytes; arrays are (N,), one entry a layout."""

from typing import NamedTuple, Self

import numpy as np

from solver.architecture.blocks import Architecture, Block, Matmul, Pointwise, Shard
from solver.catalog.records import Framework
from solver.layout import Ints, Layouts, Stages
from solver.physics.compute import Workload, tokens
from solver.physics.hardware import Floats, Number
from solver.physics.recompute import Recompute

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "gathered", "context", "fragmentation")


class Held(NamedTuple):
    """Parameters of one rank: dense and expert ones of its layers, and of the tables. [elements], (N,)"""

    dense: Number
    expert: Number


class ByteModel(NamedTuple):
    """Bytes an element is held in: the weights that compute, gradients, float32 master copy and moments."""

    weight: float
    gradient: float
    optimizer: float
    gathered: float


class Setting(NamedTuple):
    """What decides memory beside the layout."""

    architecture: Architecture
    work: Workload
    framework: Framework
    narrow: bool
    model: ByteModel
    kinds: tuple[Recompute, ...]  # by the index in layout.RECOMPUTE


def held_by_layer(architecture: Architecture, cut: Layouts) -> Held:
    """Parameters of the mean layer on a rank. [elements], (N,)

    Columns and rows are cut by tp (KV heads not below one head), experts by ep x etp; vectors and replicated
    matrices are whole on every rank.
    """
    dense: Number = 0.0
    expert: Number = 0.0
    for block, count in architecture.blocks:
        share = count / architecture.layers
        dense = dense + share * block.vectors
        for matmul in block.matmuls:
            if matmul.routed:
                expert = expert + share * matmul.parameters / (cut.ep * cut.etp)
            else:
                dense = dense + share * matmul.parameters / split(matmul, cut)
    return Held(dense, expert)


def split(matmul: Matmul, cut: Layouts) -> Ints:
    """Into how many parts tensor parallelism cuts a dense matrix. (N,)"""
    if matmul.shard is Shard.REPLICATED:
        return np.ones(1, np.int64)
    return np.minimum(cut.tp, matmul.units) if matmul.units else cut.tp


def padded_vocabulary(vocab: int, tp: Ints, multiple: int) -> Ints:
    """Rows of the tables after padding to a multiple of `multiple` x tp. (N,)

    Source: Megatron-LM, --make-vocab-size-divisible-by.
    """
    step = multiple * tp
    return -(-vocab // step) * step


def saved_by_block(block: Block, cut: Layouts, work: Workload) -> tuple[Number, Number, Number]:
    """Elements per token that the backward pass needs: inputs (of matmuls and norms), outputs, scores. (K,)

    Matmuls that read one activation share it. An input of a row-cut matmul is cut by tp, that of another by
    tp only under sequence parallelism; outputs that feed a non-linearity or attention are cut as the matmul
    is. Scores: what unfused softmax attention keeps, 2.5 16-bit elements for each head and key (softmax,
    dropout, mask).

    Source: Korthikanti et al. 2022, arXiv 2205.05198, sec. 4.1 (34 s b h bytes without scores).
    """
    along = np.where(cut.sequence_parallel == 1, cut.tp, 1)
    inputs: Number = 0.0
    outputs: Number = 0.0
    for matmul in {m.reads: m for m in block.matmuls}.values():
        if matmul.routed:
            ways = cut.tp if matmul.shard is Shard.ROW else cut.tp / cut.etp
            inputs = inputs + matmul.inner * matmul.per_token * work.imbalance / ways
        else:
            inputs = inputs + matmul.inner / (cut.tp if matmul.shard is Shard.ROW else along)
    for matmul in block.matmuls:
        if matmul.saves:
            ways = cut.tp / work.imbalance if matmul.routed else split(matmul, cut)
            outputs = outputs + matmul.outer * matmul.per_token / ways
    for item in block.pointwise:
        inputs = inputs + saved_by_pointwise(item, cut, along)
    scores: Number = 0.0
    if block.attention is not None and not work.flash:
        scores = 2.5 * block.attention.heads / cut.tp * work.sequence
    return inputs, outputs, scores


def saved_by_pointwise(item: Pointwise, cut: Layouts, along: Ints) -> Number:
    """Elements per token that an element-wise pass keeps. (K,)"""
    return item.saves * item.per_token / (cut.tp if item.sharded or item.routed else along)


def saved_by_layer(setting: Setting, cut: Layouts) -> tuple[Floats, Floats]:
    """Activations of the mean layer that one micro-batch keeps, and of one layer in full. [B], (N,)

    Inputs of 8-bit matmuls are kept in 8 bits; others
    in 16.
    """
    along = np.where(cut.sequence_parallel == 1, cut.tp, 1)
    architecture, work = setting.architecture, setting.work
    keep = {
        f: np.array([getattr(kind, f) for kind in setting.kinds])[cut.recompute]
        for f in ("inputs", "outputs", "scores")
    }
    kept, whole = np.zeros(1), np.zeros(1)
    width = (
        1.5 if setting.narrow else 2.0
    )  # norm inputs stay in 16 bits, matmul inputs need 8: about half each
    for block, count in architecture.blocks:
        inputs, outputs, scores = saved_by_block(block, cut, work)
        share = count / architecture.layers
        kept = kept + share * (
            width * keep["inputs"] * inputs + 2 * keep["outputs"] * outputs + 2 * keep["scores"] * scores
        )
        whole = np.maximum(whole, width * inputs + 2 * outputs + 2 * scores)
    block_input = 2 * architecture.hidden / along * (keep["inputs"] < 1)
    rows = tokens(cut, work.sequence)
    return rows * (kept + block_input), rows * whole


def in_flight(layouts: Layouts, stage: Ints) -> Floats:
    """Micro-batches whose activations a stage holds at once. (N,)

    1F1B: pp - i on stage i. Interleaved, stage i warms up 2 (pp - i - 1) + (vpp - 1) pp chunks of 1/vpp
    stage.

    Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2; Megatron-Core, pipeline_parallel/schedules.py.
    """
    plain = layouts.pp - stage
    chunks = 2 * (layouts.pp - stage - 1) + (layouts.vpp - 1) * layouts.pp + 1
    held = np.where(layouts.vpp > 1, chunks / layouts.vpp, plain)
    return np.minimum(held, layouts.grad_accum)


class Shards(NamedTuple):
    """Ranks that share one copy of what ZeRO shards: of dense and of expert weights. (N,)"""

    dense: Ints
    expert: Ints

    @classmethod
    def of(cls, layouts: Layouts) -> Self:
        """Shard 0: all replicas; experts are replicated less often."""
        dense = np.where(layouts.shard > 0, layouts.shard, layouts.replicas)
        return cls(dense, np.maximum(np.minimum(layouts.edp, dense), 1))


def states(held: Held, layouts: Layouts, model: ByteModel) -> tuple[Floats, Floats, Floats]:
    """Weights, gradients and optimizer state of a rank by ZeRO stage. [B], (N,)

    Source: Rajbhandari et al. 2020, arXiv 1910.02054.
    """
    shards = Shards.of(layouts)
    whole = held.dense + held.expert
    shared = held.dense / shards.dense + held.expert / shards.expert
    return (
        model.weight * np.where(layouts.zero >= 3, shared, whole),
        model.gradient * np.where(layouts.zero >= 2, shared, whole),
        model.optimizer * np.where(layouts.zero >= 1, shared, whole),
    )


class LayerMemory(NamedTuple):
    """What one layer, and one micro-batch at the loss, takes on a rank. (K,)

    held           parameters of the layer [elements]
    tables         rows x columns of one vocabulary table [elements]
    kept, whole    activations that a micro-batch keeps, and those of one layer in full [B]
    logits         [B]
    """

    dense: Floats
    expert: Floats
    tables: Floats
    kept: Floats
    whole: Floats
    logits: Floats

    def take(self, index: Ints) -> Self:
        """Of the ways at `index`: from ways to cut a layer to layouts."""
        return type(self)(*(array[index] for array in self))


def layer_memory(setting: Setting, cut: Layouts) -> LayerMemory:
    """One layer on a rank, for each way to cut it. (K,)"""
    architecture = setting.architecture
    held = held_by_layer(architecture, cut)
    kept, whole = saved_by_layer(setting, cut)
    rows = padded_vocabulary(architecture.vocab, cut.tp, setting.framework.vocab_multiple)
    arrays = (
        held.dense,
        held.expert,
        rows * architecture.hidden / cut.tp,
        kept,
        whole,
        logits_bytes(setting, cut),
    )
    return LayerMemory(*(array + np.zeros(len(cut)) for array in arrays))


def logits_bytes(setting: Setting, cut: Layouts) -> Floats:
    """Logits of one micro-batch and what the loss makes of them, cut over tp. [B], (K,)"""
    architecture = setting.architecture
    if architecture.head is None:
        return np.zeros(1)
    rows = tokens(cut, setting.work.sequence)
    return rows * architecture.head.outer / cut.tp * setting.framework.loss_bytes


class Memory(NamedTuple):
    """Memory of the fullest device by component (PARTS), its sum, and its stage (0 first, 1 second, 2 last)."""

    parts: dict[str, Floats]
    peak: Floats
    stage: Ints


def peak(setting: Setting, layer: LayerMemory, layouts: Layouts, stages: Stages) -> Memory:
    """The fullest device: first stage (most micro-batches), second (no embedding) or last (logits). (N,)

    layer: of each layout (N,), see layer_memory.
    """
    candidates = [stage_memory(setting, layer, layouts, (stages, position)) for position in range(3)]
    totals = np.stack([sum(parts.values(), np.zeros(len(layouts))) for parts in candidates])
    fullest = totals.argmax(axis=0)
    chosen = {name: np.choose(fullest, [parts[name] for parts in candidates]) for name in PARTS}
    return Memory(chosen, totals.max(axis=0), fullest)


def stage_memory(
    setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Stages, int]
) -> dict[str, Floats]:
    """Memory of the first (0), second (1) or last (2) stage by component. [B], each (N,)"""
    stages, position = at
    pp = layouts.pp
    layers = (stages.first, np.where(pp > 2, stages.most, 0), stages.last)[position]
    index = np.minimum((np.zeros_like(pp), np.ones_like(pp), pp - 1)[position], pp - 1)
    held = held_by_stage(setting, layer, layouts, (layers, position))
    weights, gradients, optimizer = states(held, layouts, setting.model)
    recomputing = layer.whole * (layouts.recompute > 0)
    activations = layer.kept * layers * in_flight(layouts, index) + recomputing
    logits = layer.logits * ((position == 2) | (pp == 1))
    gathered = 2 * setting.model.gathered * (layer.dense + layer.expert) * (layouts.zero == 3)
    lost = setting.framework.fragmentation * (activations + logits + gathered)
    context = np.full(len(layouts), setting.framework.context)
    parts = (weights, gradients, optimizer, activations, logits, gathered, context, lost)
    return dict(zip(PARTS, parts, strict=True))


def held_by_stage(setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Ints, int]) -> Held:
    """Parameters on a rank of a stage: its layers, the input table on the first, the output table on the
    last.
    """
    architecture = setting.architecture
    layers, position = at
    first = (position == 0) | (layouts.pp == 1)
    last = (position == 2) | (layouts.pp == 1)
    tied = architecture.tied_embeddings & first & last
    output = last & ~tied & (architecture.head is not None)
    tables = layer.tables * (1.0 * first + 1.0 * output)
    positions = first * float(architecture.positions)
    return Held(
        layer.dense * layers + tables + positions + last * architecture.final_vectors, layer.expert * layers
    )
