"""Every layout worth pricing: a way to cut a layer, a mesh of stages and replicas, how they share state.

What the search leaves out beside the rules of frameworks stands in VALUES and OURS.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from solver.layout import RECOMPUTE, Bools, Ints, Layouts, Wanted, one_of
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
MACHINE = -1  # of shard: over the replicas inside one machine

WAY = ("tp", "sequence_parallel", "cp", "ep", "etp", "micro_batch", "recompute")  # to cut a layer
MESH = ("pp", "vpp", "dp")
SHARING = ("zero", "shard", "offload")  # of state: what the pace of the pipeline does not depend on
DIMENSIONS = (*WAY, *MESH, *SHARING)
ORDER = (*WAY, *MESH, "grad_accum", *SHARING)  # of columns: what equal layouts are sorted by
CARRIED = "of"  # column that says which row another was made from

Columns = dict[str, Ints]
Pins = tuple[tuple[str, Wanted], ...]  # what the user wants of dimensions


@dataclass(frozen=True)
class Frame:
    """What decides the space beside the rules: the machine's geometry in ranks, and the user's values."""

    case: Case
    rules: tuple[str, ...]
    domain: int
    most_ranks: int
    recompute: tuple[str, ...]  # words of it that are tried
    small: bool
    pinned: Pins
    step: tuple[int, int] = (1, 1)  # ranks of a machine, and of how many machines a job takes a multiple
    least_ranks: int = 1

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def __hash__(self) -> int:
        """Computed once: frames are keys of most of what a search remembers."""
        return self._hash

    def wanted(self, name: str) -> Wanted:
        """What the user wants of a dimension: anything, where he says nothing."""
        return dict(self.pinned).get(name, Wanted())

    def listed(self, name: str) -> bool:
        """Whether the user lists values himself, so that the search's own judgement of them is not asked."""
        return bool(self.wanted(name).listed)

    def values(self, name: str) -> Ints:
        """The values of a dimension that are tried."""
        own = VALUES[name](self)
        if name in ("recompute", "sequence_parallel") or (name == "shard" and not self.listed(name)):
            return np.array(own, np.int64)  # what is wanted of them is asked elsewhere: see OURS
        return np.array(self.wanted(name).among(own), np.int64)


def divisors(number: int, most: int) -> list[int]:
    """Divisors up to `most`, ascending."""
    tried = np.arange(1, min(number, most) + 1)
    found: list[int] = tried[number % tried == 0].tolist()
    return found


def tensor_degrees(frame: Frame) -> list[int]:
    """Degrees of tensor parallelism: divisors of the heads (powers of two without heads) inside a machine."""
    most = min(frame.domain, TP_MOST)
    return (
        divisors(frame.case.heads, most) if frame.case.heads else [d for d in (1, 2, 4, 8, 16) if d <= most]
    )


def _expert_degrees(frame: Frame) -> list[int]:
    most = frame.domain if frame.domain > NARROW_DOMAIN else MODEL_PARALLEL_MOST
    return divisors(frame.case.experts, most) if frame.case.experts else [1]


def _stages(frame: Frame) -> list[int]:
    """Of ZeRO: several replicas shard at least the optimizer where the framework can."""
    return [stage for stage in frame.case.zero if stage > 0] or [0]


VALUES: Mapping[str, Callable[[Frame], Sequence[int]]] = {  # that the search tries by itself
    "tp": tensor_degrees,
    "sequence_parallel": lambda _: (0, 1),
    "cp": lambda f: (*CP, *(CP_LONG if f.case.sequence >= LONG else ())),
    "ep": _expert_degrees,
    "etp": lambda f: sorted({1, *f.values("tp").tolist()}) if f.case.experts else [1],
    "micro_batch": lambda f: (*MICRO_BATCHES, *(MICRO_BATCHES_SMALL if f.small else ())),
    "recompute": lambda f: [RECOMPUTE.index(word) for word in f.recompute],
    "pp": lambda f: range(1, min(PP_MOST, f.case.layers) + 1),
    "vpp": lambda _: VPP,
    "dp": lambda f: divisors(f.case.global_batch, f.most_ranks),
    "zero": lambda f: sorted({0, *_stages(f)}),
    "shard": lambda f: (0,) if "no_partial_shard" in f.rules else (0, MACHINE),
    "offload": lambda _: (0,),
}


class Ours(NamedTuple):
    """A rule of the search. fields: the columns it looks at; kept: True where a layout is tried."""

    fields: tuple[str, ...]
    kept: Callable[[Frame, Layouts], Bools]


