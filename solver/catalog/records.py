"""The records of the catalog: facts with a source and a date, in SI once read."""

import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from solver import units

Bytes = Annotated[float, BeforeValidator(units.bytes_)]
BytesPerS = Annotated[float, BeforeValidator(units.bytes_per_s)]
FlopsPerS = Annotated[float, BeforeValidator(units.flops_per_s)]
Seconds = Annotated[float, BeforeValidator(units.seconds)]
Usd = Annotated[float, BeforeValidator(units.usd)]
Watts = Annotated[float, BeforeValidator(units.watts)]
Positive = Field(gt=0, allow_inf_nan=False)
Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8")
Pricing = Literal[
    "on-demand", "spot", "committed-1y", "committed-3y", "capacity-block", "flex-start", "community", "owned"
]


def day(value: object) -> str:
    """A date as sources print it: 2026-12-01, 2026-12 or 2026."""
    text = str(value)
    parts = text.split("-")
    try:
        datetime.date(*(int(part) for part in [*parts, "1", "1"][:3]))
    except ValueError:
        parts = []
    if len(parts) not in (1, 2, 3) or len(parts[0]) != 4:
        raise ValueError(f"{units.shown(text)} is not a date; write e.g. 2026-12-01, 2026-12 or 2026")
    return text


def price(value: str | float) -> float:
    """USD per hour, above zero. [USD/h]"""
    usd = units.usd_per_hour(value)
    if usd == 0:
        raise ValueError("a price of 0 is not taken; write the price per hour, or null where there is none")
    return usd


Day = Annotated[str, BeforeValidator(day)]
Price = Annotated[float, BeforeValidator(price)]


class Record(BaseModel):
    """Frozen, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Origin(Record):
    """Where one field comes from, where that is not where its record comes from."""

    source: list[str]
    date: Day


class Fact(Record):
    """A record that does not load without source and date. The id is the file name."""

    id: str
    source: list[str] = Field(min_length=1)
    date: Day
    notes: str = ""
    origins: dict[str, Origin] = {}
    """By field: those that the file writes as {value, source, date}."""


class Gemm(Record):
    """Roofline of a matmul of m x n x k in one precision.

    t = max(2 (m n + idle) (k + k0) / (efficiency peak), bytes / (bandwidth_efficiency bandwidth)) + launch
    """

    efficiency: Share
    """Share of the dense peak that large products reach."""
    inner_overhead: float = Field(ge=0)
    """k0: inner elements' worth of time that each output tile costs beyond its products."""
    bandwidth_efficiency: Share
    """Share of the memory bandwidth that a memory-bound product reaches."""
    launch: Seconds
    """Time before and after the work of a kernel."""
    idle_outputs: float = Field(default=0.0, ge=0)
    """Outputs that would fit into the part of the last wave of tiles that stands idle, on average."""


class Kernels(Record):
    """How close a device's kernels come to its data sheet, from kernel tables; `like`: whose were taken."""

    gemm: dict[str, Gemm]
    """By precision: one for each peak of the device."""
    grouped_gemm_efficiency: Share
    """Of the grouped expert matmuls, relative to a plain matmul of the same rows."""
    attention_forward: Share
    """Share of the dense 16-bit peak that a causal flash-attention forward reaches (its causal FLOPs), with
    head size 128, long spans and many heads.
    """
    attention_backward: Share
    attention_softmax: float = Field(default=0.0, ge=0)
    """FLOPs' worth of time of a score's exponential, behind its products: 512 FLOPs at head size 128."""
    attention_idle_rows: float = Field(default=0.0, ge=0)
    """Queries (times heads) that would fit into the part of the last wave that stands idle, on average."""
    pointwise_bandwidth: Share
    """Share of the memory bandwidth that element-wise kernels reach."""
    sustained: Share = 1.0
    """Share of these rates that remains in a training step: clocks fall when every unit works without a
    pause.
    """
    like: str = ""
    source: list[str]
    date: Day


class Device(Fact):
    """One accelerator, as the catalog and prices count it."""

    name: str
    vendor: str
    family: str
    architecture: str
    kind: Literal["gpu", "tpu", "asic"]
    launch_year: int
    peak: dict[str, Annotated[FlopsPerS, Positive]] = Field(min_length=1)
    """Dense peak by precision, never the sparse figure of the sheet."""
    memory: Bytes = Positive
    """As marketed (vendors print GB and mean GiB)."""
    usable_memory: Bytes = Positive
    """What the runtime reports as total (the driver's tool counts its own reserve on top)."""
    memory_bandwidth: BytesPerS = Positive
    ranks: Count = 1
    """Software ranks a device (2 on Trainium 1, TPU v7, MI250X)."""
    host_link: BytesPerS = Positive
    """One-way bandwidth to the host, of the data sheet."""
    tdp: Watts = Positive
    kernels: Kernels

    @field_validator("peak", mode="after")
    @classmethod
    def _known(cls, peak: dict[str, float]) -> dict[str, float]:
        for name in peak.keys() - set(PRECISIONS):
            raise ValueError(f"{units.shown(name)} is no precision; there are {', '.join(PRECISIONS)}")
        return peak


