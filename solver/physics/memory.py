"""How much memory the fullest device needs, by component. Bytes; arrays are (N,), one entry a layout."""

from typing import NamedTuple, Self

import numpy as np

from solver.layout import Ints, Layouts, Stages
from solver.physics import host, towers
from solver.physics.activations import along, in_flight, layer_activations
from solver.physics.compute import tokens
from solver.physics.hardware import Floats
from solver.physics.setting import HALF, Setting
from solver.physics.split import Held, held_by_block, order_of, padded_vocabulary
from solver.physics.states import WEIGHTS, context_bytes, gathered_for_step, optimizer_bytes, owned_by, states

PARTS = (
    "weights",
    "gradients",
    "optimizer",
    "activations",
    "logits",
    "gathered",
    "buffers",
    "optimizer_step",
    "context",
    "fragmentation",
)
MARGIN = ("context", "fragmentation")  # what an allocator's peak does not count
GATHERED_LAYERS = 2  # the layer that runs and the one fetched ahead


class LayerMemory(NamedTuple):
    """What layers of each kind (D), and one micro-batch at the loss, take on a rank. (K, D) or (K,)

    dense, expert  parameters of a layer [elements], (K, D)
    kept           activations that a micro-batch keeps of a layer [B], (K, D)
    largest        dense parameters of the largest layer [elements]; gathered: with its experts, (K,)
    working        more activations while a layer runs backward [B], (K,)
    tables         rows x columns of one vocabulary table [elements], (K,)
    logits         [B], (K,)
    tower          parameters of the image towers [elements]; tower_kept: what its images keep [B], (K,)
    """

    dense: Floats
    expert: Floats
    kept: Floats
    largest: Floats
    gathered: Floats
    working: Floats
    tables: Floats
    logits: Floats
    tower: Floats
    tower_kept: Floats

    def take(self, index: Ints) -> Self:
        """Of the ways at `index`: from ways to cut a layer to layouts."""
        return type(self)(*(array[index] for array in self))


def layer_memory(setting: Setting, cut: Layouts) -> LayerMemory:
    """A layer of each kind on a rank, for each way to cut it."""
    architecture = setting.architecture
    blocks = order_of(architecture).blocks
    held = [held_by_block(block, cut) for block in blocks]
    none = np.zeros(len(cut))
    dense = np.stack([h.dense + none for h in held], axis=-1)
    expert = np.stack([h.expert + none for h in held], axis=-1)
    kept, working = layer_activations(setting, blocks, cut)
    rows = padded_vocabulary(architecture.vocab, cut.tp, setting.framework.vocab_multiple)
    return LayerMemory(
        dense,
        expert,
        kept,
        dense.max(axis=-1),
        (dense + expert).max(axis=-1),
        working.max(axis=-1),
        rows * architecture.hidden / cut.tp + none,
        loss_bytes(setting, cut) + none,
        towers.held(setting, cut),
        towers.kept_bytes(setting, cut),
    )


def loss_bytes(setting: Setting, cut: Layouts) -> Floats:
    """What one micro-batch holds at the loss. [B], (K,)

    The logits, cut over tp, with what the loss makes of them; the last norm's input and output; under
    sequence parallelism its output gathered, and the gradient of that.
    """
    architecture = setting.architecture
    if architecture.head is None:
        return np.zeros(1)
    framework = setting.framework
    most = max(framework.cut_loss_bytes, framework.loss_bytes)
    each = np.where(cut.tp > 1, most, framework.loss_bytes)
    logits = each * architecture.head.outer * architecture.head_passes / cut.tp
    normed = 2 * setting.element * architecture.hidden / along(cut)
    gathered = 2 * setting.element * architecture.hidden * (along(cut) > 1)
    return tokens(cut, setting.work.sequence) * (logits + normed + gathered)


