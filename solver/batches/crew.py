"""Who answers which variant: seats take variants of one group after another, so that each group's shared work
is done once; a variant whose seat is lost goes to another.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any, Literal, NamedTuple, Protocol

from solver.batches.record import LOST, failed, written
from solver.batches.variants import Variant
from solver.errors import Fault, InputError

TRIES = 3  # how often a variant may cost a seat before it is given up
STARTS = 5  # how many seats may be lost in a row before any has answered


class Event(NamedTuple):
    """What a seat tells. text: what it answers from, or the line of a record."""

    seat: int
    kind: Literal["ready", "done", "lost"]
    text: str = ""


class Engine(Protocol):
    """Seats that answer, somewhere. A seat that is lost is made anew and tells when it is ready."""

    def send(self, seat: int, task: Mapping[str, Any]) -> None:
        """Gives a ready seat its next variant."""

    def receive(self) -> Event:
        """The next thing that happens."""

    def stop(self) -> None:
        """Ends all seats, whatever they do."""


class Queues:
    """The variants that wait, by group, those that share most side by side."""

    def __init__(self, variants: list[Variant]) -> None:
        self.waiting: dict[str, deque[Variant]] = {}
        for variant in sorted(variants, key=lambda variant: variant.order):
            self.waiting.setdefault(variant.group, deque()).append(variant)
        order = list(dict.fromkeys(variant.group for variant in variants))
        self.waiting = {group: self.waiting[group] for group in order}
        self.held: dict[int, str] = {}
        self.longest_s: dict[str, float] = {}
        self.last_s: dict[str, float] = {}

    def took(self, group: str, seconds: float) -> None:
        """Takes note of how long a variant took; the longest of a group did the work that it shares."""
        self.longest_s[group] = max(self.longest_s.get(group, 0.0), seconds)
        self.last_s[group] = seconds

    def take(self, seat: int) -> Variant | None:
        """The next of the seat's group, of a group that nobody holds, or of the longest one."""
        group = self._group(seat)
        if group is None:
            return None
        self.held[seat] = group
        variant = self.waiting[group].popleft()
        if not self.waiting[group]:
            del self.waiting[group]
        return variant

    def _group(self, seat: int) -> str | None:
        if self.held.get(seat) in self.waiting:
            return self.held[seat]
        free = next((group for group in self.waiting if group not in self.held.values()), None)
        if free is not None or not self.waiting:
            return free
        longest = max(self.waiting, key=self._left_s)
        return longest if self._left_s(longest) > self.longest_s.get(longest, 0.0) else None

    def _left_s(self, group: str) -> float:
        """How long one seat would take over what waits of a group, as far as is known; a second seat has to
        do the shared work again.
        """
        return self.last_s.get(group, inf) * len(self.waiting[group])

    def put_back(self, variant: Variant) -> None:
        self.waiting.setdefault(variant.group, deque()).appendleft(variant)


class Crew:
    """Seats at work on a batch."""

    def __init__(self, engine: Engine, variants: list[Variant], facts: Mapping[str, str]) -> None:
        """facts: what every seat must answer from: version, and hash of the catalog."""
        self.engine = engine
        self.queues = Queues(variants)
        self.facts = facts
        self.busy: dict[int, Variant] = {}
        self.idle: set[int] = set()
        self.lost: Counter[str] = Counter()
        self.starts = 0

    def lines(self, stopping: Callable[[], bool]) -> Iterator[str]:
        """Records as they are done; once `stopping`, only of those that are under way. Raises InputError."""
        while self.busy or (self.queues.waiting and not stopping()):
            event = self.engine.receive()
            line = self._heard(event)
            if not stopping():
                self._seat_all()
            if line is not None:
                yield line

    def _heard(self, event: Event) -> str | None:
        """Takes in an event; the record that it brings."""
        if event.kind == "lost":
            return self._replace(event.seat)
        self.idle.add(event.seat)
        if event.kind == "ready":
            self._check(json.loads(event.text))
            return None
        self.starts = 0
        variant = self.busy.pop(event.seat)
        self.queues.took(variant.group, json.loads(event.text)["seconds"])
        return event.text

    def _seat_all(self) -> None:
        for seat in sorted(self.idle):
            variant = self.queues.take(seat)
            if variant is not None:
                self.idle.discard(seat)
                self.busy[seat] = variant
                self.engine.send(seat, variant.task)

    def _replace(self, seat: int) -> str | None:
        """Gives the variant of a lost seat to another, or gives it up."""
        self.idle.discard(seat)
        variant = self.busy.pop(seat, None)
        if variant is None:
            self.starts += 1
            if self.starts >= STARTS:
                raise InputError("trainplan", [Fault("", "no worker starts; see what they wrote above")])
            return None
        self.lost[variant.id] += 1
        if self.lost[variant.id] < TRIES:
            self.queues.put_back(variant)
            return None
        told = f"ended {TRIES} workers, perhaps for want of memory; use fewer --jobs and --resume"
        return written(variant.head, failed([Fault(LOST, told)]), 0.0)

    def _check(self, facts: Mapping[str, str]) -> None:
        if facts != self.facts:
            mine, other = (f"version {f['version']} with catalog {f['catalog']}" for f in (self.facts, facts))
            told = f"a worker has {other}, this is {mine}; install the same everywhere"
            raise InputError("trainplan", [Fault("", told)])
