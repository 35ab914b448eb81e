"""Vision-language models: an image tower and a projector before a decoder of a family of its own."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from solver.architecture.blocks import Architecture, Matmul, Shard, Tower
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.encoder import Layer, heads_of, layer
from solver.architecture.families.vision import TOWERS, patch_embedding
from solver.architecture.parts import stack

Projector = Callable[[Config, int, int], tuple[tuple[Matmul, ...], int]]


@dataclass(frozen=True)
class VisionLanguage:
    """A family: the types of its parts where the nested configs name none, and the projector between them.

    tied        the default of the outer config, where it differs from that of the text
    text_sizes  of the text's config class: published files leave out what equals them
    """

    text: str
    vision: str
    projector: Projector
    tied: bool | None = None
    text_sizes: tuple[tuple[str, int], ...] = ()


def _matmul(name: str, inner: int, outer: int, *, bias: bool) -> Matmul:
    return Matmul(name, inner, outer, Shard.REPLICATED, "image", bias=bias)


def _no_projector(_config: Config, _vision: int, _text: int) -> tuple[tuple[Matmul, ...], int]:
    return (), 0


def _two_layers(config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    bias = config.flag("multimodal_projector_bias", default=True)
    return (_matmul("projector_1", vision, text, bias=bias), _matmul("projector_2", text, text, bias=bias)), 0


def _normed_matmul(_config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    return (_matmul("projector", vision, text, bias=False),), vision


def _matmul_to_text(config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    return (_matmul("projector", vision, config.integer("projection_dim", default=text), bias=True),), 0


def _from_adapter(config: Config, _vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    vision = config.child("vision_config") if config.has("vision_config") else Config({})
    return (_matmul("projector", vision.integer("vision_output_dim", default=7680), text, bias=False),), 0


def _merged(config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    merge, bias = (
        config.integer("spatial_merge_size", default=2),
        config.flag("multimodal_projector_bias", default=False),
    )
    return (
        _matmul("merge", vision * merge**2, vision, bias=False),
        _matmul("projector_1", vision, text, bias=bias),
        _matmul("projector_2", text, text, bias=bias),
    ), vision


def _shuffled(config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    wide = vision * round(1 / config.number("downsample_ratio", default=0.5)) ** 2
    return (
        _matmul("projector_1", wide, text, bias=True),
        _matmul("projector_2", text, text, bias=True),
    ), 2 * wide


def qwen_tower(config: Config, *, generation: int) -> Tower:
    """Patches of two frames, and a merger of four patches into one token of the text.

    generation  2: norms with biases; 2.5 is 25: gated feed-forward; 3: learned positions and further mergers
    """
    h = config.integer("embed_dim") if generation == 2 else config.integer("hidden_size")
    gated = generation == 25
    ffn = (
        config.integer("mlp_ratio", default=4) * h if generation == 2 else config.integer("intermediate_size")
    )
    spec = Layer(h, heads_of(config, h, "num_heads"), ffn, gated=gated, norm_bias=not gated, rope=True)
    merge = config.integer("spatial_merge_size", default=2) ** 2
    out = config.integer("hidden_size" if generation == 2 else "out_hidden_size")
    new = generation == 3
    mergers = 1 + (len(config.items("deepstack_visual_indexes")) if new else 0)
    frames = config.integer("temporal_patch_size", default=2)
    plain = config.with_values(hidden_size=h, patch_size=config.integer("patch_size"))
    extras = [patch_embedding(plain, bias=new, frames=frames)]
    for i in range(mergers):
        extras += [
            _matmul(f"merger_{i}_in", merge * h, merge * h, bias=True),
            _matmul(f"merger_{i}_out", merge * h, out, bias=True),
        ]
    positions = config.integer("num_position_embeddings", default=2304) * h if new else 0
    vectors = positions + h * (1 if gated else 2) + 2 * merge * h * (mergers - 1)
    return Tower(
        "vision", h, stack([layer("vision encoder", spec)] * config.integer("depth")), tuple(extras), vectors
    )


def moon_tower(config: Config) -> Tower:
    """A grid of positions and a last norm; older files write the sizes with a prefix."""
    h = config.integer("hidden_size", "vt_hidden_size")
    spec = Layer(
        h, heads_of(config, h, "num_attention_heads", "vt_num_attention_heads"),
        config.integer("intermediate_size", "vt_intermediate_size"), rope=True,
    )  # fmt: skip
    height = config.integer("pos_emb_height", "init_pos_emb_height", default=64)
    width = config.integer("pos_emb_width", "init_pos_emb_width", default=64)
    layers = config.integer("num_hidden_layers", "vt_num_hidden_layers")
    patch = patch_embedding(config.with_values(hidden_size=h), bias=True)
    blocks = stack([layer("vision encoder", spec)] * layers)
    return Tower("vision", h, blocks, (patch,), h * (height * width + 2))


def _merging(_config: Config, vision: int, text: int) -> tuple[tuple[Matmul, ...], int]:
    wide = 4 * vision
    matmuls = (_matmul("projector_1", wide, wide, bias=True), _matmul("projector_2", wide, text, bias=True))
    return matmuls, 2 * vision


TOWERS_HERE: dict[str, Callable[[Config], Tower]] = TOWERS | {
    "moonvit": moon_tower,
    "qwen2_vl": lambda config: qwen_tower(config, generation=2),
    "qwen2_5_vl": lambda config: qwen_tower(config, generation=25),
    "qwen3_vl": lambda config: qwen_tower(config, generation=3),
}

_LLAMA_SIZES = (
    ("hidden_size", 4096), ("intermediate_size", 11008), ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
)  # fmt: skip
_GEMMA3_SIZES = (("num_attention_heads", 8), ("num_key_value_heads", 4), ("vocab_size", 262208))
VISION_LANGUAGE: dict[str, VisionLanguage] = {
    "llava": VisionLanguage("llama", "clip_vision_model", _two_layers, tied=False, text_sizes=_LLAMA_SIZES),
    "gemma3": VisionLanguage("gemma3_text", "siglip_vision_model", _normed_matmul, text_sizes=_GEMMA3_SIZES),
    "paligemma": VisionLanguage("gemma", "siglip_vision_model", _matmul_to_text),
    "mistral3": VisionLanguage("mistral", "pixtral", _merged),
    "internvl": VisionLanguage("qwen2", "internvl_vision", _shuffled),
    "llama4": VisionLanguage("llama4_text", "llama4_vision_model", _from_adapter),
    "kimi_k25": VisionLanguage("deepseek_v3", "moonvit", _merging),
    "qwen2_vl": VisionLanguage("qwen2", "qwen2_vl", _no_projector),
    "qwen2_5_vl": VisionLanguage("qwen2", "qwen2_5_vl", _no_projector),
    "qwen3_vl": VisionLanguage("qwen3", "qwen3_vl", _no_projector),
    "qwen3_vl_moe": VisionLanguage("qwen3_moe", "qwen3_vl", _no_projector),
    "qwen3_5": VisionLanguage("qwen3_5_text", "qwen3_vl", _no_projector),
    "qwen3_5_moe": VisionLanguage("qwen3_5_moe_text", "qwen3_vl", _no_projector),
}
# Types that the nested configs of a family name, and what they are here.
ALIASES = {
    "kimi_k25_vision": "moonvit",
    "qwen2_vl_text": "qwen2", "qwen2_5_vl_text": "qwen2", "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_vl_vision": "qwen3_vl", "qwen3_vl_moe": "qwen3_vl", "qwen3_vl_moe_vision": "qwen3_vl",
    "qwen3_5_vision": "qwen3_vl", "qwen3_5": "qwen3_vl", "qwen3_5_moe_vision": "qwen3_vl",
    "qwen3_5_moe": "qwen3_vl", "qwen2_vl_vision": "qwen2_vl", "qwen2_5_vl_vision": "qwen2_5_vl",
}  # fmt: skip


def text_config(config: Config, record: VisionLanguage) -> Config:
    """The decoder's own config; older files have its keys beside those of the whole."""
    inner = (
        config.child("text_config") if config.has("text_config") else config.with_values(vision_config=None)
    )
    kind = inner.text("model_type") if config.has("text_config") else record.text
    tied = {key.where: key.values.get("tie_word_embeddings") for key in (config, inner)}
    if len({value for value in tied.values() if value is not None}) > 1:
        raise ArchitectureError(
            "tie_word_embeddings",
            f"{tied[config.where]} contradicts {inner.at('tie_word_embeddings')} {tied[inner.where]}",
        )
    flag = next((value for value in tied.values() if value is not None), record.tied)
    of_class = dict(left_out(config, record))
    return inner.with_values(
        **of_class, model_type=ALIASES.get(kind, kind) or record.text, tie_word_embeddings=flag
    )