class Link(Fact):
    """What joins devices: a scale-up link inside a machine, or a fabric between machines."""

    name: str
    scope: Literal["scale-up", "inter-node"]
    technology: str
    topology: Literal["switch", "mesh", "torus", "host", "none"] = "switch"
    """switch: any pair at full rate; mesh: a link a pair; torus: neighbours only; host: through the CPU."""
    bandwidth: BytesPerS = Positive
    """One way; of a device (all its links) for a scale-up link, of a host (all its NICs) for a fabric."""
    nics: Count = 1
    """Network cards a host (fabric)."""
    efficiency: Share
    """Share of the sheet bandwidth that large collectives reach."""
    latency: Seconds
    """Time of one hop of a ring."""
    start: Seconds = 0.0
    """Time of a collective beside its hops: launch, and the ranks waiting for each other."""
    aliases: list[str] = []


class Machine(Fact):
    """What is rented or bought as a unit: n devices, their scale-up link, hosts and NICs; or a TPU slice.

    Cards rented singly sit together in one host: a part of a host is a machine of its own (of 1, 2, 4, 8
    cards), so that what is used is what is paid, and a job on cards without a known network is one machine.
    """

    device: str
    devices: Count
    block: Count
    """The smallest group of devices a job may take; not stated: all."""
    domain: Count
    """Devices that the scale-up link joins; not stated: all."""
    hosts: Count = 1
    """Each with network cards of its own: the 18 trays of an NVL72 rack, the VMs of a TPU slice."""
    scale_up: str
    """Link id."""
    torus: list[int] = []
    """Edge lengths of a TPU slice or Trainium torus; empty where a switch or bridge joins the devices."""
    wrapped: list[bool] = []
    """By edge of the torus: closed to a ring."""
    default_fabric: str | None = None
    host_memory: Bytes = 0.0
    power: Watts = Positive
    """At the wall, of the whole machine under load."""
    max_machines: int = 0
    """Most machines that one job can join (0: no limit of the machine's own)."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, fields: Any) -> Any:
        """Block and domain are the whole machine unless stated."""
        devices = fields.get("devices")
        whole = devices if isinstance(devices, int) and devices > 0 else 1  # else `devices` itself is refused
        return {"block": whole, "domain": whole} | fields

    def fabric_share(self, fabric: Link) -> float:
        """A device's share of its host's network cards, one way, of the data sheet. [B/s]"""
        return fabric.bandwidth * self.hosts / self.devices


class Offering(Record):
    """A machine in a provider's region at a price under a pricing kind."""

    id: str
    provider: str
    instance: str
    region: str
    geo: str
    machine: str
    fabric: str | None
    """None: machines are not known to be joined, so a job is one machine."""
    pricing: Pricing
    usd_per_hour: float
    """Of one machine."""
    max_devices: int
    max_days: float | None = None
    term_days: float | None = None
    """A commitment is paid for its whole term."""
    source: list[str]
    date: str
    price_basis: str = "read"
    notes: str = ""


class Support(Record):
    """Where a framework runs, and in which precisions."""

    families: list[str]
    precisions: list[str]


class Era(Record):
    """How an older generation of a framework, or a relative of it, differs from the record."""

    name: str
    aliases: list[str] = []
    """Free-text names of published runs, as globs; none: every name of the framework."""
    until: Day = "9999"
    """Date of the last runs of this generation."""
    compiled: bool | None = None
    """Of runs that state so alone."""
    recompute: dict[str, str] | None = None
    gradient_bytes: float | None = None
    accumulation_bytes: float | None = None
    attention: dict[str, Share] | None = None
    matmul: dict[str, Share] | None = None
    fused: float | None = None
    cast_bytes: float | None = None
    layer_launch: Seconds | None = None
    expert_launch: Seconds | None = None
    send_pause: Seconds | None = None
    gradient_overlap: float | None = None
    tensor_overlap: float | None = None
    expert_overlap: float | None = None
    step_overhead: Seconds | None = None
    interleaved: bool | None = None
    weight_bytes: float | None = None
    loss_bytes: float | None = None
    copy_bytes: float | None = None
    step_bytes: float | None = None
    weight_gradient_bytes: float | None = None
    kept: float | None = None
    narrow_bytes: float | None = None
    buffers: Bytes | None = None
    context: Bytes | None = None
    fragmentation: float | None = None

    @property
    def differences(self) -> dict[str, Any]:
        return self.model_dump(exclude={"name", "aliases", "until", "compiled"}, exclude_none=True)


