"""Software stacks, and what it takes to move a training code from one to another."""

from collections.abc import Mapping

from solver.catalog.fact import Fact
from solver.catalog.records import Device, Framework

JOINED = ">"  # between the two stacks in the id of a migration


class Stack(Fact):
    """Frameworks of one kind on the devices of one vendor: what runs on one of them runs on the others."""

    name: str
    vendors: list[str]
    frameworks: list[str]
    reference: bool = False
    """From where moves are told unless the user says otherwise; one stack."""


class Migration(Fact):
    """What a move from one stack to another takes. The id: from>to."""

    framework: str
    """What takes the place of the framework."""
    missing: list[str]
    """Kernels and features that the stack left behind has and the new one lacks."""
    port: list[str]
    """Code and data to carry over."""


def stack_of(stacks: Mapping[str, Stack], framework: Framework, device: Device) -> Stack | None:
    """The stack that a framework on a device belongs to."""
    return next(
        (s for s in stacks.values() if framework.id in s.frameworks and device.vendor in s.vendors), None
    )


def reference(stacks: Mapping[str, Stack]) -> str:
    return next(name for name, stack in stacks.items() if stack.reference)
