"""From the config.json of a model hub to an architecture."""

from collections.abc import Mapping

from solver.architecture.blocks import Architecture
from solver.architecture.config import ArchitectureError, Config
from solver.architecture.families import FAMILIES


def from_hf(values: Mapping[str, object]) -> Architecture:
    """The architecture that a hub config describes; raises ArchitectureError for what cannot be counted."""
    config = Config(values)
    model_type = config.text("model_type")
    family = FAMILIES.get(model_type)
    if family is None:
        known = ", ".join(sorted(FAMILIES))
        raise ArchitectureError("model_type", f'"{model_type}" is refused, never guessed; known: {known}')
    return family(config)
