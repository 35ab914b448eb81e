"""The requirements file and the run file, field by field. Text is parsed once; what stands here is SI."""

from typing import Any

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from solver.problem.amount import steps_of, tokens_of
from solver.problem.market import (
    AllOwned,
    Bill,
    Discounts,
    Holdings,
    Offers,
    Ownership,
    OwnPrices,
    Purchases,
    Quotas,
    Reservations,
)
from solver.problem.money import Share
from solver.problem.paths import Folder
from solver.problem.quantities import (
    Degrees,
    Devices,
    Duration,
    Kilograms,
    Machines,
    Model,
    Names,
    Objective,
    Offloads,
    Pricings,
    Recomputes,
    Schedule,
    Stages,
    Truths,
    Usd,
    WattHours,
    Watts,
)  # fmt: skip
from solver.problem.shape import ModelSpec
from solver.problem.training import Training

MAX_DEVICES = 16_384
"""Where the user states no most."""


class LayoutLimits(Model):
    """Values that a layout may take, where the search shall not choose freely.

    A degree is a value, a list, or a range of what the search tries: "up to 8", "2-16", ">= 2", "not 4".
    """

    tp: Degrees = ()
    """Tensor parallel degree."""
    cp: Degrees = ()
    """Context parallel degree."""
    pp: Degrees = ()
    """Pipeline stages."""
    vpp: Degrees = ()
    """Virtual stages on a rank."""
    ep: Degrees = ()
    """Expert parallel degree."""
    etp: Degrees = ()
    """Expert tensor parallel degree."""
    dp: Degrees = ()
    """Data parallel degree."""
    zero: Stages = ()
    """Sharding over the replicas: 0 nothing, 1 optimizer, 2 gradients, 3 weights."""
    shard: Degrees = ()
    """Replicas that share one copy of what is sharded."""
    micro_batch: Degrees = ()
    """Sequences that a replica takes at a time."""
    grad_accum: Degrees = ()
    """Micro-batches of one step."""
    recompute: Recomputes = ()
    """Activations computed again in the backward pass."""
    sequence_parallel: Truths = ()
    """Norms and residuals split over the tensor parallel ranks."""
    schedule: Schedule | None = None
    """Of the pipeline: 1f1b (interleaved or not) where left out; zero-bubble, dualpipe."""
    offload: Offloads = ()
    """What host memory may hold: none, optimizer, parameters (and optimizer); none where left out."""


class Limits(Model):
    """What a plan must keep to. Names are ids of the catalog, or globs with * and ?."""

    deadline: Duration | None = None
    """Wall-clock time of the whole run, restarts included."""
    budget: Usd | None = None
    """Cost of the whole run."""
    devices: Names = ()
    """Accelerators that may be used; all where left out."""
    exclude_devices: Names = ()
    """Accelerators that may not be used."""
    machines: Names = ()
    """Machine types that may be used."""
    exclude_machines: Names = ()
    """Machine types that may not be used."""
    providers: Names = ()
    """Providers that may be used."""
    exclude_providers: Names = ()
    """Providers that may not be used."""
    regions: Names = ()
    """Regions that may be used."""
    exclude_regions: Names = ()
    """Regions that may not be used."""
    fabrics: Names = ()
    """Networks between machines that may be used."""
    exclude_fabrics: Names = ()
    """Networks between machines that may not be used."""
    frameworks: Names = ()
    """Training frameworks that may be used."""
    exclude_frameworks: Names = ()
    """Training frameworks that may not be used."""
    pricing: Pricings = ("on-demand", "owned")
    """Kinds of price that may be paid."""
    min_devices: Devices = 1
    """Fewest devices of a plan."""
    max_devices: Devices = Field(default_factory=lambda data: max(MAX_DEVICES, data.get("min_devices", 1)))
    """Most devices of a plan."""
    machines_step: Machines = 1
    """Machines of a plan come in multiples of this, as where they are given out in blocks."""
    max_power: Watts | None = None
    """Of all machines under load, at the wall."""
    max_energy: WattHours | None = None
    """Of the whole run, at the meter."""
    max_carbon: Kilograms | None = None
    """Carbon dioxide of that energy, by the grid of the region."""
    memory_margin: Share | None = None
    """Of the usable memory of a device, that a plan must leave free."""
    quotas: Quotas = ()
    """The most that a provider, region, accelerator or kind of price gives."""
    layout: LayoutLimits = LayoutLimits()
    """Values that the layout may take."""

    @field_validator("max_devices")
    @classmethod
    def _not_below_min(cls, max_devices: int, info: ValidationInfo) -> int:
        least = info.data.get("min_devices", 1)
        if max_devices < least:
            raise ValueError(f"{max_devices} is below min_devices {least}; write at least {least}")
        return max_devices


class Problem(Model):
    """A requirements file: what to train, within which limits, and what to make least."""

    model: ModelSpec = Field(examples=["{parameters: 7B}"])
    """Catalog id, path to a config.json, sizes written inline, or {parameters: 7B}."""
    training: Training
    """How it is trained."""
    limits: Limits = Limits()
    """What a plan must keep to."""
    hardware: Holdings = ()
    """Machines that one has or was offered; they join those of the catalog."""
    catalog: Folder | None = None
    """Folder of records that overlay the catalog."""
    objective: Objective = "cost"
    """What to make least: cost, time, energy or carbon."""
    prices: OwnPrices = ()
    """One's own price of an offering, by its id or a glob; final, no discount comes off it."""
    discounts: Discounts = ()
    """Percent off the list price, by provider, provider/machine or provider/machine/kind; the last holds."""
    offers: Offers = ()
    """Private offers; they join those of the catalog."""
    reservations: Reservations = ()
    """Machines that are paid for already."""
    buy: Purchases = ()
    """Machines that may be bought: the run pays its share of them."""
    already_owned: AllOwned = ()
    """Machines that stand there: the run pays their power and operation."""
    ownership: Ownership = Ownership()
    """What owning costs, of `buy` and `already_owned`."""
    bill: Bill = Bill()
    """What a run pays beside its machines."""

    _source: str = PrivateAttr(default="problem")
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)
    _assumptions: tuple[str, ...] = PrivateAttr(default=())

    def model_post_init(self, context: dict[str, Any] | None, /) -> None:
        """Keeps what the user wrote: relaxations and the question are told in his words."""
        from solver.problem.assumed import assumptions

        self._given = (context or {}).get("given", {})
        self._source = (context or {}).get("source", self._source)
        self._assumptions = assumptions(self, self._given)

    @property
    def source(self) -> str:
        """What messages call the input: the path of its file."""
        return self._source

    @property
    def given(self) -> dict[str, Any]:
        """The file as written: plain values by field, without the defaults."""
        return self._given

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Every default and reading that was decided here, a sentence each."""
        return self._assumptions

    @property
    def counts_carbon(self) -> bool:
        """Whether carbon dioxide decides anything."""
        return self.objective == "carbon" or self.limits.max_carbon is not None

    @property
    def market(self) -> tuple[object, ...]:
        """Everything that decides what can be had at which price, in one value to compare."""
        listed = (self.hardware, self.prices, self.discounts, self.offers, self.reservations)
        return (*listed, self.buy, self.already_owned, self.ownership, self.bill)

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole training."""
        return steps_of(self.training)

    @property
    def tokens(self) -> int:
        """Tokens of the whole training, padding included."""
        return tokens_of(self.training)

    def question(self) -> dict[str, Any]:
        """The file with its defaults filled, quantities as the user wrote them."""
        from solver.problem.assumed import question

        return question(self, self._given)
