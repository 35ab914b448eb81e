"""The CP-SAT model: choose a candidate, tie the decisions to it, keep the limits, minimise the rank."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from solver.layout import Ints
from solver.search.limits import Limit


class Rows(NamedTuple):
    """R candidates of one choice, as integers.

    decisions   offering, device, count, interconnect, tp, pp, cp, ep, dp, micro_batch, precision, ... by name
    quantities  what the limits bound, rounded up
    rank        dense lexicographic rank of the objective and its tie-breakers, so that ties are exact
    """

    decisions: Mapping[str, Ints]
    quantities: Mapping[str, Ints]
    rank: Ints


class Verdict(NamedTuple):
    """status: OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, by CP-SAT's own word; row: the choice; bound: of the
    rank.
    """

    status: str
    row: int | None
    objective: int | None
    bound: int | None


def build(rows: Rows, limits: Sequence[Limit], allowed: Mapping[str, Sequence[int]]) -> tuple[Any, list[int]]:
    """The whole optimisation problem; returns the model and the indices of the candidates' literals.

    why: the proto lists are filled directly; through the API a term costs 30 times as much.
    """
    model = cp_model.CpModel()
    proto = model.proto
    # Choose one candidate ...
    chosen = _literals(proto, len(rows.rank))
    proto.constraints.add().exactly_one.literals.extend(chosen)
    # ... which gives each decision its value, within what the user allows ...
    for name, values in rows.decisions.items():
        domain = cp_model.Domain.from_values(allowed.get(name, np.unique(values).tolist()))
        decision = model.new_int_var_from_domain(domain, name)
        _linear(proto, [*chosen, decision.index], [*values.tolist(), -1], (0, 0))
    # ... and keeps the limits.
    for limit in limits:
        values = rows.quantities[limit.quantity]
        most = int(values.max(initial=0))
        span = (limit.integer, max(most, limit.integer)) if limit.least else (0, max(limit.integer, 0))
        _linear(proto, chosen, values.tolist(), span)
    proto.objective.vars.extend(chosen)
    proto.objective.coeffs.extend(rows.rank.tolist())
    return model, chosen


def _literals(proto: Any, count: int) -> list[int]:
    first = proto.variables.add()
    first.domain.extend((0, 1))
    proto.variables.extend([first] * (count - 1))
    return list(range(count))


def _linear(proto: Any, variables: list[int], coefficients: list[int], domain: tuple[int, int]) -> None:
    linear = proto.constraints.add().linear
    linear.vars.extend(variables)
    linear.coeffs.extend(coefficients)
    linear.domain.extend(domain)


def forbid(model: Any, literals: Sequence[int]) -> None:
    """Takes candidates out of a model that stands."""
    _linear(model.proto, list(literals), [1] * len(literals), (0, 0))


def decide(model: Any, chosen: Sequence[int], time_limit_s: float = math.inf) -> Verdict:
    """Solves: one worker and a fixed seed, so two runs agree; no gap limit, so OPTIMAL is a proof."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.cp_model_probing_level = 0  # why: probing took 10 times the solve on linear channels
    if time_limit_s < math.inf:  # what is handed on is small: a moment is left for it even when time is up
        solver.parameters.max_time_in_seconds = max(time_limit_s, 1.0)
    status = solver.solve(model)
    name = str(solver.status_name(status))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Verdict(name, None, None, None)
    solution = solver.response_proto.solution
    row = next(index for index, literal in enumerate(chosen) if solution[literal])
    objective = int(model.proto.objective.coeffs[row])
    bound = int(solver.response_proto.inner_objective_lower_bound)
    proved = name if name != "OPTIMAL" or bound == objective else "FEASIBLE"
    return Verdict(proved, row, objective, bound)
