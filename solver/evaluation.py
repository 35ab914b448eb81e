"""One stated layout on stated hardware: its estimate, or every rule it breaks."""

from typing import Any

import numpy as np

from solver.estimate import Pool, Space, case_of, rules_of, setting_of, supports
from solver.layout import Layouts
from solver.plan import CatalogStamp, Evaluation, Layout, Refusal
from solver.present import layout_words, memory_use, time_of
from solver.problem import Run
from solver.question import apart
from solver.rules import SEARCHED, Violation, older_rules, violations
from solver.stated import Stated, state


def evaluate_run(run: Run) -> Evaluation:
    """What `evaluate --json` prints. Raises InputError."""
    stated = state(run)
    broken = violations_of(stated)
    setting = setting_of(stated.job, stated.pool.framework, stated.pool.precision)
    space = Space.of(setting, stated.layouts, stated.stages)
    common = {
        "framework": stated.pool.framework.id,
        "machine": stated.pool.machine.id,
        "devices": stated.devices,
        "assumptions": list(stated.assumptions),
        "warnings": apart(run.training),
        "catalog": CatalogStamp(date=stated.catalog.date, hash=stated.catalog.hash),
    }
    return _evaluation(stated, space, broken, common)


def _evaluation(stated: Stated, space: Space, broken: list[Violation], common: dict[str, Any]) -> Evaluation:
    from solver import __version__

    refusals = [Refusal.model_validate(violation._asdict()) for violation in broken]
    if refusals:
        return Evaluation(
            legal=False, violations=refusals, fits=None, time=None, memory=None, layout=None,
            version=__version__, **common,
        )  # fmt: skip
    pool, job = stated.pool, stated.job
    step = space.step(pool, space.layer_cost(pool))
    memory = memory_use(space, pool, 0)
    duration = time_of(job, pool, step, (0, stated.devices, False))
    common |= {"assumptions": [*common["assumptions"], duration.band]}
    return Evaluation(
        legal=True,
        violations=[],
        fits=bool(space.fits(pool, np.zeros(1, np.int64))[0]),
        time=duration,
        memory=memory,
        layout=Layout(**layout_words(space, pool, 0) | {"stages": stated.dealt}),
        version=__version__,
        **common,
    )


def violations_of(stated: Stated) -> list[Violation]:
    """Every rule that the layout breaks, the mesh against the devices included."""
    pool, layouts = stated.pool, stated.layouts
    case = case_of(stated.job, pool)
    older = older_rules(((o.before, o.rules) for o in pool.framework.older), stated.version)
    rules = [rule for rule in (*rules_of(pool.framework), *older) if rule not in SEARCHED]
    found = [
        *_model(stated),
        *_precision(pool),
        *_optimizer(stated),
        *violations(rules, case, layouts, pool.framework.rules | older),
    ]
    ranks, present = int(layouts.ranks[0]), stated.devices * pool.device.ranks
    if ranks != present:
        sentence = f"tp x cp x pp x dp = {ranks} must be the {present} ranks of the {stated.devices} devices"
        found.insert(0, Violation("mesh_fills_devices", sentence, _fitting_dp(layouts, present)))
    return found


def _model(stated: Stated) -> list[Violation]:
    """The framework must have code for the model."""
    framework, model_type = stated.pool.framework, stated.job.architecture.model_type
    lack = framework.lack_of(model_type)
    message = f"{framework.id} has no code for models of type {model_type}"
    return [Violation("model_exists", message, [], lack.said)] if lack else []


def _precision(pool: Pool) -> list[Violation]:
    """The precision must be one that the framework has on the device."""
    framework, device = pool.framework, pool.device
    if supports(framework, device, pool.precision):
        return []
    can = sorted(precision for precision in device.peak if supports(framework, device, precision))
    never = "" if can else ", nor in anything else"
    message = f"{framework.id} does not train in {pool.precision} on {device.id}{never}"
    return [Violation("precision_runs", message, can, f"records of {framework.name} and {device.name}")]


def _optimizer(stated: Stated) -> list[Violation]:
    """The optimizer must be one that the framework has."""
    framework, optimizer = stated.pool.framework, stated.job.optimizer
    if optimizer in framework.optimizers:
        return []
    message = f"{framework.id} has no optimizer {optimizer}"
    return [Violation("optimizer_exists", message, framework.optimizers, f"record of {framework.name}")]


def _fitting_dp(layouts: Layouts, ranks: int) -> list[int]:
    """The dp that would use all ranks, where there is one."""
    model = int(layouts.ranks[0] // layouts.dp[0])
    return [ranks // model] if ranks % model == 0 else []
