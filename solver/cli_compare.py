"""The command `compare`, part of the command `trainplan` (cli.py)."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from solver.cli_catalog import Overlay
from solver.cli_print import Json, print_document

DONE, INFEASIBLE = 0, 3


class By(StrEnum):
    """What is set side by side."""

    DEVICE = "device"
    FAMILY = "family"
    PROVIDER = "provider"


def compare(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="Requirements file (YAML).")],
    by: Annotated[By, typer.Option(help="What is set side by side.")] = By.DEVICE,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="STACK", help="Stack that your code runs on; see `catalog stacks`."),
    ] = None,
    catalog: Overlay = None,
    json: Json = False,
) -> None:
    """Set the best plan of each device side by side, with what would make it win."""
    from solver.comparing import compare_problem
    from solver.question import understand
    from solver.report import comparison_report

    stated = {} if catalog is None else {"catalog": catalog}
    found = compare_problem(understand(problem, stated), by.value, start)
    print_document(found.model_dump(mode="json"), comparison_report, json=json)
    raise typer.Exit(DONE if found.groups and found.groups[0].plan else INFEASIBLE)