def host_bytes(setting: Setting, layer: LayerMemory, layouts: Layouts, stages: Stages) -> Floats:
    """Host memory that a rank of a full stage takes. [B], (N,)"""
    held = held_by_stage(setting, layer, layouts, (stages.most, 0))
    owned = owned_by(held, layouts)
    beyond = optimizer_bytes(held, layouts, setting) - setting.model.optimizer * owned
    return host.held_bytes(owned, setting, layouts) + beyond * host.offloaded(layouts)


class Memory(NamedTuple):
    """Memory of the fullest device by component (PARTS), its sum, its stage (0 first, 1 middle, 2 last).

    stages   the sums of the three, (3, N)
    """

    parts: dict[str, Floats]
    peak: Floats
    stage: Ints
    stages: Floats

    @property
    def allocated(self) -> Floats:
        """The peak as an allocator counts it: without the runtime's context and the margin. (N,)"""
        return self.peak - sum(self.parts[name] for name in MARGIN)


def peak(setting: Setting, layer: LayerMemory, layouts: Layouts, stages: Stages) -> Memory:
    """The fullest device: first stage (most micro-batches), a middle one or last (logits). (N,)

    layer: of each layout, see layer_memory.
    """
    candidates = [stage_memory(setting, layer, layouts, (stages, position)) for position in range(3)]
    totals = np.stack([total(parts) for parts in candidates])
    fullest = totals.argmax(axis=0)
    chosen = {name: np.choose(fullest, [parts[name] for parts in candidates]) for name in PARTS}
    return Memory(chosen, totals.max(axis=0), fullest, totals)


def peak_bytes(setting: Setting, layer: LayerMemory, layouts: Layouts, stages: Stages) -> Floats:
    """Its peak alone. [B], (N,)"""
    each = [total(stage_memory(setting, layer, layouts, (stages, position))) for position in range(3)]
    return np.asarray(np.maximum.reduce(each), np.float64)


def total(parts: dict[str, Floats]) -> Floats:
    """The sum of the components of a stage. [B], (N,)"""
    return sum(parts.values(), np.zeros(1))


def stage_memory(
    setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Stages, int]
) -> dict[str, Floats]:
    """Memory of the first (0), a middle (1) or the last (2) stage by component. [B], each (N,)

    Beside what is kept, either the loss or the backward pass of one layer needs the more. The optimizer's
    step works where all these were: only what it needs beyond them counts.
    """
    stages, position = at
    framework = setting.framework
    layers = (stages.first, np.where(layouts.pp > 2, stages.most, 0), stages.last)[position]
    held = held_by_stage(setting, layer, layouts, (layers, position))
    state = states(held, layouts, setting)
    kept = kept_bytes(setting, layer, layouts, (layers, position))
    at_loss = loss_phase(setting, layer, layouts, (held, position))
    backward = backward_phase(setting, layer, layouts, held)
    fuller = at_loss.total > backward.total
    working, logits, gathered, passing = (
        np.where(fuller, *pair) for pair in zip(at_loss, backward, strict=True)
    )
    moving = kept + working + logits + gathered + passing
    step = np.maximum(state.copies - moving, 0)
    parts = (
        *state[:3],
        kept + working,
        logits,
        gathered,
        passing + buffer_bytes(setting, layouts),
        step,
        context_bytes(setting, layouts),
        framework.fragmentation * (moving + step),
    )
    return dict(zip(PARTS, parts, strict=True))


def buffer_bytes(setting: Setting, layouts: Layouts) -> Floats:
    """Buckets of the communication between replicas. [B], (N,)

    Source: Transformers, integrations/deepspeed.py: reduce_bucket_size is hidden x hidden.
    """
    squares = setting.framework.buckets * HALF * setting.architecture.hidden**2
    return np.asarray(setting.framework.buffers + squares * (layouts.zero > 0), np.float64)


def kept_bytes(setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Ints, int]) -> Floats:
    """Activations of the micro-batches in flight on a stage. [B], (N,)"""
    layers, position = at
    index = (np.zeros_like(layouts.pp), np.minimum(1, layouts.pp - 1), layouts.pp - 1)[position]
    kept = order_of(setting.architecture).total(layer.kept, position, layers)
    kept = kept + end_shares(setting, layouts, position).first * layer.tower_kept
    return kept * in_flight(layouts, index, setting.schedule)


