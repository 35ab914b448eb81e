"""How the time of a question grows, and what others take for less of it: as ratios of processor time.

    python benchmarks/growth.py                                # tables as markdown, benchmarks/growth.svg
    python benchmarks/growth.py --docs benchmarks/README.md    # and writes the tables into the page

The plot has the time of `solve` in a process that has started, in imports of CP-SAT, over the most devices
and over the number of device types that are on offer. Figures of other tools are those of their authors'
code on two shared cores (December 2026), the versions named; they answer for one device type and count.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from solve import ROOT, WHOLE, explorer, process_s, spent_s, written

import solver
from solver.catalog import load
from solver.estimate import Space, setting_of
from solver.problem import Problem, read_problem
from solver.search.counting import legal_layouts
from solver.search.model import Rows, build, decide
from solver.search.space import layouts_of

MARKS = ("<!-- growth: -->", "<!-- :growth -->")
PLOT = Path(__file__).with_name("growth.svg")
MODELS = ("llama-3-8b", "llama-3-70b", "llama-3.1-405b", "mixtral-8x7b", "deepseek-v3")
GROWING = ("llama-3-70b", "deepseek-v3")
COUNTS = (64, 256, 1024, 4096, 16384)
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the device types of the catalog, evenly over its order
PURE = (1_000, 10_000, 30_000)  # layouts that CP-SAT gets without any of them left out
ONE: dict[str, object] = {  # one device type and count, as other tools are asked
    "limits.machines": "h100-sxm-8",
    "limits.providers": "crusoe",
    "limits.devices": None,
    "limits.min_devices": 512,
    "limits.max_devices": 512,
    "limits.deadline": None,
    "limits.budget": None,
}
ANY_COUNT: dict[str, object] = ONE | {"limits.min_devices": None, "limits.max_devices": 4096}
COLOURS = {"llama-3-70b": "#4477aa", "deepseek-v3": "#ee6677"}
WIDTH, HEIGHT, EDGE = 430, 300, 54


class Peer(NamedTuple):
    """What another tool took for GPT-3 175B on 512 H100. layouts: looked at; seconds: of one core."""

    name: str
    layouts: int
    seconds: float
    note: str


PEERS = (
    Peer("Calculon caa4b11", 13_400_000, 35 * 3600, "projected from a sample"),
    Peer("Calculon caa4b11, no offload, no overlap", 84_280, 1079, "complete"),
    Peer("llm-cluster-simulator 1db1341", 5_002, 0.63, "a sample; up to 2 % above the best of its own grid"),
    Peer("SimuMax 4dcaae5 (B200)", 178, 47, "micro-batch 1 alone"),
)


class Line(NamedTuple):
    """Times of one model as something grows. points: (value, imports of CP-SAT)"""

    model: str
    points: list[tuple[float, float]]


def question(model: str, **more: object) -> Problem:
    """The whole question about a model, with some of it changed."""
    return read_problem(ROOT / "problems" / f"{model}.yaml", WHOLE | more)


def by_count(base: float) -> Iterator[Line]:
    """Over the most devices."""
    for model in GROWING:
        asked = [(most, question(model, **{"limits.max_devices": most})) for most in COUNTS]
        yield Line(model, [(most, solved_s(problem) / base) for most, problem in asked])


def by_catalog(base: float) -> Iterator[Line]:
    """Over the number of device types."""
    names = sorted(load().devices)
    for model in GROWING:
        points = []
        for share in SHARES:
            chosen = names[:: round(1 / share)]
            points.append((len(chosen), solved_s(question(model, **{"limits.devices": chosen})) / base))
        yield Line(model, points)


def solved_s(problem: Problem) -> float:
    return spent_s(lambda: solver.solve(problem))


def models_table(base: float) -> Iterator[str]:
    """By kind of model."""
    yield "| model | layouts considered | solve, in imports of CP-SAT |"
    yield "| --- | ---: | ---: |"
    for model in MODELS:
        problem = question(model)
        layouts = solver.solve(problem).search.configurations
        yield f"| {model} | {layouts:,} | {solved_s(problem) / base:.2f} |"


def pure_table() -> Iterator[str]:
    """Every layout estimated and handed to CP-SAT, none left out by a bound, against solve."""
    problem = read_problem(ROOT / "problems" / "llama-3-70b.yaml", ANY_COUNT)
    own = solved_s(problem)
    whole = solver.solve(problem).search.configurations
    yield f"| layouts | without bounds: CP-SAT over all of them | solve, over {whole:,} | ratio |"
    yield "| ---: | ---: | ---: | ---: |"
    for rows in PURE:
        start = time.process_time()
        handed = all_decided(problem, rows)
        spent = time.process_time() - start
        yield f"| {handed:,} | {spent:.2f} s | {own * 1e3:.0f} ms | {spent / own:,.0f} x |"


def all_decided(problem: Problem, most: int) -> int:
    """Chooses the fastest of the first layouts of a market by CP-SAT alone; how many there were."""
    view = explorer(problem)
    largest = max(range(len(view.markets)), key=lambda number: legal_layouts(view.frame(number)))
    pool, layouts = view.markets[largest].pool, layouts_of(view.frame(largest))
    space = Space.of(setting_of(view.job, pool.framework, pool.precision), layouts)
    step = space.step(pool, space.layer_cost(pool)).step_s
    fitting = np.flatnonzero(np.isfinite(step) & space.fits(pool, np.arange(len(layouts))))[:most]
    kept, rank = layouts.take(fitting), np.argsort(np.argsort(step[fitting]))
    model, chosen = build(Rows(kept.columns, {}, rank), [], {})
    verdict = decide(model, chosen)
    assert verdict.status == "OPTIMAL"
    assert verdict.row is not None
    assert rank[verdict.row] == 0
    return len(fitting)


def peers_table() -> Iterator[str]:
    """One device type and count, GPT-3 175B on 512 H100."""
    problem = read_problem(ROOT / "problems" / "gpt-3-175b-fast.yaml", ONE)
    answer, own = solver.solve(problem), solved_s(problem)
    yield "| tool | layouts | time | note | trainplan |"
    yield "| --- | ---: | ---: | --- | ---: |"
    yield f"| trainplan | {answer.search.configurations:,} | {own:.2f} s | all, proved | |"
    for peer in PEERS:
        much = f"{peer.seconds:,.2f} s" if peer.seconds < 60 else f"{peer.seconds:,.0f} s"
        faster = f"{peer.seconds / own:,.0f} x faster"
        yield f"| {peer.name} | {peer.layouts:,} | {much} | {peer.note} | {faster} |"


def svg(panels: Sequence[tuple[str, list[Line]]]) -> str:
    """Panels side by side, both axes logarithmic."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for place, (title, lines) in enumerate(panels):
        parts += [f'<g transform="translate({WIDTH * place} 0)">', *panel(title, lines), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(title: str, lines: list[Line]) -> Iterator[str]:
    """One drawing: a line for each model."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    across = scale((min(xs), max(xs)), (EDGE, WIDTH - 20))
    up = scale((min(ys) / 1.3, max(ys) * 1.3), (HEIGHT - EDGE, 30))
    yield f'<text x="{WIDTH / 2}" y="16" text-anchor="middle">{title}</text>'
    for x in sorted(set(xs)):
        yield f'<text x="{across(x):.0f}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{x:,.0f}</text>'
    for y in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        if min(ys) / 1.3 <= y <= max(ys) * 1.3:
            yield f'<path d="M{EDGE} {up(y):.0f}H{WIDTH - 20}" stroke="#ddd"/>'
            yield f'<text x="{EDGE - 6}" y="{up(y) + 4:.0f}" text-anchor="end">{y:g}</text>'
    for place, line in enumerate(lines):
        path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in line.points)
        yield f'<path d="M{path}" fill="none" stroke="{COLOURS[line.model]}" stroke-width="2"/>'
        yield f'<text x="{EDGE + 8}" y="{44 + 14 * place}" fill="{COLOURS[line.model]}">{line.model}</text>'


def scale(values: tuple[float, float], places: tuple[float, float]) -> Callable[[float], float]:
    """From a value to its place, logarithmic."""
    (low, high), (start, end) = values, places
    return lambda value: start + (end - start) * log10(value / low) / log10(high / low)


def text_of(base: float) -> str:
    """All of it as markdown."""
    parts: list[Any] = [
        *models_table(base),
        "",
        f"![time of a question as it grows]({PLOT.name})",
        "",
        *pure_table(),
        "",
        *peers_table(),
    ]
    return "\n".join(parts)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, help="page to write the tables into")
    given = parser.parse_args()
    base = process_s("-c", "from ortools.sat.python import cp_model")
    panels = [
        ("solve, in imports of CP-SAT, over the most devices", list(by_count(base))),
        ("over the device types on offer", list(by_catalog(base))),
    ]
    PLOT.write_text(svg(panels), "utf-8")
    text = text_of(base)
    sys.stdout.write(f"{text}\n")
    if given.docs:
        given.docs.write_text(written(given.docs.read_text("utf-8"), text, MARKS), "utf-8")


if __name__ == "__main__":
    main()
