"""What a user demands, as bits over one table of everything that could be had: which rows break which
demands.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, get_args

import numpy as np

from solver.catalog.records import Offering, Pricing
from solver.estimate import Pool
from solver.layout import Bools, Ints
from solver.problem import Problem
from solver.problem.quantities import PrecisionName
from solver.question import LISTS, Question, admitted, ask
from solver.search.bench import Bench
from solver.search.candidates import Candidates, Explorer
from solver.search.explore import Goal, cheapest_regions
from solver.search.limits import Limit, integers
from solver.search.space import Pins
from solver.search.wide import Axis, Breaks, Wide

MOST_DEVICES = 16_384  # counts beyond are not looked at when limits are relaxed
USUAL = "bf16"  # precision that is told first of those that are as good
PINS_APART = 3  # dimensions of a layout that are told apart, with every set of them; more are one demand
PRECISION = "training.precision"
PRECISIONS = tuple(sorted(get_args(PrecisionName), key=lambda name: name != USUAL))
LAYOUT = "limits.layout"
STEP = "limits.machines_step"
OF_POOL: dict[str, Callable[[Pool], str]] = {  # what a list of ids in the file speaks of
    "devices": lambda pool: pool.device.id,
    "machines": lambda pool: pool.machine.id,
    "fabrics": lambda pool: pool.fabric.id if pool.fabric else "",
    "frameworks": lambda pool: pool.framework.id,
    "precision": lambda pool: pool.precision,
}
OF_OFFERING: dict[str, Callable[[Offering], str]] = {
    "providers": lambda offering: offering.provider,
    "regions": lambda offering: offering.region,
    "pricing": lambda offering: offering.pricing,
}


class Demand(NamedTuple):
    """field: of the requirements file. kept: rows that meet it. limit: None of one that chooses."""

    field: str
    kept: Bools
    limit: Limit | None

    @property
    def listed(self) -> bool:
        """Whether it chooses among what is offered, by ids."""
        return self.limit is None and self.field != STEP and not self.field.startswith(LAYOUT)


@dataclass(frozen=True)
class Everything:
    """Rows for everything that could be had were no demand made, best objective first, and the demands.

    explorers: one that keeps the whole layout that the user states, and others that leave dimensions of it
    free; source: whose each row is. All have the same markets.
    """

    explorers: list[Explorer]
    source: Ints
    table: Candidates
    demands: list[Demand]

    @property
    def broken(self) -> Ints:
        """The demands that each row breaks, as bits in their order. (R,)"""
        bits = np.zeros(len(self.table), np.int64)
        for position, demand in enumerate(self.demands):
            bits |= (~demand.kept).astype(np.int64) << position
        return bits


class Choices(NamedTuple):
    """Demands that choose. lists: fields of ids; layout: fields of pins, and the dimensions of each; of the
    step of machines, the step itself.
    """

    lists: tuple[str, ...]
    layout: Mapping[str, tuple[str, ...]]

    def without(self) -> Iterator[tuple[int, set[str]]]:
        """Each set of layout fields that may be left free, as bits behind those of the lists, and its
        dimensions; the fewest first.
        """
        fields = list(self.layout)
        for size in range(len(fields) + 1):
            for chosen in combinations(range(len(fields)), size):
                bits = sum(1 << len(self.lists) + place for place in chosen)
                yield bits, {name for place in chosen for name in self.layout[fields[place]]}


def everything(question: Question, goal: Goal, pins: Pins, bench: Bench | None = None) -> Everything:
    """The table without any stated demand, and the demands over it. pins: the user's values of the layout."""
    problem = question.problem
    numeric, choices = _stated_limits(problem, goal), _stated_choices(problem, pins)
    most = max(int(goal.most_devices), MOST_DEVICES)
    axes = tuple(Axis(one) for one in numeric)

    def make() -> Wide:
        return _wide(question, choices, (axes, most, pins, bench))

    key: tuple[object, ...] = (problem.steps, problem.market, problem.limits.quotas, axes, most, pins)
    key += (problem.training.precision, problem.limits.frameworks, problem.limits.exclude_frameworks)
    key += (problem.limits.machines_step,)
    key += tuple((field, _admitted(question, field)) for field in choices.lists)
    wide = bench.tables.recall(key, make) if bench else make()
    order = np.argsort(getattr(wide.table, goal.quantity), kind="stable")
    table, marks = wide.table.take(order), wide.marks[order]
    demands = [Demand(one.field, one.kept(integers(table, one.quantity)), one) for one in numeric]
    for place, field in enumerate((*choices.lists, *choices.layout)):
        demands.append(Demand(_full(field), marks >> place & 1 == 0, None))
    return Everything(wide.explorers, wide.source[order], table, demands)


def _stated_limits(problem: Problem, goal: Goal) -> list[Limit]:
    """Those on numbers; the default of max_devices is no demand."""
    wrote = problem.given.get("limits", {})
    return [limit for limit in goal.limits if limit.field.removeprefix("limits.") in wrote]


