"""Image encoders as towers, and the models made of them: ViT, CLIP, SigLIP."""

from collections.abc import Callable, Mapping

from solver.architecture.blocks import Architecture, Matmul, Shard, Tower
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.encoder import Layer, heads_of, labels, layer, task
from solver.architecture.parts import stack

# Sizes of the config classes: published configs of these families leave out what equals them.
_CLIP_VISION = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    "image_size": 224, "patch_size": 32,
}  # fmt: skip
_CLIP_TEXT = {
    "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8,
    "vocab_size": 49408, "max_position_embeddings": 77,
}  # fmt: skip
_SIGLIP_VISION = _CLIP_VISION | {"patch_size": 16}
_SIGLIP_TEXT = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    "vocab_size": 32000, "max_position_embeddings": 64,
}  # fmt: skip
_LLAMA4_VISION = {
    "hidden_size": 768, "intermediate_size": 5632, "num_hidden_layers": 34, "num_attention_heads": 16,
    "image_size": 448, "patch_size": 14, "projector_input_dim": 4096, "projector_output_dim": 4096,
    "vision_output_dim": 7680, "pixel_shuffle_ratio": 0.5,
}  # fmt: skip
PAIR = "a sequence is one text and one image"


def nested(config: Config, key: str, defaults: Mapping[str, object]) -> Config:
    """A nested config over the sizes of its class."""
    part = config.child(key) if config.has(key) else Config({}, key)
    return Config({**defaults, **{k: v for k, v in part.values.items() if v is not None}}, part.where)


