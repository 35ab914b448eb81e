"""The command `frontier`, part of the command `trainplan` (cli.py)."""

from pathlib import Path
from typing import Annotated

import typer

from solver.cli_catalog import Overlay
from solver.cli_print import Json, print_document

DONE, INFEASIBLE = 0, 3


def frontier(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="Requirements file (YAML).")],
    budget: Annotated[str | None, typer.Option(metavar="X", help='For limits.budget: "3M USD".')] = None,
    deadline: Annotated[str | None, typer.Option(metavar="X", help='For limits.deadline: "30 days".')] = None,
    energy: Annotated[bool, typer.Option("--energy", help="Energy as a third axis.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Drawn: .svg, .html (interactive), .png (matplotlib).")
    ] = None,
    catalog: Overlay = None,
    json: Json = False,
) -> None:
    """Find every trade-off of time and cost that no other plan beats."""
    from solver.question import understand
    from solver.report import frontier_report, write_frontier
    from solver.search.frontier import frontier_of

    given = {"limits.budget": budget, "limits.deadline": deadline, "catalog": catalog}
    stated = {field: value for field, value in given.items() if value is not None}
    found = frontier_of(understand(problem, stated), energy=energy)
    document = found.model_dump(mode="json")
    if plot:
        write_frontier(document, plot)
    print_document(document, frontier_report, json=json)
    raise typer.Exit(DONE if found.plans else INFEASIBLE)
