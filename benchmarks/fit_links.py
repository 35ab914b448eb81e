"""Fit efficiency, latency and start of the scale-up links to measured collectives, as fit_kernels.py asks."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares  # type: ignore[import-untyped]

from solver import catalog as shipped
from solver.catalog.records import Link, Machine
from solver.physics import communication as com
from solver.physics.hardware import Floats, Network

SOURCE = "aiconfigurator"  # of the rows that are fitted: one tool, sizes from 8 KiB to 512 MiB
LARGE = 1e6  # bytes from which on a message is a training step's
ALIKE = {
    "nvlink5-nvl72": "nvlink5"
}  # only groups of 2 and 4 measured: fitted together, as the link is the same
NVLS = ("nvlink4", "nvlink5")  # whose switches add up: all-reduce of 8 devices from 32 MiB on is no ring


class Rows(NamedTuple):
    """Measured collectives on one link, inside one machine. (R,)"""

    message: Floats
    ranks: Any
    reduced: Any
    seconds: Floats
    devices: list[str]


def read(path: Path, link: str) -> Rows:
    """Ring collectives of a link and those alike, without those that the switch itself added up."""
    alike = {link, ALIKE.get(link, link), *(other for other, same in ALIKE.items() if same == link)}
    with path.open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["interconnect_id"] in alike and row["source"] == SOURCE and not _in_switch(row)
        ]
    return Rows(
        np.array([float(row["message_bytes"]) for row in rows]),
        np.array([int(row["devices"]) for row in rows]),
        np.array([row["op"] == "all_reduce" for row in rows]),
        np.array([float(row["latency_us"]) for row in rows]) / 1e6,
        sorted({row["device_id"] for row in rows}),
    )


def _in_switch(row: dict[str, str]) -> bool:
    reduced = row["op"] == "all_reduce" and row["devices"] == "8"
    return reduced and row["interconnect_id"] in NVLS and float(row["message_bytes"]) > 3e7


def predicted_s(rows: Rows, link: Link, machine: Machine) -> Floats:
    """Of the solver's own functions."""
    network = Network.of(machine, 1, link, None)
    group = com.span(rows.ranks, np.ones_like(rows.ranks), network)
    once = com.gather_s(rows.message, group, network)
    return np.where(rows.reduced, 2 * once, once)


def fit(rows: Rows, link: Link, machine: Machine) -> tuple[Floats, list[float]]:
    """Efficiency, latency, start; and the mean error of groups of 4 and more, held out: large, small [%].

    Groups of two use fewer channels: they weigh half, as small messages weigh a third.
    """
    held = np.random.default_rng(0).random(len(rows.seconds)) < 0.25
    weight = (np.where(rows.ranks == 2, 0.5, 1.0) * np.where(rows.message > LARGE, 1.0, 0.3))[~held]

    def missed(logarithms: Floats) -> Floats:
        efficiency, latency, start = np.exp(logarithms)
        own = link.model_copy(update={"efficiency": efficiency, "latency": latency, "start": start})
        return np.asarray(np.log(predicted_s(rows, own, machine) / rows.seconds))

    low, high = np.log([[0.01, 1e-7, 1e-7], [1.0, 6e-5, 6e-5]])
    best = least_squares(
        lambda x: weight * missed(x)[~held], [np.log(0.7), np.log(2e-6), np.log(5e-6)], bounds=(low, high)
    )
    error = np.abs(np.expm1(missed(best.x)))
    unseen = held & (rows.ranks > 2)
    parts = [unseen & (rows.message > LARGE), unseen & (rows.message <= LARGE)]
    return np.exp(best.x), [100 * float(error[part].mean()) for part in parts]


def link_table(path: Path) -> str:
    """The table of the page: constants and errors of every link that has rows."""
    catalog = shipped.load()
    lines = [
        "| link | efficiency | latency us | start us | large, mean % | small, mean % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, link in catalog.fabrics.items():
        rows = read(path, name)
        if len(rows.seconds):
            users = (m for m in catalog.machines.values() if m.device in rows.devices)
            machine = max(users, key=lambda m: m.domain)
            (efficiency, latency, start), (large, small) = fit(rows, link, machine)
            cells = f"{efficiency:.2f} | {latency * 1e6:.2f} | {start * 1e6:.1f} | {large:.1f} | {small:.1f}"
            lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)
