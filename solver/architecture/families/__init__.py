"""Families of models: how the keys of a config become blocks."""

from collections.abc import Callable
from functools import partial

from solver.architecture.blocks import Architecture
from solver.architecture.config import Config
from solver.architecture.families import quirks
from solver.architecture.families.decoder import decoder
from solver.architecture.families.table import DECODERS

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
}