class Phase(NamedTuple):
    """What passes through memory in one phase of a micro-batch. [B], (N,)

    working    activations and their gradients
    logits     with what the loss makes of them
    gathered   weights that ZeRO 3 gathered
    passing    weight gradients that are not yet added or reduced
    """

    working: Floats
    logits: Floats
    gathered: Floats
    passing: Floats

    @property
    def total(self) -> Floats:
        """All of it. (N,)"""
        return self.working + self.logits + self.gathered + self.passing


def backward_phase(setting: Setting, layer: LayerMemory, layouts: Layouts, held: Held) -> Phase:
    """The backward pass of the heaviest layer. ZeRO 3 gathers it and the next one, experts too; or as much as
    its limit leaves gathered.
    """
    sharded, live = layouts.zero == WEIGHTS, setting.framework.live_parameters
    whole = np.where(sharded, layer.gathered, layer.largest)
    stage = held.dense + held.expert
    ahead = np.minimum(live, stage) if live else GATHERED_LAYERS * whole
    gathered = np.where(gathered_for_step(layouts, setting), stage, np.maximum(whole, ahead))
    return Phase(
        layer.working,
        np.zeros(len(layouts)),
        setting.model.gathered * sharded * gathered,
        weight_gradient_bytes(setting) * whole,
    )


def loss_phase(setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Held, int]) -> Phase:
    """The loss, on the last stage alone: logits, the output table and its 16-bit gradient.

    Below ZeRO 3 the 16-bit gradients of a layer stay allocated from one pass to the next.

    Source: TransformerEngine, module/base.py (one dummy weight gradient a shape is cached).
    """
    held, position = at
    ends = end_shares(setting, layouts, position)
    sharded = layouts.zero == WEIGHTS
    table = layer.tables * ends.last * (setting.architecture.head is not None)
    stays = gathered_for_step(layouts, setting)
    through = weight_gradient_bytes(setting)
    cached = through * layer.largest * ~sharded
    return Phase(
        np.zeros(len(layouts)),
        layer.logits * ends.last,
        setting.model.gathered * sharded * np.where(stays, held.dense + held.expert, table),
        cached + min(through, HALF) * table,
    )


def weight_gradient_bytes(setting: Setting) -> float:
    """Of a weight, in its gradient before that is added or reduced; frozen weights have none. [B]"""
    return setting.framework.weight_gradient_bytes * setting.architecture.trained


class Ends(NamedTuple):
    """Which share of the input table and of the loss a stage has. (N,)"""

    first: Floats
    last: Floats


def end_shares(setting: Setting, layouts: Layouts, position: int) -> Ends:
    """The first stage has the input table, the last the loss; a schedule may cut them over all stages, and on
    a V the first rank has both.
    """
    if setting.schedule.shares_tables:
        return Ends(1 / layouts.pp, 1 / layouts.pp)
    alone = layouts.pp == 1
    if setting.schedule.chunks:
        return Ends(*(1.0 * (alone | (position == 0)),) * 2)
    return Ends(1.0 * (alone | (position == 0)), 1.0 * (alone | (position == 2)))


def held_by_stage(setting: Setting, layer: LayerMemory, layouts: Layouts, at: tuple[Ints, int]) -> Held:
    """Parameters on a rank of a stage: its layers, the input table on the first, the output table on the
    last.
    """
    architecture = setting.architecture
    layers, position = at
    order = order_of(architecture)
    ends = end_shares(setting, layouts, position)
    own = architecture.head is not None
    output = ends.last * own * (1 - architecture.tied_embeddings * ends.first)
    tables = layer.tables * (ends.first + output)
    around = ends.first * (architecture.positions + layer.tower) + ends.last * architecture.final_vectors
    dense = order.total(layer.dense, position, layers)
    outside = tables + around
    return Held(dense + outside, order.total(layer.expert, position, layers), outside)
