"""The architecture of a published run: from the columns of its row, or the catalog's model of that name."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from solver.architecture import from_catalog, from_hf, from_inline
from solver.architecture.blocks import Architecture
from solver.catalog import Catalog
from solver.layout import Ints, Stages
from solver.validation.rows import Row

LATENT = re.compile(r"q_lora/kv_lora/qk_nope/qk_rope/v = ([\d/]+)")
LATENT_KEYS = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
LATENT_TYPE = "deepseek_v3"  # the hub's word for decoders with latent attention
COLUMNS = {  # fields of an inline model and the columns that hold them
    "layers": "layers",
    "hidden": "hidden",
    "heads": "heads",
    "kv_heads": "kv_heads",
    "head_dim": "head_dim",
    "ffn": "ffn_hidden",
    "vocab": "vocab",
    "experts": "experts",
    "experts_per_token": "experts_per_token",
    "expert_ffn": "moe_ffn_hidden",
    "shared_experts": "shared_experts",
    "dense_layers": "dense_layers",
}


def architecture_of(row: Row, catalog: Catalog) -> Architecture:
    """Raises ArchitectureError.

    A model of the catalog stands for the row where name and size agree: it knows windows and patterns that no
    column holds.
    """
    known = catalog.models.get(row.text("arch_key"))
    if known is not None:
        architecture = from_catalog(known)
        if same_size(architecture, row):
            return architecture
    if latent := LATENT.search(row.text("notes")):
        return from_hf(latent_config(row, [int(n) for n in latent.group(1).split("/")]))
    return from_inline(inline_fields(row))


def same_size(architecture: Architecture, row: Row) -> bool:
    sizes = (architecture.layers, architecture.hidden, architecture.heads, architecture.vocab)
    return sizes == tuple(row.integer(name) for name in ("layers", "hidden", "heads", "vocab"))


def inline_fields(row: Row) -> Mapping[str, Any]:
    values = {field: row.integer(column, 0) or None for field, column in COLUMNS.items()}
    if values["experts"] and not values["ffn"]:
        values["ffn"] = values["expert_ffn"]
    flags = {"gated_mlp": row.text("gated_mlp") == "1", "tied_embeddings": row.text("tied_embeddings") == "1"}
    return values | flags


def latent_config(row: Row, ranks: list[int]) -> Mapping[str, Any]:
    """A hub config with latent attention, of the row's sizes."""
    return {
        "model_type": LATENT_TYPE,
        "num_hidden_layers": row.integer("layers"),
        "hidden_size": row.integer("hidden"),
        "num_attention_heads": row.integer("heads"),
        "num_key_value_heads": row.integer("heads"),
        "intermediate_size": row.integer("ffn_hidden"),
        "moe_intermediate_size": row.integer("moe_ffn_hidden"),
        "vocab_size": row.integer("vocab"),
        "n_routed_experts": row.integer("experts"),
        "num_experts_per_tok": row.integer("experts_per_token"),
        "n_shared_experts": row.integer("shared_experts", 0),
        "first_k_dense_replace": row.integer("dense_layers", 0),
        "tie_word_embeddings": row.text("tied_embeddings") == "1",
    } | {key: rank or None for key, rank in zip(LATENT_KEYS, ranks, strict=True)}


def weighed_stages(architecture: Architecture, pp: Ints) -> Stages:
    """Layers dealt by the weight of their matmuls, the head's as well; of a single layout. (1,)

    A stage is full with the layer that takes the sum so far beyond its share of the whole.

    Source: nanotron, src/nanotron/models/base.py, build_model.
    """
    weights = [sum(m.flops for m in block.matmuls) for block, n in architecture.blocks for _ in range(n)]
    head = 2.0 * architecture.head.inner * architecture.head.outer if architecture.head else 0.0
    share = (sum(weights) + head) / int(pp[0])
    begun = np.cumsum([0.0, *weights[:-1]])
    stage = np.minimum(np.floor(begun / share), pp[0] - 1)
    held = np.bincount(stage.astype(int), minlength=int(pp[0]))
    return Stages(np.array([held.max()]), held[:1], held[-1:])
