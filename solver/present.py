"""From arrays to the words and numbers of a plan: the same for `solve` and for `evaluate`."""

from typing import Any, Literal

import numpy as np

from solver.estimate import Job, Pool, Space, run_of
from solver.layout import OFFLOAD, RECOMPUTE
from solver.physics.hardware import Floats
from solver.physics.setting import Setting
from solver.physics.step import Step
from solver.plan import MemoryUse, Time
from solver.units import DAY_S, GIB

STAGE: tuple[Literal["first", "second", "last"], ...] = ("first", "second", "last")


def time_of(job: Job, pool: Pool, step: Step, at: tuple[int, int, bool]) -> Time:
    """The time of row `at[0]` of a step on `at[1]` devices; at[2]: spot."""
    index, devices, spot = at
    parts = {name: float(values[index]) for name, values in step.parts().items()}
    step_s = float(step.step_s[index])
    run = run_of(job, np.array([step_s]), np.array([devices]), (pool.machine, pool.device), spot=spot)
    days = float(run.wall_clock_s[0]) / DAY_S
    rate = job.tokens_per_step / step_s
    peak = devices * pool.device.peak[pool.precision]
    band = pool.band(job.architecture)
    return Time(
        step_s=step_s,
        steps=job.steps,
        days=days,
        tokens_per_s=rate,
        tokens_per_s_per_device=rate / devices,
        mfu_pct=100 * job.flops_per_token * rate / peak,
        goodput_pct=100 * float(run.goodput[0]),
        stops=float(run.stops[0]),
        checkpoint_minutes=float(run.checkpoint_s[0]) / 60,
        parts=parts,
        low_days=days * band.low,
        high_days=days * band.high,
        band=band.words,
    )


def memory_use(space: Space, pool: Pool, index: int) -> MemoryUse:
    """The memory of row `index`."""
    memory = space.memory
    peak = float(memory.peak[index]) / GIB
    saving, loading = (float(values[index]) / GIB for values in space.staged_bytes(pool))
    usable = float(pool.rank.usable_bytes) / GIB
    return MemoryUse(
        peak_gib=peak,
        usable_gib=usable,
        parts={name: float(values[index]) / GIB for name, values in memory.parts.items()},
        host_gib=float(space.host_bytes(pool)[index]) / GIB,
        host_usable_gib=pool.machine.host_memory / pool.machine.hosts / GIB or None,
        saving_host_gib=saving,
        loading_host_gib=loading,
        fragile=not space.sound(pool, np.array([index]))[0],
        stage=STAGE[int(memory.stage[index])],
        stage_gib=_by_stage(memory.stages[:, index], int(space.layouts.row(index)["pp"])),
        byte_model=byte_model(space.setting),
    )


def _by_stage(peaks: Floats, pp: int) -> dict[str, float]:
    """The peaks of the stages that there are. [GiB]"""
    there = {1: (0,), 2: (0, 2)}.get(pp, (0, 1, 2))
    return {STAGE[stage]: float(peaks[stage]) / GIB for stage in there}


def byte_model(setting: Setting) -> str:
    """What a parameter takes before anything is sharded: "18 B: weights 2, gradients 4, ..."."""
    model = setting.model
    held = {
        "weights": model.weight,
        "gradients": model.gradient + setting.framework.copy_bytes,
        "master copy": model.master,
        "optimizer": model.moments,
    }
    each = ", ".join(f"{name} {value:g}" for name, value in held.items() if value)
    beside = f"; tables and vectors {model.outside:g} of the optimizer" * (model.outside != model.moments)
    return f"{sum(held.values()):g} B a parameter: {each}{beside}"


def layout_words(space: Space, pool: Pool, index: int) -> dict[str, Any]:
    """Row `index` in the words of the interface."""
    row = space.layouts.row(index)
    word, offload = RECOMPUTE[row.pop("recompute")], OFFLOAD[row.pop("offload")]
    return row | {
        "edp": int(space.layouts.edp[index]),
        "recompute": pool.framework.recompute.get(word, word),
        "sequence_parallel": bool(row["sequence_parallel"]),
        "schedule": _schedule(space.setting.schedule.name, row),
        "offload": offload,
        "stages": "even",
        "precision": pool.precision,
    }


def _schedule(name: str, row: dict[str, Any]) -> str:
    """The pipeline schedule in words; none without stages."""
    if row["pp"] == 1:
        return "none"
    return name or ("interleaved-1f1b" if row["vpp"] > 1 else "1f1b")
