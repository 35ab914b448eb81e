"""Decoders, dense or with experts: a config and the record of its family become an architecture."""

from dataclasses import dataclass
from math import gcd

from solver.architecture import config as keys
from solver.architecture.blocks import Architecture, Block, Matmul, Shard
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.patterns import Span, experts_where, spans
from solver.architecture.families.record import Decoder, Flag, Moe
from solver.architecture.latent import Latent, latent_attention
from solver.architecture.parts import (
    Experts,
    FeedForward,
    Part,
    SelfAttention,
    attention,
    experts,
    feed_forward,
    join,
    norm,
    residual,
    stack,
)


@dataclass(frozen=True)
class Sizes:
    """What every decoder states."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_sequence: int


def flag(config: Config, value: Flag) -> bool:
    return value if isinstance(value, bool) else config.flag(value[0], default=value[1])


def sizes(config: Config, record: Decoder) -> Sizes:
    """The sizes of a config, checked against each other."""
    hidden, heads = config.integer(*keys.HIDDEN), config.integer(*keys.HEADS)
    kv_heads = config.integer(*keys.KV_HEADS, default=record.kv_heads or heads)
    if heads % kv_heads:
        raise ArchitectureError(
            config.at("num_key_value_heads"), f"{kv_heads} does not divide num_attention_heads {heads}"
        )
    return Sizes(
        hidden=hidden,
        layers=config.integer(*keys.LAYERS),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_head_dim(config, record, hidden, heads),
        vocab=config.integer("vocab_size"),
        max_sequence=positions_of(config),
    )


def _head_dim(config: Config, record: Decoder, hidden: int, heads: int) -> int:
    if record.latent:
        return config.integer("qk_rope_head_dim") + config.integer("qk_nope_head_dim")
    if config.has("head_dim", "attention_head_dim"):
        return config.integer("head_dim", "attention_head_dim")
    if record.head_dim:
        return record.head_dim
    if hidden % heads:
        raise ArchitectureError(
            config.at("num_attention_heads"),
            f"{heads} does not divide hidden_size {hidden}, and no head_dim is given",
        )
    return hidden // heads


def positions_of(config: Config) -> int:
    """The longest sequence: files with several names for it give several lengths, the first here counts."""
    key = next((key for key in keys.POSITIONS if config.has(key)), keys.POSITIONS[0])
    return config.integer(key, default=0, least=0)


def decoder(config: Config, record: Decoder) -> Architecture:
    """The whole architecture of a decoder family."""
    size = sizes(config, record)
    routed = experts_where(config, record.moe, size.layers)
    kinds = list(zip(spans(config, record, size.layers), routed, strict=True))
    built = {kind: _layer(config, record, size, kind) for kind in dict.fromkeys(kinds)}
    return outside(config, record, size, stack(built[kind] for kind in kinds))


def outside(
    config: Config, record: Decoder, size: Sizes, blocks: tuple[tuple[Block, int], ...]
) -> Architecture:
    """What stands around the layers: tables, head, final norm."""
    tied = config.flag("tie_word_embeddings", default=record.tied)
    positions = 0
    if record.positions == "learned":
        positions = (config.integer(*keys.POSITIONS) + record.position_offset) * size.hidden
    norms = record.final_norm + record.embedding_norm
    norm_width = size.hidden * (1 + _has_norm_bias(config, record)) * record.norm_weight
    head = Matmul(
        "head",
        size.hidden,
        size.vocab,
        Shard.COLUMN,
        "head_input",
        bias=flag(config, record.head_bias) and not tied,
    )
    total, met = expert_counts(config, record.moe)
    cores = [block.attention for block, _ in blocks if block.attention]
    split = [core.heads for core in cores] + [block.scan.heads for block, _ in blocks if block.scan]
    head_bias = size.vocab if tied and flag(config, record.head_bias) else 0
    return Architecture(
        name=config.text("_name_or_path") or config.text("name"),
        model_type=config.text("model_type"),
        hidden=size.hidden,
        vocab=size.vocab,
        blocks=blocks,
        embeddings=size.vocab * size.hidden + positions,
        head=head,
        tied_embeddings=tied,
        final_vectors=norms * norm_width + head_bias,
        heads=gcd(*split) if split else size.heads,
        kv_heads=gcd(*(core.kv_heads for core in cores)) if cores else gcd(*split),
        head_dim=size.head_dim,
        ffn=max((m.inner for b, _ in blocks for m in b.matmuls if m.name == "down"), default=0),
        experts=total,
        experts_per_token=met,
        max_sequence=size.max_sequence,
        positions=positions,
    )


def expert_counts(config: Config, moe: Moe | None) -> tuple[int, int]:
    """Experts, and how many of them a token meets."""
    if moe is None:
        return 0, 0
    total = config.integer(*(moe.experts or keys.EXPERTS), default=moe.default_experts)
    met = config.integer(*keys.EXPERTS_PER_TOKEN, default=moe.default_per_token)
    if met > total:
        key = next((key for key in keys.EXPERTS_PER_TOKEN if config.has(key)), "num_experts_per_tok")
        raise ArchitectureError(config.at(key), f"{met} is more than the {total} experts there are")
    return total, met


def _has_norm_bias(config: Config, record: Decoder) -> bool:
    return flag(config, record.layer_norm) and flag(config, record.norm_bias)


def _layer(config: Config, record: Decoder, size: Sizes, kind: tuple[Span, bool]) -> Block:
    span, routed = kind
    mixer = latent_part(config, size, span) if record.latent else attention_part(config, record, size, span)
    moe = record.moe if routed else None
    ffn = experts_part(config, record, moe, size) if moe else dense_part(config, record, size)
    name = f"{span.kind} attention, {'experts' if routed else 'dense'}"
    return join(name, size.hidden, *_arranged(config, record, size, (mixer, ffn)))


def _arranged(config: Config, record: Decoder, size: Sizes, parts: tuple[Part, Part]) -> tuple[Part, ...]:
    """Norms and residual additions around the mixer and the feed-forward."""
    mixer, ffn = parts
    bias = _has_norm_bias(config, record)
    norms = [
        norm(f"norm_{i}", size.hidden, bias=bias, weight=record.norm_weight)
        for i in range(1, record.norms + 1)
    ]
    parallel = flag(config, record.parallel)
    sums = [residual("residual_attention", size.hidden), residual("residual_ffn", size.hidden)]
    reads = (_reading_one_norm(ffn),) if parallel and record.norms == 1 else (ffn,)
    return (*norms, mixer, *reads, *sums)


def _reading_one_norm(ffn: Part) -> Part:
    """why: a parallel layer with one norm keeps the normed input once for attention and feed-forward."""
    renamed = tuple(
        m if m.reads != "ffn_input" else Matmul(**{**vars(m), "reads": "attention_input"})
        for m in ffn.matmuls
    )
    return ffn._replace(matmuls=renamed)


def attention_part(config: Config, record: Decoder, size: Sizes, span: Span) -> Part:
    qkv, out = flag(config, record.qkv_bias), flag(config, record.o_bias)
    normed = flag(config, record.qk_norm_flag)
    width = {
        "none": 0,
        "head": 2 * size.head_dim,
        "head_bias": 4 * size.head_dim,
        "width": (size.heads + size.kv_heads) * size.head_dim,
    }[record.qk_norm]
    gated = flag(config, record.output_gate)
    return attention(
        SelfAttention(
            hidden=size.hidden,
            heads=size.heads,
            kv_heads=size.kv_heads,
            head_dim=size.head_dim,
            kind=span.kind,
            span=span.keys,
            q_bias=qkv,
            k_bias=qkv,
            v_bias=qkv,
            o_bias=out,
            norm_vectors=width if normed else 0,
            rope=record.positions == "rope" and span.rope,
            sinks=record.sinks,
            output_gate=gated,
        )
    )


def latent_part(config: Config, size: Sizes, span: Span) -> Part:
    _same_width(config)
    return latent_attention(
        Latent(
            hidden=size.hidden,
            heads=size.heads,
            q_rank=config.integer("q_lora_rank", default=0, least=0),
            kv_rank=config.integer("kv_lora_rank"),
            nope_dim=config.integer("qk_nope_head_dim"),
            rope_dim=config.integer("qk_rope_head_dim"),
            v_dim=config.integer("v_head_dim"),
            bias=config.flag("attention_bias", default=False),
            index_heads=config.integer("index_n_heads") if span.indexer else 0,
            index_dim=config.integer("index_head_dim") if span.indexer else 0,
            index_top=span.keys,
        )
    )


def _same_width(config: Config) -> None:
    """A stated width of the query heads must be the sum of its parts."""
    parts = config.integer("qk_nope_head_dim") + config.integer("qk_rope_head_dim")
    stated = config.integer("qk_head_dim", default=parts)
    if stated != parts:
        raise ArchitectureError(
            config.at("qk_head_dim"), f"{stated} contradicts qk_nope_head_dim + qk_rope_head_dim {parts}"
        )


def dense_part(config: Config, record: Decoder, size: Sizes) -> Part:
    names = (record.moe.dense_ffn if record.moe else ()) or keys.FFN
    default = record.ffn_multiple * size.hidden or None
    ffn = config.integer(*names, default=default)
    return feed_forward(
        FeedForward(size.hidden, ffn, flag(config, record.gated), flag(config, record.mlp_bias))
    )


def experts_part(config: Config, record: Decoder, moe: Moe, size: Sizes) -> Part:
    total, met = expert_counts(config, moe)
    key = next((key for key in moe.ffn if config.has(key)), moe.ffn[0])
    width = config.integer(key)
    return experts(
        Experts(
            hidden=size.hidden,
            experts=total,
            per_token=met,
            ffn=width,
            gated=flag(config, record.gated),
            bias=flag(config, moe.bias),
            clamped=moe.clamped,
            router_bias=moe.router_bias,
            shared_ffn=shared_width(config, moe, width),
            shared_gate=moe.shared_gate,
            shared_bias=flag(config, moe.shared_bias) or flag(config, moe.bias),
            score_bias=moe.score_bias,
        )
    )


def shared_width(config: Config, moe: Moe, width: int) -> int:
    """Width of the experts that every token meets."""
    match moe.shared:
        case "none":
            return 0
        case "one":
            return width
        case "width":
            return config.integer(moe.shared_key, default=moe.shared_default, least=0)
        case "count":
            return width * config.integer(moe.shared_key, default=moe.shared_default, least=0)
