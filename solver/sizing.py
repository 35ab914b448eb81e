"""One model by itself, as `trainplan model` counts it: what is named, and how long its sequences are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from solver import units
from solver.architecture import Architecture, ArchitectureError, Options, from_hf, from_size
from solver.architecture.catalog import refuse_without_config
from solver.architecture.summary import ByteModel, Summary, summary
from solver.errors import Fault, InputError
from solver.model_words import config_file, is_file, is_path, is_size
from solver.models import absurd, of_catalog, read_config
from solver.physics.optimizers import OPTIMIZERS
from solver.record_files import parse, shipped_folder, texts

USUAL_SEQUENCE = 8192  # tokens; shorter where the model's positions end before


def size_of(
    model: str,
    sequence_length: int | None = None,
    options: Options = Options(),  # noqa: B008
) -> Summary:
    """The counts of a catalog id, of a config.json or of a bare size. Raises InputError."""
    try:
        architecture = _architecture(model, options)
    except ArchitectureError as error:
        raise InputError(model, [Fault(error.key, error.message)]) from None
    if faults := absurd(architecture):
        raise InputError(model, faults)
    longest = architecture.max_sequence or USUAL_SEQUENCE
    named = replace(architecture, name=architecture.name or model)
    told = summary(named, sequence_length or min(longest, USUAL_SEQUENCE), byte_models())
    return replace(told, optimizer_bytes_per_parameter=optimizer_bytes(architecture))


def optimizer_bytes(architecture: Architecture) -> dict[str, float]:
    """Of each optimizer's state, a parameter, on average over the model."""
    outside = architecture.embedding_parameters / architecture.total_parameters
    return {
        name: round(kind.matrices + (kind.outside - kind.matrices) * outside, 3)
        for name, kind in OPTIMIZERS.items()
    }


def _architecture(model: str, options: Options) -> Architecture:
    if is_size(model):
        refuse_without_config(options)
        architecture, note = from_size(_parameters(model))
        return replace(architecture, notes=(*architecture.notes, note))
    if not is_path(model):
        return of_catalog(model, _records("models"), options)
    path = config_file(Path(model))
    if not is_file(path):
        wanted = "give the id of a model of the catalog or the path of a config.json"
        raise InputError(
            model, [Fault("model", f"{units.shown(model)} is no file (looked for {path}); {wanted}")]
        )
    return from_hf(read_config(path), options)


def _parameters(model: str) -> float:
    try:
        return units.count(model)
    except ValueError as error:
        raise InputError(model, [Fault("", str(error))]) from None


def byte_models() -> list[ByteModel]:
    """The ways to hold a parameter, of the catalog that ships."""
    fields = ByteModel._fields
    ways = [
        ByteModel(**{name: record[name] for name in fields}) for record in _records("byte_models").values()
    ]
    return sorted(ways, key=lambda way: way.total)


def _records(kind: str) -> dict[str, dict[str, Any]]:
    """Records of one kind, of the catalog that ships: all of it would take ten times as long."""
    found = parse(texts(shipped_folder(), [kind])).records[kind]
    return {name: {"id": name} | fields for name, fields in sorted(found.items()) if fields is not None}
