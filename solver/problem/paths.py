"""Paths of a requirements file: relative ones start at the folder of the file that states them."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo
from pydantic import WithJsonSchema as Json

from solver.model_words import is_folder
from solver.problem.quantities import name_of
from solver.units import shown


def resolve(text: str, info: ValidationInfo) -> Path:
    """Where a path of the file leads; one of a dict starts at the working directory. Raises ValueError."""
    context: dict[str, Any] = info.context or {}
    folder: Path = context.get("folder", Path())
    try:
        return folder / Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"{shown(text)} names no known home folder; write the whole path") from None


def _folder(value: object, info: ValidationInfo) -> Path:
    path = resolve(name_of(value), info)
    if not is_folder(path):
        raise ValueError(f"{shown(value)} is not a folder (looked for {path}); write the path of one")
    return path


Folder = Annotated[Path, PlainValidator(_folder), Json({"type": "string", "examples": ["./my-prices"]})]
