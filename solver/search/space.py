"""Every layout worth pricing: the values of each dimension, crossed one by one, each rule applied as soon as
it can be.

What is left out is a rule of the search, told in the answer, not of a framework: tensor parallelism inside a
machine, tp x cp up to 64, degrees of a fixed list.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from solver.layout import RECOMPUTE, Bools, Ints, Layouts
from solver.rules import RULES, Case

CP = (1, 2, 4, 8)
CP_LONG = (16, 32)  # from LONG tokens a sequence on
LONG = 65536
PP_MOST = 64
VPP = (1, 2, 4, 6, 8)
MICRO_BATCHES = (1, 2, 4, 8)
MICRO_BATCHES_SMALL = (16, 32, 64)  # of models below SMALL parameters
SMALL = 3e9
TP_MOST = 16
MODEL_PARALLEL_MOST = 64  # tp x cp, ep x etp
NARROW_DOMAIN = 64  # in a larger domain expert parallelism may span it whole

Columns = dict[str, Ints]
Pins = tuple[tuple[str, tuple[int, ...]], ...]  # the user's values of dimensions


class Frame(NamedTuple):
    """What decides the space beside the rules: the machine's geometry in ranks, and the user's values."""

    case: Case
    rules: tuple[str, ...]
    domain: int
    least_ranks: int  # with fewer, the deadline cannot be met
    most_ranks: int
    recompute: tuple[str, ...]  # words of it that are tried
    small: bool
    pinned: Pins

    def values(self, name: str, own: Sequence[int]) -> Ints:
        """The user's values of a dimension, else the search's own."""
        return self.whole(dict(self.pinned).get(name, tuple(own)))

    def whole(self, numbers: Sequence[int]) -> Ints:
        """Whole numbers as a column.

        why: in 32 bits, where no product of a batch or of tokens needs more, a search takes half the time.
        """
        wide = max(self.case.global_batch, self.case.sequence) * MICRO_BATCHES_SMALL[-1] * 2 >= 1 << 31
        return np.array(numbers, np.int64 if wide else np.int32)


def divisors(number: int, most: int) -> list[int]:
    """Divisors up to `most`, ascending."""
    return [d for d in range(1, min(number, most) + 1) if number % d == 0]


@lru_cache(maxsize=64)
def layouts_of(frame: Frame) -> Layouts:
    """Every legal layout of a frame, in a fixed order."""
    columns: Columns = {"tp": frame.values("tp", tensor_degrees(frame))}
    for name, widen in DIMENSIONS.items():
        columns = widen(frame, columns)
        columns = _lawful(frame, columns, name)
    return Layouts.of(columns)


@lru_cache(maxsize=64)
def ways_of(frame: Frame) -> Layouts:
    """Every way to cut a layer that a legal layout of the frame can take, and perhaps some more."""
    columns: Columns = {"tp": frame.values("tp", tensor_degrees(frame))}
    for name in ("cp", "ep", "etp"):
        columns = _lawful(frame, DIMENSIONS[name](frame, columns), name)
    alone = columns | {"dp": np.ones_like(columns["tp"])}
    columns = _micro_batch(frame, alone)
    return Layouts.of(_recompute(frame, columns))


def tensor_degrees(frame: Frame) -> list[int]:
    """Degrees of tensor parallelism: divisors of the heads (powers of two without heads) inside a machine."""
    most = min(frame.domain, TP_MOST)
    return (
        divisors(frame.case.heads, most) if frame.case.heads else [d for d in (1, 2, 4, 8, 16) if d <= most]
    )


def _cross(columns: Columns, name: str, values: Ints) -> Columns:
    """Every row with every value."""
    rows = len(next(iter(columns.values())))
    repeated = {key: np.repeat(column, len(values)) for key, column in columns.items()}
    return repeated | {name: np.tile(values, rows)}


def _keep(columns: Columns, mask: Bools) -> Columns:
    return {name: column[mask] for name, column in columns.items()}


def _lawful(frame: Frame, columns: Columns, name: str) -> Columns:
    """The rows that keep every rule which the dimension `name` makes decidable."""
    decided = DECIDED_BY[name]
    ready = [
        r for r in frame.rules if set(RULES[r].fields) <= decided and name_of_last(RULES[r].fields) == name
    ]
    if not ready or len(columns[name]) == 0:
        return columns
    layouts = Layouts.of(columns)
    keep = np.ones(len(layouts), np.bool_)
    for rule in ready:
        keep &= ~RULES[rule].violated(frame.case, layouts)
    return _keep(columns, keep)


def _cp(frame: Frame, columns: Columns) -> Columns:
    long = CP_LONG if frame.case.sequence >= LONG else ()
    crossed = _cross(columns, "cp", frame.values("cp", (*CP, *long)))
    crossed = _keep(
        crossed, crossed["tp"] * crossed["cp"] <= max(MODEL_PARALLEL_MOST, int(crossed["tp"].max()))
    )
    return _sequence_parallel(frame, crossed)


def _sequence_parallel(frame: Frame, columns: Columns) -> Columns:
    """With tensor parallelism, where the framework has it, unless the user says otherwise."""
    own = [0] if "no_sequence_parallel" in frame.rules else [1]
    crossed = _cross(columns, "sequence_parallel", frame.values("sequence_parallel", own))
    alone = crossed["tp"] == 1  # with one rank there is nothing to split: one row is enough
    first = np.arange(len(alone)) % (len(alone) // max(len(columns["tp"]), 1)) == 0
    return _keep(
        crossed | {"sequence_parallel": np.where(alone, 0, crossed["sequence_parallel"])}, ~alone | first
    )


def _ep(frame: Frame, columns: Columns) -> Columns:
    most = frame.domain if frame.domain > NARROW_DOMAIN else MODEL_PARALLEL_MOST
    degrees = divisors(frame.case.experts, most) if frame.case.experts else [1]
    return _cross(columns, "ep", frame.values("ep", degrees))


def _etp(frame: Frame, columns: Columns) -> Columns:
    pinned = dict(frame.pinned).get("etp")
    crossed = _cross(columns, "etp", frame.whole(pinned or (0, 1)))
    if pinned:
        return crossed
    crossed["etp"] = np.where(crossed["etp"] == 1, 1, crossed["tp"])
    twice = (crossed["tp"] == 1) & (np.arange(len(crossed["tp"])) % 2 == 0)
    return _keep(crossed, ~twice & (crossed["ep"] * crossed["etp"] <= max(MODEL_PARALLEL_MOST, frame.domain)))


def _pp(frame: Frame, columns: Columns) -> Columns:
    crossed = _cross(columns, "pp", frame.values("pp", range(1, min(PP_MOST, frame.case.layers) + 1)))
    fits = crossed["tp"] * crossed["cp"] * crossed["pp"] <= frame.most_ranks
    filled = crossed["pp"] <= frame.case.global_batch
    alone = {**crossed, "vpp": np.ones_like(crossed["pp"])}
    possible = fits & filled
    for rule in ("even_stages", "nearly_even_stages"):  # for one chunk a rank; with more they are tried again
        if rule in frame.rules:
            possible = possible & ~RULES[rule].violated(frame.case, Layouts.of(alone))
    return _keep(crossed, possible)


def _vpp(frame: Frame, columns: Columns) -> Columns:
    return _cross(columns, "vpp", frame.values("vpp", VPP))


def _dp(frame: Frame, columns: Columns) -> Columns:
    crossed = _cross(columns, "dp", frame.values("dp", divisors(frame.case.global_batch, frame.most_ranks)))
    ranks = crossed["tp"] * crossed["cp"] * crossed["pp"] * crossed["dp"]
    return _keep(crossed, (ranks >= frame.least_ranks) & (ranks <= frame.most_ranks))


def _micro_batch(frame: Frame, columns: Columns) -> Columns:
    small = MICRO_BATCHES_SMALL if frame.small else ()
    crossed = _cross(columns, "micro_batch", frame.values("micro_batch", (*MICRO_BATCHES, *small)))
    return _keep(crossed, frame.case.global_batch % (crossed["dp"] * crossed["micro_batch"]) == 0)


def _grad_accum(frame: Frame, columns: Columns) -> Columns:
    rounds = frame.case.global_batch // (columns["dp"] * columns["micro_batch"])
    crossed = columns | {"grad_accum": rounds}
    pinned = dict(frame.pinned).get("grad_accum")
    return _keep(crossed, np.isin(rounds, pinned)) if pinned else crossed


def _zero(frame: Frame, columns: Columns) -> Columns:
    """One replica shards nothing; several shard at least the optimizer where the framework can."""
    pinned = dict(frame.pinned).get("zero")
    stages = [stage for stage in frame.case.zero if stage > 0] or [0]
    crossed = _cross(columns, "zero", frame.whole(pinned or stages))
    alone = crossed["dp"] * crossed["cp"] == 1
    if pinned:
        return crossed
    first = crossed["zero"] == stages[0]
    return _keep(crossed | {"zero": np.where(alone, 0, crossed["zero"])}, ~alone | first)


def _shard(frame: Frame, columns: Columns) -> Columns:
    """Over all replicas, or over those in one machine where there are others beside it."""
    pinned = dict(frame.pinned).get("shard")
    if pinned:
        return _cross(columns, "shard", frame.whole(pinned))
    if frame.case.workers > 1:
        return columns | {"shard": columns["dp"] * columns["cp"] // frame.case.workers}
    whole = columns | {"shard": np.zeros_like(columns["tp"])}
    if "no_partial_shard" in frame.rules:
        return whole
    inside = np.maximum(frame.domain // columns["tp"], 1)
    replicas = columns["dp"] * columns["cp"]
    useful = (inside > 1) & (replicas > inside) & (replicas % inside == 0) & (columns["zero"] > 0)
    partial = _keep(columns | {"shard": inside}, useful)
    return {name: np.concatenate([whole[name], partial[name]]) for name in whole}


def _recompute(frame: Frame, columns: Columns) -> Columns:
    """Those of the frame."""
    return _cross(columns, "recompute", frame.whole([RECOMPUTE.index(word) for word in frame.recompute]))


def _offload(frame: Frame, columns: Columns) -> Columns:
    """None, unless the user allows some."""
    return _cross(columns, "offload", frame.values("offload", (0,)))


DIMENSIONS: Mapping[str, Callable[[Frame, Columns], Columns]] = {
    "cp": _cp,
    "ep": _ep,
    "etp": _etp,
    "pp": _pp,
    "vpp": _vpp,
    "dp": _dp,
    "micro_batch": _micro_batch,
    "grad_accum": _grad_accum,
    "zero": _zero,
    "shard": _shard,
    "recompute": _recompute,
    "offload": _offload,
}
ORDER = ("tp", "sequence_parallel", *DIMENSIONS)
DECIDED_BY = {name: set(ORDER[: ORDER.index(name) + 1]) for name in DIMENSIONS}


def name_of_last(fields: Sequence[str]) -> str:
    """The dimension that decides a rule: the last of its fields to be crossed."""
    last = max(fields, key=ORDER.index)
    return last if last in DIMENSIONS else "cp"
