"""Rules of the house that no linter knows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from solver.catalog import load

SOURCE = Path(__file__).parents[1] / "solver"
FAMILIES = SOURCE / "architecture" / "families"  # the one list of families: HF's own names for them
LONGEST_FILE = 300
FILES = sorted(SOURCE.rglob("*.py"))


def literals(tree: ast.Module) -> Iterator[str]:
    """String literals that are no docstrings."""
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


@pytest.fixture(scope="module")
def ids() -> set[str]:
    """Every id of the catalog."""
    known = load()
    devices_and_links = {*known.devices, *known.machines, *known.fabrics}
    return devices_and_links | {*known.providers, *known.models, *known.frameworks}


@pytest.mark.parametrize(
    "path", [p for p in FILES if FAMILIES not in p.parents], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_no_id_of_the_catalog_stands_in_the_code(path: Path, ids: set[str]) -> None:
    texts = set(literals(ast.parse(path.read_text("utf-8"))))
    words = {word for text in texts for word in re.split(r"[^\w.:-]+", text)}
    assert not texts & ids
    assert not words & {name for name in ids if not name.isalpha()}  # some providers are called as words are


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_can_be_read_in_a_minute(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST_FILE
