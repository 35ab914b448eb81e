"""The answer's types, as JSON has them: keys are a promise, numbers carry 9 significant digits."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer

from solver.units import rounded

Number = Annotated[float, PlainSerializer(rounded, when_used="json")]
Parts = dict[str, Number]
Status = Literal["optimal", "feasible", "infeasible", "unknown"]


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


class Cost(Part):
    """Of the whole run."""

    total_usd: Number
    per_hour_usd: Number
    parts: Parts
    split: Parts
    """By what it buys: accelerators, host, network, facility, operation; the rule: docs/money.md."""


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
    """One way to train: what to rent, how to lay the model out on it, what it takes."""

    rank: int
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


class Search(Part):
    """What was looked at, and what is proved by what."""

    configurations: int
    excluded_by_bound: int
    candidates: int
    seconds: Number
    bound_usd: Number | None
    gap: Number | None
    proof: list[str]


class Relaxation(Part):
    """A demand that, changed from `from` to `to`, leaves the plan. together_with: changed with it."""

    field: str
    from_: Any
    to: Any
    together_with: list[str]
    plan: Plan | None

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        serialize_by_alias=True,
        populate_by_name=True,
        alias_generator=lambda name: name.rstrip("_"),
    )


class RentOrBuy(Part):
    """The best plan that is bought against the best that is not, and the use at which both cost the same.

    capex_usd: price of what is bought, its network included. break_even_utilisation_pct: above it buying is
    cheaper; beyond 100 no use is enough, None: not even that.
    """

    bought: str
    rented: str
    buy_usd: Number
    rent_usd: Number
    capex_usd: Number
    utilisation_pct: Number
    break_even_utilisation_pct: Number | None


class Brief(Part):
    """A plan in short."""

    provider: str
    pricing: str
    device: str
    devices: int
    days: Number
    total_usd: Number


class Step(Part):
    """A larger limit, and what it brings: the objective of the plan that it admits."""

    to: Any
    objective: Number
    saves: Number
    plan: Brief


class LimitRange(Part):
    """From which value of a limit to which the first plan stays the first; None: farther than was looked.

    tighter: what comes first just beyond the near end (None: nothing as good as the last plan told); looser:
    what comes first beyond the far end.
    """

    field: str
    value: Any
    stands_from: Any
    stands_to: Any
    looked_to: Any
    tighter: Brief | None
    looser: list[Step]


class PriceRange(Part):
    """From which price of a plan's device-hour to which the first plan stays the first; None: from 0, or
    however high.
    """

    rank: int
    usd_per_device_hour: Number
    stands_from: Number | None
    stands_to: Number | None


class SpeedRange(Part):
    """From which time of a plan's step to which the first plan stays the first; None: as PriceRange."""

    rank: int
    step_s: Number
    stands_from_s: Number | None
    stands_to_s: Number | None


class Sensitivity(Part):
    """How far the ranking holds."""

    limits: list[LimitRange]
    prices: list[PriceRange]
    speeds: list[SpeedRange]


class CatalogStamp(Part):
    """Which facts were used."""

    date: str
    hash: str


class Answer(Part):
    """Ranked plans with their proof; or why nothing fits and the smallest changes that would."""

    status: Status
    objective: str
    question: dict[str, Any]
    assumptions: list[str]
    warnings: list[str]
    catalog: CatalogStamp
    version: str
    plans: list[Plan]
    search: Search
    conflict: list[str]
    other_conflicts: list[list[str]]
    relaxations: list[Relaxation]
    explanation: list[str]
    sensitivity: Sensitivity | None
    rent_or_buy: RentOrBuy | None
    """Where machines may be bought and the cost is made least."""


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
