"""A record of the results: what became of one variant."""

import json
from typing import Any

from solver.errors import Fault
from solver.units import rounded

LOST = "worker"  # the field of an error that is no fault of the variant: it is tried again on resume
Record = dict[str, Any]


def failed(faults: list[Fault]) -> Record:
    """How a variant that has no answer is told: its first fault, and all of them where there are several."""
    first = faults[0]._asdict()
    others = {"faults": [fault._asdict() for fault in faults]} if len(faults) > 1 else {}
    return {"status": "error", "error": first, **others}


def written(head: Record, told: Record, seconds: float) -> str:
    """A record as its line: ASCII, no line break inside."""
    record = head | {"status": told["status"], "seconds": rounded(seconds)} | told
    return json.dumps(record, allow_nan=False, separators=(",", ":"), default=str)
