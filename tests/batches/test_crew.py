"""Who answers which variant, and what becomes of one whose worker is lost."""

import json
from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from solver.batches import variants_of
from solver.batches.crew import STARTS, TRIES, Crew, Event
from solver.batches.variants import Variant
from solver.errors import InputError

FACTS = {"version": "1", "catalog": "c"}


class Desk:
    """An engine whose seats answer in turn, and are lost over some variants."""

    def __init__(self, seats: int, deadly: Mapping[str, int] | None = None) -> None:
        """deadly: how many seats a variant costs, by what it sets."""
        self.events = deque(Event(seat, "ready", json.dumps(FACTS)) for seat in range(seats))
        self.deadly = dict(deadly or {})
        self.sent: list[tuple[int, str]] = []

    def send(self, seat: int, task: Mapping[str, Any]) -> None:
        told = json.dumps(task["head"]["set"])
        self.sent.append((seat, task["group"]))
        if self.deadly.get(told, 0):
            self.deadly[told] -= 1
            self.events += [Event(seat, "lost"), Event(seat, "ready", json.dumps(FACTS))]
        else:
            self.events.append(
                Event(seat, "done", json.dumps(task["head"] | {"status": "optimal", "seconds": 1.0}))
            )

    def receive(self) -> Event:
        return self.events.popleft()

    def stop(self) -> None:
        self.events.clear()


def grid(problem: Path, **sizes: int) -> list[Variant]:
    sets = {
        "training.global_batch": [f"{2**n} sequences" for n in range(sizes.get("groups", 1))],
        "limits.max_devices": [8 * (n + 1) for n in range(sizes.get("each", 1))],
    }
    return variants_of([problem], sets).variants


def statuses(variants: list[Variant], desk: Desk) -> dict[str, str]:
    lines = [json.loads(text) for text in Crew(desk, variants, FACTS).lines(lambda: False)]
    assert len({record["id"] for record in lines}) == len(lines)
    return {json.dumps(record["set"]): record["status"] for record in lines}


def test_every_variant_is_answered_once(problem: Path) -> None:
    variants = grid(problem, groups=3, each=4)
    assert len(statuses(variants, Desk(2))) == 12


def test_a_seat_keeps_its_group_and_then_takes_one_that_nobody_holds(problem: Path) -> None:
    variants, desk = grid(problem, groups=4, each=3), Desk(2)
    statuses(variants, desk)
    for seat in (0, 1):
        mine = [group for holder, group in desk.sent if holder == seat]
        assert len([1 for a, b in pairwise(mine) if a != b]) == len(set(mine)) - 1
    assert {group for seat, group in desk.sent if seat == 0}.isdisjoint(
        group for seat, group in desk.sent if seat == 1
    )


def test_a_large_group_is_shared_when_nothing_else_is_left(problem: Path) -> None:
    desk = Desk(2)
    statuses(grid(problem, each=12), desk)
    assert {seat for seat, _ in desk.sent} == {0, 1}


def test_a_variant_whose_seat_is_lost_goes_to_another(problem: Path) -> None:
    variants = grid(problem, each=5)
    deadly = json.dumps(dict(variants[2].set))
    assert set(statuses(variants, Desk(2, {deadly: TRIES - 1})).values()) == {"optimal"}


def test_a_variant_that_costs_too_many_seats_is_given_up_and_the_rest_goes_on(problem: Path) -> None:
    variants = grid(problem, each=5)
    deadly = json.dumps(dict(variants[2].set))
    found = statuses(variants, Desk(2, {deadly: 99}))
    assert [text for text, status in found.items() if status == "error"] == [deadly]
    assert len(found) == 5


def test_nothing_is_begun_once_the_batch_is_stopping(problem: Path) -> None:
    variants, desk = grid(problem, each=9), Desk(2)
    lines = list(Crew(desk, variants, FACTS).lines(lambda: len(desk.sent) >= 4))
    assert len(lines) == len(desk.sent) == 4


def test_workers_that_never_start_end_the_batch(problem: Path) -> None:
    desk = Desk(1)
    desk.events = deque([Event(0, "lost")] * STARTS)
    with pytest.raises(InputError, match="no worker starts"):
        list(Crew(desk, grid(problem), FACTS).lines(lambda: False))


def test_a_worker_of_another_catalog_is_refused(problem: Path) -> None:
    with pytest.raises(InputError, match="install the same everywhere"):
        list(Crew(Desk(1), grid(problem), FACTS | {"catalog": "d"}).lines(lambda: False))