def _split_sequence(f: Frame, x: Layouts) -> Bools:
    """With tensor parallelism, where the framework has it, unless the user says otherwise."""
    own = 0 if "no_sequence_parallel" in f.rules else 1
    wanted = f.wanted("sequence_parallel").among([own])
    return np.where(x.tp == 1, x.sequence_parallel == 0, one_of(x.sequence_parallel, wanted))


def _useful_stage(f: Frame, x: Layouts) -> Bools:
    """One replica shards nothing; but what is asked into host memory may need a stage there too."""
    alone = one_of(x.zero, f.case.zero if f.listed("offload") else (0,))
    useful: Bools = np.where(x.replicas == 1, alone, one_of(x.zero, _stages(f))) | f.listed("zero")
    return useful


def _useful_shard(f: Frame, x: Layouts) -> Bools:
    """Inside a machine only where other replicas are beside it, and something is sharded."""
    beside = (x.shard > 1) & (x.replicas > x.shard) & (x.replicas % np.maximum(x.shard, 1) == 0)
    useful: Bools = (x.shard == 0) | (beside & (x.zero > 0)) | f.listed("shard")
    return useful


def in_steps(f: Frame, ranks: Ints) -> Bools:
    """Where the machines of a job are a multiple of what the user asks for."""
    each, step = f.step
    whole: Bools = -(-ranks // each) % step == 0
    return whole


@lru_cache(maxsize=1024)
def _divided(frame: Frame, names: tuple[str, str]) -> bool:
    """Whether every group of two degrees that fits into a scale-up domain divides it."""
    groups = np.multiply.outer(*(frame.values(name) for name in names))
    return not (frame.domain % groups[groups <= frame.domain]).any()


def _whole_groups(f: Frame, x: Layouts, names: tuple[str, str]) -> Bools:
    """Where the scale-up domains of a job have room for all groups of these two degrees, none across two of
    them: of 72 devices a group of 64 leaves 8 idle.
    """
    if _divided(f, names):
        return np.ones(1, np.bool_)
    group = x.columns[names[0]] * x.columns[names[1]]
    room = -(-x.ranks // f.domain) * (f.domain // group)
    fits: Bools = (group > f.domain) | (x.ranks <= room * group)
    return fits


OURS = {
    "inside_job": Ours(("tp", "cp"), lambda f, x: x.tp * x.cp <= f.most_ranks),
    "experts_inside_job": Ours(("ep", "etp"), lambda f, x: x.ep * x.etp <= f.most_ranks),
    "inside_limits": Ours(
        ("tp", "cp"), lambda f, x: x.tp * x.cp <= max(MODEL_PARALLEL_MOST, int(f.values("tp").max(initial=1)))
    ),
    "experts_inside_limits": Ours(
        ("ep", "etp"), lambda f, x: (x.ep * x.etp <= max(MODEL_PARALLEL_MOST, f.domain)) | f.listed("etp")
    ),
    "experts_like_the_rest": Ours(
        ("etp", "tp"), lambda f, x: (x.etp == 1) | (x.etp == x.tp) | f.listed("etp")
    ),
    "split_sequence": Ours(("sequence_parallel", "tp"), _split_sequence),
    "whole_micro_batches": Ours(
        ("dp", "micro_batch"), lambda f, x: f.case.global_batch % (x.dp * x.micro_batch) == 0
    ),
    "wanted_rounds": Ours(("grad_accum",), lambda f, x: f.wanted("grad_accum").admits(x.grad_accum)),
    "at_most_these_ranks": Ours(("tp", "cp", "pp", "dp"), lambda f, x: x.ranks <= f.most_ranks),
    "at_least_these_ranks": Ours(("tp", "cp", "pp", "dp"), lambda f, x: x.ranks >= f.least_ranks),
    "steps_of_machines": Ours(("tp", "cp", "pp", "dp"), lambda f, x: in_steps(f, x.ranks)),
    "whole_groups": Ours(("tp", "cp", "pp", "dp"), lambda f, x: _whole_groups(f, x, ("tp", "cp"))),
    "whole_expert_groups": Ours(
        ("tp", "cp", "pp", "dp", "ep", "etp"), lambda f, x: _whole_groups(f, x, ("ep", "etp"))
    ),
    "useful_stage": Ours(("zero", "dp", "cp"), _useful_stage),
    "useful_shard": Ours(("shard", "zero", "dp", "cp"), _useful_shard),
    "wanted_shard": Ours(("shard",), lambda f, x: f.wanted("shard").admits(x.shard)),
}


@lru_cache(maxsize=256)
def decided(names: tuple[str, ...], known: frozenset[str], new: frozenset[str]) -> list[str]:
    """The rules, of frameworks' those of these names, that are decided once `new` columns join `known`."""
    fields = {name: RULES[name].fields for name in names} | {n: rule.fields for n, rule in OURS.items()}
    return [name for name, of in fields.items() if new & set(of) and set(of) <= known | new]


def kept(frame: Frame, name: str, layouts: Layouts) -> Bools:
    """Where a rule, of frameworks or of the search, holds."""
    if name in OURS:
        return OURS[name].kept(frame, layouts)
    return np.logical_not(RULES[name].violated(frame.case, layouts))


def lawful(frame: Frame, columns: Columns, names: Sequence[str]) -> Columns:
    """The rows that keep the rules of these names."""
    layouts = Layouts.of({name: column for name, column in columns.items() if name != CARRIED})
    keep = np.ones(len(next(iter(columns.values()))), np.bool_)
    for name in names:
        keep &= kept(frame, name, layouts)
    return columns if keep.all() else {name: column[keep] for name, column in columns.items()}


def crossed(frame: Frame, columns: Columns, names: Sequence[str]) -> Columns:
    """Every row with every value of each dimension in turn, where no rule is broken."""
    for name in names:
        values, known = frame.values(name), frozenset(columns)
        rows = len(next(iter(columns.values()))) if columns else 1
        if len(values) != 1:
            columns = {key: np.repeat(column, len(values)) for key, column in columns.items()}
        columns = columns | {name: np.tile(values, rows)}
        if name == "shard":
            columns[name] = resolved(frame, columns[name], columns["tp"])
        columns = lawful(frame, columns, decided(frame.rules, known, frozenset((name,))))
    return columns


def resolved(frame: Frame, shard: Ints, tp: Ints) -> Ints:
    """Replicas that share one copy, those of a machine counted."""
    return np.where(shard == MACHINE, np.maximum(frame.domain // tp, 1), shard)


@lru_cache(maxsize=256)
def ways_of(frame: Frame) -> Layouts:
    """Every way to cut a layer that a legal layout of the frame can take, and perhaps some more."""
    return Layouts.of(crossed(frame, {}, WAY))


@lru_cache(maxsize=256)
def meshes_of(frame: Frame) -> Layouts:
    """Every mesh of stages and replicas that a legal layout of the frame can take, and perhaps some more."""
    return Layouts.of(crossed(frame, {}, MESH))


class Carried(NamedTuple):
    """N layouts, and the row that each was made from. (N,)"""

    layouts: Layouts
    of: Ints


def meshed(frame: Frame, ways: Layouts, meshes: Layouts) -> Carried:
    """The legal ones among N pairs of a way and a mesh; how their state is shared is left open."""
    columns = {name: ways.columns[name] for name in WAY} | {name: meshes.columns[name] for name in MESH}
    columns["grad_accum"] = frame.case.global_batch // (columns["dp"] * columns["micro_batch"])
    alone = {name for part in (WAY, MESH) for name in decided(frame.rules, frozenset(), frozenset(part))}
    together = decided(frame.rules, frozenset(), frozenset(columns))
    columns[CARRIED] = np.arange(len(ways))
    return _carried(lawful(frame, columns, [name for name in together if name not in alone]))


def shared(frame: Frame, layouts: Layouts) -> Carried:
    """Every legal way to share the state of N layouts."""
    columns = {name: layouts.columns[name] for name in (*WAY, *MESH, "grad_accum")}
    return _carried(crossed(frame, columns | {CARRIED: np.arange(len(layouts))}, SHARING))


def _carried(columns: Columns) -> Carried:
    of = columns.pop(CARRIED)
    return Carried(Layouts.of(columns), of)


def ways_within(frame: Frame, wide: Layouts) -> Carried:
    """Those of the frame among ways that were found in a wider one, with every word of recompute."""
    columns = {name: wide.columns[name] for name in WAY if name != "recompute"}
    inside = np.logical_and.reduce([one_of(column, frame.values(name)) for name, column in columns.items()])
    rows = np.flatnonzero(inside)
    columns = {name: column[rows] for name, column in columns.items()}
    crossings = crossed(frame, columns | {CARRIED: rows}, ["recompute"])
    return _carried(lawful(frame, crossings, decided(frame.rules, frozenset(), frozenset(WAY))))


def layouts_of(frame: Frame) -> Layouts:
    """Every legal layout of a frame, in a fixed order."""
    ways, meshes = ways_of(frame), meshes_of(frame)
    way, mesh = np.divmod(np.arange(len(ways) * len(meshes)), max(len(meshes), 1))
    return shared(frame, meshed(frame, ways.take(way), meshes.take(mesh)).layouts).layouts
