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
SHORTEST_STEM, LONGEST_NAME = 3, 60  # characters that say which name is meant
NEAR_BEGIN = 0.75  # likeness of the beginning of a name: lama is llama, zebra is nothing


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
    except OSError:
        raise InputError(
            "", [Fault("model", f"{path} cannot be read; check its name and permissions")]
        ) from None
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        told = f"{path} is no config.json: it does not hold JSON{where}"
        raise InputError("", [Fault("model", told)]) from None
    if not isinstance(config, dict):
        raise InputError("", [Fault("model", f"{path} is no config.json: it holds no fields")])
    return config


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence: the known name that is most like it; nothing where none is near."""
    stem, names = name.strip("*")[:LONGEST_NAME], list(known)
    begins = {other[: len(stem) + 1]: other for other in sorted(names, key=len, reverse=True)}
    begun = get_close_matches(stem, begins, n=1, cutoff=NEAR_BEGIN) if len(stem) >= SHORTEST_STEM else []
    close = get_close_matches(stem, names, n=1) or [begins[begin] for begin in begun]
    return f'; the nearest is "{close[0]}"' if close else ""
