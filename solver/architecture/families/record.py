"""What a decoder family is made of, as a record: the table of families is data, `decoder.py` reads it."""

from dataclasses import dataclass
from typing import Literal

# A constant of the family, or the key that says so and the value where the key is missing.
Flag = bool | tuple[str, bool]


@dataclass(frozen=True)
class Moe:
    """How a family writes its experts.

    ffn          keys of an expert's width, the first that is given
    shared       width of the shared expert: a key of its own, a count of experts, or always one
    score_bias   a trained offset of the routing score of each expert
    layers       which layers have experts
    default_step, default_first: values where the key is missing
    """

    ffn: tuple[str, ...] = ("moe_intermediate_size",)
    experts: tuple[str, ...] = ()
    default_experts: int | None = None
    default_per_token: int | None = None
    bias: Flag = False
    router_bias: bool = False
    clamped: bool = False
    shared: Literal["none", "width", "count", "one"] = "none"
    shared_key: str = "n_shared_experts"
    shared_default: int = 0
    shared_gate: bool = False
    shared_bias: Flag = False
    score_bias: bool = False
    layers: Literal["all", "first_dense", "step", "interleave", "start"] = "all"
    default_first: int = 0
    default_step: int = 1
    dense_ffn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decoder:
    """How a decoder family differs from the plainest one; booleans and sizes are those of its config class.

    norms         norms of hidden width in a layer; layer_norm: with a bias; norm_weight: with a weight
    parallel      attention and feed-forward read the same normed input
    qk_norm       head: one weight vector of head_dim for q and for k; width: of the whole q and k width
    positions     learned: a table of max positions (+ position_offset rows)
    window        which layers slide: all, by a switch, or every layer but each `pattern`-th
    """

    gated: Flag = True
    layer_norm: Flag = False
    norm_bias: Flag = True
    norm_weight: bool = True
    norms: int = 2
    parallel: Flag = False
    qkv_bias: Flag = False
    o_bias: Flag = False
    mlp_bias: Flag = False
    qk_norm: Literal["none", "head", "head_bias", "width"] = "none"
    qk_norm_flag: Flag = True
    tied: bool = False
    positions: Literal["rope", "learned", "none"] = "rope"
    position_offset: int = 0
    head_bias: Flag = False
    embedding_norm: bool = False
    final_norm: bool = True
    head_dim: int = 0
    kv_heads: int = 0
    ffn_multiple: int = 0
    window: Literal["none", "all", "switch", "pattern", "chunk"] = "none"
    pattern: int = 0
    sinks: bool = False
    output_gate: Flag = False
    latent: bool = False
    moe: Moe | None = None
