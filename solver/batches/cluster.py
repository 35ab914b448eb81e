"""Workers as actors of a Ray cluster: one core each, one variant at a time, results streamed back."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from solver.batches.crew import Event
from solver.batches.worker import Answerer
from solver.errors import Fault, InputError


class RayEngine:
    """`jobs` actors, spread over the nodes; see crew.Engine. One that is lost starts on another node."""

    def __init__(self, jobs: int | None, address: str | None) -> None:
        """jobs: None takes every core of the cluster; address: None starts one on this machine."""
        self.ray = _ray()
        self.owned = not self.ray.is_initialized()
        if self.owned:
            self._join(jobs, address)
        cores = int(self.ray.cluster_resources().get("CPU", 1))
        self.kind = self.ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Answerer)
        self.actors: dict[int, Any] = {}
        self.pending: dict[Any, tuple[int, str]] = {}
        for seat in range(jobs or cores):
            self._start(seat)

    def _join(self, jobs: int | None, address: str | None) -> None:
        cores = {} if address else {"num_cpus": jobs}
        path = {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
        try:
            self.ray.init(
                address=address,
                log_to_driver=False,
                logging_level="ERROR",
                runtime_env={"env_vars": path},
                **cores,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            told = f"no Ray cluster answers at {address or 'this machine'}: {error}"
            raise InputError("--address", [Fault("", " ".join(told.split()))]) from None

    def _start(self, seat: int) -> None:
        self.actors[seat] = self.kind.remote()
        self.pending[self.actors[seat].ready.remote()] = (seat, "ready")

    def send(self, seat: int, task: Mapping[str, Any]) -> None:
        self.pending[self.actors[seat].line.remote(dict(task))] = (seat, "done")

    def receive(self) -> Event:
        while True:  # why: in turns, so that Ctrl-C is heard
            finished, _ = self.ray.wait(list(self.pending), num_returns=1, timeout=1.0)
            if finished:
                break
        seat, kind = self.pending.pop(finished[0])
        try:
            text = self.ray.get(finished[0])
        except (self.ray.exceptions.RayActorError, self.ray.exceptions.RayTaskError):
            self._start(seat)
            return Event(seat, "lost")
        return Event(seat, "ready" if kind == "ready" else "done", text)

    def stop(self) -> None:
        for actor in self.actors.values():
            self.ray.kill(actor)
        if self.owned:
            self.ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        told = "Ray is not installed; pip install 'trainplan[ray]', or use --engine local"
        raise InputError("--engine", [Fault("", told)]) from None
    return ray
