"""The command `fit`, part of the command `trainplan` (cli.py)."""

from pathlib import Path
from typing import Annotated

import typer

from solver.cli_print import Json, print_document

DONE, NOTHING_FITS = 0, 3


def fit(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Id of the catalog, path to a config.json, or a size: 7B.")
    ],
    device: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help='Devices to look at: "h100*"; may be repeated.')
    ] = None,
    sequence_length: Annotated[
        str | None, typer.Option(metavar="N", help="Tokens of a sequence; 8,192 where left out.")
    ] = None,
    global_batch: Annotated[
        str | None, typer.Option(metavar="X", help='Of one step: "1024 sequences"; 480 where left out.')
    ] = None,
    precision: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="bf16 where left out; may be repeated.")
    ] = None,
    optimizer: Annotated[str | None, typer.Option(metavar="NAME", help="adamw where left out.")] = None,
    framework: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="All where left out; may be repeated.")
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", metavar="DIR", help="Folder of records to lay over the catalog."),
    ] = None,
    json: Json = False,
) -> None:
    """Tell how few of a device hold a model in training, and what makes it fit on fewer."""
    from solver.fitting import Wanted
    from solver.fitting import fit as fit_model
    from solver.report import fit_report

    wanted = Wanted(
        model=model,
        devices=device or (),
        sequence_length=sequence_length,
        global_batch=global_batch,
        precision=precision or (),
        optimizer=optimizer,
        frameworks=framework or (),
        catalog=catalog,
    )
    answer = fit_model(wanted)
    print_document(answer.model_dump(mode="json"), fit_report, json=json)
    fits = any(found.options for found in answer.devices)
    raise typer.Exit(DONE if fits else NOTHING_FITS)
