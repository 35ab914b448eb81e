"""The tables of docs/memory.md.

python benchmarks/memory_table.py RUNS.csv     predicted against measured peaks, by source
python benchmarks/memory_table.py RUNS.csv oom whether runs that ran out of memory were to be expected
python benchmarks/memory_table.py RUNS.csv ran runs that ran and state their layout: held to fit or not
python benchmarks/memory_table.py RUNS.csv apart the margin that the other sources give, held against each
python benchmarks/memory_table.py estimators   three public estimators beside ours, for five models
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from solver.architecture import from_catalog
from solver.architecture.blocks import Architecture
from solver.catalog import load
from solver.estimate import Job, Space, setting_of
from solver.layout import Layouts
from solver.physics.memory import Memory, peak
from solver.physics.step import Step
from solver.validation import validate
from solver.validation.predict import Skip, predict
from solver.validation.report import Result
from solver.validation.rows import Row, read

GIB = 2.0**30
SHARE = 0.03  # of the runs that may hold more than the planned peak and its error
SEQUENCE = 4096
LAYOUTS = {  # tp, pp, dp of Megatron-Core; ZeRO 3 runs over as many ranks
    "llama-3-8b": (2, 1, 4),
    "llama-2-13b": (4, 1, 2),
    "llama-3-70b": (4, 4, 4),
    "gpt-3-175b": (8, 8, 2),
    "mixtral-8x7b": (4, 2, 4),
}


def main() -> None:
    what, path = sys.argv[-1], sys.argv[1]
    others = {
        "estimators": estimators,
        "oom": lambda: exhausted(path),
        "ran": lambda: ran(path),
        "apart": lambda: apart(path),
    }
    for cells in others.get(what, lambda: validation(path))():
        print(f"| {' | '.join(cells)} |")
    if what == path != "estimators":
        print(f"\n{beyond(path)}")


def validation(path: str) -> Iterator[tuple[str, ...]]:
    """Errors of the allocator's peak, or of all that the driver sees where the run says so."""
    measured = [r for r in validate(path).results if r.memory_error_pct is not None]
    yield "source", "framework", "runs", "mean error", "middle", "lowest", "highest"
    yield ("---",) * 7
    for source in sorted({r.source for r in measured}):
        yield source, *errors_of(r for r in measured if r.source == source)
    yield "all", *errors_of(measured)


def planned(path: str) -> Iterator[tuple[Row, Memory, float, float]]:
    """Of each run: its memory, the usable GiB of its device, and the error of a peak."""
    for row, step, found, usable in laid_out(path):
        yield row, found, usable, step.setting.room.error


def laid_out(path: str) -> Iterator[tuple[Row, Step, Memory, float]]:
    """Of each run: its step, its memory, the usable GiB of its device."""
    catalog = load()
    for row in read(path):
        try:
            step = predict(row, catalog).step
        except Skip:
            continue
        device = catalog.devices[row.text("device")]
        found = peak(step.setting, step.memory, step.layouts, step.stages)
        yield row, step, found, device.usable_memory / device.ranks / GIB


def beyond(path: str) -> str:
    """How many runs held more than the planned peak, context and margin included, and its stated error."""
    names, measured, error = [], 0, 0.0
    for row, found, _, error in planned(path):
        held = row.number("peak_mem_gib")
        measured += held is not None
        names += [row.id] * int((held or 0) * GIB > (1 + error) * found.peak[0])
    share = f"{len(names)} ({len(names) / measured:.1%})"
    return f"Of {measured} runs {share} held over {error:.0%} more than planned: {', '.join(names)}."


def apart(path: str) -> Iterator[tuple[str, ...]]:
    """Of each source: the error of a peak as the others have it, and how many of its runs are beyond."""
    over: dict[str, list[float]] = defaultdict(list)
    for row, found, _, _ in planned(path):
        if (held := row.number("peak_mem_gib")) is not None:
            over[row.source].append(held * GIB / float(found.peak[0]) - 1)
    yield "source left out", "runs", "margin of the others", "runs beyond it", "furthest over"
    yield ("---",) * 5
    for source, own in over.items():
        rest = sorted(value for other, values in over.items() if other != source for value in values)
        margin = rest[-1 - int(SHARE * len(rest))]
        beyond = sum(value > margin for value in own)
        yield source, str(len(own)), f"{margin:.1%}", str(beyond), f"{max(own):+.1%}"


def exhausted(path: str) -> Iterator[tuple[str, ...]]:
    """Runs that ran out of memory: planned against usable."""
    yield "run", "planned GiB", "usable", "answer"
    yield ("---",) * 4
    for row, found, usable, error in planned(path):
        planned_gib = float(found.peak[0]) / GIB
        answer = "does not fit" if planned_gib > usable else "fits"
        answer = "fragile" if usable >= planned_gib > usable / (1 + error) else answer
        yield row.id, f"{planned_gib:.1f}", f"{usable:.1f}", answer


