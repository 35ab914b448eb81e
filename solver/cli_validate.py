"""The command `validate`, part of the command `trainplan` (cli.py)."""

from pathlib import Path
from typing import Annotated

import typer

from solver.cli_print import Json, print_document
from solver.errors import writing


def validate(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="Published runs (CSV).")],
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Predicted over measured: .svg, or .png (matplotlib).")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The tables as a document (.md).")
    ] = None,
    bands: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Error bands for plans, as catalogs/accuracy.csv.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare predicted with measured runs, row by row and in sum."""
    from solver.catalog import load
    from solver.report import accuracy_page, validation_report, write_scatter
    from solver.validation import bands_of, bands_text, validate

    report = validate(runs)
    document = report.model_dump(mode="json")
    if plot:
        write_scatter(document, plot)
    if markdown:
        with writing(markdown):
            markdown.write_text(accuracy_page(document, runs.name), "utf-8")
    if bands:
        with writing(bands):
            bands.write_text(bands_text(bands_of(report, load())), "utf-8")
    print_document(document, validation_report, json=json)
