"""How long the whole question takes, as ratios that hold on any machine.

    python benchmarks/solve.py [PROBLEM...]                            # tables as markdown
    python benchmarks/solve.py [PROBLEM...] --docs benchmarks/README.md    # and writes them into the page

Processor time counts, of the fastest of three runs: a busy machine moves it least. A ratio is to the time
that a process takes for `from ortools.sat.python import cp_model` alone, or to the evaluation of the same
layouts one by one, as a loop over `evaluate` would: timed on a sample and extrapolated.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import solver
from solver.estimate import Job, Pool, Space, setting_of
from solver.layout import Layouts
from solver.problem import Problem, read_problem
from solver.question import ask
from solver.search.candidates import Explorer
from solver.search.explore import Goal
from solver.search.limits import limits_of
from solver.search.solve import explorer_of
from solver.search.space import layouts_of

ROOT = Path(__file__).parents[1]
MARKS = ("<!-- solve: -->", "<!-- :solve -->")
PROBLEMS = ("llama-3-8b", "llama-3-70b", "llama-3.1-405b", "mixtral-8x7b", "deepseek-v3")
REPEATS = 3
SAMPLE = 300  # layouts that are evaluated one by one
MARKETS = 12  # that these are drawn from
WHOLE: dict[str, object] = {  # the question in full: any device, two precisions, counts to 8,192
    "training.precision": ["bf16", "fp8"],
    "limits.devices": None,
    "limits.max_devices": 8192,
    "limits.deadline": "60 days",
    "limits.budget": None,
}
ONE_MACHINE = {"dense": "llama-3-70b", "MoE": "mixtral-8x7b"}  # problems that are asked of one machine alone
MACHINE = "h100-sxm-8"


class Timing(NamedTuple):
    """Of a problem. process, warm: seconds of the whole process, and within one that has started."""

    name: str
    layouts: int
    excluded: int
    process_s: float
    warm_s: float
    one_by_one_s: float


def spent_s(action: Callable[[], Any]) -> float:
    """Processor seconds of this process and its children; of the fastest of a few runs."""
    times = []
    for _ in range(REPEATS):
        before = sum(os.times()[:4])
        action()
        times.append(sum(os.times()[:4]) - before)
    return min(times)


def process_s(*arguments: str) -> float:
    """Processor seconds of a Python process."""

    def run() -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    return spent_s(run)


def timing(path: Path) -> Timing:
    """One problem, in every way."""
    problem = read_problem(path, WHOLE)
    answer = solver.solve(problem)
    assert answer.status == "optimal", path
    search = answer.search
    return Timing(
        path.stem,
        search.configurations,
        search.excluded_by_bound,
        whole_process_s(problem),
        spent_s(lambda: solver.solve(problem)),
        search.configurations * seconds_a_layout(problem),
    )


def whole_process_s(problem: Problem) -> float:
    """Of the command on the file of a problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.json"
        path.write_text(json.dumps(problem.given), "utf-8")
        return process_s("-m", "solver", "solve", str(path), "--json")


def explorer(problem: Problem) -> Explorer:
    goal = Goal(problem.objective, limits_of(problem.limits), 1, "offering")
    return explorer_of(ask(problem), goal)[0]


def seconds_a_layout(problem: Problem) -> float:
    """Of a loop over layouts: each estimated alone, time and memory."""
    view = explorer(problem)
    draw = np.random.default_rng(0)
    layouts: dict[int, Layouts] = {}
    cases: list[tuple[Pool, Layouts, int]] = []
    while len(cases) < SAMPLE:
        place = int(draw.integers(len(view.markets)))
        if len(layouts) < MARKETS:
            layouts[place] = layouts_of(view.frame(place))
        if place in layouts and len(layouts[place]):
            cases.append((view.markets[place].pool, layouts[place], int(draw.integers(len(layouts[place])))))
    start = time.process_time()
    for pool, found, row in cases:
        alone(view.job, pool, found, row)
    return (time.process_time() - start) / SAMPLE


