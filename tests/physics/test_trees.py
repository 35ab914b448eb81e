"""All-reduces between machines, as measured over EFA."""

import numpy as np
import pytest

from solver.catalog import load
from solver.physics import communication as com
from solver.physics.hardware import Network


# Bus bandwidth, GB/s: awsome-distributed-training (2 x p4de at 2 GiB, 2 x p5 at 16 GiB),
# stas00/ml-engineering (4 x p6-b200 at 16 GiB). Rings would reach half to three quarters of it.
@pytest.mark.parametrize(
    ("machine", "fabric", "machines", "gib", "measured"),
    [
        ("a100-80-sxm-8", "efa-v1-p4d", 2, 2, 78.3),
        ("h100-sxm-8", "efa-v2-p5", 2, 16, 487.0),
        ("b200-sxm-8", "efa-v4-p6b200", 4, 16, 381.8),
    ],
)
def test_an_all_reduce_between_machines_is_met_within_a_fifth(
    machine: str, fabric: str, machines: int, gib: int, measured: float
) -> None:
    catalog = load(None)
    host = catalog.machines[machine]
    network = Network.of(host, 1, catalog.fabrics[host.scale_up], catalog.fabric(fabric))
    ranks = machines * host.devices
    group = com.span(np.array([ranks]), np.array([1]), network)
    message = gib * 2.0**30
    bus_bytes_per_s = 2 * (ranks - 1) / ranks * message / com.all_reduce_s(message, group, network)[0]
    assert bus_bytes_per_s / 1e9 == pytest.approx(measured, rel=0.2)
