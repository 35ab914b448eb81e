"""What a framework makes of a device that no published run speaks of."""

import pytest

from solver.catalog import load
from solver.catalog.records import Framework
from solver.pool import software_of

CATALOG = load(None)


@pytest.mark.parametrize(("device", "relative"), [("mi355x", "mi300x"), ("b300-sxm", "b200-sxm")])
@pytest.mark.parametrize("framework", CATALOG.frameworks.values(), ids=lambda f: f.id)
def test_a_device_takes_the_software_of_its_relative(
    device: str, relative: str, framework: Framework
) -> None:
    own, other = (software_of(framework, CATALOG.devices[name]) for name in (device, relative))
    assert own == other
