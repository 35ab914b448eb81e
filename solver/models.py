"""From the name of a model to its architecture: a record of the catalog, or a config.json."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from solver.architecture import Architecture, Options, from_catalog
from solver.errors import Fault, InputError

Records = Mapping[str, Mapping[str, Any]]
MOST_PARAMETERS = 1e16


def of_catalog(name: str, records: Records, options: Options = Options()) -> Architecture:  # noqa: B008
    """The model of that id or alias. Raises InputError, ArchitectureError."""
    if faults := model_faults(name, records):
        raise InputError("", faults)
    return from_catalog(records[canonical(name, records)], options)


def canonical(name: str, records: Records) -> str:
    """The id of a model that may be called by an alias."""
    aliases = {alias: i for i, record in records.items() for alias in record.get("aliases", ())}
    return aliases.get(name, name)


def model_faults(name: str, records: Records) -> list[Fault]:
    if canonical(name, records) in records:
        return []
    return [Fault("model", f'"{name}" is no model of the catalog{nearest(name, records)}')]


def absurd(architecture: Architecture) -> list[Fault]:
    """Of a size that can only be a slip."""
    total = architecture.total_parameters
    told = f"{total:.3g} parameters are absurd; at most 1e16"
    return [Fault("model", told)] if total > MOST_PARAMETERS else []


def read_config(path: Path) -> Mapping[str, Any]:
    """The fields of a config.json. Raises InputError."""
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("", [Fault("model", f"{path} is no config.json: {error}")]) from None
    if not isinstance(config, dict):
        raise InputError("", [Fault("model", f"{path} is no config.json: it holds no fields")])
    return config


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence: the known name that is most like it."""
    close = get_close_matches(name.strip("*"), list(known), n=1, cutoff=0.3)
    return f'; the nearest is "{close[0]}"' if close else ""
