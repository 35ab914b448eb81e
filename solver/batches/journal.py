"""The file of results: one whole line a record, on the disk before the next variant counts as done."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from solver.batches.record import Record
from solver.errors import Fault, InputError, writing

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]

START = b'{"id":'


def records(path: Path) -> Iterator[Record]:
    """The records of a file, in the order in which they were done. Raises InputError."""
    try:
        _refuse_device(path)
        with path.open("rb") as file:
            yield from (record for _, record in _lines(file, str(path)))
    except OSError as error:
        raise InputError(str(path), [Fault("", f"could not be read: {error.strerror}")]) from None


def _refuse_device(path: Path) -> None:
    """What is there and no file may never end."""
    if path.exists() and not path.is_file():
        raise InputError(str(path), [Fault("", "is a folder or a device; name a file")])


def _lines(file: Any, source: str) -> Iterator[tuple[bytes, Record]]:
    """Each whole line with its record; a last line that was cut off is left out."""
    for number, line in enumerate(file, 1):
        record = _record(line)
        if record is not None and line.endswith(b"\n"):
            yield line, record
        elif line.endswith(b"\n") or not (START.startswith(line[: len(START)])):
            raise InputError(source, [Fault("", f"line {number} is no record of a batch; name another file")])


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return (
        record if isinstance(record, dict) and {"id", "problem", "set", "status"} <= record.keys() else None
    )


class Journal:
    """Results being written. done: ids of the records that stand. Use within `with`."""

    def __init__(self, path: Path, *, resume: bool, outdated: Callable[[Record], bool]) -> None:
        """outdated: whether a record must be done again. Raises InputError where the file cannot be used."""
        self.path = path
        self.done: set[str] = set()
        with writing(path):
            _refuse_device(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.open("a+b", buffering=0)
            with ExitStack() as undo:
                undo.callback(self._close)
                self._lock(self.file)
                self._take_up(outdated, resume=resume)
                undo.pop_all()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        self.file.close()

    def _lock(self, file: Any) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(str(self.path), [Fault("", "another batch is writing to it")]) from None

    def _take_up(self, outdated: Callable[[Record], bool], *, resume: bool) -> None:
        """Reads what stands: the whole lines of records that hold still."""
        if self.file.seek(0, os.SEEK_END) and not resume:
            told = "exists; add --resume to go on with it, or name another file"
            raise InputError(str(self.path), [Fault("", told)])
        whole, old = 0, 0
        with self.path.open("rb") as file:
            for line, record in _lines(file, str(self.path)):
                whole += len(line)
                if outdated(record) or record["id"] in self.done:
                    old += 1
                else:
                    self.done.add(record["id"])
        if old:
            self._set_aside(outdated)
        elif whole < self.file.seek(0, os.SEEK_END):
            self.file.truncate(whole)
            os.fsync(self.file.fileno())

    def _set_aside(self, outdated: Callable[[Record], bool]) -> None:
        """Moves outdated records to a file of their own, so that nothing stands twice and nothing is lost."""
        kept = self.path.with_name(f".{self.path.name}.new")
        seen: set[str] = set()
        with (
            self.path.open("rb") as file,
            self.path.with_name(f"{self.path.stem}.outdated.jsonl").open("ab") as old,
            kept.open("wb") as new,
        ):
            for line, record in _lines(file, str(self.path)):
                holds = not outdated(record) and record["id"] not in seen
                seen |= {record["id"]} if holds else set()
                (new if holds else old).write(line)
            for written in (old, new):
                written.flush()
                os.fsync(written.fileno())
        self._close()
        self.file = kept.open("a+b", buffering=0)
        self._lock(self.file)
        kept.replace(self.path)
        _sync_folder(self.path.parent)

    def add(self, line: str) -> None:
        """Appends a record: when this returns, it stands. Raises InputError where the disk is full."""
        left = memoryview(line.encode("ascii") + b"\n")
        with writing(self.path):
            while left:
                left = left[self.file.write(left) :]
            os.fsync(self.file.fileno())


def _sync_folder(folder: Path) -> None:
    """Makes a rename last, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
