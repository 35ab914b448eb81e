"""A batch from its problems to its results."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from solver import __version__
from solver.batches.crew import Crew, Engine
from solver.batches.journal import Journal
from solver.batches.record import LOST, Record
from solver.batches.settings import combinations
from solver.batches.table import RECORDS, check_table, write_table
from solver.batches.variants import Expansion, Source, Variant, documents, expanded
from solver.catalog import load
from solver.errors import Fault, InputError
from solver.units import shown

Sets = Iterable[str] | Mapping[str, Iterable[object]]


class Seats(NamedTuple):
    """Where variants are answered. jobs: how many at a time, None: one a core."""

    jobs: int | None = None
    engine: str = "local"
    address: str | None = None


def variants_of(
    problems: Iterable[Source], sets: Sets = (), sweep: Path | None = None, top: int = 5
) -> Expansion:
    """Every problem under every setting. Raises InputError where nothing could start."""
    found = documents(problems)
    if not found:
        raise InputError("trainplan", [Fault("", "there is no problem in what is named; name .yaml files")])
    if all(document.faults for document in found):
        first = found[0]
        raise InputError(first.problem, [fault for document in found for fault in document.faults])
    return expanded(found, combinations(sets, sweep, load().models), top)


def engine_of(seats: Seats, variants: int) -> Engine:
    """The engine that is asked for, with no more seats than variants."""
    if seats.engine == "ray":
        from solver.batches.cluster import RayEngine

        return RayEngine(seats.jobs, seats.address)
    if seats.engine != "local":
        raise InputError("engine", [Fault("", f'{shown(seats.engine)} is no engine; write "local" or "ray"')])
    from solver.batches.local import LocalEngine

    return LocalEngine(max(1, min(seats.jobs or _cores(), variants)))


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lines_of(variants: list[Variant], seats: Seats, stopping: Callable[[], bool]) -> Iterator[str]:
    """The records of variants as they are done, each a line."""
    if not variants:
        return
    engine = engine_of(seats, len(variants))
    facts = {"version": __version__, "catalog": load().hash}
    try:
        yield from Crew(engine, variants, facts).lines(stopping)
    finally:
        engine.stop()


class Run:
    """Variants being answered into a file. todo: those that do not stand there yet; left: how many still."""

    def __init__(self, variants: list[Variant], out: Path, *, resume: bool) -> None:
        """out: .jsonl, or .csv or .parquet, which are written at the end beside it. Raises InputError."""
        self.out = out
        self.table = out if out.suffix != RECORDS else None
        if self.table:
            check_table(self.table)
        ids = {variant.id for variant in variants}
        asked = {_key(variant.problem, variant.set) for variant in variants}

        def outdated(record: Record) -> bool:
            lost = record["status"] == "error" and record["error"]["field"] == LOST
            return lost or (record["id"] not in ids and _key(record["problem"], record["set"]) in asked)

        self.records = out.with_suffix(RECORDS)
        self.journal = Journal(self.records, resume=resume, outdated=outdated)
        self.todo = [variant for variant in variants if variant.id not in self.journal.done]
        self.left = len(self.todo)
        self.stopped = threading.Event()

    def lines(self, seats: Seats) -> Iterator[str]:
        """Records as soon as they stand in the file; then the table is written."""
        with self.journal, _first_signal(self.stopped.set):
            for line in lines_of(self.todo, seats, self.stopped.is_set):
                self.journal.add(line)
                self.left -= 1
                yield line
        if self.table:
            write_table(self.records, self.table)


def _key(problem: str, settings: Mapping[str, str]) -> tuple[object, ...]:
    return (problem, *sorted(settings.items()))


@contextmanager
def _first_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C (or a polite kill) stops what waits; a second one stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def heard(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stderr.write("\nfinishing the variants under way; once more stops at once\n")
        stop()

    for number in before:
        signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
