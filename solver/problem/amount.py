"""How many tokens a training goes through: stated as tokens, steps, samples or the size of a data set."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solver.problem.training import Training

ENGLISH_BYTES_PER_TOKEN = 3.94
"""Characters, so bytes of UTF-8, of English in a token of Llama 3: arXiv 2407.21783, sec. 3.2."""


def tokens_of(training: "Training") -> int:
    """Tokens of the whole training, padding included."""
    sequence = training.sequence_length
    if training.dataset is not None:
        return passes(training) * _tokens_to_compute(training)
    if training.samples is not None:
        return passes(training) * training.samples * (training.document or sequence)
    return training.tokens or (training.steps or 0) * sequence * training.global_batch


def steps_of(training: "Training") -> int:
    """Optimizer steps of the whole training; 0 where its length is not stated."""
    return training.steps or -(-tokens_of(training) // (training.sequence_length * training.global_batch))


def _tokens_to_compute(training: "Training") -> int:
    """Of one pass through the data set: its text, and what fills its sequences up."""
    text = text_tokens(training)
    if training.packing == "padded" and training.mean_length:
        return -(-text // training.mean_length) * training.sequence_length
    return text


def text_tokens(training: "Training") -> int:
    """Of the data set, once."""
    return math.ceil((training.dataset or 0.0) / (training.bytes_per_token or ENGLISH_BYTES_PER_TOKEN))


def passes(training: "Training") -> int:
    """How often the samples or the data set are gone through."""
    return training.epochs or 1
