"""What a text that stands for a model is: a size (7B), the path of a config.json, or an id of the catalog."""

import re
from pathlib import Path

_SIZE = re.compile(r"[\d.]+ ?[kKmMbBtT]")
_PATH = re.compile(r"[/\\]|\.json$")


def is_size(text: str) -> bool:
    return _SIZE.fullmatch(text.strip()) is not None


def is_path(text: str) -> bool:
    return _PATH.search(text.strip()) is not None


def config_file(path: Path) -> Path:
    """Where the config.json stands that a path means: a folder means the one in it."""
    return path / "config.json" if is_folder(path) else path


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
