"""The report of `model`: counts, FLOPs, sizes, and the degrees that divide it."""

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import bars, heading, indented, labelled, large, listed, table
from solver.report.words import Fields

GIB = 2.0**30
STATES = {"bytes": "number", "whole model": "number", "checkpoint": "number", "held": "text"}


def size_report(size: Fields) -> Iterator[RenderableType]:
    """A model in numbers."""
    total = size["total_parameters"]
    yield heading(f"{size['name']} ({size['model_type']}): {units.format_count(total, 3)} parameters")
    yield labelled(_counts(size))
    shown = large(size["parameters_by_component"], total)
    yield bars(shown, total, [f"{value:,}" for value in shown.values()])
    yield from _flops(size)
    yield heading("States of training, before they are sharded (bytes of a parameter)")
    yield indented(table(STATES, (_states(name, states) for name, states in size["states"].items())))
    yield heading("Degrees that divide it")
    yield labelled(_degrees(size))
    if size["notes"]:
        yield heading("Notes")
        yield listed(size["notes"])


def _counts(size: Fields) -> Iterator[tuple[str, str]]:
    names = ("total", "active", "trainable", "embedding")
    yield from ((f"{name} parameters", f"{size[f'{name}_parameters']:,}") for name in names)
    yield "active without input table", f"{size['active_parameters_without_input_table']:,}"
    kinds: Counter[str] = Counter()
    for kind in size["layer_kinds"]:
        kinds[kind["name"]] += kind["count"]
    yield "layers", "; ".join(f"{count} of {name}" for name, count in kinds.items())


def _flops(size: Fields) -> Iterator[RenderableType]:
    forward = dict(size["forward_flops_per_token"])
    whole = forward.pop("total")
    shown = large(forward, whole)
    yield heading(f"FLOPs of a token in sequences of {size['sequence_length']:,}, forward: {flops(whole)}")
    yield bars(shown, whole, [flops(value) for value in shown.values()])
    yield labelled([("training", flops(size["flops_per_token"])), ("6 N", flops(size["six_n"]))])
    yield labelled((f"  {_sign(value)}", name) for name, value in size["six_n_difference"].items())
    per_sequence = size["state_bytes_per_sequence"]
    caches = [("cache", f"{units.format_bytes(size['kv_bytes_per_token'], 3)} a token")]
    yield labelled(
        caches + [("state", f"{units.format_bytes(per_sequence, 3)} a sequence")] * bool(per_sequence)
    )


def flops(value: float) -> str:
    """449 GFLOP."""
    return units.format_flops_per_s(value, 3).removesuffix("/s")


def _sign(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {flops(abs(value))}"


def _states(name: str, states: Fields) -> tuple[str, ...]:
    whole, kept = (words.gib(states[key] / GIB) for key in ("bytes", "checkpoint_bytes"))
    return str(states["bytes_per_parameter"]), whole, kept, name


def _degrees(size: Fields) -> Iterator[tuple[str, str]]:
    copied = size["tensor_parallel_replicating"]
    beyond = f"; with copies of the KV heads {_listed(copied)}" if copied else ""
    yield "TP", f"{_listed(size['tensor_parallel'])}{beyond}"
    yield "PP", _listed(size["pipeline_parallel"])
    if size["expert_parallel"]:
        yield "EP", _listed(size["expert_parallel"])


def _listed(degrees: list[int]) -> str:
    return ", ".join(str(degree) for degree in degrees)
