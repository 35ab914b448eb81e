"""Machines that train together: one kind, one fabric, one framework in one precision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from solver.architecture.blocks import Architecture
from solver.catalog import Catalog
from solver.catalog.accuracy import KINDS, Band, band_of
from solver.catalog.records import Device, Framework, Link, Machine
from solver.physics.hardware import Network, Rank, Software

MOST_KNOWN = 20_000


def software_of(framework: Framework, device: Device) -> Software:
    """The framework's constants that depend on the architecture of the device, else on its relative's."""

    def of(known: Mapping[str, float], otherwise: float) -> float:
        return known.get(device.architecture, known.get(device.relative, otherwise))

    return Software(
        of(framework.attention, 1.0),
        of(framework.matmul, 1.0),
        of(framework.gradient_overlaps, framework.gradient_overlap),
        framework.joined_experts,
    )


@dataclass(frozen=True)
class Pool:
    """Machines of one kind, joined by one fabric, with one framework in one precision."""

    device: Device
    machine: Machine
    link: Link
    fabric: Link | None
    framework: Framework
    precision: str
    bands: Mapping[str, Band] = field(default_factory=dict)
    """Of the catalog: how sure predicted times are."""

    @classmethod
    def of(
        cls, catalog: Catalog, machine: Machine, fabric: Link | None, how: tuple[Framework, str]
    ) -> "Pool":
        """Of one catalog the same object each time: what is derived of it is derived once a process."""
        device, link = catalog.devices[machine.device], catalog.fabrics[machine.scale_up]
        parts = (device, machine, link, fabric, how[0], how[1], catalog.accuracy)
        key = tuple(part if isinstance(part, str) else id(part) for part in parts)
        if len(_KNOWN) > MOST_KNOWN:
            _KNOWN.clear()
        return _KNOWN.setdefault(key, cls(*parts))

    def band(self, architecture: Architecture) -> Band:
        """How sure the times of a model are here."""
        kind = KINDS[architecture.experts > 1]
        return band_of(self.bands, self.device, self.framework.id, kind)

    @property
    def domain_ranks(self) -> int:
        return self.machine.domain * self.device.ranks

    @property
    def block_ranks(self) -> int:
        return self.machine.block * self.device.ranks

    @cached_property
    def geometry(self) -> tuple[int | str, ...]:
        """All that decides which layouts are legal: case_of and rules_of look at nothing else of a pool."""
        machine, ranks = self.machine, self.device.ranks
        return (self.framework.id, self.precision, machine.domain, machine.block, machine.devices, ranks)

    @cached_property
    def rank(self) -> Rank:
        return Rank.of(self.device, self.precision, software_of(self.framework, self.device))

    @cached_property
    def network(self) -> Network:
        return Network.of(self.machine, self.device.ranks, self.link, self.fabric)


_KNOWN: dict[tuple[int | str, ...], Pool] = {}  # by its parts, which it keeps alive


def supports(framework: Framework, device: Device, precision: str) -> bool:
    """Whether the framework runs on the device in the precision."""
    return precision in device.peak and any(
        device.family in s.families and precision in s.precisions for s in framework.supports
    )
