"""What an answer says beside its plans: the proof, and warnings."""

import math
from collections.abc import Iterator

from solver.catalog import STALE_DAYS, age_days
from solver.plan import Plan
from solver.question import Question, apart, matches
from solver.search.candidates import Explorer
from solver.search.cautions import cautions
from solver.search.explore import Goal
from solver.search.rank import Choice
from solver.units import format_count, format_usd_per_hour

LARGE_RENT = 512  # devices on demand of one provider beyond which nobody gets them by a click
ROUNDED = 1 + 1e-6  # a term that ends with the run is used up
COMPUTE_OPTIMAL = 20  # tokens a parameter
GOOD_EPOCHS = 4
CHEAPER = {"spot", "committed-1y", "committed-3y", "capacity-block", "flex-start", "community"}


def proof(explorer: Explorer, goal: Goal, choice: Choice) -> list[str]:
    """What is proved by what."""
    counters = explorer.counters
    pools = len(explorer.markets)
    timed = counters.configurations - counters.excluded
    verdicts = [verdict.status for verdict in choice.verdicts]
    told = f"CP-SAT over the {_counted(choice.handed, 'candidate')} handed to it: {', '.join(verdicts)}"
    if set(verdicts) == {"OPTIMAL"}:
        each = f"each of {len(verdicts)} plans" if len(verdicts) > 1 else "the plan"
        told = f"CP-SAT: {each} is optimal over the {_counted(choice.handed, 'candidate')} handed on"
    bounded = "time" if goal.objective == "time" else f"time or {goal.objective}"
    return [
        f"exhaustion: of {counters.configurations:,} legal layouts on {_counted(pools, 'pool')}, {timed:,} "
        "were timed exactly or do not fit in memory",
        f"bound: pools excluded whole, as nothing there fits or beats the last plan: {counters.pools}",
        f"bound: {counters.excluded:,} were excluded, as a lower bound of their {bounded} exceeds a limit, "
        "the last plan found, or the time of another layout of the same count",
        "dominance: for one offering and count the fastest layout is best in cost, time, energy and power",
        f"{told}; its choices equal those of a scan over all candidates",
        *_out_of_time(explorer, goal),
    ]


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}"


def _out_of_time(explorer: Explorer, goal: Goal) -> list[str]:
    if explorer.unexplored == math.inf:
        return []
    return [
        f"time was up before every pool was looked at; there the {goal.objective} may be better, to the bound"
    ]


def how_sure(plans: list[Plan]) -> list[str]:
    """The band around the predicted times of the plans, and what it rests on."""
    of: dict[str, list[int]] = {}
    for plan in plans:
        of.setdefault(plan.time.band, []).append(plan.rank)
    return [f"{_plans(numbers)}: {words}" for words, numbers in of.items()]


def warnings(question: Question, plans: list[Plan]) -> list[str]:
    """What a buyer should know before signing."""
    told = [f"{_plans(numbers)}: {sentence}" for sentence, numbers in _of_plans(question, plans).items()]
    return [
        *told,
        *apart(question.problem.training),
        *_without_offering(question),
        *_other_pricing(question),
        *_of_data(question),
    ]


def _of_data(question: Question) -> Iterator[str]:
    """Notes on the amount of data; no limits. Sources: Hoffmann et al. 2022, Muennighoff et al. 2023."""
    problem, parameters = question.problem, question.job.architecture.active_parameters
    ratio = problem.tokens * problem.training.fill / parameters
    if problem.training.task == "pretrain":
        told = "a smaller model on more tokens may end better at the same cost"
        if ratio >= COMPUTE_OPTIMAL:
            told = "usual for a model that is used much; a larger one would learn more at the cost"
        beside = "fewer than" if ratio < COMPUTE_OPTIMAL else "at least"
        yield (
            f"note: {format_count(ratio, 3)} tokens an active parameter, {beside} the {COMPUTE_OPTIMAL} that "
            f"make the most of the compute (arXiv 2203.15556): {told}"
        )
    if repeats := (problem.training.epochs or 1) - 1:
        yield (
            f"note: {repeats / (repeats + 1):.0%} of the tokens are repeated data; beyond {GOOD_EPOCHS} "
            "epochs repeats teach much less than new text (arXiv 2305.16264)"
        )


def _of_plans(question: Question, plans: list[Plan]) -> dict[str, list[int]]:
    """Sentences, each with the ranks of the plans that it is about."""
    told: dict[str, list[int]] = {}
    for plan in plans:
        if on_demand(plan) > LARGE_RENT:
            sentence = f"more than {LARGE_RENT} devices on demand of one provider; ask for a quote"
            told.setdefault(sentence, []).append(plan.rank)
        if age_days(plan.price_date, question.catalog.date) > STALE_DAYS:
            told.setdefault(f"the price is more than {STALE_DAYS} days old", []).append(plan.rank)
        if plan.memory.fragile:
            error = question.job.operations.memory_error
            sentence = (
                f"it fits by less than the memory may be off ({error:.0%}), and may not start; "
                f"limits.memory_margin: {error:.0%} leaves such plans out"
            )
            told.setdefault(sentence, []).append(plan.rank)
        for sentence in beside_use(plan):
            told.setdefault(sentence, []).append(plan.rank)
    for rank, sentence in cautions(question, plans):
        told.setdefault(sentence, []).append(rank)
    return told


def on_demand(plan: Plan) -> int:
    """Devices of a plan that are rented on demand: all, or those that join reserved ones."""
    if plan.pricing == "on-demand":
        return plan.devices_paid
    joining = plan.cost.rent[-1].machines if len(plan.cost.rent) > 1 else 0
    return joining * plan.devices_paid // plan.machines


def beside_use(plan: Plan) -> Iterator[str]:
    """What is paid beside what is used: the rest of a term, more machines, those that join reserved ones."""
    if not (rent := plan.cost.rent):
        return
    *reserved, further = rent
    billed = sum(line.machines for line in rent)
    if further.hours > 24 * plan.time.days * ROUNDED:
        yield f"{further.hours / 24:,.4g} days are paid and {plan.time.days:,.4g} are used"
    if reserved:
        first, price = reserved[0].machines, format_usd_per_hour(further.usd_per_hour)
        are = "1 machine is" if first == 1 else f"{first:,} machines are"
        yield f"{are} reserved; each of the others costs {price}"
    if billed > plan.machines:
        yield f"{billed:,} machines are paid and {plan.machines:,} are used"


def _plans(numbers: list[int]) -> str:
    return f"plan {numbers[0]}" if len(numbers) == 1 else f"plans {', '.join(map(str, numbers))}"


def _without_offering(question: Question) -> list[str]:
    """Devices that the user asks for and nobody offers."""
    catalog = question.catalog
    offered = {question.device(o).id for o in question.offerings}
    named = [matches(catalog, "devices", glob) for glob in question.problem.limits.devices]
    nowhere = set().union(*(devices for devices in named if not devices & offered))
    return [f"{device} has no offering that the limits allow" for device in sorted(nowhere)]


def _other_pricing(question: Question) -> list[str]:
    """Cheaper kinds of price that the limits leave out."""
    allowed = set(question.problem.limits.pricing)
    machines = {o.machine for o in question.offerings}
    left = {o.pricing for o in question.catalog.offerings if o.machine in machines} & CHEAPER - allowed
    if not left:
        return []
    kinds = ", ".join(sorted(left))
    return [f"limits.pricing leaves out {kinds}, which may be cheaper for those who can use them"]
