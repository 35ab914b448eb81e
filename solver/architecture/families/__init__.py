"""Families of models: how the keys of a config become blocks."""

from collections.abc import Callable
from functools import partial

from solver.architecture.blocks import Architecture
from solver.architecture.config import Config
from solver.architecture.families import encoder, encoder_decoder, hybrid, layerwise, quirks, vision, zamba
from solver.architecture.families.decoder import decoder
from solver.architecture.families.record import Moe
from solver.architecture.families.table import DECODERS

_QWEN_NEXT = Moe(
    layers="step", shared="width", shared_key="shared_expert_intermediate_size", shared_default=512,
    shared_gate=True,
)  # fmt: skip

# Every `model_type` that is counted.
FAMILIES: dict[str, Callable[[Config], Architecture]] = {
    **{name: partial(decoder, record=record) for name, record in DECODERS.items()},
    "falcon": quirks.falcon,
    "gpt_bigcode": quirks.gpt_bigcode,
    "gpt_neo": quirks.gpt_neo,
    "opt": quirks.opt,
    "stablelm": quirks.stablelm,
    "mpt": quirks.mpt,
    "dbrx": quirks.dbrx,
    "chatglm": quirks.chatglm,
    "qwen": quirks.qwen,
    "hunyuan_v1_moe": quirks.hunyuan_moe,
    "hunyuan": quirks.hunyuan_moe,
    "mamba": hybrid.mamba,
    "falcon_mamba": hybrid.mamba,
    "mamba2": hybrid.mamba2,
    "jamba": hybrid.jamba,
    "falcon_h1": hybrid.falcon_h1,
    "bamba": hybrid.bamba,
    "granitemoehybrid": hybrid.granite_hybrid,
    "qwen3_next": partial(hybrid.qwen_next, moe=_QWEN_NEXT),
    "qwen3_5_text": partial(hybrid.qwen_next, moe=None),
    "qwen3_5_moe_text": partial(hybrid.qwen_next, moe=_QWEN_NEXT),
    "minimax": hybrid.minimax,
    "minimax_text_01": hybrid.minimax,
    "zamba": zamba.zamba,
    "zamba2": zamba.zamba2,
    "nemotron_h": layerwise.nemotron_h,
    "nemotron-nas": layerwise.irregular,
    "deci": layerwise.irregular,
    "t5": encoder_decoder.t5,
    "mt5": encoder_decoder.t5,
    "umt5": partial(encoder_decoder.t5, bias_in_every_layer=True),
    "bart": encoder_decoder.bart,
    "bert": partial(encoder.bert, pooled=True),
    "roberta": partial(encoder.bert, pooled=False),
    "xlm-roberta": partial(encoder.bert, pooled=False),
    "modernbert": encoder.modern_bert,
    "vit": vision.vit,
    "clip": vision.clip,
    "siglip": vision.siglip,
}
