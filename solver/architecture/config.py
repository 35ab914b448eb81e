"""Reading a model config: typed values by key, and a sentence for what is missing, odd or contradictory."""

from collections.abc import Mapping
from typing import NamedTuple

# The same size under the names that families give it; two names with two values are a contradiction.
HIDDEN = ("hidden_size", "n_embd", "d_model")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "multi_query_group_num")
FFN = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "d_ff")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
EXPERTS_PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "moe_top_k", "moe_topk", "moe_k")

_LARGEST = 10**9  # of any single size: beyond it is a slip of the pen


class ArchitectureError(ValueError):
    """A model that cannot be counted: which key, and a sentence with the value and what is allowed."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(f"{key}: {message}" if key else message)
        self.message = message


class Config(NamedTuple):
    """A config (or a nested part of one, `where` naming it), read key by key."""

    values: Mapping[str, object]
    where: str = ""

    def at(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def has(self, *keys: str) -> bool:
        """Whether one of the keys stands there with a value (null is none)."""
        return any(self.values.get(key) is not None for key in keys)

    def number(self, *keys: str, default: float | None = None) -> float:
        """The value under the first of the keys that is given."""
        given = [(key, self.values[key]) for key in keys if self.values.get(key) is not None]
        if not given:
            if default is None:
                raise ArchitectureError(self.at(keys[0]), "is missing; it is needed to count the parameters")
            return default
        numbers = {key: self._number(key, value) for key, value in given}
        key, first = next(iter(numbers.items()))
        for other, value in numbers.items():
            if value != first:
                raise ArchitectureError(self.at(key), f"{first:g} contradicts {self.at(other)} {value:g}")
        return first

    def integer(self, *keys: str, default: int | None = None, least: int = 1) -> int:
        """A whole number of at least `least`."""
        value = self.number(*keys, default=default)
        key = next((k for k in keys if self.has(k)), keys[0])
        if value != int(value) or not least <= value <= _LARGEST:
            raise ArchitectureError(
                self.at(key), f"{value:g} is not a whole number of at least {least} (and at most 1e9)"
            )
        return int(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ArchitectureError(self.at(key), f"{_shown(value)} is neither true nor false")
        return value

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ArchitectureError(self.at(key), f"{_shown(value)} is not text")
        return value

    def items(self, key: str) -> list[object]:
        """A list; empty where the key is missing."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise ArchitectureError(self.at(key), f"{_shown(value)} is not a list")
        return list(value)

    def child(self, key: str) -> "Config":
        value = self.values.get(key)
        if not isinstance(value, Mapping):
            raise ArchitectureError(self.at(key), "is missing; it holds the fields of this part of the model")
        return Config(value, self.at(key))

    def with_values(self, **values: object) -> "Config":
        """The same config with some keys set (None: taken away)."""
        return Config({**self.values, **values}, self.where)

    def _number(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise ArchitectureError(self.at(key), f"{_shown(value)} is not a number")
        return value


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 60 else text[:57] + "..."
