"""Data runs one way, and so do the imports: every arrow points down, and there are no circles."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "solver"

# Rooms and files from the bottom up: each may import from its own line and from those before it.
LEVELS = (
    ("errors", "units", "plan", "answer"),
    ("yaml_values", "yaml_file", "record_files", "model_words"),
    ("catalog", "architecture", "problem"),
    ("layout", "rules", "models", "globs"),
    ("physics",),
    ("pool",),
    ("estimate", "pricing", "jobs"),
    ("question", "present"),
    ("stated", "sizing"),
    ("evaluation",),
    ("search",),
    ("validation", "batches", "fitting", "comparing"),
    ("report",),
    ("cli_print",),
    ("cli_batch", "cli_validate", "cli_fit", "cli_frontier", "cli_catalog", "cli_compare"),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: height for height, names in enumerate(LEVELS) for name in names}
FACADE = "solver"  # __init__.py: load, solve and evaluate import their rooms when they are called


def modules() -> dict[str, ast.Module]:
    """Every module of the package by its dotted name, read but not run."""
    return {
        ".".join((FACADE, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): ast.parse(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


MODULES = modules()


def room(module: str) -> str:
    return module.split(".")[1]


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Modules of the package that the import statements name."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in names}
    return found & MODULES.keys()


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements that run when the module is imported: neither functions nor what only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from at_import(node)


def test_every_room_has_its_level() -> None:
    assert {room(module) for module in MODULES if module != FACADE} == LEVEL.keys()


@pytest.mark.parametrize("module", sorted(MODULES.keys() - {FACADE}))
def test_imports_point_down(module: str) -> None:
    inside = imported(ast.walk(MODULES[module])) - {FACADE}
    upward = {other for other in inside if LEVEL[room(other)] > LEVEL[room(module)]}
    assert not upward


def test_there_are_no_circles() -> None:
    arrows = {name: imported(at_import(tree)) - {name} for name, tree in MODULES.items()}
    while leaves := {name for name, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {name: targets for name, targets in arrows.items() if name not in leaves}
    assert not arrows


def test_rooms_of_a_level_do_not_import_each_other_in_circles() -> None:
    arrows: dict[str, set[str]] = {name: set() for name in LEVEL}
    for module, tree in MODULES.items():
        if module != FACADE:
            inside = {room(other) for other in imported(ast.walk(tree)) - {FACADE}}
            arrows[room(module)] |= inside - {room(module)}
    while leaves := {name for name, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {name: targets for name, targets in arrows.items() if name not in leaves}
    assert not arrows
