"""Image towers: what a micro-batch's images cost on the first stage, and what they keep there.

A tower is cut over the tensor ranks as the layers are; context parallel ranks share the images.
Arrays are (K,): one entry for each way to cut a layer.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from solver.architecture.blocks import Architecture, Tower
from solver.layout import Ints, Layouts
from solver.physics.activations import layer_activations
from solver.physics.compute import local_shape, mean_layer, product_s
from solver.physics.hardware import Floats, Rank
from solver.physics.kernels import Shape
from solver.physics.setting import Setting
from solver.physics.split import held_by_layer


def towers_s(setting: Setting, rank: Rank, cut: Layouts) -> Floats:
    """Seconds of the images of a micro-batch, forward and backward. (K,)"""
    total = np.zeros(len(cut))
    for tower, alone, seen in _seen(setting, cut):
        layer = mean_layer(alone.architecture, seen, rank, alone.work)
        total = total + alone.architecture.layers * (layer.forward.total + layer.backward.total)
        for matmul in tower.extras:
            m, n, k, one = local_shape(matmul, seen, alone.work)
            shapes = (Shape(m, n, k, one), Shape(m, k, n, one), Shape(k, n, m, one))
            total = total + sum((product_s(shape, matmul, rank) for shape in shapes), np.zeros(1))
    return total


def held(setting: Setting, cut: Layouts) -> Floats:
    """Parameters of all towers on a rank; none where no images are seen. [elements], (K,)"""
    total = np.zeros(len(cut))
    for tower in setting.architecture.towers if setting.images.each else ():
        alone = _alone(setting.architecture, tower)
        outside = tower.vectors + sum(matmul.parameters for matmul in tower.extras)
        total = total + alone.layers * held_by_layer(alone, cut).dense + outside
    return total


def kept_bytes(setting: Setting, cut: Layouts) -> Floats:
    """Activations that the images of a micro-batch keep. [B], (K,)"""
    total = np.zeros(len(cut))
    for tower, alone, seen in _seen(setting, cut):
        for block, count in tower.blocks:
            total = total + count * layer_activations(alone, (block,), seen).kept[:, 0]
    return total


def _alone(architecture: Architecture, tower: Tower) -> Architecture:
    """The tower as a model of its own."""
    return replace(architecture, blocks=tower.blocks, hidden=tower.hidden, towers=(), experts=0)


def _seen(setting: Setting, cut: Layouts) -> Iterator[tuple[Tower, Setting, Layouts]]:
    """Each tower with a setting of its own; a micro-batch has its images as sequences of their patches."""
    images, patches = setting.images
    for tower in setting.architecture.towers if images else ():
        length = tower.tokens or patches
        work = setting.work._replace(sequence=length, document=length)
        alone = setting._replace(architecture=_alone(setting.architecture, tower), work=work)
        yield tower, alone, replace(cut, micro_batch=cast("Ints", cut.micro_batch * images))
