"""What a layer costs one micro-batch: its compute under the floor of the host, its communication.

Arrays are (K,): one entry for each way to cut a layer (layout.Cuts).
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from solver.architecture.blocks import Shard
from solver.layout import Ints, Layouts
from solver.physics import communication as com
from solver.physics.compute import Layer, Pass, ends_s, mean_layer, pieces_s, tokens
from solver.physics.hardware import Floats, Network, Number, Rank
from solver.physics.recompute import last_share
from solver.physics.setting import Setting
from solver.physics.split import held_by_layer
from solver.physics.towers import towers_s


class LayerTime(NamedTuple):
    """What one layer costs one micro-batch on the critical path, by part. [s], each (K,)"""

    matmul: Floats
    attention: Floats
    elementwise: Floats
    launch: Floats
    recompute: Floats

    @property
    def total(self) -> Floats:
        """All parts together. [s]"""
        return self.matmul + self.attention + self.elementwise + self.launch + self.recompute


def host_s(setting: Setting, cut: Layouts) -> Floats:
    """Host time to launch the forward kernels of the mean layer; each expert held has its own. [s], (K,)"""
    architecture, framework = setting.architecture, setting.framework
    experts = sum(
        count * max((m.copies for m in block.matmuls if m.routed), default=0)
        for block, count in architecture.blocks
    )
    return framework.layer_launch + framework.expert_launch * experts / architecture.layers / cut.ep


def layer_time(layer: Layer, cut: Layouts, setting: Setting, communication_s: Number = 0.0) -> LayerTime:
    """A layer's passes, with what is recomputed, under the floor of the host that launches its kernels. (K,)

    A pass takes max(device, host); the backward pass launches twice the kernels, and what is recomputed once
    more. communication_s: exposed beside the passes, half of it ahead; the host launches it meanwhile.

    Source: measured on eager small models, see docs/physics.md (0.9 ms a layer in a 2023 stack).
    """
    forward, backward = layer
    last = last_share(setting.architecture)
    share = np.array(
        [[k.matmul * (1 - last * k.ends_early), k.attention, k.elementwise] for k in setting.kinds]
    )[cut.recompute]
    again = share[:, 0] * forward.matmul + share[:, 1] * forward.attention + share[:, 2] * forward.elementwise
    host, half = host_s(setting, cut), communication_s / 2
    waiting = np.maximum(host - forward.total - half, 0) + np.maximum(
        host * (2 + share.max(axis=1)) - (backward.total + again + half), 0
    )
    kinds_of_work = (ahead + back for ahead, back in zip(forward, backward, strict=True))
    return LayerTime(*(part + np.zeros(len(cut)) for part in (*kinds_of_work, waiting, again)))


class Compute(NamedTuple):
    """What a rank computes of one micro-batch, whatever joins the ranks: passes of a layer, and the tables.
    [s], each (K,); with the constants of C devices side by side (C, K).
    """

    layer: Layer
    embedding: Number
    loss: Number

    @classmethod
    def of(cls, setting: Setting, rank: Rank, cut: Layouts) -> Self:
        """For each way to cut a layer."""
        passes = mean_layer(setting.architecture, cut, rank, setting.work)
        return cls(passes, *ends_s(setting.architecture, cut, rank, setting.work))

    def at(self, device: int, ways: Ints) -> Self:
        """Of one of the devices side by side: ways at these places. (K,)"""
        parts = (*self.layer.forward, *self.layer.backward, self.embedding, self.loss)
        taken = [part[device, ways] for part in np.broadcast_arrays(*parts)]
        return type(self)(Layer(Pass(*taken[:3]), Pass(*taken[3:6])), *taken[6:])


@dataclass(frozen=True)
class LayerCost:
    """What a layer, and the tables, cost one micro-batch on a rank; exposed seconds, each (K,).

    handed_bytes    of the hidden state of a micro-batch, what a rank sends to the next stage [B]
    regathered      seconds to make it whole again there, over the tensor ranks
    """

    compute: LayerTime
    tensor: Floats
    context: Floats
    expert: Floats
    embedding: Floats
    loss: Floats
    handed_bytes: Floats
    regathered: Floats

    @cached_property
    def total(self) -> Floats:
        """Of a layer, forward and backward. [s]"""
        return self.compute.total + self.tensor + self.context + self.expert

    def take(self, index: Ints) -> Self:
        """The costs at `index`: from ways to cut a layer to layouts."""
        compute = LayerTime(*(part[index] for part in self.compute))
        others = (getattr(self, f.name)[index] for f in fields(self) if f.name != "compute")
        return type(self)(compute, *others)


def layer_cost(
    setting: Setting, rank: Rank, network: Network, cut: Layouts, known: Compute | None = None
) -> LayerCost:
    """One layer, for each way to cut it; known: its compute, where that is at hand. (K,)"""
    compute = known or Compute.of(setting, rank, cut)
    passes = accumulating(compute.layer, setting, rank, cut)
    matmul_s = passes.forward.matmul + passes.backward.matmul
    hidden = tokens(cut, setting.work.sequence) * setting.architecture.hidden * rank.width
    embedding = compute.embedding + towers_s(setting, rank, cut)
    call = Call(setting, network, cut, hidden)
    exposed = (tensor_s(call, matmul_s, rank), context_s(call, passes, rank.width), expert_s(call, matmul_s))
    on_path = layer_time(passes, cut, setting, sum(exposed))
    arrays = (*exposed, embedding, compute.loss, *hand_off(call))
    return LayerCost(on_path, *(array + np.zeros(len(cut)) for array in arrays))


def accumulating(layer: Layer, setting: Setting, rank: Rank, cut: Layouts) -> Layer:
    """The passes with the gradients of a micro-batch added to their sum: traffic of each weight held. (K,)"""
    held = held_by_layer(setting.architecture, cut)
    trained = setting.architecture.trained * (held.dense + held.expert)
    moved = trained * setting.framework.accumulation_bytes
    backward = layer.backward
    added = backward.elementwise + moved / rank.pointwise_bytes_per_s
    return layer._replace(backward=backward._replace(elementwise=added))


class Call(NamedTuple):
    """What the communication of a layer is computed from. hidden_bytes: of a micro-batch, whole. (K,)"""

    setting: Setting
    network: Network
    cut: Layouts
    hidden_bytes: Floats

    @property
    def repeated(self) -> Floats:
        """Share of the forward communication that recompute repeats. (K,)"""
        return np.array([kind.communication for kind in self.setting.kinds])[self.cut.recompute]


def hand_off(call: Call) -> tuple[Floats, Floats]:
    """Bytes that a rank sends to the next stage, seconds to gather them there. (K,)

    Where a framework scatters, a rank sends its tp-th part, and the stage gathers it again unless sequence
    parallelism keeps it cut.

    Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 4.1.
    """
    cut, scattered = call.cut, call.setting.framework.scattered
    parallel = cut.sequence_parallel == 1
    group = com.span(cut.tp, np.ones(1, np.int64), call.network)
    gathered = com.gather_s(call.hidden_bytes, group, call.network)
    parts = cut.tp if scattered else np.where(parallel, cut.tp, 1)
    return call.hidden_bytes / parts, np.where(parallel, 0.0, scattered * gathered)


def tensor_s(call: Call, matmul_s: Number, rank: Rank) -> Floats:
    """Exposed tensor parallel communication of a layer: forward, backward, recomputed. [s], (K,)

    Each row-cut matmul sums its output over the tp ranks: an all-reduce, or a reduce-scatter with an all-
    gather before the next column-cut one, of the same cost; as often in the backward pass.

    Source: Shoeybi et al. 2019, arXiv 1909.08053; Korthikanti et al. 2022, arXiv 2205.05198, sec. 4.2.
    """
    architecture = call.setting.architecture
    sums = sum(
        count * sum(m.shard is Shard.ROW and not m.routed for m in block.matmuls)
        for block, count in architecture.blocks
    )
    group = com.span(call.cut.tp, np.ones(1, np.int64), call.network)
    once = sums / architecture.layers * com.all_reduce_s(call.hidden_bytes, group, call.network)
    total, share = (2 + call.repeated) * once, call.setting.framework.tensor_overlap
    pieces = sum(count * pieces_s(block, call.cut, rank) for block, count in architecture.blocks)
    gained = np.minimum(share * total, matmul_s) - share * pieces / architecture.layers
    return total - np.maximum(gained, 0.0)


def context_s(call: Call, passes: Layer, width: float) -> Floats:
    """Exposed context parallel communication of a layer: keys and values around a ring. [s], (K,)

    Forward (cp - 1) sends of the rank's keys and values, backward twice that (their gradients too), each
    behind the attention of the chunk before.

    Source: Liu et al. 2023, arXiv 2310.01889.
    """
    cut, architecture = call.cut, call.setting.architecture
    widths = sum(
        count * a.kv_heads * (a.qk_dim + a.v_dim)
        for block, count in architecture.blocks
        if (a := block.attention) is not None
    )
    kv = widths / architecture.layers / np.minimum(cut.tp, max(architecture.kv_heads, 1))
    chunk = tokens(cut, call.setting.work.sequence) * kv * width
    group = com.span(cut.cp, cut.tp, call.network)
    ring = com.gather_s(chunk * cut.cp, group, call.network)
    ahead = com.exposed_s(ring, passes.forward.attention, 1.0)
    return ahead + com.exposed_s(2 * ring, passes.backward.attention, 1.0)


def expert_s(call: Call, matmul_s: Number) -> Floats:
    """All-to-all of a layer: dispatch and combine, forward and backward. [s], (K,)

    A rank sends every token it holds once for each expert it goes to; where the framework's dispatcher sends
    one copy to each domain, once for each other domain that holds one of them.

    Source: Lepikhin et al. 2020, arXiv 2006.16668; DeepSeek-V3, arXiv 2412.19437, sec. 3.2.2.
    """
    cut, architecture = call.cut, call.setting.architecture
    routed = sum(
        count * max((m.per_token for m in block.matmuls if m.routed), default=0.0)
        for block, count in architecture.blocks
    )
    share = routed / architecture.layers * call.setting.work.imbalance * cut.etp / cut.tp
    group = com.span(cut.ep, cut.etp, call.network)
    copies = float(max(architecture.experts_per_token, 1))
    away = com.domains_met(copies, group) / copies if call.setting.framework.deduplicated else None
    once = com.all_to_all_s(call.hidden_bytes * share, group, call.network, away)
    total = (4 + 2 * call.repeated) * once
    return com.exposed_s(total, matmul_s, call.setting.framework.expert_overlap)
