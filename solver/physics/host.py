"""Optimizer state and weights kept in host memory: what moves over the host link, who updates, what it holds.

Arrays are (N,), one entry a layout.
"""

from typing import NamedTuple

import numpy as np

from solver.layout import OFFLOAD, Bools, Layouts
from solver.physics.hardware import Floats, Network, Number, Rank
from solver.physics.setting import HALF, WORD, Setting

PARAMETERS = OFFLOAD.index("parameters")


class Moved(NamedTuple):
    """What offload costs a rank beside its compute. [s], (N,)

    copied    over the host link while the rank computes
    updated   by the host's cores, with what is copied while nothing else runs
    """

    copied: Floats
    updated: Floats


def offloaded(layouts: Layouts) -> Bools:
    """Layouts whose optimizer runs on the host. (N,)"""
    return np.asarray(layouts.offload > 0)


def weights_away(layouts: Layouts) -> Bools:
    """Layouts whose weights live in host memory too. (N,)"""
    return np.asarray(layouts.offload == PARAMETERS)


def moved(owned: Floats, setting: Setting, on: tuple[Rank, Network], layouts: Layouts) -> Moved:
    """Copies and update of the `owned` parameters of a rank, a step. [s], (N,)

    Down: gradients, for every micro-batch where the host keeps their sum. Up: new weights once a step while
    the host updates the rest; or, where the weights live there, twice for every micro-batch as they are held.
    The sum comes up again to be added to, unless the host adds: then the rank waits for its gradients.

    Source: Ren et al. 2021, arXiv 2101.06840, sec. 4; Rajbhandari et al. 2021, arXiv 2104.07857, sec. 5;
    DeepSpeed, runtime/zero/stage3.py, partition_grads; PyTorch, distributed/fsdp/_fully_shard/_fsdp_param.py,
    all_gather_inputs, and _fsdp_collectives.py, foreach_reduce.
    """
    rank, network = on
    model, away, on_host = setting.model, weights_away(layouts), offloaded(layouts)
    second = owned / (rank.host_bytes_per_s * setting.host.link_share)  # to move a byte of each
    again = np.where(setting.framework.host_gradients, layouts.grad_accum - 1, 0) * model.gradient * second
    waited = again if setting.framework.host_adds else np.zeros(len(layouts))
    down = again + model.gradient * second - waited
    fetched = np.where(away, 2 * layouts.grad_accum * model.weight * second, 0.0) + again - waited
    update = owned * np.minimum(network.host_ranks, layouts.ranks) / setting.host.updates_per_s
    back = np.maximum(update, np.where(away, 0.0, model.gathered * second)) + waited
    return Moved(np.where(on_host, np.maximum(down, fetched), 0.0), np.where(on_host, back, 0.0))


def saved_bytes(owned: Floats, setting: Setting) -> Floats:
    """What a rank copies to host memory to save it while training goes on: weights and optimizer. [B], (N,)

    Source: Wan et al. 2024, arXiv 2407.20143 (checkpoints are staged in host memory and written behind).
    """
    return owned * (setting.model.weight + setting.model.optimizer)


def loaded_bytes(owned: Floats, setting: Setting) -> Floats:
    """What a rank takes of host memory while it loads: its part, or all weights in 16 bits. [B], (N,)

    Source: DeepSpeed, docs zero3.rst: without zero.Init every process builds the whole model first.
    """
    if setting.framework.loads_whole:
        return np.full(len(owned), HALF * setting.architecture.total_parameters)
    return saved_bytes(owned, setting)


def held_bytes(owned: Number, setting: Setting, layouts: Layouts) -> Floats:
    """Host memory that a rank's part takes: master copy and moments, gradients in 32 bits, weights. [B], (N,)

    12 B a parameter, 16 with gradients, 18 with 16-bit weights.

    Source: DeepSpeed, runtime/zero/stage3.py, estimate_zero3_model_states_mem_needs.
    """
    gradients = WORD * setting.framework.host_gradients
    weights = setting.model.weight * weights_away(layouts)
    each = (setting.model.optimizer + gradients + weights) * offloaded(layouts)
    return np.asarray(owned * each, np.float64)
