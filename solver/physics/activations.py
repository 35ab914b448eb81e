"""Activations of a layer on a rank, for each kind of layer (D) and each way to cut it (K). Bytes, (K, D)."""

from typing import NamedTuple

import numpy as np

from solver.architecture.blocks import Block, Pointwise, Shard
from solver.layout import Ints, Layouts
from solver.physics.compute import Workload, tokens
from solver.physics.hardware import Floats, Number
from solver.physics.setting import ONE_F_ONE_B, Schedule, Setting
from solver.physics.split import split

SCORES = 2.5  # 16-bit elements a head and key that unfused attention keeps: softmax, dropout, mask


class Saved(NamedTuple):
    """What the backward pass of a block needs, in elements per token on a rank. (K,)

    inputs    of the matmuls, one for all that read it; of them
    routed    those of the experts, and
    context   the outputs of attention, which attention itself needs again
    normed    inputs of norms and other element-wise passes
    outputs   of matmuls that feed attention or a non-linearity
    scores    of unfused attention
    sums      outputs of row-cut matmuls, beyond the rank's own part: before their sum over tp they are whole
    """

    inputs: Number
    routed: Number
    context: Number
    normed: Number
    outputs: Number
    scores: Number
    sums: Number


class LayerActivations(NamedTuple):
    """kept: by one micro-batch; working: more while a layer runs backward, recompute included. [B], (K, D)"""

    kept: Floats
    working: Floats


def along(cut: Layouts) -> Ints:
    """Ranks over which norms and residuals are split. (K,)"""
    return np.where(cut.sequence_parallel == 1, cut.tp, 1)


def saved_by_block(block: Block, cut: Layouts, work: Workload) -> Saved:
    """Elements per token that the backward pass of a block needs.

    The input of a row-cut matmul is cut by tp, that of another by tp only under sequence parallelism; the
    tokens of routed experts are shared by tp / etp. Outputs are cut as the matmul is.

    Source: Korthikanti et al. 2022, arXiv 2205.05198, sec. 4.1 and 4.2.2: 34 s b h bytes a layer without
    scores, 5 a s^2 b bytes of scores; without their dropout masks 32 s b h.
    """
    inputs, routed, context = matmul_inputs(block, cut, work)
    outputs: Number = 0.0
    for matmul in block.matmuls:
        if matmul.saves:
            ways = cut.tp / work.imbalance if matmul.routed else split(matmul, cut)
            outputs = outputs + matmul.outer * matmul.per_token / ways
    normed = sum((saved_by_pointwise(item, cut) for item in block.pointwise), np.zeros(1))
    heads = sum(a.heads for a in (block.attention, block.cross_attention) if a is not None)
    scores = 0.0 if work.flash else SCORES * heads / cut.tp * work.sequence
    whole = sum(m.outer for m in block.matmuls if m.shard is Shard.ROW and not m.routed)
    return Saved(inputs, routed, context, normed, outputs, scores, whole * (1 - 1 / cut.tp))


def matmul_inputs(block: Block, cut: Layouts, work: Workload) -> tuple[Number, Number, Number]:
    """Inputs of the matmuls of a block; those of the experts; those that attention computed. (K,)"""
    inputs: Number = 0.0
    routed: Number = 0.0
    context: Number = 0.0
    for matmul in {m.reads: m for m in block.matmuls}.values():
        cut_up = matmul.shard is Shard.ROW
        if matmul.routed:
            ways = cut.tp if cut_up else cut.tp / cut.etp
            routed = routed + matmul.inner * matmul.per_token * work.imbalance / ways
        else:
            inputs = inputs + matmul.inner / (cut.tp if cut_up else along(cut))
        if matmul.reads.endswith("context"):
            context = context + matmul.inner / cut.tp
    return inputs + routed, routed, context


def saved_by_pointwise(item: Pointwise, cut: Layouts) -> Number:
    """Elements per token that an element-wise pass keeps. (K,)"""
    return item.saves * item.per_token / (cut.tp if item.sharded or item.routed else along(cut))


def layer_activations(setting: Setting, blocks: tuple[Block, ...], cut: Layouts) -> LayerActivations:
    """Activations of each kind of layer."""
    each = [block_activations(setting, block, cut) for block in blocks]
    return LayerActivations(*(np.stack(columns, axis=-1) for columns in zip(*each, strict=True)))


def block_activations(setting: Setting, block: Block, cut: Layouts) -> tuple[Floats, Floats]:
    """What a block keeps, and what its backward pass needs besides. [B], (K,)

    8-bit matmuls keep their inputs in `narrow_bytes`; eager kernels keep `kept` times as much as fused ones.
    A layer that recomputes anything keeps its input, and has what it recomputes in full while it runs.
    """
    work, framework = setting.work, setting.framework
    saved = saved_by_block(block, cut, work)
    element = setting.element
    width = framework.narrow_bytes if setting.narrow else element
    twice = element * saved.context if width < element else 0.0
    inputs = framework.kept * (width * saved.inputs + element * saved.normed + twice)
    outputs = framework.kept * element * saved.outputs
    scores = element * saved.scores
    share = {
        name: np.array([getattr(kind, name) for kind in setting.kinds])[cut.recompute]
        for name in ("inputs", "outputs", "scores", "sums", "entry")
    }
    entry = element * block.hidden / along(cut) * share["entry"] * (share["inputs"] < 1)
    kept = share["inputs"] * inputs + share["outputs"] * outputs + share["scores"] * scores + entry
    again = inputs + outputs + scores + entry - kept
    kept = kept + share["sums"] * element * saved.sums
    rows = tokens(cut, work.sequence)
    none = np.zeros(len(cut))
    return rows * kept + none, rows * (again + element * passing(block, saved, cut)) + none


def passing(block: Block, saved: Saved, cut: Layouts) -> Floats:
    """Elements per token that live only while a layer runs backward. (K,)

    The gradients of its matmul outputs and of the tokens of its experts; under sequence parallelism the input
    that is gathered again, and its gradient.
    """
    gathered = np.where(along(cut) > 1, 2.0 * block.hidden, 0.0)
    return saved.outputs + saved.routed + gathered


def in_flight(layouts: Layouts, stage: Ints, schedule: Schedule = ONE_F_ONE_B) -> Floats:
    """Micro-batches whose activations a stage holds at once. (N,)

    1F1B: pp - i on stage i. Interleaved, stage i warms up 2 (pp - i - 1) + (vpp - 1) pp chunks of 1/vpp
    stage, and one more is computed.

    On a V every rank holds as many, pp (DualPipe one more).

    Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2; Megatron-Core, pipeline_parallel/schedules.py.
    """
    plain = layouts.pp - stage
    chunks = 2 * (layouts.pp - stage - 1) + (layouts.vpp - 1) * layouts.pp + 1
    held = np.where(layouts.vpp > 1, chunks / layouts.vpp, schedule.factor * plain + schedule.extra)
    if schedule.chunks:
        held = layouts.pp + schedule.extra + np.zeros_like(held)
    return np.minimum(held, layouts.grad_accum)