def alone(job: Job, pool: Pool, layouts: Layouts, row: int) -> tuple[float, float]:
    """Step and peak of one layout, from its columns on."""
    setting = setting_of(job, pool.framework, pool.precision)
    one = Space.of(setting, layouts.take(np.array([row])))
    step = one.step(pool, one.layer_cost(pool))
    return float(step.step_s[0]), float(one.memory.peak[0])


def rate(name: str) -> tuple[int, float]:
    """Layouts of a problem on one machine type, and how many a second are enumerated and estimated whole."""
    overrides = {"limits.devices": None, "limits.machines": MACHINE, "limits.frameworks": "megatron-core"}
    problem = read_problem(ROOT / "problems" / f"{name}.yaml", overrides | {"training.precision": "bf16"})
    start = time.process_time()
    view = explorer(problem)
    layouts = 0
    for number, market in enumerate(view.markets):
        setting = setting_of(view.job, market.pool.framework, market.pool.precision)
        space = Space.of(setting, layouts_of(view.frame(number)))
        step = space.step(market.pool, space.layer_cost(market.pool))
        layouts += int(np.isfinite(step.step_s).sum())
        assert len(space.peak(np.arange(len(space.layouts)))) == len(space.layouts)
    return layouts, layouts / (time.process_time() - start)


def one_count_s(top: int) -> float:
    """Seconds of a question about one device type and one count, in a process that has started."""
    asked: dict[str, object] = {"limits.devices": ["h100-sxm"], "limits.min_devices": 512}
    asked |= {"limits.max_devices": 512, "limits.deadline": None, "limits.budget": None}
    problem = read_problem(ROOT / "problems" / "llama-3-70b.yaml", asked)
    assert solver.solve(problem).status == "optimal"
    return spent_s(lambda: [solver.solve(problem, top=top) for _ in range(10)]) / 10


def tables(paths: Sequence[Path]) -> str:
    """Both tables as markdown."""
    base = process_s("-c", "from ortools.sat.python import cp_model")
    lines = [
        "| problem | layouts considered | excluded by a bound | process, in imports of CP-SAT | "
        "faster than one by one, warm |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for path in paths:
        t = timing(path)
        lines.append(
            f"| {t.name} | {t.layouts:,} | {t.excluded / max(t.layouts, 1):.1%} | {t.process_s / base:.1f} | "
            f"{t.one_by_one_s / t.warm_s:,.0f} x |"
        )
    lines += ["", "| one machine type | layouts | layouts a second |", "| --- | ---: | ---: |"]
    for kind, name in ONE_MACHINE.items():
        layouts, a_second = rate(name)
        lines.append(f"| {kind} ({name}, {MACHINE}) | {layouts:,} | {a_second / 1e6:.1f} M |")
    lines += [
        "",
        "One device type and one count (512 H100, every provider, fabric and framework), in a process that "
        f"has started: {one_count_s(1) * 1e3:.0f} ms for the best plan, {one_count_s(5) * 1e3:.0f} ms with "
        "the best of four other offerings.",
    ]
    return "\n".join(lines)


def written(page: str, text: str, marks: tuple[str, str] = MARKS) -> str:
    """The page with the text between its marks."""
    before, rest = page.split(marks[0])
    return f"{before}{marks[0]}\n{text}\n{marks[1]}{rest.split(marks[1])[1]}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", nargs="*", type=Path)
    parser.add_argument("--docs", type=Path, help="page to write the tables into")
    given = parser.parse_args()
    text = tables(given.problem or [ROOT / "problems" / f"{name}.yaml" for name in PROBLEMS])
    sys.stdout.write(f"{text}\n")
    if given.docs:
        given.docs.write_text(written(given.docs.read_text("utf-8"), text), "utf-8")


if __name__ == "__main__":
    main()
