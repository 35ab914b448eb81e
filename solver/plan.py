"""Plans and evaluations as JSON has them: keys are a promise, numbers carry 9 significant digits."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer

from solver.units import rounded

Number = Annotated[float, PlainSerializer(rounded, when_used="json")]
Parts = dict[str, Number]


class Part(BaseModel):
    """Of an answer: frozen, no stray keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Interconnect(Part):
    """Links: inside a machine, and between machines (None: they are not known to be joined)."""

    scale_up: str
    scale_out: str | None


class Time(Part):
    """Of the step (steady), and of the run (failures and checkpoints included).

    stops: failures and interruptions to expect; checkpoint_minutes: between two checkpoints.
    """

    step_s: Number
    steps: int
    days: Number
    tokens_per_s: Number
    tokens_per_s_per_device: Number
    mfu_pct: Number
    goodput_pct: Number
    stops: Number
    checkpoint_minutes: Number
    parts: Parts
    low_days: Number
    high_days: Number
    band: str
    """Of the step time, and what it rests on."""


class MemoryUse(Part):
    """Of the fullest device. stage: which pipeline stage it sits on. host: of a host; None: not known.

    saving, loading: of a host, beside host_gib, while a checkpoint is written behind or is read.
    stage_gib: peaks by stage. byte_model: what a parameter takes before anything is sharded, in words.
    """

    peak_gib: Number
    usable_gib: Number
    parts: Parts
    host_gib: Number
    host_usable_gib: Number | None
    saving_host_gib: Number
    loading_host_gib: Number
    fragile: bool
    stage: Literal["first", "second", "last"]
    stage_gib: Parts
    byte_model: str


class RentLine(Part):
    """Machines that are paid for so long at a price."""

    machines: int
    hours: Number
    usd_per_hour: Number
    """Of one machine."""


class Cost(Part):
    """Of the whole run."""

    total_usd: Number
    per_hour_usd: Number
    parts: Parts
    split: Parts
    """By what it buys: accelerators, host, network, facility, operation; the rule: docs/money.md."""
    rent: list[RentLine]
    """What `accelerators` of a rent is the sum of: least terms and counts, reserved machines and others."""


class Energy(Part):
    """At the meter, of the whole run."""

    mwh: Number
    kg_co2e: Number
    """By the mean of the region's grid over a year."""


class Layout(Part):
    """How the training is laid on the ranks."""

    tp: int
    cp: int
    pp: int
    vpp: int
    ep: int
    etp: int
    dp: int
    edp: int
    zero: int
    shard: int
    micro_batch: int
    grad_accum: int
    recompute: str
    sequence_parallel: bool
    schedule: str
    offload: str
    stages: str | list[int]
    precision: str


class Plan(Part):
    """One way to train: what to rent, how to lay the model out on it, what it takes.

    offering: id of what is paid for
    """

    rank: int
    offering: str
    provider: str
    machine: str
    instance: str
    region: str
    also_in: list[str]
    pricing: str
    device: str
    machines: int
    devices: int
    devices_paid: int
    ranks: int
    framework: str
    interconnect: Interconnect
    layout: Layout
    time: Time
    memory: MemoryUse
    cost: Cost
    energy: Energy
    power_kw: Number
    price_date: str
    bottleneck: str
    why_not_first: str | None


class CatalogStamp(Part):
    """Which facts were used."""

    date: str
    hash: str


class Refusal(Part):
    """A rule that a stated layout breaks. source: where the framework says so, or empty."""

    rule: str
    message: str
    legal_values: list[int] | list[str]
    source: str


class Evaluation(Part):
    """One stated layout: its estimate, or every rule it breaks."""

    legal: bool
    violations: list[Refusal]
    fits: bool | None
    time: Time | None
    memory: MemoryUse | None
    layout: Layout | None
    framework: str
    machine: str
    devices: int
    assumptions: list[str]
    warnings: list[str]
    catalog: CatalogStamp
    version: str
