"""Lower bounds of whole markets, before any layout of them is looked at: compute alone, all devices side by
side.
"""

from dataclasses import replace

import numpy as np

from solver.estimate import Job, setting_of
from solver.layout import RECOMPUTE, Layouts, one_of
from solver.physics.hardware import Floats, side_by_side
from solver.physics.layer import Compute, layer_time
from solver.physics.setting import Setting
from solver.search.candidates import Explorer, Rough
from solver.search.space import ways_of

NOTHING = RECOMPUTE[0]


def market_floors(explorer: Explorer) -> Floats:
    """The least rank-seconds of a step in each market, whatever the layout and count. [s], (M,)

    Markets of one framework and precision share the ways to cut a layer; those with a degree of tensor
    parallelism beyond a machine do not count for it.
    """
    floors = np.full(len(explorer.markets), np.inf)
    alike: dict[tuple[str, str], list[int]] = {}
    for number, market in enumerate(explorer.markets):
        alike.setdefault((market.pool.framework.id, market.pool.precision), []).append(number)
    for members in alike.values():
        floors[members] = _floors(explorer, members)
    return floors


def _floors(explorer: Explorer, numbers: list[int]) -> Floats:
    """Of markets of one framework and precision. (m,)"""
    pools = [explorer.markets[number].pool for number in numbers]
    setting = setting_of(explorer.job, pools[0].framework, pools[0].precision)
    frames = [explorer.frame(number) for number in numbers]
    widest = max(frames, key=lambda frame: frame.domain)
    words = widest.recompute[:1] if NOTHING in widest.recompute else widest.recompute
    most = max(frame.most_ranks for frame in frames)
    ways = ways_of(replace(widest, most_ranks=most, recompute=words))  # why: recomputing only adds
    if len(ways) == 0:
        return np.full(len(numbers), np.inf)
    devices = {pool.device.id: pool.rank for pool in pools}
    compute = Compute.of(setting, side_by_side(list(devices.values())), ways)
    seconds = rank_seconds(explorer.job, setting, compute, ways)
    rows = {name: place for place, name in enumerate(devices)}
    for name, place in rows.items():
        explorer.rough[name, pools[0].framework.id, pools[0].precision] = Rough(
            ways, seconds[place], compute, place
        )
    admitted = {frame: one_of(ways.tp, frame.values("tp")) for frame in set(frames)}
    return np.array(
        [
            seconds[rows[pool.device.id]][admitted[frame]].min(initial=np.inf)
            for pool, frame in zip(pools, frames, strict=True)
        ]
    )


def rank_seconds(job: Job, setting: Setting, compute: Compute, ways: Layouts) -> Floats:
    """Compute of a step on all ranks, for each way to cut a layer: a lower bound of ranks x step. [s], (C, K)

    tp cp (batch / micro_batch) (layers x layer + tables). Stages, replicas and bubbles only add: the pace of
    a pipeline is at least the mean of its stages.
    """
    layer = layer_time(compute.layer, ways, setting).total
    total: Floats = job.architecture.layers * layer + compute.embedding + compute.loss
    return ways.tp * ways.cp * job.global_batch / ways.micro_batch * total
