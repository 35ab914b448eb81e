"""How sure a predicted time is: records of catalogs/accuracy.csv, and which of them a plan takes."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from solver.catalog.fact import Fact
from solver.catalog.records import Device

ANY = "*"
# What other sources have run: the device with this generation of the framework; the device; one of its
# family; none of these.
LEVELS = ("generation", "device", "family", "none")
KINDS = ("dense", "moe")
NOISE = 0.06  # the same layout under the next release of its software: no band is narrower to either side


class Band(Fact):
    """Measured over predicted step time: four of five runs lie between low and high.

    The id says for whom: device/framework, device/*, family/* or */*, and the kind of model behind it.
    """

    level: Literal["generation", "device", "family", "none"]
    scope: str
    """What the runs are that it was taken from."""
    runs: int
    sources: int
    low: float = Field(gt=0, le=1 - NOISE)
    high: float = Field(ge=1 + NOISE)

    @property
    def words(self) -> str:
        """The band and what it rests on, as a sentence."""
        ends = f"{100 * (self.low - 1):+.0f} % to {100 * (self.high - 1):+.0f} %"
        if not self.runs:
            return f"the time may be off by {ends}, as is assumed: no published run speaks of it"
        runs = f"80 % of {self.runs} published runs ({self.sources} sources), each predicted without its own"
        return f"the time may be off by {ends}: so were at least {runs} source, {self.scope}"


def band_of(bands: Mapping[str, Band], device: Device, framework: str, kind: str) -> Band:
    """The nearest that there is: of the device with the framework, the device, its family, or any."""
    owners = (f"{device.id}/{framework}", f"{device.id}/{ANY}", f"{device.family}/{ANY}", f"{ANY}/{ANY}")
    return next(bands[f"{owner}/{kind}"] for owner in owners if f"{owner}/{kind}" in bands)
