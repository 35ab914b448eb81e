"""Layouts as arrays, one column a dimension."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RECOMPUTE = ("none", "selective", "full")  # as users write them; a framework names what it really recomputes
OFFLOAD = ("none", "optimizer", "parameters")  # to host memory: the optimizer; the weights too


class Shards(NamedTuple):
    """Ranks that share one copy of what ZeRO shards: of dense and of expert weights. (N,)"""

    dense: Ints
    expert: Ints


def _undecided(value: int) -> Ints:
    column = np.full(1, value, np.int64)
    column.setflags(write=False)  # shared by many layouts
    return column


@dataclass(frozen=True)
class Layouts:
    """N layouts; every column (N,), or (1,) where it is not decided yet.

    tp, cp, pp, dp     degrees: tp * cp * pp * dp = ranks; dp is the dense data parallel degree
    vpp                virtual stages on a rank
    ep, etp            expert parallel and expert tensor parallel degrees; they live inside tp * cp * dp
    zero               stage: sharded over the replicas are 0 nothing, 1 optimizer, 2 gradients, 3 weights
    shard              replicas that share one copy of what is sharded; 0 = all of them
    micro_batch        sequences a replica takes at a time; grad_accum: how many times a step
    recompute          index into RECOMPUTE
    sequence_parallel  1 where norms and residuals are split over the tensor parallel ranks
    offload            index into OFFLOAD: what the host holds and updates
    """

    tp: Ints
    cp: Ints
    pp: Ints
    vpp: Ints
    ep: Ints
    etp: Ints
    dp: Ints
    zero: Ints
    shard: Ints
    micro_batch: Ints
    grad_accum: Ints
    recompute: Ints
    sequence_parallel: Ints
    offload: Ints

    @classmethod
    def of(cls, columns: Mapping[str, Iterable[int]]) -> Self:
        """Columns by name; what is left out is 1 (zero, shard, recompute and offload: 0)."""
        given = {name: np.atleast_1d(np.asarray(values, np.int64)) for name, values in columns.items()}
        return cls(**(UNDECIDED | given))

    @property
    def columns(self) -> dict[str, Ints]:
        own = self.__dict__
        return {name: own[name] for name in UNDECIDED}

    @cached_property
    def _size(self) -> int:
        sizes = {len(column) for column in self.columns.values()}
        return 0 if 0 in sizes else max(sizes)

    def __len__(self) -> int:
        return self._size

    @cached_property
    def ranks(self) -> Ints:
        return self.tp * self.cp * self.pp * self.dp

    @cached_property
    def replicas(self) -> Ints:
        """Ranks that hold the same dense weights: what ZeRO shards over."""
        return self.dp * self.cp

    @cached_property
    def edp(self) -> Ints:
        """Ranks that hold the same expert weights."""
        return self.ranks // (self.pp * self.ep * self.etp)

    @cached_property
    def shards(self) -> Shards:
        """Shard 0: all replicas; experts are replicated less often."""
        dense = np.where(self.shard > 0, self.shard, self.replicas)
        return Shards(dense, np.maximum(np.minimum(self.edp, dense), 1))

    def take(self, index: Ints | Bools) -> Self:
        """The rows at `index`, every column at full length."""
        rows, own = len(self), self.columns
        taken = {name: column[index] for name, column in own.items() if len(column) == rows}
        if len(taken) < len(own):
            many = len(next(iter(taken.values()), index))
            taken |= {name: np.full(many, own[name][0]) for name in own.keys() - taken.keys()}
        return type(self)(**taken)

    def row(self, index: int) -> dict[str, int]:
        return {name: int(c[index if len(c) > 1 else 0]) for name, c in self.columns.items()}


UNDECIDED = {  # of each column, what stands there until it is decided
    field.name: _undecided(0 if field.name in ("zero", "shard", "recompute", "offload") else 1)
    for field in fields(Layouts)
}


class Wanted(NamedTuple):
    """What is wanted of a dimension: values that are listed, spans (from, to), and spans to stay out of."""

    listed: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    without: tuple[tuple[int, int], ...] = ()

    def among(self, own: Iterable[int]) -> list[int]:
        """The values to try, where `own` are tried if nothing is said: spans only narrow them."""
        if self == Wanted():
            return sorted(set(own))
        narrowed = () if self.listed and not self.spans else own
        values = np.array(sorted({*self.listed, *narrowed}), np.int64)
        found: list[int] = values[self.admits(values)].tolist()
        return found

    def admits(self, values: Ints) -> Bools:
        """Where a value is wanted. (...)"""
        wanted = np.ones(np.shape(values), np.bool_)
        if self.listed or self.spans:
            wanted = one_of(values, self.listed) | _within(values, self.spans)
        return wanted & ~_within(values, self.without)


def one_of(values: Ints, few: Iterable[int]) -> Bools:
    """Where a value is one of a few. (...)

    why: np.isin sorts, which takes ten times as long.
    """
    found = np.zeros(np.shape(values), np.bool_)
    for value in few:
        found |= values == value
    return found


def _within(values: Ints, spans: Iterable[tuple[int, int]]) -> Bools:
    inside = np.zeros(np.shape(values), np.bool_)
    for least, most in spans:
        inside |= (values >= least) & (values <= most)
    return inside


CUT = ("tp", "cp", "ep", "etp", "micro_batch", "recompute", "sequence_parallel")


class Cuts(NamedTuple):
    """The K different ways in which N layouts cut one layer, and which of them each layout takes.

    What a layer costs depends on these columns alone, so it is computed K times and not N.
    """

    ways: Layouts
    of: Ints

    @classmethod
    def among(cls, layouts: Layouts) -> Self:
        """Found by numbering: each column's values, then their combinations."""
        number = np.zeros(len(layouts), np.int64)
        for name in CUT:
            values, place = numbered(layouts.columns[name])
            number = number * len(values) + place
        ways, of = numbered(number)
        first = np.empty(len(ways), np.int64)
        first[of[::-1]] = np.arange(len(of))[::-1]
        return cls(layouts.take(first), of)


def numbered(values: Ints) -> tuple[Ints, Ints]:
    """The different values, ascending, and the place of each value among them; for small whole numbers. (N,)

    why: np.unique sorts, which takes most of the time of a search.
    """
    distinct = np.flatnonzero(np.bincount(values))
    places = np.zeros(distinct[-1] + 1 if len(distinct) else 0, np.int64)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[values]


class Stages(NamedTuple):
    """Layers on the fullest stage, on the first and on the last. (N,)"""

    most: Ints
    first: Ints
    last: Ints


def even_stages(layers: int, pp: Ints) -> Stages:
    """Layers dealt as evenly as possible over pp stages.

    Where they do not divide, the loss counts as a layer of the last stage, then the embedding of the first.
    """
    most = -(-layers // pp)
    spare = most * pp - layers
    return Stages(most, most - (spare >= 2), most - (spare >= 1))
