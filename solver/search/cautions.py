"""What is odd about a plan's price, and whether its hosts can feed it: sentences for the buyer."""

from collections.abc import Iterator, Mapping
from itertools import chain

from solver.catalog.offers import EVERYWHERE
from solver.catalog.prices import out_of_line, peers
from solver.catalog.records import Offering
from solver.plan import Plan
from solver.pricing.stock import BOUGHT
from solver.problem.amount import ENGLISH_BYTES_PER_TOKEN
from solver.question import Question
from solver.search.buying import capex
from solver.units import DAY_S, YEAR_S, format_count, format_usd

PUBLIC_TEXT = 300e12  # tokens; between 100T and 1000T: Villalobos et al. 2024, arXiv 2211.04325v2
BASES = {  # how a price came into the catalog, where it was not read as a whole
    "derived": "a part of the price is estimated, see the notes of the offering",
    "memory": "the price is from memory; no copy of a source was found",
}


def cautions(question: Question, plans: list[Plan]) -> Iterator[tuple[int, str]]:
    """Rank and sentence."""
    middle = peers(question.catalog)
    for plan in plans:
        offering = question.offering(plan.offering)
        sentences = chain(
            _of_price(question, offering, middle),
            _of_place(question, offering),
            _of_feeding(question, plan),
            _of_length(question),
            _of_amount(question, plan),
            _of_purchase(question, plan),
            _of_energy(question, plan),
            _of_term(plan, offering),
            _of_device(question, plan),
        )
        yield from ((plan.rank, sentence) for sentence in sentences)


def _of_price(question: Question, offering: Offering, middle: Mapping[str, float]) -> Iterator[str]:
    if offering.price_basis in BASES:
        yield BASES[offering.price_basis]
    if odd := out_of_line(question.catalog, offering, middle):
        yield f"{odd}; ask whether it holds"
    if offering.pricing == "spot":
        place = (offering.provider, offering.instance, offering.machine, offering.region)
        steady = [
            o.usd_per_hour
            for o in question.catalog.offerings
            if (o.provider, o.instance, o.machine, o.region) == place and o.pricing == "on-demand"
        ]
        if steady and min(steady) <= offering.usd_per_hour:
            yield f"the spot price is not below the {min(steady):.2f} USD an hour on demand"


def _of_place(question: Question, offering: Offering) -> Iterator[str]:
    """Whose power is not known, where its carbon dioxide counts."""
    world = [grid.carbon for grid in question.catalog.grids.values() if EVERYWHERE in grid.regions]
    if question.problem.counts_carbon and offering.site.carbon in world:
        yield "where it stands is not known, so its carbon dioxide is that of the world's mean power"


def _of_purchase(question: Question, plan: Plan) -> Iterator[str]:
    """What is paid for machines at once, where a budget is stated."""
    budget = question.problem.limits.budget
    if plan.provider == BOUGHT and budget is not None and (spent := capex(question, plan)) > budget:
        yield f"{format_usd(spent)} are paid up front; the budget is held against the run's share of them"


def _of_energy(question: Question, plan: Plan) -> Iterator[str]:
    """What its maker has not said of the device's power, where energy decides."""
    guessed = "tdp" in question.catalog.devices[plan.device].estimated
    if guessed and question.problem.objective in ("energy", "carbon"):
        yield f"no source states the power of {plan.device}: its energy rests on an estimate"


def _of_device(question: Question, plan: Plan) -> Iterator[str]:
    """What software may expect of a device and miss."""
    if lacks := question.catalog.devices[plan.device].lacks:
        yield f"{plan.device} lacks {'; '.join(lacks)}"


def _of_term(plan: Plan, offering: Offering) -> Iterator[str]:
    """An offer that ends before the slow end of the band."""
    if offering.max_days and plan.time.high_days > offering.max_days:
        yield (
            f"it may take up to {plan.time.high_days:.3g} days, and the offer ends after "
            f"{offering.max_days:g}: save often, or ask for more machines"
        )


def _of_length(question: Question) -> Iterator[str]:
    """Sequences that are longer than the model was made for."""
    model, length = question.job.architecture, question.job.sequence
    if model.positions and model.max_sequence and length > model.max_sequence:
        yield (
            f"sequences of {length:,} tokens are longer than the {model.max_sequence:,} positions that "
            f"{model.name or 'the model'} has learned; its table would have to grow"
        )


def _of_amount(question: Question, plan: Plan) -> Iterator[str]:
    """More text than there is, and runs that outlast their machines."""
    tokens, life_s = question.problem.tokens, question.catalog.ownership["ownership"].life
    if tokens > PUBLIC_TEXT:
        most = format_count(PUBLIC_TEXT)
        yield f"{format_count(tokens)} tokens are more than the {most} or so of all public text; check it"
    if plan.time.days * DAY_S > life_s:
        yield f"it takes longer than the {life_s / YEAR_S:g} years that machines serve; state limits.deadline"


def _of_feeding(question: Question, plan: Plan) -> Iterator[str]:
    """Token ids that a host reads, and text that it turns into tokens, against what hosts can do."""
    operations, training = question.job.operations, question.problem.training
    tokens_per_s = plan.time.tokens_per_s / (plan.machines * question.catalog.machines[plan.machine].hosts)
    ids = tokens_per_s * operations.token_bytes
    if ids > operations.storage_read:
        yield (
            f"each host has to read {ids / 1e9:.2g} GB/s of token ids, more than the "
            f"{operations.storage_read / 1e9:.2g} GB/s of its storage"
        )
    text = tokens_per_s * (training.bytes_per_token or ENGLISH_BYTES_PER_TOKEN)
    if training.dataset is not None and text > operations.tokenizer:
        yield (
            f"each host would have to turn {text / 1e6:.3g} MB/s of text into tokens, more than the "
            f"{operations.tokenizer / 1e6:.3g} MB/s of its processors; tokenize before the run"
        )