def ran(path: str) -> Iterator[tuple[str, ...]]:
    """Runs that ran, by framework and recompute: how many are held not to fit."""
    answers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row, step, found, usable in laid_out(path):
        if not says_its_layout(row):
            continue
        share = float(found.peak[0]) / GIB / usable
        answer = "over" if share > 1 else "fragile" if share * (1 + step.setting.room.error) > 1 else "fits"
        word = row.text("recompute").partition(":")
        kind = "module list" if word[0] == "selective" and word[2] else word[0]
        answers[step.setting.framework.id, kind].append(answer)
    yield "framework", "recompute", "runs", "fit", "fragile", "held not to fit"
    yield ("---",) * 6
    for (framework, kind), told in sorted(answers.items()):
        counts = (str(told.count(answer)) for answer in ("fits", "fragile", "over"))
        yield framework, kind, str(len(told)), *counts


def says_its_layout(row: Row) -> bool:
    """Whether a run says how it was sharded, what it recomputed and, with tp, how it cut norms."""
    cut = row.integer("tp", 1) == 1 or row.text("sequence_parallel")
    return bool(row.text("fsdp_or_zero_stage") and row.text("recompute") and cut)


def errors_of(results: Iterable[Result]) -> tuple[str, ...]:
    found = list(results)
    errors = np.array([r.memory_error_pct for r in found], float)
    software = ", ".join(sorted({r.framework for r in found}))
    shown = (f"{e:+.1f} %" for e in np.percentile(errors, (50, 0, 100)))
    return software, str(len(found)), f"{np.abs(errors).mean():.1f} %", *shown


def estimators() -> Iterator[tuple[str, ...]]:
    """GiB a device, bf16, one sequence of 4,096 tokens a micro-batch, nothing recomputed."""
    yield "model", "layout", "Megatron", "ours", "ZeRO 3 over", "DeepSpeed", "ours", "Hugging Face"
    yield ("---",) * 8
    for name, (tp, pp, dp) in LAYOUTS.items():
        architecture, ranks = from_catalog(load(None).models[name]), tp * pp * dp
        columns = {"tp": tp, "pp": pp, "dp": dp, "zero": 1, "sequence_parallel": 1, "grad_accum": 4 * pp}
        columns |= {"etp": tp} if architecture.experts else {}
        megatron = ours(architecture, "megatron-core", columns).allocated[0]
        sharded = ours(architecture, "deepspeed", {"dp": ranks, "zero": 3}).allocated[0]
        figures = (
            megatron_estimate(architecture, tp, pp, dp),
            megatron,
            deepspeed_estimate(architecture, ranks),
            sharded,
            hugging_face_estimate(architecture),
        )
        shown = [f"{figure / GIB:.1f}" for figure in figures]
        yield name, f"tp {tp}, pp {pp}, dp {dp}", *shown[:2], str(ranks), *shown[2:]


def ours(architecture: Architecture, framework: str, columns: dict[str, int]) -> Memory:
    catalog = load(None)
    job = Job(architecture, SEQUENCE, 1, 1, None, catalog.operations["operations"], imbalance=1.0)
    layouts = Layouts.of({name: [value] for name, value in columns.items()})
    return Space.of(setting_of(job, catalog.frameworks[framework], "bf16"), layouts).memory


def megatron_estimate(architecture: Architecture, tp: int, pp: int, dp: int) -> float:
    """Megatron-LM, theoretical_memory_usage.py: 6 + 12/dp bytes, s b h (18 + 4 ffn/h) a layer, over tp."""
    table = -(-architecture.vocab // (128 * tp)) * 128 * tp * architecture.hidden
    layers = sum(block.parameters * count for block, count in architecture.blocks)
    held = layers / pp + table * (1 if pp > 1 else 2 - architecture.tied_embeddings)
    ratio = architecture.ffn / architecture.hidden
    activations = SEQUENCE * architecture.hidden * (18 + 4 * ratio) * architecture.layers
    loss = SEQUENCE * architecture.hidden * 4 * (1 + architecture.vocab / architecture.hidden) * (pp == 1)
    return (held * (6 + 12 / dp) + activations + loss) / tp


def deepspeed_estimate(architecture: Architecture, ranks: int) -> float:
    """DeepSpeed, estimate_zero3_model_states_mem_needs: 18 bytes over the ranks, 4 of the largest layer."""
    largest = max(architecture.token_embeddings, *(block.parameters for block, _ in architecture.blocks))
    return 18 * architecture.total_parameters / ranks + 4 * largest


def hugging_face_estimate(architecture: Architecture) -> float:
    """Hugging Face accelerate, estimate-memory: training with Adam takes four times the float32 weights."""
    return 16.0 * architecture.total_parameters


if __name__ == "__main__":
    main()
