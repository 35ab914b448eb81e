"""Which layers slide, which attend to all, and which have experts."""

from typing import NamedTuple

from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families.record import Decoder, Moe
from solver.architecture.parts import Kind


class Span(NamedTuple):
    """What the queries of a layer see."""

    kind: Kind = "full"
    keys: int = 0
    rope: bool = True
    indexer: bool = False


FULL = Span()


def layer_types(config: Config, layers: int, key: str = "layer_types") -> list[str]:
    """The kinds of the layers by name; empty where the config does not list them."""
    given = config.items(key)
    if given and len(given) != layers:
        raise ArchitectureError(config.at(key), f"{len(given)} entries contradict num_hidden_layers {layers}")
    return [str(kind) for kind in given]


def spans(config: Config, record: Decoder, layers: int) -> list[Span]:
    """The span of every layer."""
    types = layer_types(config, layers)
    if record.latent and config.has("index_topk"):
        return [
            Span("sparse", config.integer("index_topk"), indexer=own) for own in _indexers(config, layers)
        ]
    if types and record.window != "none":
        return [_named(config, name) for name in types]
    return _by_family(config, record, layers)


def _by_family(config: Config, record: Decoder, layers: int) -> list[Span]:
    sliding = config.has("sliding_window")
    match record.window:
        case "all" if sliding:
            return [_window(config)] * layers
        case "switch" if sliding and config.flag("use_sliding_window", default=False):
            full = config.integer("max_window_layers", default=layers, least=0)
            return [FULL if i < full else _window(config) for i in range(layers)]
        case "pattern" if sliding:
            every = config.integer(
                "sliding_window_pattern", "_sliding_window_pattern", default=record.pattern
            )
            return [FULL if (i + 1) % every == 0 else _window(config) for i in range(layers)]
        case "chunk" if config.has("attention_chunk_size"):
            # why: the layers without rotary positions, each `pattern`-th, see everything.
            return [_full_without_rope(i, record.pattern) or _chunk(config) for i in range(layers)]
        case _:
            return [FULL] * layers


def _indexers(config: Config, layers: int) -> list[bool]:
    """Whether a layer scores the keys itself, or takes the best keys of an earlier layer."""
    types = layer_types(config, layers, "indexer_types")
    if types:
        return [name == "full" for name in types]
    every = config.integer("index_topk_freq", default=1)
    offset = config.integer("index_skip_topk_offset", default=2, least=0)
    return [max(i - offset + 1, 0) % every == 0 for i in range(layers)]


def _full_without_rope(layer: int, every: int) -> Span | None:
    return Span("full", 0, rope=False) if (layer + 1) % every == 0 else None


def _window(config: Config) -> Span:
    return Span("window", config.integer("sliding_window"))


def _chunk(config: Config) -> Span:
    return Span("chunk", config.integer("attention_chunk_size"))


def _named(config: Config, name: str) -> Span:
    match name:
        case "full_attention" | "global" | "attention":
            return FULL
        case "sliding_attention" | "local":
            return _window(config)
        case "chunked_attention":
            return _chunk(config)
        case _:
            raise ArchitectureError(
                config.at("layer_types"),
                f'"{name}" is no kind of attention that is counted; '
                "known: full_attention, sliding_attention, chunked_attention",
            )


def experts_where(config: Config, moe: Moe | None, layers: int) -> list[bool]:
    """Which layers have experts."""
    if moe is None:
        return [False] * layers
    types = layer_types(config, layers, "mlp_layer_types")
    if types:
        return [name == "sparse" for name in types]
    if config.items("moe_layers"):
        chosen = set(config.items("moe_layers"))
        return [i in chosen for i in range(layers)]
    return _by_rule(config, moe, layers)


def _by_rule(config: Config, moe: Moe, layers: int) -> list[bool]:
    match moe.layers:
        case "first_dense":
            first = config.integer("first_k_dense_replace", default=moe.default_first, least=0)
            every = config.integer("moe_layer_freq", default=1)
            return [i >= first and i % every == 0 for i in range(layers)]
        case "step":
            every = config.integer("decoder_sparse_step", default=moe.default_step)
            plain = set(config.items("mlp_only_layers"))
            return [i not in plain and (i + 1) % every == 0 for i in range(layers)]
        case "interleave":
            every = config.integer("interleave_moe_layer_step", default=moe.default_step)
            return [(i + 1) % every == 0 for i in range(layers)]
        case "start":
            first = config.integer("moe_layer_start_index", default=moe.default_first, least=0)
            last = config.integer("moe_layer_end_index", default=layers - 1, least=-1)
            last = layers - 1 if last < 0 else last
            every = config.integer("moe_layer_interval", default=1)
            return [first <= i <= last and (i + 1) % every == 0 for i in range(layers)]
        case _:
            return [True] * layers
