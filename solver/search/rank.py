"""The best distinct plans, decided twice: by a scan of all candidates, and by CP-SAT over those that can
matter.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solver.layout import Ints
from solver.search.candidates import Candidates, Explorer
from solver.search.explore import Goal, distinct_keys
from solver.search.limits import Limit, integers, violated
from solver.search.model import Rows, Verdict, build, decide, forbid
from solver.search.space import Pins

FEASIBLE_ROWS = 160  # handed to CP-SAT beside one of each distinct key
NEAR_MISSES = 24  # rows handed over for each set of limits that they break
DECIDED = (
    "tp",
    "cp",
    "pp",
    "vpp",
    "ep",
    "etp",
    "dp",
    "zero",
    "shard",
    "micro_batch",
    "grad_accum",
    "recompute",
)


class Choice(NamedTuple):
    """The chosen rows, best first, and CP-SAT's verdict on each.

    handed: rows that the model saw; bound: the least value of the objective that CP-SAT could not exclude.
    """

    table: Candidates
    verdicts: list[Verdict]
    handed: int
    bound: float | None


def choose(explorer: Explorer, table: Candidates, goal: Goal) -> Choice:
    """The `top` best distinct rows of a ranked table. The scan and CP-SAT must agree."""
    bits = violated(table, goal.limits)
    picks = scan(explorer, table, bits, goal)
    handed = survivors(table, bits, picks, goal.limits)
    verdicts = certify(explorer, handed, goal)
    if all(verdict.status == "OPTIMAL" for verdict in verdicts):
        agreed = [int(v.row) for v in verdicts if v.row is not None]
        assert [handed.rows[row] for row in agreed] == picks.tolist(), "the scan and CP-SAT disagree"
    bound = verdicts[0].bound
    least = None if bound is None else float(getattr(handed.table, goal.quantity)[max(bound, 0)])
    return Choice(table.take(picks), verdicts, len(handed.table), least)


def scan(explorer: Explorer, table: Candidates, bits: Ints, goal: Goal) -> Ints:
    """The first row of each distinct key that breaks no limit, as many as are asked for."""
    fine = np.flatnonzero(bits == 0)
    seen: set[object] = set()
    picks: list[int] = []
    for row, key in zip(fine.tolist(), distinct_keys(explorer, table.take(fine), goal.distinct), strict=True):
        if key not in seen:
            seen.add(key)
            picks.append(row)
        if len(picks) == goal.top:
            break
    return np.array(picks, np.int64)


@dataclass(frozen=True)
class Handed:
    """What CP-SAT gets: rows of the table, and where they stand in it."""

    table: Candidates
    rows: list[int]


def survivors(table: Candidates, bits: Ints, picks: Ints, limits: list[Limit]) -> Handed:
    """The best rows that break nothing, and for each set of limits the rows that break it by least."""
    rows = set(np.flatnonzero(bits == 0)[:FEASIBLE_ROWS].tolist()) | set(picks.tolist())
    excess = sum((limit.excess(getattr(table, limit.quantity)) for limit in limits), np.zeros(len(table)))
    for signature in np.unique(bits[bits > 0]).tolist():
        members = np.flatnonzero(bits == signature)
        rows |= set(members[np.argsort(excess[members], kind="stable")[:NEAR_MISSES]].tolist())
    ordered = sorted(rows)
    return Handed(table.take(np.array(ordered, np.int64)), ordered)


def certify(explorer: Explorer, handed: Handed, goal: Goal) -> list[Verdict]:
    """CP-SAT's best row, then its best without that row's key, and so on."""
    table = handed.table
    if len(table) == 0:  # nothing came near the limits: there is no row to choose
        return [Verdict("INFEASIBLE", None, None, None)]
    rows = Rows(decisions(explorer, table), quantities(table, goal.limits), np.arange(len(table)))
    model, chosen = build(rows, goal.limits, listed(explorer.pinned))
    keys = distinct_keys(explorer, table, goal.distinct)
    verdicts: list[Verdict] = []
    while len(verdicts) < goal.top:
        verdict = decide(model, chosen, goal.until - time.perf_counter())
        if verdict.row is None:
            return verdicts or [verdict]
        verdicts.append(verdict)
        forbid(model, [literal for literal in chosen if keys[literal] == keys[verdict.row]])
    return verdicts


def listed(pins: Pins) -> dict[str, tuple[int, ...]]:
    """The values of each dimension that the user lists himself."""
    return {name: wanted.listed for name, wanted in pins if wanted.listed and not wanted.spans}


def quantities(table: Candidates, limits: list[Limit]) -> dict[str, Ints]:
    """What the limits bound, in units of the model."""
    return {limit.quantity: integers(table, limit.quantity) for limit in limits}


def decisions(explorer: Explorer, table: Candidates) -> dict[str, Ints]:
    """The values that each row gives the decision variables; names as numbers in their sorted order. (R,)"""
    pools = [explorer.markets[number].pool for number in table.pool]
    found = zip(table.pool.tolist(), table.layout.tolist(), strict=True)
    layouts = [explorer.layouts(number).row(row) for number, row in found]
    degrees = {name: np.array([layout[name] for layout in layouts], np.int64) for name in DECIDED}
    return {
        "offering": table.offering,
        "device": _numbered([pool.device.id for pool in pools]),
        "devices": table.devices,
        "interconnect": _numbered([pool.fabric.id if pool.fabric else "" for pool in pools]),
        "framework": _numbered([pool.framework.id for pool in pools]),
        "precision": _numbered([pool.precision for pool in pools]),
        **degrees,
    }


def _numbered(names: list[str]) -> Ints:
    known = sorted(set(names))
    return np.array([known.index(name) for name in names], np.int64)
