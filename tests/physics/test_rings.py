"""What rings over many machines wait for, beside what they move."""

import numpy as np
import pytest

from solver.catalog import load
from solver.layout import Ints
from solver.physics import communication as com
from solver.physics.hardware import Network


def network_of(machine: str, fabric: str) -> Network:
    catalog = load(None)
    host = catalog.machines[machine]
    return Network.of(host, 1, catalog.fabrics[host.scale_up], catalog.fabric(fabric))


def row(*values: int) -> Ints:
    return np.array(values)


# InternEvo, doc/en/train_performance.md: 7B on A100, tp 1, the optimizer's state over all ranks (zero1 -1) or
# over those of a machine (8), in tokens/s a device: 2,861 and 3,835 on 512, 2,271 and 3,625 on 1,024.
# A step has 16,384 tokens a device.
@pytest.mark.parametrize(("devices", "whole", "machine"), [(512, 2861, 3835), (1024, 2271, 3625)])
def test_owners_that_send_whole_tensors_cost_what_was_measured(
    devices: int, whole: int, machine: int
) -> None:
    network = network_of("a100-80-sxm-8", "roce-100x4")
    owners = row(32 * 9 + 3)  # tensors of its layers, tables and final norm: fewer than ranks
    waited = com.broadcasts_s(owners, com.span(row(devices), row(1), network), network)
    assert waited[0] == pytest.approx(16_384 / whole - 16_384 / machine, rel=0.15)


def test_a_gather_of_little_takes_as_much_longer_as_it_has_more_machines() -> None:
    network = network_of("a100-80-sxm-8", "ib-hdr-200x8")
    one, two = com.gather_s(1.0, com.span(row(256, 512), row(1, 1), network), network)
    assert two / one == pytest.approx(2, rel=0.03)


def test_an_all_reduce_of_little_goes_along_a_tree() -> None:
    network = network_of("a100-80-sxm-8", "ib-hdr-200x8")
    one, two = com.all_reduce_s(1.0, com.span(row(256, 512), row(1, 1), network), network)
    assert two / one < 1.3


def test_each_call_of_a_gather_goes_around_the_ring() -> None:
    network = network_of("a100-80-sxm-8", "ib-hdr-200x8")
    group = com.span(row(8, 64), row(1, 1), network)
    once, often = com.gathers_s(((1e9, 1), (1e9, 33)), group, network)
    hops = 56 * com.HOP_S + 7 * com.FAR_HOP_S
    assert often - once == pytest.approx([0, 32 * hops])
