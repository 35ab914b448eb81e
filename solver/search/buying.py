"""Whether to rent or to buy: the best plan of either kind, and the use of the machines at which both cost the
same.
"""

from collections.abc import Callable

from solver.answer import RentOrBuy
from solver.plan import Plan
from solver.pricing import Deal
from solver.pricing.owning import capex_usd
from solver.pricing.stock import BOUGHT, Shop
from solver.problem import Problem
from solver.question import Question

Best = Callable[[Problem], Plan | None]
ROUNDS = (
    4  # searches for the use at which both cost the same; a fifth changes nothing but for a switch of count
)
SAME = 1e-9  # relative: the plan that is bought at that use costs what renting does


def rent_or_buy(question: Question, plans: list[Plan], best: Best) -> RentOrBuy | None:
    """The two, where machines may be bought and the cost is made least; None else.

    best: the best plan of a problem. With the use of the machines their capital, space and staff of an hour
    fall in proportion, and power stays: so the use at which a plan costs as much as rent can be told, and is
    looked for again where another plan would be bought at that use.
    """
    problem = question.problem
    if not plans or problem.objective != "cost" or not any(o.provider == BOUGHT for o in question.offerings):
        return None
    bought = next((plan for plan in plans if plan.provider == BOUGHT), None) or best(only_bought(problem))
    rented = next((plan for plan in plans if plan.provider != BOUGHT), None) or best(
        problem.model_copy(update={"buy": ()})
    )
    if bought is None or rented is None:
        return None
    used = Shop(question.catalog, problem, []).terms.utilisation
    return RentOrBuy(
        bought=told(bought),
        rented=told(rented),
        buy_usd=bought.cost.total_usd,
        rent_usd=rented.cost.total_usd,
        capex_usd=capex(question, bought),
        utilisation_pct=100 * used,
        break_even_utilisation_pct=_break_even(problem, best, (bought, used), rented.cost.total_usd),
    )


def capex(question: Question, plan: Plan) -> float:
    """Price of the machines of a plan and of what joins them. [USD]"""
    offering = question.offering(plan.offering)
    return capex_usd(Deal(question.job, offering, next(iter(question.pools(offering)))), plan.machines)


def only_bought(problem: Problem) -> Problem:
    """The same, of machines that are bought alone."""
    limits = problem.limits.model_copy(update={"providers": (BOUGHT,), "pricing": ("owned",)})
    return problem.model_copy(update={"limits": limits})


def told(plan: Plan) -> str:
    """A plan in a few words."""
    return f"{plan.machines} x {plan.machine}, {plan.provider} {plan.instance}, {plan.pricing}"


def _break_even(problem: Problem, best: Best, start: tuple[Plan, float], rent_usd: float) -> float | None:
    """Use, in percent, above which buying is cheaper; None: at no use. start: a plan, and its use."""
    plan, used = start
    for _ in range(ROUNDS):
        use = same_cost_at(plan, used, rent_usd, problem.bill.evaluation or 0.0)
        if use is None or use > 1:
            return None if use is None else 100 * use
        ownership = problem.ownership.model_copy(update={"utilisation": use})
        found = best(only_bought(problem.model_copy(update={"ownership": ownership})))
        if found is None or found.cost.total_usd >= rent_usd * (1 - SAME):
            return 100 * use
        plan, used = found, use
    return 100 * used


def same_cost_at(plan: Plan, used: float, rent_usd: float, evaluation: float) -> float | None:
    """u* = u (C - P) / (R - P): cost C of a plan bought at use u, of which P is power, and R of renting.

    None where power alone costs more than renting.
    """
    power = plan.cost.parts["power"] * (1 + evaluation)
    if rent_usd <= power:
        return None
    return used * (plan.cost.total_usd - power) / (rent_usd - power)
