"""Stops and effective time of published long runs, beside what the catalog's constants say of them."""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from solver.catalog import load
from solver.physics.goodput import Operations, goodput


class Published(NamedTuple):
    """A run: devices, days, stops that were told, share of the time that counted, where it is written."""

    what: str
    device: str
    devices: int
    days: float
    parameters: float
    stops: str
    effective: str
    source: str


RUNS = (
    Published("Llama 3 405B", "h100-sxm", 16384, 54, 405e9, "419", "above 90 %", "arXiv 2407.21783, 3.3.4"),
    Published(
        "OPT-175B", "a100-80-sxm", 992, 60, 175e9, "105", "", "arXiv 2205.01068, 2.5: 35 + 70 restarts"
    ),
    Published(
        "BLOOM 176B", "a100-80-sxm", 384, 105, 176e9, "15 to 30", "", "arXiv 2211.05100: 1 or 2 a week"
    ),
)


def row(run: Published) -> str:
    """A line of the table."""
    catalog = load(None)
    o, device = catalog.operations["operations"], catalog.devices[run.device]
    mtbf = device.mtbf or o.device_mtbf
    operated = Operations(mtbf, np.inf, o.restart, o.checkpoint_bandwidth, o.startup)
    counts = np.array([run.devices]), np.array([-(-run.devices // 8)])
    share = float(goodput(o.checkpoint_bytes * run.parameters, *counts, operated)[0])
    stops = run.devices * run.days * 86400 / mtbf
    cells = (
        run.what, f"{run.devices:,} {run.device}", f"{run.days:g}", run.stops, f"{stops:.0f}",
        run.effective, f"{share:.0%}", run.source,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table as Markdown."""
    head = (
        "run",
        "devices",
        "days",
        "stops told",
        "stops here",
        "effective told",
        "effective here",
        "source",
    )
    print(f"| {' | '.join(head)} |")
    print(f"|{' --- |' * len(head)}")
    for run in RUNS:
        print(row(run))


if __name__ == "__main__":
    main()
