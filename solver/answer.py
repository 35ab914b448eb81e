"""The answer of `solve`, as JSON has it: plans with their proof, or why nothing fits."""

from typing import Any, Literal

from pydantic import ConfigDict

from solver.plan import CatalogStamp, Number, Part, Plan

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


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
    fragile: bool


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


class Reply(Part):
    """What every search answers: plans with their proof; or why nothing fits and the smallest changes that
    would.
    """

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


class Answer(Reply):
    """The best plans, in their order."""

    sensitivity: Sensitivity | None
    rent_or_buy: RentOrBuy | None
    """Where machines may be bought and the cost is made least."""
