"""The question as it was understood, with its defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from solver import units
from solver.report.market import joined_limits, market_rows
from solver.report.words import Fields, joined

# Of the training, in the order in which they are told.
AMOUNTS = {
    "tokens": "{} tokens",
    "steps": "{} steps",
    "samples": "{} samples",
    "dataset": "{} of text",
}
SETTINGS = {
    "packing": "{}",
    "mean_length": "mean length {}",
    "gradient_dtype": "gradients in {}",
    "optimizer": "{}",
    "task": "{}",
}


def question_rows(question: Fields) -> list[tuple[str, str]]:
    """Label and sentence of each part of the question."""
    rows = [("train", ", ".join(_training(question))), ("within", ", ".join(_limits(question["limits"])))]
    if owned := question.get("hardware"):
        rows.append(("owned", "; ".join(_holding(item) for item in owned)))
    return [*rows, *market_rows(question), ("least", question["objective"])]


def model_name(model: Any) -> str:
    """A name, or what is known of a model written inline."""
    if not isinstance(model, Mapping):
        return str(model)
    return str(model.get("name") or f"{model.get('parameters', '')} parameters")


def _training(question: Fields) -> Iterator[str]:
    training = question["training"]
    yield model_name(question["model"])
    yield from _told(AMOUNTS, training)
    if "epochs" in training:
        yield "1 epoch" if training["epochs"] == 1 else f"{training['epochs']} epochs"
    yield f"sequences of {training['sequence_length']} tokens"
    yield f"batch of {training['global_batch']}"
    yield joined(training["precision"])
    yield from _told(SETTINGS, training)


def _told(words: Mapping[str, str], fields: Fields) -> Iterator[str]:
    return (text.format(fields[name]) for name, text in words.items() if name in fields)


def _limits(limits: Fields) -> Iterator[str]:
    for name, value in limits.items():
        if name == "layout":
            yield from (f"{dimension} {joined(values)}" for dimension, values in value.items())
        elif name == "max_devices":
            yield f"at most {value:,} devices" if isinstance(value, int) else f"at most {value} devices"
        elif name == "machines_step":
            yield from [] if value == 1 else [f"machines in steps of {value}"]
        elif name == "min_devices":
            yield from [] if value == 1 else [f"at least {value} devices"]
        else:
            yield joined_limits(name, value)


def _holding(item: Fields) -> str:
    fabric = f" joined by {joined(item['fabric'])}" if "fabric" in item else ""
    price = units.format_usd_per_hour(units.usd_per_hour(item["price"]))
    return f"{item['count']} x {item['machine']}{fabric} at {price}"
