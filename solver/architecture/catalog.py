"""From a record of catalogs/models/ to an architecture."""

from collections.abc import Mapping
from dataclasses import replace

from solver.architecture.blocks import Architecture
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.hf import from_hf
from solver.architecture.inline import from_inline


def from_catalog(record: Mapping[str, object]) -> Architecture:
    """The architecture of a record that holds `config` (keys of a hub config) or `inline` fields."""
    fields = Config(record)
    if fields.has("config") == fields.has("inline"):
        raise ArchitectureError("config", "a model record holds either `config` or `inline`, and not both")
    if fields.has("inline"):
        architecture = from_inline(fields.child("inline").values)
    else:
        architecture = from_hf(fields.child("config").values)
    return replace(architecture, name=fields.text("id") or fields.text("name") or architecture.name)
