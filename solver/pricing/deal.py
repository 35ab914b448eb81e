"""What a bill is written for."""

from typing import NamedTuple

from solver.catalog.records import Offering
from solver.estimate import Job, Pool


class Deal(NamedTuple):
    """A job on the machines of an offering; pool: these machines with what joins them."""

    job: Job
    offering: Offering
    pool: Pool