def _stated_choices(problem: Problem, pins: Pins) -> Choices:
    wrote = problem.given.get("limits", {})
    lists = [field for field in (*LISTS, "pricing") if field in wrote]
    if "precision" in problem.given.get("training", {}):
        lists.append(PRECISION)
    names = tuple(name for name, _ in pins)
    layout: dict[str, tuple[str, ...]] = {f"{LAYOUT}.{name}": (name,) for name in names}
    if len(names) > PINS_APART:
        layout = {LAYOUT: names}
    if problem.limits.machines_step > 1:
        layout |= {STEP: (STEP,)}
    return Choices(tuple(lists), layout)


def _full(field: str) -> str:
    return field if "." in field else f"limits.{field}"


def _kind(field: str) -> str:
    """What a list of ids speaks of."""
    return field.removeprefix("exclude_").removeprefix("training.")


def _admitted(question: Question, field: str) -> tuple[str, ...]:
    """The ids that a list leaves."""
    problem = question.problem
    if field == PRECISION:
        return problem.training.precision
    if field == "pricing":
        return problem.limits.pricing
    return tuple(sorted(admitted(question.catalog, problem.limits, field)))


def _wide(
    question: Question, choices: Choices, how: tuple[tuple[Axis, ...], int, Pins, Bench | None]
) -> Wide:
    """how: what is limited, most devices, the user's values of the layout, the bench."""
    axes, most, pins, bench = how
    freed, found = _freed(question.problem, choices.lists), Wide(axes)
    for bits, dropped in choices.without():
        kept = tuple((name, values) for name, values in pins if name not in dropped)
        whole = _in_steps(freed, 1) if STEP in dropped else freed
        explorer = Explorer(whole, whole.offerings, most, 1, kept, bench=bench)
        found.explore(explorer, _breaks(question, explorer, choices.lists), bits)
    return found


def _freed(problem: Problem, lists: tuple[str, ...]) -> Question:
    """The question without its lists: every id, kind of price and precision."""
    limits, training = problem.limits, problem.training
    free: dict[str, Any] = {field: () for field in lists if field != PRECISION}
    if "pricing" in lists:
        free["pricing"] = get_args(Pricing)
    if PRECISION in lists:
        training = training.model_copy(update={"precision": PRECISIONS})
    update = {"limits": limits.model_copy(update=free), "training": training}
    return ask(problem.model_copy(update=update))


def _in_steps(question: Question, step: int) -> Question:
    """The question with another step of machines."""
    limits = question.problem.limits.model_copy(update={"machines_step": step})
    return replace(question, problem=question.problem.model_copy(update={"limits": limits}))


def _breaks(question: Question, explorer: Explorer, lists: tuple[str, ...]) -> Breaks:
    """Which lists each market and each offering breaks, as bits in their order."""
    market = np.zeros(len(explorer.markets), np.int64)
    offering = np.zeros(len(explorer.offerings), np.int64)
    for place, field in enumerate(lists):
        kind, allowed = _kind(field), set(_admitted(question, field))
        if kind in OF_POOL:
            market |= _bits([OF_POOL[kind](one.pool) not in allowed for one in explorer.markets], place)
        else:
            offering |= _bits([OF_OFFERING[kind](one) not in allowed for one in explorer.offerings], place)
    return Breaks(market, offering)


def _bits(flags: list[bool], place: int) -> Ints:
    return np.array(flags, np.int64) << place


def id_of(explorer: Explorer, table: Candidates, row: int, field: str) -> str:
    """What a list of ids would have to name for a row to meet it."""
    kind = _kind(field.removeprefix("limits."))
    if kind in OF_POOL:
        return OF_POOL[kind](explorer.markets[int(table.pool[row])].pool)
    return OF_OFFERING[kind](explorer.offerings[int(table.offering[row])])


def freed(question: Question, fields: list[str], explorer: Explorer, most: int) -> Iterator[Explorer]:
    """Explorers of a question without the choices of some fields; of the step of machines its parts in turn,
    the largest first. most: devices.
    """
    lists = tuple(f.removeprefix("limits.") for f in fields if f != STEP and not f.startswith(LAYOUT))
    dropped = {f.removeprefix(LAYOUT).removeprefix(".") for f in fields if f.startswith(LAYOUT)}
    pins = tuple(pin for pin in explorer.pinned if pin[0] not in dropped and "" not in dropped)
    free = _freed(question.problem, lists)
    offerings, step = cheapest_regions(free)[0], question.problem.limits.machines_step
    for part in parts(step) if STEP in fields else [step]:
        yield Explorer(_in_steps(free, part), offerings, most, 1, pins, bench=explorer.bench)


def parts(step: int) -> list[int]:
    """What divides a step, itself left out: a multiple of the step is one of each."""
    return [part for part in range(step // 2, 0, -1) if step % part == 0]