def patches(config: Config) -> int:
    """Patches of a square image (or of a list of two sides)."""
    image, patch = (_side(config, key) for key in ("image_size", "patch_size"))
    return (image[0] // patch[0]) * (image[1] // patch[1])


def _side(config: Config, key: str) -> tuple[int, int]:
    value = config.values.get(key)
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return value[0], value[1]
    side = config.integer(key)
    return side, side


def patch_embedding(config: Config, *, bias: bool, frames: int = 1) -> Matmul:
    height, width = _side(config, "patch_size")
    inner = config.integer("num_channels", "in_channels", "in_chans", default=3) * height * width * frames
    return Matmul(
        "patch_embedding", inner, config.integer("hidden_size"), Shard.REPLICATED, "pixels", bias=bias
    )


def _layers(config: Config, **more: bool | int) -> tuple[Layer, int]:
    h = config.integer("hidden_size")
    spec = Layer(h, heads_of(config, h), config.integer("intermediate_size"), **more)  # type: ignore[arg-type]
    return spec, config.integer("num_hidden_layers")


def _tower(config: Config, spec: Layer, layers: int, extras: tuple[Matmul, ...], vectors: int) -> Tower:
    blocks = stack([layer("vision encoder", spec)] * layers)
    return Tower(
        "vision", spec.hidden, blocks, extras, vectors, patches(config) if config.has("image_size") else 0
    )


def clip_tower(config: Config) -> Tower:
    """Class token, positions, norms before and after."""
    config = Config(_CLIP_VISION | dict(config.values), config.where)
    spec, layers = _layers(config)
    vectors = spec.hidden * (1 + patches(config) + 1 + 4)
    return _tower(config, spec, layers, (patch_embedding(config, bias=False),), vectors)


def siglip_tower(config: Config) -> Tower:
    """Positions, a norm after, and a head that gathers the image by attention (vision_use_head)."""
    config = Config(_SIGLIP_VISION | dict(config.values), config.where)
    spec, layers = _layers(config)
    h, f = spec.hidden, spec.ffn
    extras: tuple[Matmul, ...] = (patch_embedding(config, bias=True),)
    vectors = h * (patches(config) + 2)
    if config.flag("vision_use_head", default=True):
        names = (
            ("pool_q", h, h),
            ("pool_k", h, h),
            ("pool_v", h, h),
            ("pool_o", h, h),
            ("pool_up", h, f),
            ("pool_down", f, h),
        )
        extras += tuple(Matmul(n, i, o, Shard.REPLICATED, "final", bias=True) for n, i, o in names)
        vectors += 3 * h
    return _tower(config, spec, layers, extras, vectors)


def pixtral_tower(config: Config) -> Tower:
    spec, layers = _layers(
        config, gated=True, qkv_bias=False, o_bias=False, ffn_bias=False, norm_bias=False, rope=True,
        head_dim=config.integer("head_dim",
            default=config.integer("hidden_size") // config.integer("num_attention_heads")),
    )  # fmt: skip
    return _tower(config, spec, layers, (patch_embedding(config, bias=False),), spec.hidden)


def internvl_tower(config: Config) -> Tower:
    """Class token, positions, and a scale for each residual branch."""
    if config.flag("use_qk_norm", default=False) or config.flag("use_mask_token", default=False):
        raise ArchitectureError(
            config.at("use_qk_norm"), "norms of q and k and mask tokens are not counted here"
        )
    h = config.integer("hidden_size")
    spec, layers = _layers(
        config, qkv_bias=config.flag("attention_bias", default=False), rope=False, extra=2 * h
    )
    positions = (patches(config) + 1) * config.flag("use_absolute_position_embeddings", default=True)
    final = 0 if config.flag("use_mean_pooling", default=True) else 2
    return _tower(config, spec, layers, (patch_embedding(config, bias=True),), h * (1 + positions + final))


def llama4_tower(config: Config) -> Tower:
    """Class token, positions, norms before and after, and the adapter behind the pixel shuffle."""
    config = Config(_LLAMA4_VISION | dict(config.values), config.where)
    spec, layers = _layers(config, rope=True)
    h, out = spec.hidden, config.integer("projector_output_dim")
    shuffled = int(config.integer("intermediate_size"))
    adapter = (
        Matmul("adapter_in", shuffled, config.integer("projector_input_dim"), Shard.REPLICATED, "shuffled"),
        Matmul("adapter_out", out, out, Shard.REPLICATED, "adapted"),
    )
    vectors = h * (1 + patches(config) + 1 + 4)
    return _tower(config, spec, layers, (patch_embedding(config, bias=False), *adapter), vectors)


TOWERS: dict[str, Callable[[Config], Tower]] = {
    "clip_vision_model": clip_tower,
    "siglip_vision_model": siglip_tower,
    "pixtral": pixtral_tower,
    "internvl_vision": internvl_tower,
    "llama4_vision_model": llama4_tower,
}


def vit(config: Config) -> Architecture:
    """Class token, positions, a last norm; a classifier or a pooler on top."""
    spec, layers = _layers(config, qkv_bias=config.flag("qkv_bias", default=True))
    h, count = spec.hidden, patches(config)
    top = task(config, ("ForImageClassification", "Model"), "ForImageClassification")
    width = (
        labels(config) if top == "ForImageClassification" else config.integer("pooler_output_size", default=h)
    )
    table = (count + 1) * h
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=0,
        blocks=stack([layer("encoder", spec)] * layers), embeddings=table, positions=table, head=None,
        tied_embeddings=True, final_vectors=h + 2 * h, heads=spec.heads, kv_heads=spec.heads,
        head_dim=h // spec.heads,
        ffn=spec.ffn, max_sequence=count + 1,
        extras=(patch_embedding(config, bias=True), Matmul("top", h, width, Shard.REPLICATED, "final",
            bias=True)),
        notes=("a token is one patch of an image",),
    )  # fmt: skip


def clip(config: Config) -> Architecture:
    """A text and an image encoder, each with a projection into one space."""
    tower = clip_tower(nested(config, "vision_config", {}))
    text = nested(config, "text_config", _CLIP_TEXT)
    width, h = config.integer("projection_dim", default=512), text.integer("hidden_size")
    extras = (
        Matmul("text_projection", h, width, Shard.REPLICATED, "final"),
        Matmul("visual_projection", tower.hidden, width, Shard.REPLICATED, "pooled"),
    )
    return _two_towers(config, text, tower, extras, 1)


def siglip(config: Config) -> Architecture:
    tower = siglip_tower(nested(config, "vision_config", {}))
    text = nested(config, "text_config", _SIGLIP_TEXT)
    h = text.integer("hidden_size")
    out = text.integer("projection_size", default=h)
    return _two_towers(
        config, text, tower, (Matmul("text_head", h, out, Shard.REPLICATED, "final", bias=True),), 2
    )


def _two_towers(
    config: Config, text: Config, tower: Tower, extras: tuple[Matmul, ...], scalars: int
) -> Architecture:
    spec, layers = _layers(text)
    h, vocab, length = spec.hidden, text.integer("vocab_size"), text.integer("max_position_embeddings")
    return Architecture(
        name=config.text("_name_or_path"), model_type=config.text("model_type"), hidden=h, vocab=vocab,
        blocks=stack([layer("text encoder", spec)] * layers), embeddings=(vocab + length) * h,
        positions=length * h, head=None, tied_embeddings=True, final_vectors=2 * h + scalars,
        heads=spec.heads, kv_heads=spec.heads, head_dim=h // spec.heads, ffn=spec.ffn, max_sequence=length,
        extras=extras, towers=(tower,), images=1, notes=(PAIR,),
    )  # fmt: skip
