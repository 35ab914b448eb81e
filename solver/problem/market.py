"""What the user pays, has and may have: own prices, discounts, quotas, offers, reservations, purchase."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from solver.problem.money import (
    Capex,
    FreePrice,
    Further,
    Intensity,
    PriceOfMachine,
    Pue,
    Share,
    Stored,
    Until,
    UsdPerKwh,
    UsdPerKwMonth,
    UsdPerTb,
)
from solver.problem.quantities import Devices, Duration, Machines, Model, Name, Nodes, Pricing
from solver.units import shown


class ByName:
    """A mapping from names to values of one type, kept as pairs in the order of the file.

    `what`: what a mapping holds, `example`: how to write one.
    """

    def __init__(self, value: Any, what: str, example: str) -> None:
        self.value = value
        self.told = f"write {what}, e.g. {example}"

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        mapping = handler.generate_schema(dict[Name, self.value])  # type: ignore[name-defined]
        checked = core_schema.no_info_before_validator_function(self._mapping, mapping)
        return core_schema.no_info_after_validator_function(lambda pairs: tuple(pairs.items()), checked)

    def _mapping(self, value: object) -> object:
        if not isinstance(value, dict):
            raise ValueError(f"{shown(value)} is not a mapping; {self.told}")
        return value


OwnPrices = Annotated[
    tuple[tuple[str, float], ...],
    ByName(PriceOfMachine, "ids of offerings with a price an hour", '{"acme:big": 18 USD/hour}'),
]
Discounts = Annotated[
    tuple[tuple[str, float], ...], ByName(Share, "providers with a percentage", "{acme: 15%}")
]


class Quota(Model):
    """The most machines or devices of what the other fields name; globs, each left out means any."""

    provider: Name = "*"
    """Provider, or glob."""
    region: Name = "*"
    """Region, or glob."""
    device: Name = "*"
    """Accelerator, or glob."""
    machine: Name = "*"
    """Machine type, or glob."""
    pricing: Pricing | None = None
    """Kind of price; every kind where left out."""
    machines: Machines | None = Field(default=None, examples=[16])
    """Most machines of a plan."""
    devices: Devices | None = None
    """Most devices of a plan, those paid but not used included."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.machines is None) == (self.devices is None):
            raise ValueError('states how much it allows once; write "machines: 16" or "devices: 128"')
        return self


class OfMachine(Model):
    """Machines of one type, from somebody."""

    machine: Name
    """Id of a machine."""
    fabric: Name | None = None
    """The network between them; the usual one of the machine where left out."""


class Holding(OfMachine):
    """Machines that one has or was offered."""

    count: Machines = Field(examples=[1])
    """How many machines."""
    price: FreePrice = 0.0
    """Of one machine; 0 where it is paid for already."""


class Offer(OfMachine):
    """A private offer of a provider."""

    provider: Name
    """Who offers it; it may be new to the catalog."""
    price: PriceOfMachine = Field(examples=["18 USD/hour"])
    """Of one machine."""
    pricing: Pricing = "on-demand"
    """Kind of price."""
    region: Name = "any"
    """Where the machines stand."""
    count: Machines | None = None
    """Most machines; as many as the provider gives one job where left out."""
    until: Until | None = None
    """How long the offer holds from the start of the run, or its last day."""
    min_term: Duration | None = None
    """A shorter run is billed as if it took so long; the term of its kind of price where left out."""
    min_count: Machines | None = None
    """Fewer machines are billed as if they were so many."""

    @model_validator(mode="after")
    def _not_below_min(self) -> Self:
        if self.count and self.min_count and self.count < self.min_count:
            raise ValueError(f"count {self.count} is below min_count {self.min_count}; leave one of them out")
        return self


class Reservation(OfMachine):
    """Machines that are paid for already: they cost the run nothing, or the price stated here."""

    provider: Name
    """Whose machines they are."""
    count: Machines = Field(examples=[16])
    """How many machines."""
    region: Name = "any"
    """Where the machines stand."""
    until: Until | None = None
    """How long they are there from the start of the run, or their last day."""
    price: FreePrice = 0.0
    """What one machine still costs an hour."""
    overflow: Further | None = None
    """What others of the same provider that join them cost an hour: on-demand, or a price."""


class Purchase(OfMachine):
    """Machines that may be bought."""

    price: Capex | None = None
    """Of one server; that of the catalog where left out."""
    count: Machines | None = None
    """Most machines; no limit but those of the file where left out."""


class AlreadyOwned(OfMachine):
    """Machines that stand there: they cost power and operation, but no capital."""

    count: Machines = Field(examples=[1])
    """How many machines."""


class Ownership(Model):
    """What owning costs; a field left out is that of the catalog."""

    life: Duration | None = None
    """Over which the price is written off."""
    residual: Share | None = None
    """Of the price, what is left at the end of the life."""
    utilisation: Share | None = None
    """Of the hours of the life, those that some run uses: the run pays its hours of these."""
    interest: Share | None = None
    """Cost of capital a year."""
    maintenance: Share | None = None
    """Of the price a year."""
    staff: Share | None = None
    """Of the price a year."""
    hosting: UsdPerKwMonth | None = None
    """Space and cooling, of the power at the wall of a machine under load."""
    electricity: UsdPerKwh | None = None
    """Price of power at the meter."""
    pue: Pue | None = None
    """Power at the meter over power at the machines."""
    storage: UsdPerTb | None = None
    """Price of storage that is bought for data set and checkpoints."""
    carbon: Intensity | None = None
    """Carbon dioxide of a kWh of the power."""

    @model_validator(mode="after")
    def _used_at_all(self) -> Self:
        if self.utilisation == 0:
            raise ValueError("utilisation 0 never uses the machines; write e.g. 70%")
        return self


class Bill(Model):
    """What a run pays beside its machines; a field left out is that of the provider."""

    head_nodes: Nodes | None = None
    """CPU nodes that schedule and watch the run; one where the provider bills them."""
    egress: Stored | None = None
    """Data taken out of the provider; the weights once where left out."""
    storage: Stored | None = None
    """Data kept while the run lasts; token ids and checkpoints where left out."""
    evaluation: Share | None = None
    """Machine hours of evaluation, of those of the training."""


def _listed(value: object) -> object:
    """One mapping stands for a list of one."""
    return [value] if isinstance(value, dict) else value


class OrName:
    """Editors take the name of a machine in place of its mapping, and one in place of a list."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        name, item = {"type": "string"}, handler(schema)["items"]
        return {"anyOf": [name, item, {"type": "array", "items": {"anyOf": [name, item]}}]}


def _purchases(value: object) -> object:
    """A text is a glob of machines at the prices of the catalog."""
    items = value if isinstance(value, list | tuple) else [value]
    return [{"machine": item} if isinstance(item, str) else item for item in items]


Holdings = Annotated[tuple[Holding, ...], BeforeValidator(_listed)]
Quotas = Annotated[tuple[Quota, ...], BeforeValidator(_listed)]
Offers = Annotated[tuple[Offer, ...], BeforeValidator(_listed)]
Reservations = Annotated[tuple[Reservation, ...], BeforeValidator(_listed)]
Purchases = Annotated[tuple[Purchase, ...], BeforeValidator(_purchases), OrName()]
AllOwned = Annotated[tuple[AlreadyOwned, ...], BeforeValidator(_listed)]
