"""What can be changed so that fewer devices hold a model: what alters the training comes last."""

from collections.abc import Iterator
from dataclasses import replace

from solver.catalog.records import Device
from solver.estimate import Job, supports
from solver.fitting.fewest import Trial
from solver.fitting.request import Request
from solver.layout import OFFLOAD, RECOMPUTE
from solver.physics.hardware import NARROW
from solver.physics.optimizers import OPTIMIZERS

SHORTEST = 1024  # tokens: no shorter sequence is proposed
HALVINGS = 3
NONE = ("none",)
HALF = ("bf16", "fp16")  # what is taken, in this order, where the precision is not stated


def precisions_of(request: Request, device: Device) -> tuple[str, ...]:
    """Those asked for that some framework has on the device; of its 16-bit ones where none is stated."""
    known = [p for p in request.precisions if _runs(request, device, p)]
    if known or request.stated_precision:
        return tuple(known)
    return tuple([p for p in HALF if _runs(request, device, p)][:1])


def _runs(request: Request, device: Device, precision: str) -> bool:
    return any(supports(framework, device, precision) for framework in request.frameworks)


def trials(request: Request, device: Device) -> Iterator[Trial]:
    """From the job as it is to the most that can be done, each with everything that costs less before it."""
    job, precisions = request.job, precisions_of(request, device)
    yield Trial(job, precisions, NONE, NONE)
    yield Trial(job, precisions, RECOMPUTE, NONE)
    yield from _lighter(job, precisions)
    yield Trial(job, precisions, RECOMPUTE, OFFLOAD[:2])
    yield Trial(job, precisions, RECOMPUTE, OFFLOAD)
    narrow = tuple(p for p in NARROW if p not in precisions and _runs(request, device, p))
    if narrow:
        yield Trial(job, narrow, RECOMPUTE, OFFLOAD, saving=True)
    for shorter in shorter_jobs(job):
        cut = (f"sequences of {shorter.sequence:,} tokens instead of {job.sequence:,}",)
        yield Trial(shorter, precisions, RECOMPUTE, OFFLOAD, cut, saving=True)


def _lighter(job: Job, precisions: tuple[str, ...]) -> Iterator[Trial]:
    """The same optimizer with its state in fewer bytes.

    On the device alone: the optimizers that run on a host keep theirs in float32.
    """
    asked = OPTIMIZERS[job.optimizer]
    for name, optimizer in OPTIMIZERS.items():
        if name.startswith(f"{job.optimizer}-") and optimizer.matrices < asked.matrices:
            change = f"{name} instead of {job.optimizer}"
            yield Trial(replace(job, optimizer=name), precisions, RECOMPUTE, NONE, (change,), saving=True)


def shorter_jobs(job: Job) -> Iterator[Job]:
    """The same tokens in sequences half, a quarter and an eighth as long."""
    for halving in range(1, HALVINGS + 1):
        times = 2**halving
        if job.sequence % times == 0 and job.sequence // times >= SHORTEST:
            yield replace(job, sequence=job.sequence // times, global_batch=job.global_batch * times)
