"""What a model is made of: from a hub config, inline fields, a catalog record or a bare size."""

from solver.architecture.blocks import Architecture
from solver.architecture.catalog import from_catalog
from solver.architecture.config import ArchitectureError
from solver.architecture.hf import Options, from_hf
from solver.architecture.inline import from_inline
from solver.architecture.size import from_size

__all__ = [
    "Architecture",
    "ArchitectureError",
    "Options",
    "from_catalog",
    "from_hf",
    "from_inline",
    "from_size",
]