class Framework(Fact):
    """A training framework: what it runs on, what layouts it accepts, what it holds in memory and costs."""

    name: str
    aliases: list[str]
    """Free-text names of published runs, as globs."""
    supports: list[Support]
    rules: list[str]
    """Names of rules.RULES that hold for it."""
    zero: list[int]
    """Sharding stages it has."""
    recompute: dict[str, str]
    """What it calls none, selective and full -> the name of what is recomputed (physics.recompute.KINDS)."""
    gradient_bytes: float
    """Bytes a gradient element is held and reduced in."""
    weight_bytes: float
    master_bytes: float
    """Of the float32 copy that the optimizer updates (0 where the weights are that copy)."""
    moment_bytes: float
    """Of the optimizer's moments, for the default optimizer."""
    gathered_bytes: float
    """Of the weights as ZeRO gathers them to compute."""
    vocab_multiple: int = 1
    """The vocabulary is padded to a multiple of this times tp."""
    fused: float
    """Element-wise traffic, over that of one kernel each for norm, residual, rope and activation."""
    accumulation_bytes: float = 0.0
    """Moved for each parameter that a rank holds to add a micro-batch's gradient to the sum."""
    attention: dict[str, Share] = {}
    """By architecture of the device: rate of its attention kernels over that of the device's record (1)."""
    matmul: dict[str, Share] = {}
    """The same of its matmul kernels: libraries older than those of the kernel tables."""
    cast_bytes: float = 4.0
    """Moved to cast a 16-bit element to 8 bits, plain and transposed: read 2, write 1 + 1; less where fused."""
    layer_launch: Seconds
    """Host time to launch a layer's forward kernels: a floor under its time."""
    expert_launch: Seconds = 0.0
    """The same for each expert that a rank holds, on top: its products, permutation and token count."""
    send_pause: Seconds = 0.0
    """For which the host holds up a rank at each hand-off between pipeline stages."""
    gradient_overlap: float
    """Share of the gradient reduction that may hide behind the backward pass."""
    tensor_overlap: float
    """Share of the tensor-parallel communication that may hide behind matmuls."""
    expert_overlap: float = 0.0
    """Share of the expert-parallel communication that may hide behind matmuls."""
    step_overhead: Seconds
    """Per step: data loading, logging, optimizer launch."""
    interleaved: bool = False
    """Of published runs that state no virtual stages: as deep as the layers divide."""
    loss_bytes: float
    """Bytes per logit element alive at the loss (bf16 logits, float32 copy, gradient)."""
    copy_bytes: float = 0.0
    """Of a parameter in copies beside its gradient, whole on every rank (16-bit gradients beside float32)."""
    step_bytes: float = 0.0
    """Of a parameter that a rank updates, in copies that live during the optimizer's step."""
    weight_gradient_bytes: float = 0.0
    """Of an element of a weight gradient before it is added or reduced: one layer and the head at a time."""
    kept: float = 1.0
    """Activations kept for the backward pass, over those that fused kernels keep."""
    narrow_bytes: float = 2.0
    """Bytes that an input of an 8-bit matmul is kept in."""
    buffers: Bytes = 0.0
    """Communication buckets that stay allocated."""
    context: Bytes
    """Runtime context and communicators on a device, outside the allocator."""
    fragmentation: float
    """Share of the dynamic memory that the allocator cannot hand out."""
    eras: list[Era] = []
    """Older generations and relatives, the first that matches holds; what is planned is the record itself."""


class Operations(Fact):
    """How long runs are operated: failures, checkpoints, power, storage.

    The figures that no record of one device, machine or framework can hold.
    """

    device_mtbf: Seconds
    """Mean time between failures that stop a job, of one device."""
    spot_mtbf: Seconds
    """Mean time between interruptions of one spot machine."""
    restart: Seconds
    """From a failure to the next step: detection, replacement, loading."""
    startup: Seconds
    """Before the first step."""
    checkpoint_bandwidth: BytesPerS
    """At which one device copies out its part of a checkpoint while training waits."""
    checkpoint_bytes: float
    """Of a parameter in a checkpoint: weights, master copy and moments."""
    checkpoints_kept: Count
    token_bytes: float
    """Of a token of the stored data set."""
    storage_price: Usd
    """Of a GB of object storage, a month."""
    pue: float
    """Power at the meter over power at the machines' walls."""
    expert_imbalance: float
    """Tokens of the busiest expert rank over the mean."""
    error_band: Share
    """Half width of the stated band around a predicted time, until bands are measured."""