def left_out(config: Config, record: VisionLanguage) -> list[tuple[str, int]]:
    """Sizes of the text's class that stand for keys which the file leaves out."""
    if not config.has("text_config"):
        return []
    inner = config.child("text_config")
    named = inner.text("model_type", record.text) == record.text
    return [(key, size) for key, size in record.text_sizes if named and not inner.has(key)]


def with_tower(text: Architecture, config: Config, record: VisionLanguage) -> Architecture:
    """The decoder with its image tower and projector, which only image tokens meet."""
    inner = config.child("vision_config") if config.has("vision_config") else Config({}, "vision_config")
    named = inner.text("model_type", record.vision)
    kind = ALIASES.get(named, named)
    if kind not in TOWERS_HERE:
        raise ArchitectureError(
            inner.at("model_type"), f'"{named}" is not counted; known: {", ".join(sorted(TOWERS_HERE))}'
        )
    tower = TOWERS_HERE[kind](inner)
    matmuls, vectors = record.projector(config, tower.hidden, text.hidden)
    whole = replace(tower, extras=tower.extras + matmuls, vectors=tower.vectors + vectors)
    notes = [f"an image tower of {whole.parameters:,} parameters, which text tokens do not meet"]
    if not config.has("vision_config"):
        notes.append("no vision_config is given: the image tower has the default sizes of its class")
    return replace(
        text, model_type=config.text("model_type"), towers=(whole,), notes=(*text.notes, *notes),
        name=config.text("_name_or_path") or text.name,
    )  # fmt: skip
