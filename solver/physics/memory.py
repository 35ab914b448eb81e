"""How much memory the fullest device needs, by component. Bytes; arrays are (N,), one entry a layout."""

from typing import NamedTuple

import numpy as np

from solver.architecture.blocks import Architecture, Block, Matmul, Pointwise, Shard
from solver.catalog.records import Framework
from solver.layout import Ints, Layouts, Stages
from solver.physics.compute import Workload, tokens
from solver.physics.hardware import Floats, Number
from solver.physics.recompute import KINDS

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


def held_by_layer(architecture: Architecture, cut: Layouts) -> Held:
    """Parameters of the mean layer on a rank. [elements], (N,)

    Columns and rows are cut by tp (KV heads not below one head), experts by ep x etp; vectors and replicated matrices
    are whole on every rank.
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

    Matmuls that read one activation share it. An input of a row-cut matmul is cut by tp, that of another by tp only
    under sequence parallelism; outputs that feed a non-linearity or attention are cut as the matmul is. Scores: what
    unfused softmax attention keeps, 2.5 16-bit elements for each head and key (softmax, dropout, mask).

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


def saved_by_layer(
    architecture: Architecture, cut: Layouts, work: Workload, names: tuple[str, ...], narrow: bool
) -> tuple[Floats, Floats]:
    """Activations of the mean layer that one micro-batch keeps, and of one layer in full. [B], (N,)

    names: by index of cut.recompute, what is recomputed. Inputs of 8-bit matmuls are kept in 8 bits; others in 16.
    """
    along = np.where(cut.sequence_parallel == 1, cut.tp, 1)
    kinds = [KINDS[name] for name in names]
    keep = {
        f: np.array([getattr(k, f) for k in kinds])[cut.recompute] for f in ("inputs", "outputs", "scores")
    }
    kept, whole = np.zeros(1), np.zeros(1)
    width = 1.5 if narrow else 2.0  # norm inputs stay in 16 bits, matmul inputs need 8: about half each
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


def in_flight(cut: Layouts, stage_from_first: Ints) -> Floats:
    """Micro-batches whose activations a stage holds at once. (N,)

    1F1B: pp - i on stage i. Interleaved, stage i warms up 2 (pp - i - 1) + (vpp - 1) pp chunks of 1/vpp stage.

    Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2; Megatron-Core, pipeline_parallel/schedules.py.
    """
    plain = cut.pp - stage_from_first
    chunks = 2 * (cut.pp - stage_from_first - 1) + (cut.vpp - 1) * cut.pp + 1
    return np.where(
        cut.vpp > 1, np.minimum(chunks / cut.vpp, cut.grad_accum), np.minimum(plain, cut.grad_accum)
    )


def states(held: Held, cut: Layouts, model: ByteModel) -> tuple[Number, Number, Number]:
    """Weights, gradients and optimizer state of a rank by ZeRO stage. [B], (N,)

    Source: Rajbhandari et al. 2020, arXiv 1910.02054.
    """
    shards = np.where(cut.shard > 0, cut.shard, cut.replicas)
    expert_shards = np.maximum(np.minimum(cut.edp, shards), 1)
    parts = []
    for stage, width in ((3, model.weight), (2, model.gradient), (1, model.optimizer)):
        on = cut.zero >= stage
        dense = held.dense / np.where(on, shards, 1)
        parts.append(width * (dense + held.expert / np.where(on, expert_shards, 1)))
    return parts[0], parts[1], parts[2]


class Memory(NamedTuple):
    """Memory of the fullest stage by component (PARTS), its sum, and which stage it is (0 first, 1 second, 2 last)."""

    parts: dict[str, Floats]
    peak: Floats
    stage: Ints


class Setting(NamedTuple):
    """What decides memory beside the layout."""

    architecture: Architecture
    work: Workload
    framework: Framework
    narrow: bool
    model: ByteModel


def peak(setting: Setting, cut: Layouts, stages: Stages) -> Memory:
    """The fullest device: the first stage (most micro-batches), the second (no embedding) or the last (logits)."""
    candidates = [stage_memory(setting, cut, stages, position) for position in range(3)]
    totals = np.stack([sum(parts.values(), np.zeros(len(cut))) for parts in candidates])
    fullest = totals.argmax(axis=0)
    rows = np.arange(totals.shape[1])
    chosen = {
        name: np.stack([np.broadcast_to(parts[name], len(rows)) for parts in candidates])[fullest, rows]
        for name in PARTS
    }
    return Memory(chosen, totals[fullest, rows], fullest)


def stage_memory(setting: Setting, cut: Layouts, stages: Stages, position: int) -> dict[str, Floats]:
    """Memory of the first (0), second (1) or last (2) stage by component. [B], each (N,)"""
    layers = (stages.first, np.where(cut.pp > 2, stages.most, 0), stages.last)[position]
    index = np.minimum((0 * cut.pp, 0 * cut.pp + 1, cut.pp - 1)[position], cut.pp - 1)
    held = held_by_stage(setting, cut, layers, position)
    weights, gradients, optimizer = states(held, cut, setting.model)
    kept, whole = saved_by_layer(
        setting.architecture, cut, setting.work, tuple(setting.framework.recompute.values()), setting.narrow
    )
    activations = kept * layers * in_flight(cut, index) + whole * (cut.recompute > 0)
    logits = logits_bytes(setting, cut) * ((position == 2) | (cut.pp == 1))
    per_layer = held_by_layer(setting.architecture, cut)
    gathered = 2 * setting.model.gathered * (per_layer.dense + per_layer.expert) * (cut.zero == 3)
    dynamic = activations + logits + gathered
    parts = (weights, gradients, optimizer, activations, logits, gathered)
    context, lost = setting.framework.context, setting.framework.fragmentation * dynamic
    return {
        name: part + np.zeros(len(cut)) for name, part in zip(PARTS, (*parts, context, lost), strict=True)
    }


def held_by_stage(setting: Setting, cut: Layouts, layers: Ints, position: int) -> Held:
    """Parameters on a rank of a stage: its layers, the input table on the first, the output table on the last."""
    architecture = setting.architecture
    layer = held_by_layer(architecture, cut)
    growth = padded_vocabulary(architecture.vocab, cut.tp, setting.framework.vocab_multiple) / max(
        architecture.vocab, 1
    )
    first = (position == 0) | (cut.pp == 1)
    last = (position == 2) | (cut.pp == 1)
    output = architecture.head.weights if architecture.head else 0
    shared = architecture.tied_embeddings & first & last
    tables = (first * architecture.embeddings + (last & ~shared) * output) * growth / cut.tp
    return Held(layer.dense * layers + tables + last * architecture.final_vectors, layer.expert * layers)


def logits_bytes(setting: Setting, cut: Layouts) -> Floats:
    """Logits of one micro-batch and what the loss makes of them, cut over tp. [B], (N,)"""
    architecture = setting.architecture
    if architecture.head is None:
        return np.zeros(1)
    rows = tokens(cut, setting.work.sequence)
    return rows * architecture.head.outer / cut.tp * setting.framework.loss_bytes
