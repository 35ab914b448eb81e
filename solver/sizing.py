"""One model, counted: what `trainplan model` prints."""

import re
from collections.abc import Mapping

from solver.architecture.blocks import Architecture
from solver.architecture.flops import BACKWARD_PER_FORWARD, forward_flops_per_token
from solver.catalog import load
from solver.errors import Fault, InputError
from solver.plan import Number, Part, Parts
from solver.problem import read_problem
from solver.question import resolve_model

GIB = 2.0**30
USUAL_SEQUENCE = 8192  # tokens; shorter where the model's positions end before
SIZE = re.compile(r"[\d.]+ ?[kKmMbBtT]")

# Bytes of weight, gradient, master copy and moments that training holds of a parameter.
BYTE_MODELS: Mapping[int, str] = {
    8: "all in bf16",
    12: "bf16, with an fp32 master copy",
    16: "bf16, with an fp32 master copy and moments; or all in fp32",
    18: "the same with fp32 gradients",
    20: "the same with bf16 gradients summed into fp32 ones",
}


class ModelSize(Part):
    """A model's counts. active: met by one token, the input table counted whole."""

    name: str
    model_type: str
    total_parameters: int
    active_parameters: int
    embedding_parameters: int
    sequence_length: int
    flops_per_token: Number
    flops_per_token_parts: Parts
    six_n_flops_per_token: Number
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    experts: int
    experts_per_token: int
    model_states_gib: Parts
    notes: list[str]


def size_of(model: str, sequence_length: int | None = None) -> ModelSize:
    """The counts of a catalog id, of a config.json or of a bare size. Raises InputError."""
    architecture, notes = _resolved(model, sequence_length or USUAL_SEQUENCE)
    longest = architecture.max_sequence or USUAL_SEQUENCE
    sequence = sequence_length or min(longest, USUAL_SEQUENCE)
    forward = forward_flops_per_token(architecture, sequence)
    passes = 1 + BACKWARD_PER_FORWARD
    total = architecture.total_parameters
    return ModelSize(
        name=architecture.name or model,
        model_type=architecture.model_type,
        total_parameters=total,
        active_parameters=architecture.active_parameters,
        embedding_parameters=architecture.embedding_parameters,
        sequence_length=sequence,
        flops_per_token=passes * forward.total,
        flops_per_token_parts={name: passes * value for name, value in forward._asdict().items()},
        six_n_flops_per_token=6.0 * architecture.active_parameters,
        layers=architecture.layers,
        hidden=architecture.hidden,
        heads=architecture.heads,
        kv_heads=architecture.kv_heads,
        head_dim=architecture.head_dim,
        ffn=architecture.ffn,
        vocab=architecture.vocab,
        experts=architecture.experts,
        experts_per_token=architecture.experts_per_token,
        model_states_gib={str(size): size * total / GIB for size in BYTE_MODELS},
        notes=[*architecture.notes, *notes],
    )


def _resolved(model: str, sequence_length: int) -> tuple[Architecture, tuple[str, ...]]:
    """What a requirements file of this model would train."""
    spec = {"parameters": model} if SIZE.fullmatch(model.strip()) else model
    training = {"sequence_length": sequence_length, "global_batch": "1 sequence", "steps": 1}
    problem = read_problem({"model": spec, "training": training})
    faults: list[Fault] = []
    resolved = resolve_model(problem.model, load(), problem.training, faults)
    if resolved is None:
        raise InputError(model, faults)
    return resolved
