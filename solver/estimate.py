"""From records to physics: what a job costs on a pool of machines, for any number of layouts at once.

The one place where a catalog record, a model and a layout meet: search, evaluate and validate all come here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from solver.architecture.blocks import Architecture
from solver.architecture.flops import training_flops_per_image, training_flops_per_token
from solver.catalog.records import Device, Framework, Machine, Operations
from solver.layout import OFFLOAD, Bools, Cuts, Ints, Layouts, Stages, even_stages
from solver.physics import goodput, host, memory
from solver.physics.compute import Workload
from solver.physics.hardware import NARROW, Floats
from solver.physics.layer import LayerCost, layer_cost
from solver.physics.memory import LayerMemory, Memory, layer_memory
from solver.physics.optimizers import OPTIMIZERS
from solver.physics.recompute import kinds_of
from solver.physics.setting import (
    NO_IMAGES,
    ONE_F_ONE_B,
    TOGETHER,
    ByteModel,
    HostRates,
    Images,
    Local,
    Room,
    Schedule,
    Setting,
)
from solver.physics.states import owned_by
from solver.physics.step import Step
from solver.pool import Pool, supports
from solver.problem import Bill
from solver.rules import GENERAL, GRAIN, GRAINS, Case

__all__ = ["Job", "Pool", "Run", "Space", "case_of", "rules_of", "run_of", "setting_of", "supports"]

WIDE = ("fp32", "tf32")
NOTHING_BESIDE = Bill()
GRADIENT_BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0}


@dataclass(frozen=True)
class Job:
    """What is trained: the model and its convergence settings, and how runs are operated."""

    architecture: Architecture
    sequence: int
    global_batch: int
    steps: int
    gradient_dtype: str | None
    operations: Operations
    flash: bool = True
    imbalance: float | None = None
    """Of the experts; None: that of the operations."""
    document: int | None = None
    """Mean tokens of a document where attention stays inside of them; None: it sees the whole sequence."""
    schedule: Schedule = ONE_F_ONE_B
    images: Images = NO_IMAGES
    local: Local = TOGETHER
    optimizer: str = "adamw"
    memory_margin: float = 0.0
    """Share of the usable memory that must stay free."""
    bill: Bill = NOTHING_BESIDE
    """What the run pays beside its machines."""

    @property
    def tokens_per_step(self) -> int:
        return self.sequence * self.global_batch

    @cached_property
    def flops_per_token(self) -> float:
        """Model FLOPs of training: every matmul, causal attention at half, nothing recomputed."""
        text = training_flops_per_token(self.architecture, self.document or self.sequence)
        image = training_flops_per_image(self.architecture, self.images.patches)
        return text + self.images.each * image / self.sequence

    @property
    def checkpoint_bytes(self) -> float:
        return self.operations.checkpoint_bytes * self.architecture.total_parameters


def rules_of(framework: Framework) -> tuple[str, ...]:
    """Names of the rules that its layouts must keep."""
    return tuple(dict.fromkeys((*GENERAL, *framework.rules)))


def case_of(job: Job, pool: Pool) -> Case:
    """What the rules look at."""
    a = job.architecture
    with_experts = sum(n for block, n in a.blocks if any(m.routed for m in block.matmuls))
    return Case(
        heads=a.heads,
        kv_heads=a.kv_heads,
        layers=a.layers,
        experts=a.experts,
        expert_layers=with_experts,
        hidden=a.hidden,
        ffn=a.ffn,
        vocab=a.vocab,
        tied=a.tied_embeddings,
        sequence=job.sequence,
        global_batch=job.global_batch,
        block=pool.block_ranks,
        chip=pool.device.ranks,
        narrow=pool.precision in NARROW,
        grain=GRAINS.get(pool.precision, GRAIN),
        zero=tuple(pool.framework.zero),
        workers=job.local.workers,
        local_sgd=pool.framework.local_sgd,
        schedule=job.schedule.name,
        schedules=tuple(pool.framework.schedules),
        chunks=job.schedule.chunks,
        hosted=job.optimizer in pool.framework.host_optimizers,
        offload=(0, *(OFFLOAD.index(word) for word in pool.framework.offload)),
    )


def setting_of(job: Job, framework: Framework, precision: str) -> Setting:
    """What the physics of memory and time share."""
    gradient = GRADIENT_BYTES.get(job.gradient_dtype or "", framework.gradient_bytes)
    return Setting(
        job.architecture,
        Workload(
            job.sequence,
            framework.fused,
            job.flash,
            job.imbalance or job.operations.expert_imbalance,
            framework.cast_bytes,
            job.document or job.sequence,
            framework.joined,
        ),
        framework,
        precision in NARROW,
        ByteModel.of(framework, gradient, OPTIMIZERS[job.optimizer], wide=precision in WIDE),
        kinds_of(framework.recompute),
        wide=precision in WIDE,
        schedule=job.schedule,
        images=job.images,
        local=job.local,
        optimizer=OPTIMIZERS[job.optimizer],
        room=Room(job.memory_margin, job.operations.memory_error),
        host=HostRates(job.operations.host_updates, job.operations.host_link_share),
    )


@dataclass(frozen=True)
class Space:
    """N layouts of a job with one framework in one precision; what does not depend on the machine.

    way_memory: what a layer holds, for each way to cut it (K,); dealt: stated stages, else they are dealt
    evenly.
    """

    setting: Setting
    layouts: Layouts
    cuts: Cuts
    way_memory: LayerMemory
    dealt: Stages | None = None

    @classmethod
    def of(cls, setting: Setting, layouts: Layouts, dealt: Stages | None = None) -> Self:
        """layouts: every column (N,)."""
        cuts = Cuts.among(layouts)
        return cls(setting, layouts, cuts, layer_memory(setting, cuts.ways), dealt)

    def take(self, index: Ints | Bools) -> Self:
        """The layouts at `index`."""
        dealt = Stages(*(column[index] for column in self.dealt)) if self.dealt else None
        cuts = Cuts(self.cuts.ways, self.cuts.of[index])
        return type(self)(self.setting, self.layouts.take(index), cuts, self.way_memory, dealt)

    @cached_property
    def stages(self) -> Stages:
        return self.dealt or even_stages(self.setting.architecture.layers, self.layouts.pp)

    @cached_property
    def layer_memory(self) -> LayerMemory:
        """What a layer holds in each layout. (N,)"""
        return self.way_memory.take(self.cuts.of)

    @cached_property
    def memory(self) -> Memory:
        return memory.peak(self.setting, self.layer_memory, self.layouts, self.stages)

    @cached_property
    def _peaks(self) -> Floats:
        return np.full(len(self.layouts), np.nan)

    def peak(self, rows: Ints) -> Floats:
        """Peak memory of some layouts, each computed once. [B]"""
        asked = np.zeros(len(self.layouts), np.bool_)
        asked[rows] = True
        missing = np.flatnonzero(asked & np.isnan(self._peaks))
        if len(missing):
            some = self if len(missing) == len(self.layouts) else self.take(missing)
            self._peaks[missing] = memory.peak_bytes(
                some.setting, some.layer_memory, some.layouts, some.stages
            )
        return self._peaks[rows]

    def host_bytes(self, pool: Pool) -> Floats:
        """Memory that each layout takes on a host of the pool. [B], (N,)"""
        of_rank = memory.host_bytes(self.setting, self.layer_memory, self.layouts, self.stages)
        return of_rank * np.minimum(pool.network.host_ranks, self.layouts.ranks)

    def staged_bytes(self, pool: Pool) -> tuple[Floats, Floats]:
        """Memory of a host while checkpoints are saved, and while one is loaded. [B], (N,)"""
        held = memory.held_by_stage(self.setting, self.layer_memory, self.layouts, (self.stages.most, 0))
        owned = owned_by(held, self.layouts)
        parts = (host.saved_bytes(owned, self.setting), host.loaded_bytes(owned, self.setting))
        return parts[0] * pool.network.host_ranks, parts[1] * pool.network.host_ranks

    def fits(self, pool: Pool, rows: Ints) -> Bools:
        """Whether layouts fit into the devices of a pool, and what they offload into its hosts. (rows,)"""
        fits = self.peak(rows) <= (1 - self.setting.room.free) * pool.rank.usable_bytes
        if pool.machine.host_memory and (away := self.layouts.offload[rows] > 0).any():
            on_host = self.take(rows).host_bytes(pool)
            fits &= ~away | (on_host <= pool.machine.host_memory / pool.machine.hosts)
        return fits

    def first_stage_fits(self, pool: Pool) -> Bools:
        """Whether the first stage, mostly the fullest, fits into the devices of a pool. (N,)"""
        parts = memory.stage_memory(self.setting, self.layer_memory, self.layouts, (self.stages, 0))
        return memory.total(parts) <= (1 - self.setting.room.free) * pool.rank.usable_bytes

    def sound(self, pool: Pool, rows: Ints) -> Bools:
        """Whether layouts would fit with a peak that is above the estimate by its error. (rows,)"""
        return (1 + self.setting.room.error) * self.peak(rows) <= pool.rank.usable_bytes

    def layer_cost(self, pool: Pool) -> LayerCost:
        """Of each way to cut a layer, on a pool. (K,)"""
        return layer_cost(self.setting, pool.rank, pool.network, self.cuts.ways)

    def step(self, pool: Pool, cost: LayerCost) -> Step:
        """The step of every layout on a pool; cost: see layer_cost."""
        layer = cost.take(self.cuts.of)
        return Step(
            self.setting, pool.rank, pool.network, self.layouts, self.stages, layer, self.layer_memory
        )


class Run(NamedTuple):
    """The whole run of N layouts. (N,)

    goodput         share of the time that goes into steps that count
    stops           expected, over the run
    checkpoint_s    between two checkpoints
    """

    goodput: Floats
    wall_clock_s: Floats
    stops: Floats
    checkpoint_s: Floats


def run_of(job: Job, step_s: Floats, devices: Ints, on: tuple[Machine, Device], *, spot: bool) -> Run:
    """From steady steps to the wall clock."""
    (machine, device), o = on, job.operations
    mtbf, spot_mtbf = device.mtbf or o.device_mtbf, o.spot_mtbf if spot else np.inf
    operated = goodput.Operations(mtbf, spot_mtbf, o.restart, o.checkpoint_bandwidth, o.startup)
    machines = -(-devices // machine.devices)
    share = goodput.goodput(job.checkpoint_bytes, devices, machines, operated)
    wall_s = goodput.wall_clock_s(job.steps, step_s, share, operated)
    failures = goodput.failures_per_s(devices, machines, operated)
    pause = goodput.checkpoint_pause_s(job.checkpoint_bytes, devices, operated)
    return Run(share, wall_s, wall_s * failures, goodput.interval_s(pause, failures))
