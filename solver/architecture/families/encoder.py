"""Layers of the classic kind (norms with biases, every key seen), and the encoders made of them."""

from dataclasses import dataclass

from solver.architecture.blocks import Architecture, Block, Matmul, Shard
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.parts import (
    FeedForward,
    Kind,
    Part,
    SelfAttention,
    attention,
    feed_forward,
    join,
    norm,
    residual,
    stack,
)


@dataclass(frozen=True)
class Layer:
    """A layer of an encoder, or of the decoder of an encoder-decoder.

    cross   attends to the encoder's output as well
    extra   other vectors (relative position biases, scales of the residual branches)
    """

    hidden: int
    heads: int
    ffn: int
    head_dim: int = 0
    gated: bool = False
    qkv_bias: bool = True
    o_bias: bool = True
    ffn_bias: bool = True
    norm_bias: bool = True
    kind: Kind = "bidirectional"
    span: int = 0
    rope: bool = False
    first_norm: bool = True
    cross: bool = False
    extra: int = 0


def layer(name: str, spec: Layer) -> Block:
    h = spec.hidden
    first = (norm("norm_1", h, bias=spec.norm_bias),) if spec.first_norm else ()
    cross = (
        (
            norm("norm_cross", h, bias=spec.norm_bias),
            _attention(spec, cross=True),
            residual("residual_cross", h),
        )
        if spec.cross
        else ()
    )
    ffn = feed_forward(FeedForward(h, spec.ffn, spec.gated, spec.ffn_bias))
    return join(
        name, h, *first, _attention(spec, cross=False), residual("residual_attention", h), *cross,
        norm("norm_2", h, bias=spec.norm_bias), ffn, residual("residual_ffn", h),
    )  # fmt: skip


def _attention(spec: Layer, *, cross: bool) -> Part:
    return attention(
        SelfAttention(
            hidden=spec.hidden,
            heads=spec.heads,
            kv_heads=spec.heads,
            head_dim=spec.head_dim or spec.hidden // spec.heads,
            kind="cross" if cross else spec.kind,
            span=0 if cross else spec.span,
            q_bias=spec.qkv_bias,
            k_bias=spec.qkv_bias,
            v_bias=spec.qkv_bias,
            o_bias=spec.o_bias,
            rope=spec.rope and not cross,
            extra=0 if cross else spec.extra,
            source="encoder_output" if cross else "attention_input",
            prefix="cross_" if cross else "",
        )
    )


def heads_of(config: Config, hidden: int, *names: str) -> int:
    """The heads, which must divide the width."""
    heads = config.integer(*(names or ("num_attention_heads",)))
    if hidden % heads:
        raise ArchitectureError(
            config.at((names or ("num_attention_heads",))[0]), f"{heads} does not divide {hidden}"
        )
    return heads


def task(config: Config, known: tuple[str, ...], default: str) -> str:
    """What stands on top, by the end of the class name in `architectures`."""
    classes = config.items("architectures")
    if not classes:
        return default
    name = str(classes[0])
    found = next((end for end in known if name.endswith(end)), None)
    if found is None:
        raise ArchitectureError(
            "architectures", f'"{name}" is not counted for this family; known: ...{", ...".join(known)}'
        )
    return found


def labels(config: Config) -> int:
    """Classes of a classifier; 2 where the config names none."""
    names = config.values.get("id2label")
    return config.integer("num_labels", default=len(names) if isinstance(names, dict) and names else 2)


