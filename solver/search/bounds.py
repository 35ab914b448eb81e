"""Lower bounds of whole markets, before any layout of them is looked at: compute alone, all devices side by
side.
"""

import numpy as np

from solver.estimate import Job, setting_of
from solver.layout import Layouts
from solver.physics.compute import ends_s, mean_layer
from solver.physics.hardware import Floats, Rank, side_by_side
from solver.physics.layer import layer_time
from solver.physics.memory import Setting
from solver.search.candidates import Explorer, Market
from solver.search.space import tensor_degrees, ways_of


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
        floors[members] = _floors(explorer, [explorer.markets[number] for number in members])
    return floors


def _floors(explorer: Explorer, markets: list[Market]) -> Floats:
    """Of markets of one framework and precision. (m,)"""
    pool = markets[0].pool
    setting = setting_of(explorer.job, pool.framework, pool.precision)
    frames = [explorer.frame(market) for market in markets]
    widest = max(frames, key=lambda frame: frame.domain)
    ways = ways_of(widest._replace(most_ranks=max(frame.most_ranks for frame in frames)))
    if len(ways) == 0:
        return np.full(len(markets), np.inf)
    devices = {market.pool.device.id: market.pool.rank for market in markets}
    seconds = rank_seconds(explorer.job, setting, side_by_side(list(devices.values())), ways)
    rows = {name: seconds[place] for place, name in enumerate(devices)}
    admitted = [np.isin(ways.tp, frame.values("tp", tensor_degrees(frame))) for frame in frames]
    return np.array(
        [
            rows[market.pool.device.id][fits].min(initial=np.inf)
            for market, fits in zip(markets, admitted, strict=True)
        ]
    )


def rank_seconds(job: Job, setting: Setting, rank: Rank, ways: Layouts) -> Floats:
    """Compute of a step on all ranks, for each way to cut a layer: a lower bound of ranks x step. [s], (C, K)

    tp cp (batch / micro_batch) (layers x layer + tables). Stages, replicas and bubbles only add: the pace of
    a pipeline is at least the mean of its stages.
    """
    passes = mean_layer(job.architecture, ways, rank, setting.work)
    layer = layer_time(passes, ways, setting).total
    embedding, loss = ends_s(job.architecture, ways, rank, setting.work)
    total: Floats = job.architecture.layers * layer + embedding + loss
    return ways.tp * ways.cp * job.global_batch / ways.micro_batch * total
