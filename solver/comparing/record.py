"""The comparison's types, as JSON has them: keys are a promise, numbers carry 9 significant digits."""

from typing import Any, Literal

from solver.plan import CatalogStamp, Number, Part, Plan


class Software(Part):
    """The stack that trains there: an id of catalogs/stacks.yaml; None: the catalog knows none."""

    stack: str | None
    framework: str
    precision: str


class Move(Part):
    """What it takes to come from another stack; nothing where it is the same."""

    from_stack: str
    to_stack: str
    framework: str
    missing: list[str]
    port: list[str]
    source: list[str]
    date: str


class ToWin(Part):
    """What alone would make a group the best: a price, or a speed. None: no price, no speed would do.

    Of a group without a plan too, where nothing but its cost is in the way.

    price: highest price of a device-hour, under the price list `offering`, at which its cheapest plan costs
    no more than the winner's; speedup: how many times as fast its steps would have to be at today's price.
    """

    offering: str
    price_usd_per_device_hour: Number | None
    price_now_usd_per_device_hour: Number | None
    price_change_pct: Number | None
    speedup: Number | None


class Group(Part):
    """The best plan of a device, a family or a provider; or the reason why there is none.

    title: of a family: its maker and the architectures in it; else the name
    """

    name: str
    title: str
    status: Literal["best", "fits", "nothing"]
    plan: Plan | None
    usd_per_effective_pflop_hour: Number | None
    """Of the run: its cost over its model FLOPs."""
    memory_slack_gib: Number | None
    software: Software | None
    migration: Move | None
    availability: list[str]
    lacks: list[str]
    estimated: list[str]
    """Figures of the catalog behind the plan that no source states."""
    to_win: ToWin | None
    reason: str | None
    """Why there is no plan; None where there is one."""


class Looked(Part):
    """How the best of each group was found."""

    markets: int
    looked_at: int
    proof: list[str]


class Comparison(Part):
    """Every group that the limits admit, the best first, those without a plan last."""

    by: Literal["device", "family", "provider"]
    objective: str
    question: dict[str, Any]
    assumptions: list[str]
    reference_stack: str
    groups: list[Group]
    search: Looked
    catalog: CatalogStamp
    version: str