def bert(config: Config, *, pooled: bool) -> Architecture:
    """BERT (pooled: a pooler before its sentence head) and RoBERTa."""
    h, vocab = config.integer("hidden_size"), config.integer("vocab_size")
    types = config.integer("type_vocab_size", default=2, least=0)
    positions = (config.integer("max_position_embeddings", default=512) + types) * h
    heads, ffn = heads_of(config, h), config.integer("intermediate_size")
    tied = config.flag("tie_word_embeddings", default=True)
    top = task(config, ("ForPreTraining", "ForMaskedLM", "ForSequenceClassification", "Model"), "ForMaskedLM")
    extras, vectors = _bert_top(config, top, h, pooled=pooled)
    masked = top in {"ForMaskedLM", "ForPreTraining"}
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=vocab,
        blocks=stack([layer("encoder", Layer(h, heads, ffn))] * config.integer("num_hidden_layers")),
        embeddings=vocab * h + positions, positions=positions,
        # why: untied, the library keeps the bias of the output matmul beside that of the head.
        head=Matmul("head", h, vocab, Shard.COLUMN, "head_input", bias=not tied) if masked else None,
        tied_embeddings=tied or not masked, final_vectors=2 * h + vectors + vocab * masked,
        heads=heads, kv_heads=heads, head_dim=h // heads, ffn=ffn,
        max_sequence=config.integer("max_position_embeddings", default=512), extras=extras,
    )  # fmt: skip


def _bert_top(config: Config, top: str, h: int, *, pooled: bool) -> tuple[tuple[Matmul, ...], int]:
    """Matmuls after the last layer, and their vectors."""
    transform = Matmul("transform", h, h, Shard.REPLICATED, "final", bias=True)
    pooler = Matmul("pooler", h, h, Shard.REPLICATED, "final", bias=True)
    match top:
        case "ForMaskedLM":
            return (transform,), 2 * h
        case "ForPreTraining":
            pair = Matmul("next_sentence", h, 2, Shard.REPLICATED, "pooled", bias=True)
            return ((transform, pooler, pair) if pooled else (transform,)), 2 * h
        case "ForSequenceClassification":
            return (pooler, Matmul("classifier", h, labels(config), Shard.REPLICATED, "pooled", bias=True)), 0
        case _:
            return (pooler,), 0


def modern_bert(config: Config) -> Architecture:
    """Rotary positions, gated feed-forward, and every third layer sees the whole sequence."""
    h, vocab, layers = (
        config.integer("hidden_size"),
        config.integer("vocab_size"),
        config.integer("num_hidden_layers"),
    )
    heads, ffn = heads_of(config, h), config.integer("intermediate_size")
    norm_bias, biased = config.flag("norm_bias", default=False), config.flag("attention_bias", default=False)
    spans = _modern_spans(config, layers)
    made = [
        layer(
            "local" if span else "global",
            Layer(
                h, heads, ffn, gated=True, qkv_bias=biased, o_bias=biased, ffn_bias=config.flag("mlp_bias",
                    default=False),
                norm_bias=norm_bias, span=span, rope=True, first_norm=i > 0,
            ),
        )
        for i, span in enumerate(spans)
    ]  # fmt: skip
    masked = task(config, ("ForMaskedLM", "Model"), "ForMaskedLM") == "ForMaskedLM"
    norms = 3 if masked else 2
    dense = Matmul(
        "transform", h, h, Shard.REPLICATED, "final", bias=config.flag("classifier_bias", default=False)
    )
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=vocab,
        blocks=stack(made), embeddings=vocab * h,
        head=Matmul("head", h, vocab, Shard.COLUMN, "head_input") if masked else None,
        tied_embeddings=config.flag("tie_word_embeddings", default=True) or not masked,
        final_vectors=norms * h * (1 + norm_bias) + vocab * (masked and config.flag("decoder_bias",
            default=True)),
        heads=heads, kv_heads=heads, head_dim=h // heads, ffn=ffn,
        max_sequence=config.integer("max_position_embeddings", default=8192),
        extras=(dense,) if masked else (),
    )  # fmt: skip


def _modern_spans(config: Config, layers: int) -> list[int]:
    window = config.integer("local_attention", default=128)
    named = [str(kind) for kind in config.items("layer_types")]
    if named and len(named) != layers:
        raise ArchitectureError("layer_types", f"{len(named)} entries contradict num_hidden_layers {layers}")
    every = config.integer("global_attn_every_n_layers", default=3)
    full = [kind == "full_attention" for kind in named] or [i % every == 0 for i in range(layers)]
    return [0 if at else window for at in full]
