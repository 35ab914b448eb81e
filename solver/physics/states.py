"""What a rank holds between steps: weights, gradients, optimizer state, the runtime. Arrays are (N,)."""

from typing import NamedTuple

import numpy as np

from solver.layout import Bools, Layouts
from solver.physics import host
from solver.physics.hardware import Floats
from solver.physics.setting import Setting
from solver.physics.split import Held

GRADIENTS, WEIGHTS = 2, 3  # the stages that shard them
OUTER_BYTES = 8  # weights of the last average and the outer momentum, float32, where workers train apart


class States(NamedTuple):
    """Weights, gradients and optimizer state of a rank; what the optimizer's step takes besides. [B], (N,)"""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    copies: Floats


def gathered_for_step(layouts: Layouts, setting: Setting) -> Bools:
    """Layouts of stage 3 whose weights stay gathered for all micro-batches, and gradients whole. (N,)"""
    stays = (layouts.zero == WEIGHTS) & (layouts.pp > 1) & setting.framework.stage_stays_gathered
    return np.asarray(stays)


def states(held: Held, layouts: Layouts, setting: Setting) -> States:
    """What a rank holds between steps, by ZeRO stage.

    16-bit copies beside float32 gradients are held whole below stage 2, as gradients are. Frozen weights have
    neither gradients nor an optimizer, and are held as they compute.

    Source: Rajbhandari et al. 2020, arXiv 1910.02054, sec. 5; Hu et al. 2021, arXiv 2106.09685, sec. 4.2.
    """
    model, framework, trained = setting.model, setting.framework, setting.architecture.trained
    whole, shared = held.dense + held.expert, shared_by(held, layouts)
    away, stays = host.offloaded(layouts), gathered_for_step(layouts, setting)
    updated = trained * ~away
    gradients = trained * (model.gradient + framework.copy_bytes) * ~(away & framework.host_gradients)
    outer = OUTER_BYTES * shared * (setting.local.workers > 1)
    weight = trained * model.weight + (1 - trained) * model.gathered
    computing = weight * np.where(layouts.zero >= WEIGHTS, shared, whole) * ~host.weights_away(layouts)
    return States(
        computing + cached_weights(held, layouts, setting),
        np.asarray(gradients * np.where((layouts.zero >= GRADIENTS) & ~stays, shared, whole), np.float64),
        optimizer_bytes(held, layouts, setting) * updated + outer,
        step_copies(held, layouts, setting) * updated,
    )


def step_copies(held: Held, layouts: Layouts, setting: Setting) -> Floats:
    """What the optimizer's step copies of the parameters it updates, less gradients that it first lets go of.

    Stage 3 may go through them in groups, as small as the room asks: then none. [B], (N,)

    Source: DeepSpeed, runtime/zero/stage_1_and_2.py, step: gradients are flattened, then cast to float32;
    runtime/zero/stage3.py, _create_fp16_sub_groups.
    """
    framework = setting.framework
    if not framework.step_bytes:
        return np.zeros(len(layouts))
    owned, whole = owned_by(held, layouts), held.dense + held.expert
    dropped = setting.model.gradient * framework.step_drops_gradients * (layouts.zero == 1)
    at_once = ~((layouts.zero == WEIGHTS) & framework.step_in_groups)
    return np.asarray((framework.step_bytes * owned - dropped * (whole - owned)) * at_once, np.float64)


def cached_weights(held: Held, layouts: Layouts, setting: Setting) -> Floats:
    """8-bit copies of the layers' weights, plain and transposed, made once a step. [B], (N,)

    Source: Megatron-LM, core/extensions/transformer_engine.py (is_first_microbatch); TransformerEngine,
    pytorch/module/linear.py (_fp8_workspaces): on unless weights are gathered in 8 bits or FSDP shards them.
    """
    layers = held.dense + held.expert - held.outside
    each = setting.framework.cached_bytes * setting.narrow
    return np.asarray(each * layers * (layouts.zero < WEIGHTS), np.float64)


def optimizer_bytes(held: Held, layouts: Layouts, setting: Setting) -> Floats:
    """Master copy and optimizer state of what a rank updates, wherever they are. [B], (N,)"""
    model, owned = setting.model, owned_by(held, layouts)
    if model.outside == model.moments:
        return model.optimizer * owned
    return model.optimizer * owned + (model.outside - model.moments) * outside_owned(held, layouts)


def outside_owned(held: Held, layouts: Layouts) -> Floats:
    """Of the parameters that a rank updates, those outside of the layers' matrices. (N,)"""
    return owned_by(Held(held.outside, 0.0), layouts)


def context_bytes(setting: Setting, layouts: Layouts) -> Floats:
    """The runtime, and the communicators of the groups that a rank is in. [B], (N,)

    Source: NVIDIA/nccl issue 964: 0.53 GiB for each group of 2 ranks, 0.67 of 4; hiyouga/LlamaFactory issue
    1221: 1.52 GiB outside the allocator with one group of 8.
    """
    framework = setting.framework
    degrees = (layouts.tp, layouts.cp, layouts.pp, layouts.dp, layouts.ep)
    groups = sum((degree > 1 for degree in degrees), np.zeros(len(layouts)))
    return np.asarray(framework.context + framework.communicator * groups, np.float64)


def shared_by(held: Held, layouts: Layouts) -> Floats:
    """A rank's part of what the replicas share. [elements], (N,)"""
    shards = layouts.shards
    return np.asarray(held.dense / shards.dense + held.expert / shards.expert, np.float64)


def owned_by(held: Held, layouts: Layouts) -> Floats:
    """Parameters that a rank updates. (N,)"""
    return np.where(layouts.zero >= 1, shared_by(held, layouts), held.dense + held.expert)
