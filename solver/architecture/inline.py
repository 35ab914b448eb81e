"""From the fields a person writes in a requirements file to an architecture."""

from collections.abc import Mapping

from solver.architecture.blocks import Architecture
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.decoder import decoder
from solver.architecture.families.record import Decoder, Moe

# Inline fields and the keys of a hub config that mean the same.
_KEYS = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "ffn": "intermediate_size",
    "vocab": "vocab_size",
    "tied_embeddings": "tie_word_embeddings",
    "experts": "num_experts",
    "experts_per_token": "num_experts_per_tok",
    "expert_ffn": "moe_intermediate_size",
    "shared_experts": "n_shared_experts",
    "dense_layers": "first_k_dense_replace",
    "max_positions": "max_position_embeddings",
    "name": "name",
}
_FIELDS = (*_KEYS, "gated_mlp", "positions", "attention")
_POSITIONS = ("rope", "learned", "none")


def from_inline(fields: Mapping[str, object], sequence_length: int = 2048) -> Architecture:
    """A decoder with norms without biases and matmuls without biases, of the shape that the fields give.

    sequence_length  rows of the table of learned positions, where `positions: learned` gives no max_positions
    """
    given = {key: value for key, value in fields.items() if value is not None}
    for key in given:
        if key not in _FIELDS:
            raise ArchitectureError(key, f"is no field of an inline model; known: {', '.join(_FIELDS)}")
    _require(given)
    config = Config({_KEYS[key]: value for key, value in given.items() if key in _KEYS} | _span(given))
    values = dict(config.values) | {"model_type": "inline"}
    values.setdefault("max_position_embeddings", sequence_length)
    try:
        return decoder(Config(values), _record(Config(given)))
    except ArchitectureError as error:
        field = next((field for field, key in _KEYS.items() if key == error.key), error.key)
        raise ArchitectureError(field, _in_fields(error.message)) from None


def _require(given: Mapping[str, object]) -> None:
    needed = ["layers", "hidden", "heads", "vocab"]
    if given.get("experts"):
        needed += ["experts_per_token"]
    if not given.get("experts") or given.get("dense_layers"):
        needed += ["ffn"]
    for key in needed:
        if key not in given:
            raise ArchitectureError(key, "is missing; it is needed to count the parameters")


def _in_fields(message: str) -> str:
    """The sentence with the field names of a requirements file."""
    for field, key in _KEYS.items():
        message = message.replace(key, field)
    return message


def _record(given: Config) -> Decoder:
    positions = given.text("positions", "rope")
    if positions not in _POSITIONS:
        raise ArchitectureError("positions", f'"{positions}" is unknown; known: {", ".join(_POSITIONS)}')
    moe = Moe(ffn=("moe_intermediate_size", "intermediate_size"), shared="count", layers="first_dense")
    return Decoder(
        gated=given.flag("gated_mlp", default=True),
        positions="learned" if positions == "learned" else "rope" if positions == "rope" else "none",
        window="pattern" if given.has("attention") else "none",
        pattern=10**9,
        moe=moe if given.has("experts") and given.integer("experts", least=0) else None,
    )


def _span(given: Mapping[str, object]) -> dict[str, object]:
    """`full`, or `window: N` as text or mapping, with `full_every: M` where each M-th layer sees all."""
    attention = given.get("attention", "full")
    if isinstance(attention, str) and ":" in attention:
        kind, _, size = attention.partition(":")
        attention = {kind.strip(): int(size)} if size.strip().isdigit() else attention
    if attention == "full":
        return {}
    if (
        isinstance(attention, Mapping)
        and "window" in attention
        and set(attention) <= {"window", "full_every"}
    ):
        every = {"sliding_window_pattern": attention["full_every"]} if "full_every" in attention else {}
        return {"sliding_window": attention["window"], **every}
    raise ArchitectureError(
        "attention", f'{attention!r} is unknown; write full, "window: 4096" or {{window: 512, full_every: 6}}'
    )
