"""How few of each device hold a model, and what to change so that fewer do."""

from collections.abc import Iterator, Sequence
from typing import Literal

from solver import __version__
from solver.catalog.records import Device
from solver.estimate import supports
from solver.fitting.advise import advice, differences
from solver.fitting.choose import choices
from solver.fitting.fewest import Bench, Found
from solver.fitting.ladder import precisions_of, trials
from solver.fitting.record import DeviceFit, Fit, FitOption, Shortfall
from solver.fitting.request import Request, Wanted, request_of
from solver.fitting.shortest import Short, host_share, shortest
from solver.layout import RECOMPUTE
from solver.plan import CatalogStamp, Layout
from solver.present import layout_words, memory_use
from solver.units import GIB

HOST = {"optimizer": "the optimizer", "parameters": "optimizer and weights"}


def fit(wanted: Wanted) -> Fit:
    """What `fit --json` prints. Raises InputError."""
    request = request_of(wanted)
    job = request.job
    return Fit(
        model=request.model,
        total_parameters=job.architecture.total_parameters,
        sequence_length=job.sequence,
        global_batch=job.global_batch,
        precision=list(request.precisions),
        optimizer=request.optimizer,
        devices=[device_fit(request, device) for device in request.devices],
        assumptions=list(request.assumptions),
        catalog=CatalogStamp(date=request.catalog.date, hash=request.catalog.hash),
        version=__version__,
    )


def device_fit(request: Request, device: Device) -> DeviceFit:
    """One device: why it is refused, or its options."""
    refused = None if precisions_of(request, device) else refusal(request, device)
    found, short = ([], None) if refused else _found(request, device)
    options = _options(precisions_of(request, device), found)
    as_is = min((o.devices for o in options if not o.changes), default=None)
    return DeviceFit(
        device=device.id,
        usable_gib=device.usable_memory / device.ranks / GIB,
        as_is=as_is,
        smallest=min((o.devices for o in options), default=None),
        options=options,
        too_few=short,
        refused=refused,
        advice=[refused] if refused else [*_precision(request, device), *advice(options, short, as_is)],
    )


def refusal(request: Request, device: Device) -> str:
    """Why no framework trains on a device as asked."""
    asked, frameworks = ", ".join(request.precisions), request.frameworks
    can = sorted(p for p in device.peak if any(supports(f, device, p) for f in frameworks))
    names = (
        f" of {', '.join(f.id for f in frameworks)}"
        if len(frameworks) < len(request.catalog.frameworks)
        else ""
    )
    told = f"; what trains there is {', '.join(can)}" if can else ""
    return f"No framework{names} trains in {asked} on {device.id}{told}."


def _found(request: Request, device: Device) -> tuple[list[Found], Shortfall | None]:
    bench = Bench(request.catalog, request.frameworks)
    tried = list(trials(request, device))
    found = choices(bench, device, tried)
    below = min((one.devices for one in found), default=None)
    return found, shortfall(shortest(bench, tried, device, below))


def _precision(request: Request, device: Device) -> Iterator[str]:
    """What is told where the usual precision is not that of the device."""
    taken = precisions_of(request, device)
    if set(taken) - set(request.precisions):
        yield f"{device.id} has no {', '.join(request.precisions)}, so {taken[0]} is taken."


def _options(precisions: Sequence[str], found: list[Found]) -> list[FitOption]:
    """The most devices first, of as many that with fewer changes."""
    made = {id(one): list(changes(precisions, one)) for one in found}
    plain = [one for one in found if not made[id(one)]] or found[:1]
    reference = max((one.tokens_per_s_per_device for one in plain), default=0.0)
    options: list[FitOption] = []
    for one in sorted(found, key=lambda one: (-one.devices, found.index(one))):
        told = option(one, reference, options[-1] if options else None)
        options.append(told.model_copy(update={"changes": made[id(one)]}))
    return options


def option(found: Found, reference: float, before: FitOption | None) -> FitOption:
    """In words and numbers. reference: tokens a second of a device, which its speed is held against."""
    words = layout_words(found.space, found.pool, 0)
    memory = memory_use(found.space, found.pool, 0)
    return FitOption(
        changes=[],
        layout_changes=list(differences(before, words)),
        devices=found.devices,
        machine=found.pool.machine.id,
        machines=found.machines,
        devices_paid=found.devices_paid,
        fabric=found.pool.fabric.id if found.pool.fabric and found.machines > 1 else None,
        framework=found.pool.framework.id,
        precision=found.pool.precision,
        optimizer=found.trial.job.optimizer,
        sequence_length=found.trial.job.sequence,
        layout=Layout(**words),
        memory=memory,
        biggest_part=biggest(memory.parts),
        step_s=found.step_s,
        tokens_per_s_per_device=found.tokens_per_s_per_device,
        price_pct=100 * (found.price - 1),
        slower_pct=100 * (reference / found.tokens_per_s_per_device - 1),
    )


def changes(precisions: Sequence[str], found: Found) -> Iterator[str]:
    """What is done that was not asked for."""
    words = layout_words(found.space, found.pool, 0)
    if words["recompute"] != "none":
        yield recomputed(words["recompute"])
    if words["offload"] != "none":
        yield f"{HOST[words['offload']]} in host memory"
    if found.pool.precision not in precisions:
        yield f"{found.pool.precision} instead of {', '.join(precisions)}"
    yield from found.trial.changes


def recomputed(name: str) -> str:
    """What a framework recomputes: full recompute, recompute (every second matmul)."""
    return f"{name} recompute" if name in RECOMPUTE else f"recompute ({name.replace('_', ' ')})"


def biggest(parts: dict[str, float]) -> str:
    """The component that takes most."""
    return max(parts, key=lambda name: parts[name])


def shortfall(short: Short | None) -> Shortfall | None:
    """What is missing, in words and numbers."""
    if short is None:
        return None
    memory = memory_use(short.space, short.pool, 0)
    host = float(host_share(short.pool, short.space)[0])
    short_of: Literal["device", "host"] = "host" if host > memory.peak_gib / memory.usable_gib else "device"
    return Shortfall(
        devices=short.devices,
        machine=short.pool.machine.id,
        framework=short.pool.framework.id,
        layout=Layout(**layout_words(short.space, short.pool, 0)),
        memory=memory,
        biggest_part=biggest(memory.parts),
        short_of=short_of,
    )
