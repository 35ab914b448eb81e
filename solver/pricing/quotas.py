"""How many machines of an offering the user's quotas allow."""

import math
from fnmatch import fnmatchcase
from typing import Any

from solver.catalog.records import Machine, Offering
from solver.problem import Limits, Quota


def most_machines(limits: Limits, offering: Offering, machine: Machine) -> float:
    """The least of the quotas that speak of an offering; infinite where none does.

    A quota of devices counts those of whole machines, as they are paid.
    """
    allowed = [
        quota.machines if quota.machines is not None else (quota.devices or 0) // machine.devices
        for quota in limits.quotas
        if speaks_of(quota, offering, machine)
    ]
    return min(allowed, default=math.inf)


def raised(
    limits: Limits, wrote: Any, on: tuple[Offering, Machine], needed: dict[str, int]
) -> list[dict[str, Any]]:
    """The quotas as the user wrote them, each that is exceeded at what is needed: machines, devices."""
    texts = wrote if isinstance(wrote, list) else [wrote]
    found = []
    for quota, text in zip(limits.quotas, texts, strict=True):
        over = {name: most for name, most in needed.items() if most > (getattr(quota, name) or math.inf)}
        found.append(text | over if speaks_of(quota, *on) else text)
    return found


def speaks_of(quota: Quota, offering: Offering, machine: Machine) -> bool:
    """Whether a quota names the provider, region, accelerator, machine and kind of price of an offering."""
    asked = (quota.provider, quota.region, quota.device, quota.machine)
    told = (offering.provider, offering.region, machine.device, machine.id)
    return quota.pricing in (None, offering.pricing) and all(map(fnmatchcase, told, asked))
