"""What fields of a file, each right by itself, say against each other; read off the plain values."""

from collections.abc import Iterator
from typing import Any

from solver.errors import Fault

AMOUNTS = ("tokens", "steps", "samples", "dataset")
_OF_EXPERTS = ("experts_per_token", "expert_ffn", "shared_experts", "dense_layers")


def problem_clashes(given: dict[str, Any]) -> list[Fault]:
    """Of a requirements file."""
    training = given.get("training")
    return [*(_amount(training) if isinstance(training, dict) else ()), *_inline(given.get("model"))]


def run_clashes(given: dict[str, Any]) -> list[Fault]:
    """Of a run file: the amount of training may be left out, the precision is one."""
    training, layout = given.get("training"), given.get("layout")
    wrote = training if isinstance(training, dict) else {}
    faults = [*_together(wrote), *_inline(given.get("model"))]
    precision = wrote.get("precision")
    if isinstance(precision, list) and len(set(map(str, precision))) > 1:
        faults.append(Fault("training.precision", "a run has one precision; keep one of the list, e.g. bf16"))
    elif isinstance(layout, dict) and "precision" in layout and precision not in (None, layout["precision"]):
        faults.append(Fault("layout.precision", "differs from training.precision; state one of the two"))
    return faults


def _amount(training: dict[str, Any]) -> Iterator[Fault]:
    if not any(name in training for name in (*AMOUNTS, "epochs")):
        yield Fault(
            "training.tokens",
            'is missing; write e.g. "tokens: 15T", or state steps, samples and epochs, or "dataset: 54 GB"',
        )
    yield from _together(training)


def _together(training: dict[str, Any]) -> Iterator[Fault]:
    """The amount of training is told in one way."""
    stated = [name for name in AMOUNTS if name in training]
    if len(stated) > 1:
        yield Fault(
            f"training.{stated[1]}", f"clashes with {stated[0]}; state only one of {', '.join(stated)}"
        )
    if "epochs" in training and not {"samples", "dataset"} & training.keys():
        other = (
            f"clashes with {stated[0]}; remove one of the two" if stated else "says nothing without samples"
        )
        yield Fault("training.epochs", f'{other}, or write e.g. "samples: 10M" for the size of the data set')
    if "bytes_per_token" in training and "dataset" not in training:
        yield Fault("training.bytes_per_token", 'says nothing without dataset; write e.g. "dataset: 54 GB"')
    if str(training.get("packing")).strip().lower() == "padded" and "mean_length" not in training:
        yield Fault(
            "training.mean_length", 'is missing; write the mean length of a sample, "mean_length: 600"'
        )


def _inline(model: object) -> Iterator[Fault]:
    """A shape written inline: what experts need, and what only they have."""
    if not isinstance(model, dict) or "parameters" in model:
        return
    has_experts = model.get("experts") not in (None, 0)
    if has_experts and "experts_per_token" not in model:
        yield Fault("model.experts_per_token", 'is missing; write e.g. "experts_per_token: 2"')
    if not has_experts:
        for name in (name for name in _OF_EXPERTS if model.get(name) not in (None, 0)):
            yield Fault(
                f"model.{name}", 'says nothing of a model without experts; state "experts", or remove it'
            )
    only_experts = has_experts and "expert_ffn" in model and model.get("dense_layers") in (None, 0)
    if "ffn" not in model and not only_experts:
        yield Fault("model.ffn", 'is missing; write e.g. "ffn: 14336"')
