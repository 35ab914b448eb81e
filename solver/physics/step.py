"""The time of a training step, from its parts: what each layer costs, who waits for whom, what stays exposed.

Every part is exposed seconds, (N,); their sum is the step.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solver.architecture.blocks import Architecture, Shard
from solver.catalog.records import Framework
from solver.layout import Ints, Layouts, Stages
from solver.physics import communication as com
from solver.physics.compute import Layer, Workload, ends_s, mean_layer, tokens
from solver.physics.hardware import Floats, Network, Number, Rank
from solver.physics.memory import ByteModel, Held, held_by_layer, held_by_stage, Setting
from solver.physics.recompute import KINDS

PARTS = (
    "matmul",
    "attention",
    "elementwise",
    "launch",
    "recompute",
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "pipeline_parallel",
    "pipeline_bubble",
    "embedding_and_loss",
    "data_parallel",
    "optimizer",
    "overhead",
)
OPTIMIZER_PASSES = 2  # the optimizer reads and writes its state, the gradient and the weights


class LayerTime(NamedTuple):
    """What one layer costs one micro-batch on the critical path, by part. [s], each (K,)"""

    matmul: Number
    attention: Number
    elementwise: Number
    launch: Number
    recompute: Number

    @property
    def total(self) -> Number:
        """All parts together. [s]"""
        return self.matmul + self.attention + self.elementwise + self.launch + self.recompute


def layer_time(layer: Layer, recompute: Ints, framework: Framework) -> LayerTime:
    """A layer's passes, with what is recomputed, under the floor of the host that launches its kernels. (K,)

    A pass takes max(device, host); the backward pass launches twice the kernels, and what is recomputed once more.

    Source: measured on eager small models, see docs/physics.md (0.9 ms a layer in a 2023 stack).
    """
    forward, backward = layer
    kinds = [KINDS[name] for name in framework.recompute.values()]
    share = np.array([[k.matmul, k.attention, k.elementwise] for k in kinds])[recompute]
    again = share[:, 0] * forward.matmul + share[:, 1] * forward.attention + share[:, 2] * forward.elementwise
    host = framework.layer_launch
    waiting = np.maximum(host - forward.total, 0) + np.maximum(
        host * (2 + share.max(axis=1)) - (backward.total + again), 0
    )
    return LayerTime(
        forward.matmul + backward.matmul,
        forward.attention + backward.attention,
        forward.elementwise + backward.elementwise,
        waiting,
        again,
    )


@dataclass(frozen=True)
class Step:
    """One machine class, one framework, one precision: what the parts of a step are computed from. N layouts."""

    setting: Setting
    rank: Rank
    network: Network
    cut: Layouts
    stages: Stages

    @property
    def architecture(self) -> Architecture:
        """The model."""
        return self.setting.architecture

    @property
    def work(self) -> Workload:
        """The workload."""
        return self.setting.work

    @property
    def framework(self) -> Framework:
        """The framework."""
        return self.setting.framework

    @cached_property
    def passes(self) -> Layer:
        """A layer's compute passes. (N,)"""
        return mean_layer(self.architecture, self.cut, self.rank, self.work)

    @cached_property
    def layer(self) -> LayerTime:
        """A layer's compute on the critical path. (N,)"""
        return layer_time(self.passes, self.cut.recompute, self.framework)

    @cached_property
    def repeated(self) -> Floats:
        """Share of the forward communication that recompute repeats. (N,)"""
        shares = [KINDS[name].communication for name in self.framework.recompute.values()]
        return np.array(shares)[self.cut.recompute]

    @cached_property
    def hidden_bytes(self) -> Floats:
        """The hidden state of a micro-batch on a rank, whole. [B], (N,)"""
        return tokens(self.cut, self.work.sequence) * self.architecture.hidden * self.rank.width

    @cached_property
    def tensor_s(self) -> Floats:
        """Exposed tensor parallel communication of a layer: forward, backward, recomputed. [s], (N,)

        Each row-cut matmul sums its output over the tp ranks: an all-reduce, or a reduce-scatter with an all-gather
        before the next column-cut one, of the same cost; as often in the backward pass.

        Source: Shoeybi et al. 2019, arXiv 1909.08053; Korthikanti et al. 2022, arXiv 2205.05198, sec. 4.2.
        """
        cut, layers = self.cut, self.architecture.layers
        sums = sum(
            count * sum(m.shard is Shard.ROW and not m.routed for m in block.matmuls)
            for block, count in self.architecture.blocks
        )
        group = com.span(cut.tp, np.ones(1, np.int64), self.network)
        once = sums / layers * com.all_reduce_s(self.hidden_bytes, group, self.network)
        total = (2 + self.repeated) * once
        hiding = self.layer.matmul
        return com.exposed_s(total, hiding, self.framework.tensor_overlap)

    @cached_property
    def context_s(self) -> Floats:
        """Exposed context parallel communication of a layer: keys and values around a ring. [s], (N,)

        Forward (cp - 1) sends of the rank's keys and values, backward twice that (their gradients too), each behind
        the attention of the chunk before.

        Source: Liu et al. 2023, arXiv 2310.01889.
        """
        cut = self.cut
        widths = sum(
            count * (a.kv_heads * (a.qk_dim + a.v_dim))
            for block, count in self.architecture.blocks
            if (a := block.attention) is not None
        )
        kv = widths / self.architecture.layers / np.minimum(cut.tp, max(self.architecture.kv_heads, 1))
        chunk = tokens(cut, self.work.sequence) * kv * self.rank.width
        group = com.span(cut.cp, cut.tp, self.network)
        ring = com.gather_s(chunk * cut.cp, group, self.network)
        ahead, back = self.passes.forward.attention, self.passes.backward.attention
        return com.exposed_s(ring, ahead, 1.0) + com.exposed_s(2 * ring, back, 1.0)

    @cached_property
    def expert_s(self) -> Floats:
        """Exposed all-to-all of a layer: dispatch and combine, forward and backward. [s], (N,)

        A rank sends every token it holds once for each expert it goes to.
        Source: Lepikhin et al. 2020, arXiv 2006.16668.
        """
        cut = self.cut
        routed = sum(
            count * max((m.per_token for m in block.matmuls if m.routed), default=0.0)
            for block, count in self.architecture.blocks
        )
        payload = (
            self.hidden_bytes * routed / self.architecture.layers * cut.etp / cut.tp * self.work.imbalance
        )
        group = com.span(cut.ep, cut.etp, self.network)
        once = com.all_to_all_s(payload, group, self.network)
        return (4 + 2 * self.repeated) * once

    @cached_property
    def send_s(self) -> Floats:
        """A hidden state sent to the next stage, split over the tp ranks. [s], (N,)"""
        cut = self.cut
        along = np.where(cut.sequence_parallel == 1, cut.tp, 1)
        stride = cut.tp * cut.cp * cut.dp
        return com.send_s(self.hidden_bytes / along, stride, self.network) * (cut.pp > 1)

    @cached_property
    def embedding_and_loss_s(self) -> Floats:
        """What the stages with the tables take beyond a full stage of layers, a micro-batch. [s], (N,)"""
        embedding, loss = ends_s(self.architecture, self.cut, self.rank, self.work)
        layer = self.layer.total + self.tensor_s + self.context_s + self.expert_s
        first = embedding - (self.stages.most - self.stages.first) * layer
        last = loss - (self.stages.most - self.stages.last) * layer
        return np.where(self.cut.pp == 1, embedding + loss, np.maximum(np.maximum(first, last), 0))

    @cached_property
    def held(self) -> Held:
        """Parameters on a rank of a full stage. (N,)"""
        return held_by_stage(self.setting, self.cut, self.stages.most, 0)

    @cached_property
    def data_parallel_s(self) -> Floats:
        """Exposed gradient reduction and weight gathering of a step. [s], (N,)

        ZeRO 0: an all-reduce of the gradients. 1, 2: a reduce-scatter and a gather of the weights. 3: the weights are
        gathered forward and backward, and the gradients scattered, for every micro-batch. With a partial shard the
        gradients are summed over the copies besides. Hidden behind the backward pass (ZeRO 3: all passes), but for
        the bucket of the last layer.

        Source: Rajbhandari et al. 2020, arXiv 1910.02054; Zhao et al. 2023, arXiv 2304.11277.
        """
        cut, model = self.cut, self.setting.model
        shards = np.where(cut.shard > 0, cut.shard, cut.replicas)
        copies = cut.replicas // shards
        dense = self._reduction_s(self.held.dense, shards, copies, cut.tp)
        edp = np.maximum(cut.edp, 1)
        expert_shards = np.maximum(np.minimum(edp, shards), 1)
        expert = self._reduction_s(self.held.expert, expert_shards, edp // expert_shards, cut.ep * cut.etp)
        del model
        total = dense + expert
        compute = self.stages.most * (self.layer.total)
        hiding = np.where(cut.zero == 3, cut.grad_accum, 2 / 3) * compute
        exposed = com.exposed_s(total, hiding, self.framework.gradient_overlap)
        return np.maximum(
            exposed, total / np.maximum(self.stages.most * np.where(cut.zero == 3, cut.grad_accum, 1), 1)
        )

    def _reduction_s(self, held: Number, shards: Ints, copies: Ints, stride: Ints) -> Floats:
        """Data parallel communication of `held` parameters a step, nothing hidden. [s], (N,)"""
        cut, model = self.cut, self.setting.model
        inner = com.span(shards, stride, self.network)
        outer = com.span(copies, stride * shards, self.network)
        scatter = com.gather_s(held * model.gradient, inner, self.network)
        gather = com.gather_s(held * model.gathered, inner, self.network)
        summed = com.all_reduce_s(held * model.gradient / shards, outer, self.network)
        times = np.where(cut.zero == 3, cut.grad_accum, 1)
        sharded = times * (scatter + np.where(cut.zero == 3, 2, 1) * gather) + summed
        plain = com.all_reduce_s(
            held * model.gradient, com.span(shards * copies, stride, self.network), self.network
        )
        return np.where(cut.zero == 0, plain, sharded)

    @cached_property
    def optimizer_s(self) -> Floats:
        """The optimizer's pass over the state that a rank owns. [s], (N,)"""
        cut, model = self.cut, self.setting.model
        shards = np.where(cut.shard > 0, cut.shard, cut.replicas)
        expert_shards = np.maximum(np.minimum(cut.edp, shards), 1)
        on = cut.zero >= 1
        owned = self.held.dense / np.where(on, shards, 1) + self.held.expert / np.where(on, expert_shards, 1)
        moved = owned * (OPTIMIZER_PASSES * model.optimizer + model.gradient + model.weight)
        return moved / self.rank.pointwise_bytes_per_s

    def parts(self) -> dict[str, Floats]:
        """Exposed seconds of a step by part, in the order of PARTS. each (N,)

        A step is grad_accum micro-batches through the fullest stage, and the (pp - 1)/vpp stages that the first and
        last micro-batch wait for.  Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2.
        """
        cut = self.cut
        passes = cut.grad_accum * self.stages.most
        layer = self.layer.total + self.tensor_s + self.context_s + self.expert_s
        bubble = (cut.pp - 1) / cut.vpp * self.stages.most * layer
        sends = 2 * (cut.grad_accum * (1 - 0.5 * (cut.vpp > 1)) * cut.vpp + cut.pp - 1) * self.send_s
        values = (
            *(passes * part for part in self.layer),
            passes * self.tensor_s,
            passes * self.context_s,
            passes * self.expert_s,
            sends,
            bubble,
            cut.grad_accum * self.embedding_and_loss_s,
            self.data_parallel_s,
            self.optimizer_s,
            np.full(len(cut), self.framework.step_overhead),
        )
        return {name: value + np.zeros(len(cut)) for name, value in zip(PARTS, values, strict=True)}
