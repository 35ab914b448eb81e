"""Every command, argument and option: adding one is a decision, taken here and in README."""

from pathlib import Path

import pytest
import typer

from solver.cli import app

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
PARAMETERS = {
    "solve": [
        "PROBLEM", "--budget", "--deadline", "--top", "--distinct", "--time-limit", "--catalog", "--json"
    ],
    "evaluate": ["RUN", "--json"],
    "frontier": [
        "PROBLEM", "--budget", "--deadline", "--energy", "--plot", "--catalog", "--json"
    ],
    "validate": ["RUNS", "--plot", "--markdown", "--bands", "--json"],
    "batch": [
        "PROBLEM...", "--out", "--set", "--sweep", "--jobs", "--engine", "--address", "--resume", "--top",
        "--html",
    ],
    "batch-table": ["RESULTS", "TABLE"],
    "fit": [
        "MODEL", "--device", "--sequence-length", "--global-batch", "--precision", "--optimizer",
        "--framework", "--catalog", "--json",
    ],
    "compare": ["PROBLEM", "--by", "--from", "--catalog", "--json"],
    "model": ["MODEL", "--sequence-length", "--text-only", "--prediction-layers", "--assume", "--json"],
    "catalog": ["RECORDS", "[NAME]...", "--filter", "--catalog", "--json"],
    "schema": [],
}  # fmt: skip
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group has commands


def name_of(parameter: object) -> str:
    """As a user writes it."""
    options = [o for o in getattr(parameter, "opts", []) if o.startswith("--")]
    return options[0] if options else str(getattr(parameter, "metavar", None) or parameter.name).upper()  # type: ignore[attr-defined]


def test_the_commands_are_these() -> None:
    assert list(COMMANDS) == list(PARAMETERS)


@pytest.mark.parametrize("command", PARAMETERS)
def test_a_command_takes_these_and_no_others(command: str) -> None:
    assert [name_of(parameter) for parameter in COMMANDS[command].params] == PARAMETERS[command]


@pytest.mark.parametrize("command", PARAMETERS)
def test_a_command_and_its_parameters_have_help(command: str) -> None:
    assert COMMANDS[command].help
    assert all(parameter.help for parameter in COMMANDS[command].params)


@pytest.mark.parametrize("command", PARAMETERS)
def test_readme_tells_of_a_command(command: str) -> None:
    arguments = [name for name in PARAMETERS[command] if not name.startswith("--")]
    assert f"| `{' '.join(['trainplan', command, *arguments])}` |" in README


@pytest.mark.parametrize("option", [name for name in PARAMETERS["solve"] if name.startswith("--")])
def test_readme_tells_of_an_option_of_solve(option: str) -> None:
    assert f"`{option}`" in README
