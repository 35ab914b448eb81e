"""How near a model comes to fitting in memory where no layout fits: the layout that needs least, in words."""

from typing import NamedTuple

import numpy as np

from solver.estimate import Space, setting_of
from solver.layout import Layouts
from solver.present import layout_words
from solver.question import Question
from solver.search.candidates import Explorer, Market
from solver.search.explore import Goal, cheapest_regions
from solver.search.space import Pins, layouts_of
from solver.units import GIB

SHOWN = ("tp", "cp", "pp", "ep", "dp")  # of a layout, where above 1


class Least(NamedTuple):
    """The layout of a market that needs the least share of its memory."""

    share: float
    market: Market
    space: Space
    row: int


def does_not_fit(question: Question, goal: Goal, pins: Pins) -> list[str]:
    """The sentence that tells by how much memory is missed; none where some layout fits, or none is legal."""
    explorer = Explorer(question, cheapest_regions(question)[0], int(goal.most_devices), 1, pins)
    best, looked = None, 0
    order = sorted(enumerate(explorer.markets), key=lambda item: -item[1].pool.rank.usable_bytes)
    for number, market in order:
        layouts = layouts_of(explorer.frame(number))
        if len(layouts) == 0:
            continue
        least = _least(explorer, market, layouts)
        looked += len(layouts)
        if least.share <= 1:
            return []
        best = least if best is None or least.share < best.share else best
    return [] if best is None else [_sentence(explorer, best, looked)]


def _least(explorer: Explorer, market: Market, layouts: Layouts) -> Least:
    pool = market.pool
    space = Space.of(setting_of(explorer.job, pool.framework, pool.precision), layouts)
    peak = space.memory.peak
    row = int(np.argmin(peak))
    return Least(float(peak[row] / pool.rank.usable_bytes), market, space, row)


def _sentence(explorer: Explorer, least: Least, looked: int) -> str:
    pool, space = least.market.pool, least.space
    words = layout_words(space, pool, least.row)
    degrees = [f"{name} {words[name]}" for name in SHOWN if words[name] > 1]
    sharded = [f"ZeRO-{words['zero']}"] if words["zero"] else []
    how = ", ".join([*degrees, *sharded, f"recompute {words['recompute']}"])
    devices = int(space.layouts.ranks[least.row]) // pool.device.ranks
    usable = pool.rank.usable_bytes / GIB
    return (
        f"{explorer.job.architecture.name} does not fit in the memory of anything that is allowed: the "
        f"smallest of {looked:,} legal layouts takes {least.share * usable:.1f} GiB of the {usable:.1f} GiB "
        f"that a device has ({devices:,} x {pool.device.id}, {pool.framework.id}, {how})"
    )
