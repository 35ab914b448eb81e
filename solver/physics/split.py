"""How the parameters of a model are cut over ranks, and which layers a pipeline stage holds."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from solver.architecture.blocks import Architecture, Block, Matmul, Shard
from solver.layout import Ints, Layouts
from solver.physics.hardware import Floats, Number

MOST_KINDS = 6  # of layers told apart; a model of more (irregular by search) is taken as its mean layer


class Held(NamedTuple):
    """Parameters of one rank: dense and expert ones. [elements]

    outside   of the dense ones, those of vocabulary tables and of what stands around the layers
    """

    dense: Number
    expert: Number
    outside: Number = 0.0


def split(matmul: Matmul, cut: Layouts) -> Ints:
    """Into how many parts tensor parallelism cuts a dense matrix. (N,)"""
    if matmul.shard is Shard.REPLICATED:
        return np.ones(1, np.int64)
    return np.minimum(cut.tp, matmul.units) if matmul.units else cut.tp


def held_by_block(block: Block, cut: Layouts) -> Held:
    """Parameters of a layer on a rank. [elements], (N,)

    Columns and rows are cut by tp (KV heads not below one head), experts by ep x etp; vectors and replicated
    matrices are whole on every rank.
    """
    dense: Number = float(block.vectors)
    expert: Number = 0.0
    for matmul in block.matmuls:
        if matmul.routed:
            expert = expert + matmul.parameters / (cut.ep * cut.etp)
        else:
            dense = dense + matmul.parameters / split(matmul, cut)
    return Held(dense, expert)


def held_by_layer(architecture: Architecture, cut: Layouts) -> Held:
    """Parameters of the mean layer on a rank. [elements], (N,)"""
    dense: Number = 0.0
    expert: Number = 0.0
    for block, count in architecture.blocks:
        held = held_by_block(block, cut)
        dense = dense + count / architecture.layers * held.dense
        expert = expert + count / architecture.layers * held.expert
    return Held(dense, expert)


def padded_vocabulary(vocab: int, tp: Ints, multiple: int) -> Ints:
    """Rows of the tables after padding to a multiple of `multiple` x tp. (N,)

    Source: Megatron-LM, --make-vocab-size-divisible-by.
    """
    step = multiple * tp
    return -(-vocab // step) * step


class Order(NamedTuple):
    """The kinds of layers of a model, and how many of each stand where. Tables: (layers + 1, D).

    first, last   among the first and the last n layers
    heaviest      among those n neighbours that hold the most parameters
    """

    blocks: tuple[Block, ...]
    first: Floats
    last: Floats
    heaviest: Floats

    def total(self, each: Floats, position: int, layers: Ints) -> Floats:
        """Sum over the layers of a stage. (N,)

        each      of a layer of each kind (N, D)
        position  first stage (0), a middle one (1) or the last (2); layers: how many it holds (N,)
        """
        table = (self.first, self.heaviest, self.last)[position]
        held = np.minimum(layers, len(table) - 1)
        # why: a loop over the few kinds is five times as fast as a product and a sum over the short axis
        return sum(
            (table[:, kind][held] * each[:, kind] for kind in range(len(self.blocks))), np.zeros(len(held))
        )


@lru_cache(maxsize=64)
def order_of(architecture: Architecture) -> Order:
    """Layers of equal blocks are of one kind; those of a model with too many kinds are its mean layer."""
    blocks = tuple(dict.fromkeys(block for block, _ in architecture.blocks))
    place = {block: index for index, block in enumerate(blocks)}
    kinds = [place[block] for block, count in architecture.blocks for _ in range(count)]
    steps = np.zeros((len(kinds) + 1, len(blocks)))
    steps[np.arange(1, len(kinds) + 1), kinds] = 1
    first = steps.cumsum(axis=0)
    if len(blocks) > MOST_KINDS:
        first = np.arange(len(kinds) + 1)[:, None] * first[-1] / len(kinds)
    weight = np.array([float(block.parameters) for block in blocks])
    heaviest = np.stack([_heaviest(first, weight, n) for n in range(len(kinds) + 1)])
    return Order(blocks, first, first[-1] - first[::-1], heaviest)


def _heaviest(first: Floats, weight: Floats, layers: int) -> Floats:
    """Counts of the window of `layers` neighbours with the most parameters. (D,)"""
    windows = first[layers:] - first[: len(first) - layers]
    best: Floats = windows[(windows @ weight).argmax()]
    return best
