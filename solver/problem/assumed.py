"""What was decided for the user: defaults and readings in sentences, and the question filled."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from solver.problem.amount import ENGLISH_BYTES_PER_TOKEN, text_tokens
from solver.problem.batch import read_batch
from solver.problem.quantities import Model
from solver.problem.shape import Attention, InlineModel, ModelName, ModelPath
from solver.units import shown

if TYPE_CHECKING:
    from solver.problem.fields import Problem
    from solver.problem.training import Training

_DEFAULTS = {  # field -> sentence, told where the user left the field out
    "training.precision": "training.precision is not stated: bf16 is taken",
    "training.packing": "training.packing is not stated: sequences are full of text",
    "training.optimizer": "training.optimizer is not stated: adamw is taken",
    "training.task": "training.task is not stated: pretraining of all parameters",
    "limits.pricing": "limits.pricing is not stated: on-demand and owned prices are considered",
    "objective": "objective is not stated: the cost is made least",
}
_SHAPE = ("kv_heads", "head_dim", "gated_mlp", "tied_embeddings", "positions", "attention")


def assumptions(problem: "Problem", given: dict[str, Any]) -> tuple[str, ...]:
    """A sentence for each, in the order of the file."""
    return (
        *_of_shape(problem, given),
        *_of_training(problem, given),
        *_of_limits(problem, given),
        *_of_hardware(problem, given),
    )


def _of_shape(problem: "Problem", given: dict[str, Any]) -> Iterator[str]:
    if not isinstance(problem.model, InlineModel):
        return
    fields = (*_SHAPE, "expert_ffn") if problem.model.experts else _SHAPE
    left_out = [name for name in fields if name not in given.get("model", {})]
    if left_out:
        taken = ", ".join(f"{name} {_told(getattr(problem.model, name))}" for name in left_out)
        yield f"model: not stated, so taken: {taken}"


def _told(value: object) -> str:
    """A value of the file as it would be written there."""
    if isinstance(value, bool):
        return shown(value)
    return value.kind if isinstance(value, Attention) else str(value)


def _of_training(problem: "Problem", given: dict[str, Any]) -> Iterator[str]:
    training, wrote = problem.training, given.get("training", {})
    yield from _defaults("training.", given)
    if (text := wrote.get("sequence_length")) and _is_thousands(text):
        yield (
            f"training.sequence_length: {shown(text)} is read as {training.sequence_length:,} tokens; "
            f"write {training.sequence_length // 1000 * 1024} if multiples of 1024 are meant"
        )
    reading = (
        read_batch(wrote["global_batch"], training.sequence_length).reading if "global_batch" in wrote else ""
    )
    if reading:
        yield f"training.global_batch: {reading}"
    yield from _of_amount(problem)
    yield from _of_packing(problem.training)


def _of_amount(problem: "Problem") -> Iterator[str]:
    training = problem.training
    times = f"{training.epochs:,} times" if (training.epochs or 1) > 1 else "once"
    through = f"gone through {times}, so {problem.tokens:,} tokens"
    if training.samples is not None and training.document:
        yield f"training.samples: a sample is a document of {training.mean_length:,} tokens, {through}"
    elif training.samples is not None:
        yield f"training.samples: a sample is one sequence of {training.sequence_length:,} tokens, {through}"
    if training.dataset is not None:
        if training.bytes_per_token is None:
            yield (
                f"training.bytes_per_token is not stated: {ENGLISH_BYTES_PER_TOKEN} bytes a token, as of "
                "English by the tokenizer of Llama 3 (arXiv 2407.21783); code and numbers take fewer"
            )
        yield f"training.dataset: {text_tokens(training):,} tokens of text, {through}"


def _of_packing(training: "Training") -> Iterator[str]:
    mean = training.mean_length
    if mean is None:
        return
    if training.document:
        yield (
            f"training.mean_length: attention stays inside documents, all taken to be of {mean:,} tokens; "
            "of unequal ones it costs more"
        )
    else:
        yield (
            f"training.packing: a sequence of {training.sequence_length:,} tokens holds {mean:,} of text, so "
            f"{1 - training.fill:.0%} of the tokens, of their time and cost are padding; packing avoids it"
        )


def _is_thousands(text: object) -> bool:
    return isinstance(text, str) and text.strip()[-1:] in {"k", "K"}


def _of_limits(problem: "Problem", given: dict[str, Any]) -> Iterator[str]:
    wrote = given.get("limits", {})
    if isinstance(budget := wrote.get("budget"), int | float):
        yield f"limits.budget: {shown(budget)} without a unit is read in USD"
    yield from _defaults("limits.", given)
    if "max_devices" not in wrote:
        yield f"limits.max_devices is not stated: at most {problem.limits.max_devices:,} are considered"
    if problem.hardware and "owned" not in problem.limits.pricing:
        yield 'limits.pricing leaves out "owned", so nothing under hardware is used'


def _of_hardware(problem: "Problem", given: dict[str, Any]) -> Iterator[str]:
    wrote = given.get("hardware", [])
    for index, holding in enumerate([wrote] if isinstance(wrote, dict) else wrote):
        if "price" not in holding:
            yield f"hardware[{index}].price is not stated: {problem.hardware[index].machine} costs 0 USD/hour"
    if "objective" not in given:
        yield _DEFAULTS["objective"]


def _defaults(section: str, given: dict[str, Any]) -> Iterator[str]:
    wrote = given.get(section.removesuffix("."), {})
    for field, sentence in _DEFAULTS.items():
        if field.startswith(section) and field.removeprefix(section) not in wrote:
            yield sentence


def question(model: Model, given: Any) -> dict[str, Any]:
    """The fields of a mapping as written, else their defaults; what stays open is left out. JSON values."""
    wrote = given if isinstance(given, dict) else {}
    told = ((name, getattr(model, name), wrote.get(name)) for name in type(model).model_fields)
    filled = ((name, _filled(value, text)) for name, value, text in told)
    return {name: value for name, value in filled if value not in (None, "", [], {})}


def _filled(value: object, text: Any) -> Any:
    if isinstance(value, Model):
        return text if text is not None and not isinstance(text, dict) else question(value, text)
    if isinstance(value, Attention):
        return _told(value) if text is None else text
    if not isinstance(value, tuple) or isinstance(value, ModelName | ModelPath):
        return value if text is None else text
    if isinstance(text, dict) and not any(isinstance(item, Model) for item in value):
        return text  # prices and discounts by name
    texts = text if isinstance(text, list) else list(value) if text is None else [text]
    return [
        question(item, wrote) if isinstance(item, Model) else wrote
        for item, wrote in zip_longest(value, texts)
    ]
