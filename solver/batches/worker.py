"""Answers variants one by one, each as a line of JSON; what they share stays at hand between them."""

import json
import os
import signal
import sys
import time
from pathlib import Path

from solver import __version__
from solver.batches.record import Record, failed, written
from solver.catalog import load
from solver.errors import Fault, InputError
from solver.question import understand
from solver.search import solve_problem
from solver.search.bench import Benches, forget


class Answerer:
    """Holds the catalog, and the benches of the groups it answers."""

    def __init__(self) -> None:
        self.benches = Benches()
        self.group = ""

    def ready(self) -> str:
        """Reads the catalog; says which facts and which version answers."""
        return json.dumps({"version": __version__, "catalog": load().hash})

    def line(self, task: Record) -> str:
        """The record of a variant, whatever becomes of it."""
        if task["group"] != self.group:
            self.group = task["group"]
            forget()
        started = time.perf_counter()
        try:
            answer = self._answer(task)
            told: Record = {"status": answer["status"], "answer": answer}
        except InputError as error:
            told = failed(error.faults)
        except Exception as error:  # noqa: BLE001 (a fault of ours is told, the rest goes on)
            told = failed(
                [Fault("", f"could not be solved, a fault of trainplan: {type(error).__name__}: {error}")]
            )
        return written(task["head"], told, time.perf_counter() - started)

    def _answer(self, task: Record) -> Record:
        document = task["document"]
        faults = [Fault(*fault) for fault in document["faults"]]
        if faults:
            raise InputError(document["problem"], faults)
        problem = understand(document["fields"], task["given"], Path(document["folder"]))
        benches = None if task["alone"] else self.benches
        return solve_problem(problem, task["top"], benches=benches).model_dump(mode="json")


def main() -> None:
    """A worker process: a task a line comes in, a record a line goes out, until the batch lets it go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch decides what is finished
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a library prints must not stand between records
    answerer = Answerer()
    try:
        print(answerer.ready(), file=out, flush=True)
        for task in sys.stdin:
            print(answerer.line(json.loads(task)), file=out, flush=True)
    except BrokenPipeError:  # the batch is gone
        os._exit(1)
