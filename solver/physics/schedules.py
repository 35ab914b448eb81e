"""Pipeline schedules that split the backward pass, so that weight gradients fill the bubble.

In both a rank holds two chunks on a V: down the stages and up again, so the first rank has the embedding
and the loss.
"""

from collections.abc import Callable

import numpy as np

from solver.layout import Layouts
from solver.physics.hardware import Floats
from solver.physics.layer import LayerCost
from solver.physics.setting import Schedule

NAMED = {  # as users write them
    "zero-bubble": Schedule("zero-bubble", chunks=2),
    "dualpipe": Schedule("dualpipe", chunks=2, extra=1),
}
FORWARD_SHARE = 1 / 3  # of a layer's time
WEIGHT_GRADIENT_SHARE = 1 / 3  # of its matmuls: forward, input gradient and weight gradient cost the same


def plain_wait(layouts: Layouts, layer: LayerCost) -> Floats:
    """Seconds for each layer of a stage that a rank waits in a step of 1F1B, interleaved or not. (N,)

    The first and the last micro-batch wait for (pp - 1)/vpp stages together.

    Source: Narayanan et al. 2021, arXiv 2104.04473, sec. 2.2.
    """
    return np.asarray((layouts.pp - 1.0) / layouts.vpp * layer.total, np.float64)


def zero_bubble_wait(layouts: Layouts, layer: LayerCost) -> Floats:
    """(pp - 1)(F + B - 2W), with F and B the forward and the input-gradient pass, W the weight gradients.

    Source: Qi et al. 2024, arXiv 2401.10241, table 1 (ZB-H2), and arXiv 2405.15362 (on a V).
    """
    weight = WEIGHT_GRADIENT_SHARE * layer.compute.matmul
    return np.asarray((layouts.pp - 1) * np.maximum(layer.total - 3 * weight, 0), np.float64)


def dualpipe_wait(layouts: Layouts, layer: LayerCost) -> Floats:
    """(pp - 1)(F&B + B - 3W) over chunks of half a stage, with B both gradients and F&B = F + B.

    What overlaps of the communication of F with the computation of B is not counted.

    Source: DeepSeek-V3, arXiv 2412.19437, table 2; the V of the DualPipe repository.
    """
    weight = WEIGHT_GRADIENT_SHARE * layer.compute.matmul
    chunk = (2 - FORWARD_SHARE) * layer.total - 3 * weight
    return np.asarray((layouts.pp - 1) / 2 * np.maximum(chunk, 0), np.float64)


WAITS: dict[str, Callable[[Layouts, LayerCost], Floats]] = {
    "": plain_wait,
    "zero-bubble": zero_bubble_wait,
    "dualpipe": dualpipe_wait,
}


def wait_s(schedule: Schedule, layouts: Layouts, layer: LayerCost) -> Floats:
    """Seconds for each layer of a stage that a rank waits in a step. (N,)"""
    return WAITS[schedule.name](layouts, layer)
