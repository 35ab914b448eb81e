"""A batch from Python: its answers, in the order of its variants."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from solver.answer import Answer
from solver.batches.run import Seats, Sets, lines_of, variants_of
from solver.batches.variants import Source, Variant
from solver.errors import Fault, InputError
from solver.problem import Problem


def answers(
    problems: Source | Iterable[Source], sets: Sets, sweep: Path | None, top: int, seats: Seats
) -> Iterator[Answer | InputError]:
    """The answer of each variant; the InputError in its place where it has none. Raises InputError."""
    listed = [problems] if isinstance(problems, str | Path | Mapping | Problem) else problems
    return _in_order(variants_of(listed, sets, sweep, top).variants, seats)


def _in_order(variants: list[Variant], seats: Seats) -> Iterator[Answer | InputError]:
    early: dict[str, Answer | InputError] = {}
    expected = iter(variants)
    awaited = next(expected, None)
    for line in lines_of(variants, seats, lambda: False):
        record = json.loads(line)
        early[record["id"]] = _answer(record)
        while awaited is not None and awaited.id in early:
            yield early.pop(awaited.id)
            awaited = next(expected, None)


def _answer(record: dict[str, object]) -> Answer | InputError:
    if "answer" in record:
        return Answer.model_validate(record["answer"])
    faults = record.get("faults", [record["error"]])
    assert isinstance(faults, list)
    return InputError(str(record["problem"]), [Fault(**fault) for fault in faults])
