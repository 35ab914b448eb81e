"""What an answer notes of the data, and what masked documents change."""

from typing import Any

import pytest

from solver.estimate import setting_of
from solver.problem import read_problem
from solver.question import Question, ask
from solver.search.tell import warnings

BATCH = {"sequence_length": 4096, "global_batch": "128 sequences"}


def question(**training: Any) -> Question:
    return ask(read_problem({"model": "llama-3-8b", "training": BATCH | training}))


def notes(**training: Any) -> list[str]:
    return [sentence for sentence in warnings(question(**training), []) if sentence.startswith("note: ")]


@pytest.mark.parametrize(
    ("training", "beginning"),
    [
        # 8,030,261,248 parameters
        ({"tokens": "15T"}, "note: 1,868 tokens an active parameter, at least the 20"),
        ({"tokens": "80B"}, "note: 9.96 tokens an active parameter, fewer than the 20"),
        ({"tokens": "200B", "packing": "padded", "mean_length": 1024}, "note: 6.23 tokens"),
    ],
)
def test_tokens_a_parameter_are_told(training: dict[str, Any], beginning: str) -> None:
    (told,) = notes(**training)
    assert told.startswith(beginning)


def test_repeated_data_is_told() -> None:
    assert notes(dataset="1 TB", epochs=4)[1].startswith("note: 75% of the tokens are repeated data")
    assert len(notes(dataset="1 TB", epochs=1)) == 1


def test_fine_tuning_is_not_held_against_the_rule() -> None:
    assert notes(samples=50_000, task="sft") == []


def test_masked_documents_take_less_attention_and_padding_takes_none_off() -> None:
    whole, masked = (question(tokens="1T", **more).job for more in ({}, {"mean_length": 1024}))
    padded = question(tokens="1T", packing="padded", mean_length=1024).job
    assert padded.flops_per_token == whole.flops_per_token
    # causal attention over a quarter: 3 x 4 x 32 layers x 4096 wide x (2048 - 512) keys
    assert whole.flops_per_token - masked.flops_per_token == 3 * 4 * 32 * 4096 * (2048 - 512)
    framework = question(tokens="1T").frameworks[0]
    works = [setting_of(job, framework, "bf16").work for job in (whole, masked)]
    assert [work.document for work in works] == [4096, 1024]
