"""The time of a training step: how often each layer runs, who waits for whom, what stays exposed.

Every part is exposed seconds, (N,); their sum is the step.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solver.layout import Bools, Ints, Layouts, Stages
from solver.physics import communication as com
from solver.physics import host
from solver.physics.hardware import Floats, Network, Number, Rank
from solver.physics.layer import LayerCost
from solver.physics.memory import LayerMemory, held_by_stage
from solver.physics.optimizers import newton_schulz_flops
from solver.physics.schedules import FORWARD_SHARE, wait_s
from solver.physics.setting import WORD, Setting
from solver.physics.split import Held
from solver.physics.states import (
    GRADIENTS,
    WEIGHTS,
    gathered_for_step,
    optimizer_bytes,
    outside_owned,
    owned_by,
)

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
    "outer_average",
    "optimizer",
    "offload",
    "overhead",
)
BACKWARD_SHARE = 2 / 3  # of a layer's time, in which gradients appear


@dataclass(frozen=True)
class Step:
    """A step of N layouts on one machine class, with one framework, in one precision.

    layer   cost of a layer in each layout (N,); memory: what a layer holds (N,)
    """

    setting: Setting
    rank: Rank
    network: Network
    layouts: Layouts
    stages: Stages
    layer: LayerCost
    memory: LayerMemory

    @cached_property
    def steady_s(self) -> Floats:
        """The layers of a step: all micro-batches through the fullest stage, and the bubble. [s], (N,)"""
        return self.layouts.grad_accum * self.stages.most * self.layer.total + self.bubble_s

    @cached_property
    def bubble_s(self) -> Floats:
        """What a rank waits for other stages in a step. [s], (N,)"""
        return self.stages.most * wait_s(self.setting.schedule, self.layouts, self.layer)

    @cached_property
    def ends_s(self) -> Floats:
        """What the stages with the tables take beyond a full stage of layers, a step. [s], (N,)"""
        layer, stages = self.layer, self.stages
        first = layer.embedding - (stages.most - stages.first) * layer.total
        last = layer.loss - (stages.most - stages.last) * layer.total
        pair = first + last if self.setting.schedule.chunks else np.maximum(first, last)
        apart = np.maximum(pair, 0)
        once = np.where(self.layouts.pp == 1, layer.embedding + layer.loss, apart)
        return np.asarray(self.layouts.grad_accum * once, np.float64)

    @property
    def floor_s(self) -> Floats:
        """A lower bound of the step: layers and tables without communication between replicas. (N,)"""
        return self.steady_s + self.ends_s

    @cached_property
    def held(self) -> Held:
        """Parameters on a rank of a full stage. (N,)"""
        return held_by_stage(self.setting, self.memory, self.layouts, (self.stages.most, 0))

    @cached_property
    def data_parallel_s(self) -> Floats:
        """Exposed gradient reduction and weight gathering of a step. [s], (N,)

        Hidden behind the backward pass of the last micro-batch (ZeRO 2: of all, 3: all passes), but for the
        bucket of the last layer, which has nothing to hide behind. Owners of whole tensors send them when
        the step is over.

        Source: Zhao et al. 2023, arXiv 2304.11277.
        """
        layouts, shards = self.layouts, self.layouts.shards
        edp = np.maximum(layouts.edp, 1)
        total = self._reduction_s(self.held.dense, (shards.dense, layouts.replicas), layouts.tp)
        if self.setting.architecture.experts:
            stride = layouts.ep * layouts.etp
            total = total + self._reduction_s(self.held.expert, (shards.expert, edp), stride)
        compute = self.stages.most * self.layer.compute.total
        hiding = np.where(self.regathers, 1, BACKWARD_SHARE) * self.reductions * compute
        exposed = com.exposed_s(total, hiding, self.rank.gradient_overlap)
        return np.maximum(exposed, total / (self.stages.most * self.reductions)) + self.owners_s

    @property
    def owners_s(self) -> Floats:
        """What it takes beyond a gather that each rank sends the whole tensors it owns itself. [s], (N,)"""
        if not (whole := self.setting.framework.owned_tensors):
            return np.zeros(len(self.layouts))
        shards = self.layouts.shards.dense
        group = com.span(shards, self.layouts.tp, self.network)
        owners = np.where(self.layouts.zero > 0, np.minimum(shards, whole * self.stages.most), 0)
        return com.broadcasts_s(owners, group, self.network)

    @cached_property
    def regathers(self) -> Bools:
        """Layouts that gather their weights for every pass. (N,)"""
        return np.asarray((self.layouts.zero == WEIGHTS) & ~gathered_for_step(self.layouts, self.setting))

    @cached_property
    def reductions(self) -> Ints:
        """How often gradients are reduced a step: where they are sharded, with every micro-batch. (N,)"""
        every = self.regathers | (self.layouts.zero == GRADIENTS)
        return np.where(every, self.layouts.grad_accum, 1)

    def _reduction_s(self, held: Number, replicas: tuple[Ints, Ints], stride: Ints) -> Floats:
        """Data parallel communication of `held` parameters a step, nothing hidden. [s], (N,)

        ZeRO 0: an all-reduce of the gradients. 1: a reduce-scatter and a gather of the weights. 2: scatters
        with every micro-batch. 3: gathers them forward and backward too (once where they stay gathered). A
        partial shard sums the gradients over the copies besides. From stage 2 on each layer is a collective
        of its own (layer_calls: each tensor that is gathered). replicas: (that share one copy, all).

        Source: Rajbhandari et al. 2020, arXiv 1910.02054; DeepSpeed, runtime/engine.py, backward.
        """
        shards, ranks = replicas
        model, zero, trained = self.setting.model, self.layouts.zero, self.setting.architecture.trained
        inner = com.span(shards, stride, self.network)
        gradients, calls = held * trained * model.gradient, np.where(zero >= GRADIENTS, self.stages.most, 1)
        sent = held * trained * np.where(zero == 1, self.setting.framework.reduced_bytes, 0)
        weights = held * np.where(self.regathers, 1, trained) * model.gathered
        tensors = np.maximum(calls, self.setting.framework.layer_calls * self.stages.most)
        messages = ((np.maximum(gradients, sent), calls), (weights, tensors))
        scatter, gather = com.gathers_s(messages, inner, self.network)
        gathers = np.where(self.regathers, 2 * self.layouts.grad_accum, 1)
        sharded = self.reductions * scatter + gathers * gather
        if self.setting.local.workers == 1 and ((copies := ranks // shards) > 1).any():
            outer = com.span(copies, stride * shards, self.network)
            sharded = sharded + com.all_reduce_s(gradients / shards, outer, self.network)
        if not (whole := (zero == 0) & (ranks > 1)).any():
            return sharded
        return np.where(whole, com.all_reduce_s(gradients, inner, self.network), sharded)

    @cached_property
    def outer_s(self) -> Floats:
        """Workers that train apart average their float32 weights; its share of a step, exposed. [s], (N,)

        Source: Douillard et al. 2023, arXiv 2311.08105, algorithm 1.
        """
        local, shards = self.setting.local, self.layouts.shards
        if local.workers == 1:
            return np.zeros(len(self.layouts))
        sent = WORD * (self.held.dense / shards.dense + self.held.expert / shards.expert)
        workers = np.full(len(self.layouts), local.workers)
        group = com.span(workers, self.layouts.tp * shards.dense, self.network)
        once = com.all_reduce_s(sent, group, self.network)
        if local.bytes_per_s:
            ranks = self.layouts.ranks // local.workers
            once = 2 * (1 - 1 / workers) * sent * ranks / local.bytes_per_s
        return once / local.steps

    @cached_property
    def owned(self) -> Floats:
        """Parameters that a rank updates. (N,)"""
        return self.setting.architecture.trained * owned_by(self.held, self.layouts)

    @cached_property
    def optimizer_s(self) -> Floats:
        """The optimizer's pass over the state that a rank owns: read and written once. [s], (N,)

        And the products of its iterations on whole matrices, in 16 bits, shared as the state is.
        """
        model, kind = self.setting.model, self.setting.optimizer
        state = self.setting.architecture.trained * optimizer_bytes(self.held, self.layouts, self.setting)
        moved = 2 * state + self.owned * (model.gradient + model.weight)
        seconds = moved / self.rank.pointwise_bytes_per_s
        if kind.iterations:
            matrices = self.owned - outside_owned(self.held, self.layouts)
            each = kind.iterations * newton_schulz_flops(self.setting.architecture)
            seconds = seconds + each * matrices / (self.rank.peak_16 * self.rank.gemm_16.efficiency)
        return np.where(host.offloaded(self.layouts), 0.0, seconds)

    @cached_property
    def offload_s(self) -> Floats:
        """Exposed copies to host memory and back, and the host's update. [s], (N,)"""
        if not self.layouts.offload.any():
            return np.zeros(len(self.layouts))
        moved = host.moved(self.owned, self.setting, (self.rank, self.network), self.layouts)
        compute = self.layouts.grad_accum * self.stages.most * self.layer.compute.total
        return com.exposed_s(moved.copied, compute, self.rank.gradient_overlap) + moved.updated

    @cached_property
    def send_s(self) -> Floats:
        """Hidden states between stages of a step: for each micro-batch forward and back. [s], (N,)

        Interleaving sends vpp times as often, behind the chunk that runs meanwhile; what fills and drains the
        pipeline has none.

        Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2; Megatron-Core, overlap_p2p_comm.
        """
        layouts, layer = self.layouts, self.layer
        sent = com.send_s(layer.handed_bytes, layouts.tp * layouts.cp * layouts.dp, self.network)
        sent = np.where(layouts.pp > 1, sent, 0.0)
        held_up = layer.regathered + self.setting.framework.send_pause
        chunk = self.stages.most / layouts.vpp * layer.total * FORWARD_SHARE
        shown = np.where(layouts.vpp > 1, np.maximum(sent - chunk, 0), sent)
        steady = layouts.grad_accum * layouts.vpp * (shown + held_up)
        return np.where(layouts.pp > 1, 2 * (steady + (layouts.pp - 1) * (sent + held_up)), 0.0)

    def parts(self) -> dict[str, Floats]:
        """Exposed seconds of a step by part, in the order of PARTS. Each (N,)"""
        return dict(zip(PARTS, self._exposed, strict=True))

    @cached_property
    def _exposed(self) -> tuple[Floats, ...]:
        """In the order of PARTS. [s], each (N,)"""
        passes = self.layouts.grad_accum * self.stages.most
        return (
            *(passes * part for part in self.layer.compute),
            passes * self.layer.tensor,
            passes * self.layer.context,
            passes * self.layer.expert,
            self.send_s,
            self.bubble_s,
            self.ends_s,
            self.data_parallel_s,
            self.outer_s,
            self.optimizer_s,
            self.offload_s,
            np.full(len(self.layouts), self.setting.framework.step_overhead),
        )

    @cached_property
    def step_s(self) -> Floats:
        """The whole step. [s], (N,)"""
        return sum(self._exposed, np.zeros(len(self.layouts)))
