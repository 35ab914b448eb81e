"""Energy of a run at the meter, and the carbon dioxide of it. Arrays are (N,), one entry a row."""

import numpy as np

from solver.catalog.records import Device, Link, Machine, Operations
from solver.layout import Ints
from solver.physics.hardware import Floats
from solver.pricing.deal import Deal
from solver.units import HOUR_S


def tiers(hosts: Ints, switch_ports: int) -> Ints:
    """Levels of switches that join hosts, each network card of a host in a network of its own (rails). (N,)

    1 up to R hosts, the ports of a switch; 2 up to R²/2; 3 up to R³/4; a host alone needs none.
    Source: non-blocking fat tree, Al-Fares et al. 2008, SIGCOMM, sec. 3.
    """
    joined = np.asarray(hosts)
    most = [switch_ports, switch_ports**2 // 2]
    return (joined > 1).astype(np.int64) + (joined > most[0]) + (joined > most[1])


def ports(hosts: Ints, switch_ports: int, oversubscription: float = 1.0) -> Floats:
    """Switch ports for each network card: its own, and both ends of each way up. (N,)

    1 + 2 (t - 1) / o on t tiers; oversubscription  o: 1 without any
    """
    return links(hosts, switch_ports, oversubscription) * 2 - (np.asarray(hosts) > 1)


def links(hosts: Ints, switch_ports: int, oversubscription: float = 1.0) -> Floats:
    """Cables for each network card: its own, and its part of each way up: 1 + (t - 1) / o. (N,)"""
    above = np.maximum(tiers(hosts, switch_ports) - 1, 0)
    return (np.asarray(hosts) > 1) + above / oversubscription


def cards(machine: Machine, fabric: Link | None) -> int:
    """Network cards of a machine."""
    return fabric.nics * machine.hosts if fabric else 0


def shared(fabric: Link | None) -> float:
    """Oversubscription of what joins machines."""
    return fabric.oversubscription if fabric else 1.0


def wiring(deal: Deal, machines: Ints) -> tuple[Floats, Floats]:
    """Switch ports and links of one of the machines; none where it is alone. (N,)"""
    machine, fabric = deal.pool.machine, deal.pool.fabric
    hosts = np.where(machines > 1, machines * machine.hosts, 1)
    size, each = deal.job.operations.switch_ports, cards(machine, fabric)
    return each * ports(hosts, size, shared(fabric)), each * links(hosts, size, shared(fabric))


def watts(deal: Deal, machines: Ints) -> Floats:
    """Mean power of the machines in training and of the switches between them. [W], (N,)

    P = n (load · P_machine + ports · P_port)
    """
    operations, pool = deal.job.operations, deal.pool
    switched, _ = wiring(deal, machines)
    alone = least_watts(operations, pool.device, pool.machine)
    return machines * (alone + switched * operations.port_power)


def energy_wh(deal: Deal, machines: Ints, wall_clock_s: Floats) -> Floats:
    """Energy at the meter: mean power over the whole run, times the overhead of the place. [Wh], (N,)"""
    return watts(deal, machines) * wall_clock_s / HOUR_S * deal.offering.site.pue


def least_watts(operations: Operations, device: Device, machine: Machine) -> float:
    """Mean power of a machine alone. [W]"""
    return operations.load[device.kind] * machine.power


def least_wh(deal: Deal) -> float:
    """At least, a machine-second at the meter. [Wh]"""
    pool = deal.pool
    return least_watts(deal.job.operations, pool.device, pool.machine) / HOUR_S * deal.offering.site.pue


def carbon_kg(deal: Deal, energy: Floats) -> Floats:
    """Carbon dioxide of energy [Wh], by the grid of the region. [kg], (N,)"""
    return energy / 1e3 * deal.offering.site.carbon
