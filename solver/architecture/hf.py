"""From the config.json of a model hub to an architecture."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from solver.architecture.blocks import Architecture, Block, Matmul, Shard
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families import FAMILIES
from solver.architecture.families.multimodal import VISION_LANGUAGE, left_out, text_config, with_tower
from solver.architecture.parts import join, norm

# Formats that models are trained or published in natively; the count is that of the matrices before packing.
_NATIVE_FORMATS = ("fp8", "mxfp4", "modelopt", "compressed-tensors")


class Options(NamedTuple):
    """How to read a config.

    text_only          leave out the image tower of a vision-language model
    prediction_layers  count so many multi-token-prediction layers too, of a family that has them
    assume             take this family for a model_type that is unknown
    """

    text_only: bool = False
    prediction_layers: int = 0
    assume: str = ""


def from_hf(values: Mapping[str, object], options: Options = Options()) -> Architecture:  # noqa: B008
    """The architecture that a hub config describes; raises ArchitectureError for what cannot be counted."""
    config = Config(values)
    _refuse_no_model(config)
    if options.assume:
        config = config.with_values(model_type=options.assume)
    notes: list[str] = []
    record = VISION_LANGUAGE.get(config.text("model_type"))
    if record is None:
        architecture = _counted(config)
    else:
        config_of_text = text_config(config, record)
        architecture = _counted(config_of_text)
        notes += [
            f"text_config leaves out {key}: {size}, as in its class" for key, size in left_out(config, record)
        ]
        if not options.text_only:
            architecture = with_tower(architecture, config, record)
        config = config_of_text
    if options.prediction_layers:
        architecture = _with_prediction_layers(architecture, config, options.prediction_layers)
    if options.assume:
        notes.append(f"counted as {options.assume}, as asked for")
    return replace(architecture, notes=(*architecture.notes, *_format_note(Config(values)), *notes))


def known_families() -> list[str]:
    return sorted({*FAMILIES, *VISION_LANGUAGE})


def _counted(config: Config) -> Architecture:
    model_type = config.text("model_type")
    if model_type not in FAMILIES:
        given = f'"{model_type}" is' if model_type else "is missing:"
        known = ", ".join(known_families())
        raise ArchitectureError(config.at("model_type"), f"{given} refused, never guessed; known: {known}")
    return FAMILIES[model_type](config)


def _refuse_no_model(config: Config) -> None:
    if config.has("peft_type"):
        raise ArchitectureError("peft_type", "this is the config of an adapter; give that of the base model")
    if not config.has("quantization_config"):
        return
    quantized = config.child("quantization_config")
    method = quantized.text("quant_method") or quantized.text("quant_algo").lower()
    if method not in _NATIVE_FORMATS:
        raise ArchitectureError(
            "quantization_config.quant_method",
            f'"{method}" is a quantized copy, which is not what is trained; '
            "give the config of the original model",
        )


def _format_note(config: Config) -> tuple[str, ...]:
    if not config.has("quantization_config"):
        return ()
    method = config.child("quantization_config").text("quant_method", "a quantized form")
    return (f"published in {method}: counted are the matrices before packing, without scales",)


def _with_prediction_layers(architecture: Architecture, config: Config, count: int) -> Architecture:
    """A matmul of state and next embedding, and a layer like the last: DeepSeek-V3, arXiv 2412.19437, 2.2."""
    stated = config.integer(
        "num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers", default=0, least=0
    )
    if not stated:
        raise ArchitectureError(
            config.at("num_nextn_predict_layers"),
            "is missing; the config has no multi-token-prediction layers",
        )
    last, h = architecture.blocks[-1][0], architecture.hidden
    joined = Matmul("join_next", 2 * h, h, Shard.REPLICATED, "state_and_next", saves=True)
    around = join("", h, norm("norm_state", h), norm("norm_next", h), norm("norm_head", h))
    layer = replace(
        last, name=f"prediction, {last.name}", matmuls=(joined, *last.matmuls),
        pointwise=around.pointwise + last.pointwise, vectors=around.vectors + last.vectors,
    )  # fmt: skip
    blocks: tuple[tuple[Block, int], ...] = (*architecture.blocks, (layer, count))
    told = f"multi-token-prediction layers counted, as asked for: {count}; the config has {stated}"
    notes = (*architecture.notes, told)
    return replace(architecture, blocks=blocks, head_passes=1 + count, notes=notes)
