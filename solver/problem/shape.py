"""What may stand under `model`: a catalog id, the path to a config.json, a shape inline, or a size."""

import re
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Discriminator, Field, PlainValidator, Tag, ValidationInfo, field_validator
from pydantic import WithJsonSchema as Json

from solver import units
from solver.model_words import config_file, is_file, is_path, is_size
from solver.problem.paths import resolve
from solver.problem.quantities import (
    Layers,
    Model,
    Name,
    Parameters,
    Positions,
    Size,
    SizeOrNone,
    Truth,
    name_of,
)
from solver.units import shown

NAME, PATH, SIZE, INLINE = (
    "<name>",
    "<path>",
    "<size>",
    "<inline>",
)  # brackets: no field of a file is called so


class ModelName(NamedTuple):
    """The id of a model of the catalog."""

    id: str


class ModelPath(NamedTuple):
    """A config.json that exists."""

    path: Path


class SizeModel(Model):
    """A bare size; a usual shape of that size is taken, and printed."""

    parameters: Parameters = Field(examples=["7B"])
    """Total parameters."""
    name: Name = ""
    """What to call it."""


class Attention(NamedTuple):
    """full and window are causal; chunk is causal inside chunks; span: keys a query sees, 0 = all."""

    kind: str = "full"
    span: int = 0


_SPANNED = re.compile(r"(window|chunk)\s*[:= ]\s*(.+)", re.IGNORECASE | re.DOTALL)
_SPANLESS = ("full", "bidirectional")


def _attention(value: object) -> Attention:
    if isinstance(value, str) and value.strip().lower() in _SPANLESS:
        return Attention(value.strip().lower())
    kind, span = _spanned(value)
    try:
        tokens = units.count(span)  # type: ignore[arg-type]  # it refuses what is no number
    except ValueError:
        tokens = 0
    if kind not in {"window", "chunk"} or not 1 <= tokens <= 1e9 or tokens != int(tokens):
        raise ValueError(
            f'{shown(value)} is not an attention; write "full", "bidirectional" or {{window: 4096}}'
        )
    return Attention(kind, int(tokens))


def _spanned(value: object) -> tuple[str, object]:
    if isinstance(value, dict) and len(value) == 1:
        return next(iter(value.items()))
    match = _SPANNED.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= 200 else None
    return (match[1].lower(), match[2]) if match else ("", None)


_ATTENTION_JSON = Json(
    {
        "anyOf": [
            {"type": "string", "examples": ["full", "window: 4096"]},
            {"type": "object", "properties": {"window": {"type": "integer"}, "chunk": {"type": "integer"}}},
        ]
    }
)


def _head_dim(data: dict[str, int]) -> int:
    """Hidden / heads where that is whole; 0 is refused by its validator."""
    hidden, heads = data.get("hidden", 0), data.get("heads", 1)
    return hidden // heads if hidden % heads == 0 else 0


class InlineModel(Model):
    """A decoder written out by its sizes."""

    name: Name = "inline"
    """What to call it."""
    layers: Layers = Field(examples=[32])
    """Transformer blocks."""
    hidden: Size = Field(examples=[4096])
    """Width of the residual stream."""
    heads: Size = Field(examples=[32])
    """Query heads of the attention."""
    kv_heads: Size = Field(default_factory=lambda data: data.get("heads", 1))
    """Key and value heads; as many as heads where left out."""
    head_dim: SizeOrNone = Field(default_factory=_head_dim, validate_default=True)
    """Width of one head; hidden / heads where left out."""
    vocab: Size = Field(examples=[128256])
    """Entries of the vocabulary."""
    ffn: SizeOrNone = Field(default=0, examples=[14336])
    """Inner width of the feed-forward of dense layers."""
    experts: SizeOrNone = 0
    """Routed experts of a layer; 0: a dense model."""
    experts_per_token: SizeOrNone = 0
    """Routed experts that one token meets."""
    expert_ffn: SizeOrNone = Field(
        default_factory=lambda data: data.get("ffn", 0) if data.get("experts") else 0
    )
    """Inner width of one expert; that of `ffn` where left out."""
    shared_experts: SizeOrNone = 0
    """Experts that every token meets."""
    dense_layers: SizeOrNone = 0
    """Leading layers without experts."""
    gated_mlp: Truth = True
    """Three matrices (SwiGLU, GeGLU) instead of two."""
    tied_embeddings: Truth = False
    """The output matrix is the input table."""
    positions: Positions = "rope"
    """How positions are told."""
    attention: Annotated[Attention, PlainValidator(_attention), _ATTENTION_JSON] = Attention()
    """full, bidirectional, {window: N} or {chunk: N}."""

    @field_validator("kv_heads")
    @classmethod
    def _divides_heads(cls, kv_heads: int, info: ValidationInfo) -> int:
        heads = info.data.get("heads", kv_heads)
        if heads % kv_heads:
            raise ValueError(f"{kv_heads} does not divide the {heads} heads; write a divisor of {heads}")
        return kv_heads

    @field_validator("head_dim")
    @classmethod
    def _is_known(cls, head_dim: int, info: ValidationInfo) -> int:
        hidden, heads = info.data.get("hidden", 0), info.data.get("heads", 1)
        if head_dim == 0 and hidden % heads:
            raise ValueError(f"hidden {hidden} is not a multiple of heads {heads}; state head_dim, e.g. 128")
        if head_dim == 0 and hidden:
            raise ValueError("0 is below 1; write e.g. 128")
        return head_dim

    @field_validator("experts_per_token")
    @classmethod
    def _exist(cls, experts_per_token: int, info: ValidationInfo) -> int:
        experts = info.data.get("experts", experts_per_token)
        if not min(1, experts) <= experts_per_token <= experts:
            raise ValueError(f"{experts_per_token} of {experts} experts cannot be; write 1 to {experts}")
        return experts_per_token

    @field_validator("dense_layers")
    @classmethod
    def _are_layers(cls, dense_layers: int, info: ValidationInfo) -> int:
        layers = info.data.get("layers", dense_layers)
        if dense_layers > layers:
            raise ValueError(f"{dense_layers} is more than the {layers} layers; write at most {layers}")
        return dense_layers


def _kind(value: object) -> str:
    """Which of the four a value is."""
    if isinstance(value, dict):
        return SIZE if "parameters" in value else INLINE
    return PATH if isinstance(value, str) and is_path(value) else NAME


def _model_name(value: object) -> ModelName:
    name = name_of(value)
    if is_size(name):
        raise ValueError(f"{shown(value)} is a size, not a model; write {{parameters: {name}}}")
    return ModelName(name)


def _model_path(value: object, info: ValidationInfo) -> ModelPath:
    path = config_file(resolve(name_of(value), info))
    if not is_file(path):
        raise ValueError(
            f"{shown(value)} is no file (looked for {path}); "
            "write the id of a model of the catalog or the path to a config.json"
        )
    return ModelPath(path)


ModelSpec = Annotated[
    Annotated[
        ModelName,
        PlainValidator(_model_name),
        Json({"type": "string", "description": "Id of a model of the catalog."}),
        Tag(NAME),
    ]
    | Annotated[
        ModelPath,
        PlainValidator(_model_path),
        Json({"type": "string", "description": "Path to a config.json.", "examples": ["./config.json"]}),
        Tag(PATH),
    ]
    | Annotated[SizeModel, Tag(SIZE)]
    | Annotated[InlineModel, Tag(INLINE)],
    Discriminator(_kind),
]
