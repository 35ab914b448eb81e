"""Encoder-decoders: a token stands for one token of the source and one of the target."""

from solver.architecture.blocks import Architecture, Matmul, Shard
from solver.architecture.config import Config
from solver.architecture.families.encoder import Layer, heads_of, layer
from solver.architecture.parts import stack

PAIR = "a token is one token of the source and one of the target"


def t5(config: Config, *, bias_in_every_layer: bool = False) -> Architecture:
    """T5 and its kin: no biases, relative positions in the first layer of either side (umT5: in all)."""
    h, vocab, heads = config.integer("d_model"), config.integer("vocab_size"), config.integer("num_heads")
    ffn, head_dim = config.integer("d_ff"), config.integer("d_kv")
    encoders = config.integer("num_layers", "num_hidden_layers")
    decoders = config.integer("num_decoder_layers", default=encoders)
    gated = config.text("feed_forward_proj", "relu").startswith("gated")
    biases = config.integer("relative_attention_num_buckets", default=32) * heads
    common = {"head_dim": head_dim, "gated": gated} | dict.fromkeys(
        ("qkv_bias", "o_bias", "ffn_bias", "norm_bias"), False
    )

    def side(name: str, layers: int, **more: object) -> list[tuple[str, Layer]]:
        extra = [biases if i == 0 or bias_in_every_layer else 0 for i in range(layers)]
        return [(name, Layer(h, heads, ffn, extra=e, **common, **more)) for e in extra]  # type: ignore[arg-type]

    stacked = side("encoder", encoders) + side("decoder", decoders, kind="full", cross=True)
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=vocab,
        blocks=stack(layer(name, spec) for name, spec in stacked), embeddings=vocab * h,
        head=Matmul("head", h, vocab, Shard.COLUMN, "head_input"),
        tied_embeddings=config.flag("tie_word_embeddings", default=True), final_vectors=2 * h,
        heads=heads, kv_heads=heads, head_dim=head_dim, ffn=ffn, notes=(PAIR,),
    )  # fmt: skip


def bart(config: Config) -> Architecture:
    """BART: learned positions with two rows more and a norm of the embeddings on either side."""
    h, vocab, length = (
        config.integer("d_model"),
        config.integer("vocab_size"),
        config.integer("max_position_embeddings"),
    )
    heads = heads_of(config, h, "encoder_attention_heads")
    of_decoder = heads_of(config, h, "decoder_attention_heads")
    encoder = layer("encoder", Layer(h, heads, config.integer("encoder_ffn_dim")))
    decoder = layer(
        "decoder", Layer(h, of_decoder, config.integer("decoder_ffn_dim"), kind="full", cross=True)
    )
    positions = 2 * (length + 2) * h
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=vocab,
        blocks=((encoder, config.integer("encoder_layers")), (decoder, config.integer("decoder_layers"))),
        embeddings=vocab * h + positions, positions=positions,
        head=Matmul("head", h, vocab, Shard.COLUMN, "head_input"),
        tied_embeddings=config.flag("tie_word_embeddings", default=True), final_vectors=4 * h,
        heads=min(heads, of_decoder), kv_heads=min(heads, of_decoder), head_dim=h // heads,
        ffn=config.integer("encoder_ffn_dim"), max_sequence=length, notes=(PAIR,),
    )  # fmt: skip
