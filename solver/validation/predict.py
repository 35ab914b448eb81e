"""One published run through the physics: seconds a step, bytes on the fullest device."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from solver.architecture import ArchitectureError
from solver.architecture.blocks import Architecture
from solver.catalog import Catalog
from solver.catalog.records import Device, Framework, Machine
from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import RECOMPUTE, Layouts
from solver.physics.hardware import Floats
from solver.physics.memory import Memory
from solver.physics.step import Step
from solver.units import GIB
from solver.validation.recompute import recompute_of
from solver.validation.rows import Row
from solver.validation.shapes import architecture_of, weighed_stages
from solver.validation.words import (
    as_printed,
    fabric_of,
    framework_of,
    imbalance_of,
    optimizer_of,
    schedule_of,
    sharding_of,
)

DRIVER = "nvidia-smi"  # in the notes of runs whose memory the driver's tool counted


class Skip(Exception):  # noqa: N818 (not an error: a row that says too little)
    """Why a row is not evaluated."""


class Prediction(NamedTuple):
    """Of one run. framework: id of the record; step: all parts."""

    step: Step
    step_time_s: float
    peak_mem_gib: float
    framework: str


def predict(row: Row, catalog: Catalog) -> Prediction:
    """Raises Skip with a reason."""
    if row.missing:
        raise Skip(f"not stated: {', '.join(row.missing)}")
    device = catalog.devices.get(row.text("device"))
    if device is None:
        raise Skip(f"the device {row.text('device')} is not in the catalog")
    device, precision = as_printed(device, row), row.text("precision")
    if precision not in device.peak:
        raise Skip(f"the record of {device.id} has no peak in {precision}")
    framework = framework_of(catalog, row)
    if framework is None:
        raise Skip(f'no framework of the catalog goes by "{row.text("framework")}"')
    try:
        architecture = architecture_of(row, catalog)
    except ArchitectureError as error:
        raise Skip(f"the model cannot be counted: {error}") from None
    return _predicted(row, catalog, (device, framework, architecture))


def _predicted(row: Row, catalog: Catalog, what: tuple[Device, Framework, Architecture]) -> Prediction:
    device, framework, architecture = what
    machine = machine_of(row, catalog, device)
    pool = Pool(
        device,
        machine,
        catalog.fabrics[machine.scale_up],
        fabric_of(catalog, row, machine),
        framework,
        row.text("precision"),
    )
    word, kind = recompute_of(row, architecture, framework)
    index = RECOMPUTE.index(word)
    setting = setting_of(job_of(row, catalog, architecture), framework, pool.precision)
    kinds = tuple(kind if i == index else k for i, k in enumerate(setting.kinds))
    setting = setting._replace(kinds=kinds, schedule=schedule_of(row))
    layouts = layouts_of(row, device, framework, index)
    if architecture.experts and not framework.folded:
        layouts = replace(layouts, etp=layouts.tp)
    if framework.interleaved and not row.text("vpp"):
        layouts = interleaved(layouts, architecture.layers)
    dealt = weighed_stages(architecture, layouts.pp) if framework.weighed else None
    space = Space.of(setting, layouts, dealt)
    step = space.step(pool, space.layer_cost(pool))
    peak = float(comparable(row, space.memory)[0]) / GIB
    return Prediction(step, float(step.step_s[0]), peak, framework.id)


def comparable(row: Row, memory: Memory) -> Floats:
    """The peak as the run counted it: that of an allocator, or all that the driver's tool sees."""
    return memory.peak if DRIVER in row.text("notes") else memory.allocated


def job_of(row: Row, catalog: Catalog, architecture: Architecture) -> Job:
    """What was trained."""
    return Job(
        architecture=trained(architecture, row.text("task")),
        sequence=row.integer("seq_len"),
        global_batch=row.integer("global_batch_seq"),
        steps=1,
        gradient_dtype=None,
        operations=catalog.operations["operations"],
        flash=row.text("attention_kernel") != "unfused",
        imbalance=imbalance_of(row),
        optimizer=optimizer_of(row),
    )


def trained(architecture: Architecture, task: str) -> Architecture:
    """The architecture with what the task trains: adapters (lora) leave every matrix frozen."""
    if not task.startswith("lora"):
        return architecture
    frozen = tuple(
        (replace(block, matmuls=tuple(replace(m, trainable=False) for m in block.matmuls)), count)
        for block, count in architecture.blocks
    )
    return replace(architecture, blocks=frozen)


def machine_of(row: Row, catalog: Catalog, device: Device) -> Machine:
    """The machine of a run: its slice, its rack, or a host of as many devices as it prints."""
    devices = row.integer("devices")
    known = [m for m in catalog.machines.values() if m.device == device.id]
    if not known:
        raise Skip(f"the catalog has no machine of {device.id}")
    largest = max(known, key=lambda m: m.devices)
    if largest.torus:
        whole = [m for m in known if m.devices <= devices and devices % m.devices == 0]
        return max(whole, key=lambda m: m.devices) if whole else min(known, key=lambda m: m.devices)
    if largest.hosts > 1:  # a rack: what is printed is a tray
        return largest
    size = row.integer("devices_per_node", 0) or largest.devices
    exact = next((m for m in known if m.devices == size), None)
    return exact or largest.model_copy(update={"devices": size, "block": size, "domain": size})


def layouts_of(row: Row, device: Device, framework: Framework, recompute: int) -> Layouts:
    """The stated layout; where the row counts devices and the software counts ranks, dp is cut finer."""
    sizes = {name: row.integer(name) for name in ("tp", "cp", "pp", "dp", "vpp", "ep", "micro_batch")}
    zero, shard = sharding_of(row, framework)
    ranks = int(np.prod([sizes[name] for name in ("tp", "cp", "pp", "dp")]))
    finer = device.ranks if ranks == row.integer("devices") else 1
    sizes["dp"] *= finer
    sizes["micro_batch"] = max(sizes["micro_batch"] // finer, 1)
    accumulated = max(row.integer("global_batch_seq") // (sizes["dp"] * sizes["micro_batch"]), 1)
    stated = row.text("sequence_parallel")
    parallel = stated == "1" if stated else framework.sequence_parallel
    columns = sizes | {
        "zero": zero,
        "shard": shard * finer,
        "grad_accum": accumulated,
        "recompute": recompute,
        "sequence_parallel": int(parallel),
    }
    return Layouts.of({name: [value] for name, value in columns.items()})


def interleaved(layouts: Layouts, layers: int) -> Layouts:
    """A single layout with one layer a virtual stage, where layers and micro-batches divide so."""
    pp, micro_batches = int(layouts.pp[0]), int(layouts.grad_accum[0])
    if pp == 1 or layers % pp or micro_batches % pp:
        return layouts
    return replace(layouts, vpp=np.array([layers // pp]))
