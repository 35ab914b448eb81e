"""Workers as processes of this machine, each with one core.

Why: started as programs of their own and not by multiprocessing, which runs the caller's script again and
ends the whole pool when one process is killed.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from solver.batches.crew import Event

PROGRAM = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import solver.batches.worker as w; w.main()"
)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LocalEngine:
    """`jobs` processes; see crew.Engine."""

    def __init__(self, jobs: int) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.processes: dict[int, subprocess.Popen[str]] = {}
        for seat in range(jobs):
            self._start(seat)

    def _start(self, seat: int) -> None:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
            start_new_session=True,  # Ctrl-C is for the batch, which lets workers finish
        )
        self.processes[seat] = process
        threading.Thread(target=self._listen, args=(seat, process), daemon=True).start()

    def _listen(self, seat: int, process: "subprocess.Popen[str]") -> None:
        """Passes on what a worker tells, until it ends."""
        assert process.stdout is not None
        first = True
        for line in process.stdout:
            if line.endswith("\n"):  # else it was cut off
                self.events.put(Event(seat, "ready" if first else "done", line.rstrip("\n")))
                first = False
        self.events.put(Event(seat, "lost"))

    def send(self, seat: int, task: Mapping[str, Any]) -> None:
        stdin = self.processes[seat].stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(task) + "\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # its end is told by the thread that listens

    def receive(self) -> Event:
        event = self.events.get()
        if event.kind == "lost":
            self.processes[event.seat].wait()
            self._start(event.seat)
        return event

    def stop(self) -> None:
        for process in self.processes.values():
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            process.wait()
