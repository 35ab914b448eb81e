"""The command `validate`, part of the command `trainplan` (cli.py)."""

from pathlib import Path
from typing import Annotated

import typer

from solver.cli_print import Json, print_document
from solver.errors import Fault, InputError


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
        _write(markdown, accuracy_page(document, runs.name))
    if bands:
        _write(bands, bands_text(bands_of(report, load())))
    print_document(document, validation_report, json=json)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(str(file), [Fault("", f"could not be written: {error.strerror}")]) from None
