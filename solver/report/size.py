"""The report of `model`: counts, FLOPs, sizes, and the degrees that divide it."""

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import bars, heading, indented, labelled, listed, table
from solver.report.words import Fields

STATES = {"bytes": "number", "whole model": "number", "checkpoint": "number", "held, and by whom": "text"}
FLOPS = {"FLOPs of a token": "text", "forward": "number", "training": "number", "share": "number"}
COUNTS = {
    "total parameters": "total_parameters",
    "active, with input table": "active_parameters",
    "active, without it": "active_parameters_without_input_table",
    "trainable parameters": "trainable_parameters",
    "embedding and head": "embedding_parameters",
}


def size_report(size: Fields) -> Iterator[RenderableType]:
    """A model in numbers."""
    total = size["total_parameters"]
    yield heading(f"{size['name']} ({size['model_type']}): {units.format_count(total, 3)} parameters")
    yield labelled(_counts(size))
    parts = sorted(size["parameters_by_component"].items(), key=lambda part: -part[1])
    shown = {name: count for name, count in parts if count}
    yield bars(shown, total, [f"{count:,}" for count in shown.values()])
    yield from _flops(size)
    yield heading("States of training with Adam, before they are sharded (bytes of a parameter)")
    yield indented(table(STATES, (_states(name, states) for name, states in size["states"].items())))
    weights = units.format_bytes(size["weights_checkpoint_bytes"], 3)
    yield labelled(
        [
            ("checkpoint of the weights alone, in 16 bits", weights),
            ("optimizer, in place of Adam's 8 bytes", _others(size)),
        ]
    )
    yield heading("Degrees that divide it")
    yield labelled(_degrees(size))
    if size["notes"]:
        yield heading("Notes")
        yield listed(size["notes"])


def _counts(size: Fields) -> Iterator[tuple[str, str]]:
    yield from ((name, f"{size[key]:,}") for name, key in COUNTS.items())
    kinds: Counter[str] = Counter()
    for kind in size["layer_kinds"]:
        kinds[kind["name"]] += kind["count"]
    yield "layers", "; ".join(f"{count} of {name}" for name, count in kinds.items())


def _flops(size: Fields) -> Iterator[RenderableType]:
    yield heading(f"FLOPs of a token in sequences of {size['sequence_length']:,}")
    yield indented(table(FLOPS, _split(size)))
    yield labelled([("6 N, N active", flops(size["six_n"]))])
    yield labelled((f"  {_sign(value)}", name) for name, value in size["six_n_difference"].items())
    if size["flops_per_image"]:
        image = f"an image of {size['image_patches']:,} patches"
        yield labelled([(image, f"{flops(size['flops_per_image'])} in training, beside its tokens")])
    per_sequence = size["state_bytes_per_sequence"]
    caches = [("cache", f"{units.format_bytes(size['kv_bytes_per_token'], 3)} a token")]
    yield labelled(
        caches + [("state", f"{units.format_bytes(per_sequence, 3)} a sequence")] * bool(per_sequence)
    )


def _split(size: Fields) -> Iterator[tuple[str, ...]]:
    """What the FLOPs are spent on; training is in proportion: forward, and backward at twice that."""
    forward = size["forward_flops_per_token"]
    passes = size["flops_per_token"] / forward["total"]
    for name, value in forward.items():
        if value:
            yield name, flops(value), flops(passes * value), f"{value / forward['total']:.0%}"


def flops(value: float) -> str:
    """449 GFLOP."""
    return units.format_flops_per_s(value, 3).removesuffix("/s")


def _sign(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {flops(abs(value))}"


def _states(name: str, states: Fields) -> tuple[str, ...]:
    whole, kept = (words.gib(states[key] / units.GIB) for key in ("bytes", "checkpoint_bytes"))
    by = "; ".join(filter(None, [", ".join(states["frameworks"]), states["how"]]))
    return str(states["bytes_per_parameter"]), whole, kept, f"{name}: {by}"


def _others(size: Fields) -> str:
    """What other optimizers keep of a parameter where Adam keeps two moments of 4 bytes."""
    each = size["optimizer_bytes_per_parameter"]
    return ", ".join(f"{name} {value:.3g}" for name, value in each.items() if value != each["adamw"])


def _degrees(size: Fields) -> Iterator[tuple[str, str]]:
    copied = size["tensor_parallel_replicating"]
    beyond = f"; with copies of the KV heads {_listed(copied)}" if copied else ""
    yield "TP", f"{_listed(size['tensor_parallel'])}{beyond}"
    yield "PP", _listed(size["pipeline_parallel"])
    if size["expert_parallel"]:
        yield "EP", _listed(size["expert_parallel"])


def _listed(degrees: list[int]) -> str:
    return ", ".join(str(degree) for degree in degrees)
