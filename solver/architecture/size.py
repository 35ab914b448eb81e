"""A stated shape for a bare size ("7B"): the nearest of a ladder of Llama-like shapes."""

from bisect import bisect
from functools import cache
from typing import NamedTuple

from solver.architecture.blocks import Architecture
from solver.architecture.config import ArchitectureError
from solver.architecture.inline import from_inline

SMALLEST, LARGEST = 1e7, 1e13


class Shape(NamedTuple):
    """A rung of the ladder."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    tied: bool

    @property
    def parameters(self) -> int:
        kv = self.kv_heads * self.hidden // self.heads
        layer = self.hidden * (2 * self.hidden + 2 * kv + 3 * self.ffn + 2)
        return self.layers * layer + self.hidden + self.vocab * self.hidden * (2 - self.tied)


@cache
def ladder() -> tuple[Shape, ...]:
    """Shapes in the order of their counts.

    Heads of 128 (64 in small ones), 8 KV heads, ffn = 3.5 hidden, vocabulary 128,256 (32,000, tied, in small
    ones), hidden / layers around those of Llama 3: 8B 128, 70B 102, 405B 130 (arXiv 2407.21783, table 3).
    """
    narrow = (*range(128, 512, 64), *range(512, 1024, 128), *range(1024, 2048, 256))
    small = [_small(hidden, layers) for hidden in narrow for layers in range(2, 33)]
    large = [
        Shape(layers, hidden, hidden // 128, _kv_heads(hidden // 128), hidden * 7 // 2, 128256, tied=False)
        for hidden in (*range(2048, 4096, 512), *range(4096, 16384, 1024), *range(16384, 53248, 2048))
        for layers in range(12, 600, 2 if hidden < 8192 else 4)
    ]
    shapes = (s for s in small + large if _plausible(s))
    return tuple(sorted(shapes, key=lambda shape: shape.parameters))


def _small(hidden: int, layers: int) -> Shape:
    heads = hidden // 64
    return Shape(layers, hidden, heads, _kv_heads(heads), hidden * 7 // 2, 32000, tied=True)


def _kv_heads(heads: int) -> int:
    return next(k for k in (8, 4, 2, 1) if heads % k == 0)


def _plausible(shape: Shape) -> bool:
    least, most = (30, 100) if shape.tied else (80, 180)
    return least <= shape.hidden / shape.layers <= most


def from_size(parameters: float) -> tuple[Architecture, str]:
    """The shape nearest to a count of parameters, and the sentence that states it. Monotone in the size."""
    if not SMALLEST <= parameters <= LARGEST:
        raise ArchitectureError(
            "parameters",
            f"{parameters:g} is outside 10M to 10T; give layers, hidden, heads, ffn and vocab",
        )
    shapes = ladder()
    above = bisect(shapes, parameters, key=lambda shape: shape.parameters)
    near = shapes[max(above - 1, 0) : above + 1]
    shape = min(near, key=lambda s: abs(s.parameters - parameters))
    fields = dict(
        zip(("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "tied_embeddings"), shape, strict=True)
    )
    architecture = from_inline(fields)
    return architecture, (
        f"parameters {parameters:g} is taken as a Llama-like decoder of {shape.layers} layers, "
        f"hidden {shape.hidden}, {shape.heads} heads ({shape.kv_heads} KV heads), "
        f"gated feed-forward {shape.ffn}, vocabulary {shape.vocab}{' (tied)' if shape.tied else ''}: "
        f"{architecture.total_parameters:,} parameters"
    )
