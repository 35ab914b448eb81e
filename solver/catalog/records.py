"""The records of the catalog: facts with a source and a date, in SI once read."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from solver import units
from solver.catalog.fact import (
    Bytes,
    BytesPerS,
    Count,
    Day,
    Fact,
    FlopsPerS,
    Positive,
    Record,
    Seconds,
    Share,
    Usd,
    Watts,
)
from solver.catalog.framework import Era, Framework, Support
from solver.catalog.money import Overflow, Owned, Site

__all__ = [
    "PRECISIONS",
    "Device",
    "Era",
    "Fact",
    "Framework",
    "Gemm",
    "Kernels",
    "Link",
    "Machine",
    "Offering",
    "Operations",
    "Price",
    "Pricing",
    "Support",
]

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8")
Pricing = Literal[
    "on-demand", "spot", "committed-1y", "committed-3y", "capacity-block", "flex-start", "community", "owned"
]


def price(value: str | float) -> float:
    """USD per hour, above zero. [USD/h]"""
    usd = units.usd_per_hour(value)
    if usd == 0:
        raise ValueError("a price of 0 is not taken; write the price per hour, or null where there is none")
    return usd


Price = Annotated[float, BeforeValidator(price)]


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
    grouped_narrow: dict[str, Share] = Field(default_factory=dict)
    """The same in precisions whose kernels reach less of it, each expert cast and scaled apart."""
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
    """Share of these rates that remains in a training step: clocks fall when no unit ever pauses."""
    like: str = ""
    source: list[str]
    date: Day


class Device(Fact):
    """One accelerator, as the catalog and prices count it."""

    name: str
    vendor: str
    family: str
    architecture: str
    relative: str = ""
    """The architecture whose software it takes where a framework states nothing of its own."""
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
    mtbf: Seconds | None = None
    """Mean time between failures that stop a job, where it is published; else that of the operations."""
    lacks: list[str] = Field(default_factory=list)
    """What does not work on it, beside the precisions that it has no peak for."""
    availability: str = ""
    """Who may buy it, and whether it can still be had."""
    successor: str | None = None
    """Device id of what its maker sells in its place."""
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
    oversubscription: float = Field(default=1.0, ge=1, allow_inf_nan=False)
    """What the hosts of a switch can send over what its way up can carry; 1: non-blocking. (fabric)"""
    port_price: Usd | None = None
    """Of a switch, for each of its ports, where the buyer chooses. [USD]"""
    link_price: Usd | None = None
    """Cable and optics of one link. [USD]"""
    aliases: list[str] = Field(default_factory=list)


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
    torus: list[int] = Field(default_factory=list)
    """Edge lengths of a TPU slice or Trainium torus; empty where a switch or bridge joins the devices."""
    wrapped: list[bool] = Field(default_factory=list)
    """By edge of the torus: closed to a ring."""
    default_fabric: str | None = None
    host_memory: Bytes = 0.0
    power: Watts = Positive
    """At the wall, of the whole machine under load."""
    max_machines: int = 0
    """Most machines that one job can join (0: no limit of the machine's own)."""
    aliases: list[str] = Field(default_factory=list)
    """Other names, as its provider's commands have them."""
    alias_unit: str = ""
    """What the number in them counts."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, fields: Any) -> Any:
        """Block and domain are the whole machine unless stated."""
        devices = fields.get("devices")
        whole = devices if isinstance(devices, int) and devices > 0 else 1  # else `devices` itself is refused
        return {"block": whole, "domain": whole} | fields

    def count_for(self, devices: int) -> int:
        """Whole machines that so many devices take."""
        return -(-devices // self.devices)

    def fabric_share(self, fabric: Link) -> float:
        """A device's share of its host's network cards, one way, of the data sheet, as far as the switches
        above can carry it. [B/s]
        """
        return fabric.bandwidth / fabric.oversubscription * self.hosts / self.devices


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
    weeks_beyond: float | None = None
    """Whole terms are paid, as of a commitment; by a run of more days than these whole weeks."""
    least_days: float = 0.0
    least_machines: int = 1
    """A shorter run and fewer machines are billed as if they were so long and so many."""
    site: Site
    """Where its machines stand."""
    overflow: Overflow | None = None
    owned: Owned | None = None
    """Partly reserved; bought or standing there. usd_per_hour is then the least at any count, with power."""
    source: list[str]
    date: str
    price_basis: str = "read"
    notes: str = ""


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
    weight_bytes: float
    """Of a parameter of the finished model, that is taken out."""
    pue: float
    """Power at the meter over power at the machines' walls, where nothing is known of the place."""
    load: dict[Literal["gpu", "tpu", "asic"], Share]
    """Mean power of a training machine over its most, by kind of device."""
    switch_ports: Count
    """Of a switch between machines."""
    port_power: Watts
    """Of a switch, for each of its ports, optics included."""
    tokenizer: BytesPerS
    """Text that a host's processors turn into tokens."""
    storage_read: BytesPerS
    """At which a host reads data from storage."""
    memory_error: Share
    """By which a run's peak may be above the predicted one."""
    host_updates: float = Field(gt=0)
    """Parameters that the optimizer of a host updates a second, where its state is kept there."""
    host_link_share: Share
    """Of the sheet bandwidth to host memory that copies of pinned memory reach."""
    expert_imbalance: float
    """Tokens of the busiest expert rank over the mean."""
