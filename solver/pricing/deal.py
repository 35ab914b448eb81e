"""What a bill is written for, and the units of time."""

from typing import NamedTuple

from solver.catalog.records import Offering
from solver.estimate import Job, Pool

HOUR_S = 3600.0
DAY_S = 86400.0
MONTH_S = 365.25 / 12 * DAY_S
YEAR_S = 365.25 * DAY_S


class Deal(NamedTuple):
    """A job on the machines of an offering; pool: these machines with what joins them."""

    job: Job
    offering: Offering
    pool: Pool
