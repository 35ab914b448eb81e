"""From a record of catalogs/models/ to an architecture."""

from collections.abc import Mapping
from dataclasses import replace

from solver.architecture.blocks import Architecture
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.hf import Options, from_hf
from solver.architecture.inline import from_inline


def from_catalog(
    record: Mapping[str, object],
    options: Options = Options(),  # noqa: B008
) -> Architecture:
    """The architecture of a record that holds `config` (keys of a hub config) or `inline` fields."""
    fields = Config(record)
    if fields.has("config") == fields.has("inline"):
        raise ArchitectureError("config", "a model record holds either `config` or `inline`, and not both")
    if fields.has("inline"):
        refuse_without_config(options)
        architecture = from_inline(fields.child("inline").values)
    else:
        architecture = from_hf(fields.child("config").values, options)
    return replace(architecture, name=fields.text("id") or fields.text("name") or architecture.name)


def refuse_without_config(options: Options) -> None:
    """Of a model without a hub config nothing can be read in another way."""
    if options.assume:
        message = f"{options.assume} can be assumed of a config.json only"
        raise ArchitectureError("model_type", message)
    if options.prediction_layers:
        message = "is asked for, but only a config.json can state multi-token-prediction layers"
        raise ArchitectureError("num_nextn_predict_layers", message)
