"""The report of `model`: counts, FLOPs and model states."""

from collections.abc import Iterator

from rich.console import RenderableType

from solver import units
from solver.report import words
from solver.report.page import bars, heading, indented, labelled, large, listed, table
from solver.report.words import Fields
from solver.sizing import BYTE_MODELS


def size_report(size: Fields) -> Iterator[RenderableType]:
    """A model in numbers."""
    yield heading(f"{size['name']} ({size['model_type']})")
    yield labelled(_counts(size))
    whole = size["flops_per_token"]
    shown = large(size["flops_per_token_parts"], whole)
    sequence = f"sequences of {size['sequence_length']:,} tokens"
    yield heading(f"FLOPs of training per token, {sequence}: {flops(whole)}")
    yield bars(shown, whole, [flops(value) for value in shown.values()])
    yield labelled([("6 N", f"{flops(size['six_n_flops_per_token'])} (6 x active parameters, no attention)")])
    yield heading("Weights, gradients, master copy and moments, before sharding")
    rows = ((n, words.gib(value), BYTE_MODELS[int(n)]) for n, value in size["model_states_gib"].items())
    columns = {"bytes a parameter": "number", "whole model": "number", "held": "text"}
    yield indented(table(columns, rows))
    if size["notes"]:
        yield heading("Notes")
        yield listed(size["notes"])


def flops(value: float) -> str:
    """449 GFLOP."""
    return units.format_flops_per_s(value, 3).removesuffix("/s")


def _counts(size: Fields) -> Iterator[tuple[str, str]]:
    for name in ("total", "active", "embedding"):
        value = size[f"{name}_parameters"]
        yield f"{name} parameters", f"{value:,} ({units.format_count(value, 3)})"
    heads = f"{size['heads']} heads ({size['kv_heads']} KV) of {size['head_dim']}"
    yield "shape", f"{size['layers']} layers, hidden {size['hidden']:,}, {heads}"
    yield "", f"feed-forward {size['ffn']:,}, vocabulary {size['vocab']:,}"
    if size["experts"]:
        yield "experts", f"{size['experts']:,}, {size['experts_per_token']} of them a token"
