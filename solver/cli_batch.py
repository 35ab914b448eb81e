"""The commands `batch` and `batch-table`, part of the command `trainplan` (cli.py)."""

import gc
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from solver.errors import Fault, InputError, writing
from solver.model_words import is_folder

DONE, SOME_FAILED, INTERRUPTED = 0, 1, 130


class Engine(StrEnum):
    """Where the variants of a batch are answered."""

    LOCAL = "local"
    RAY = "ray"


def batch(
    problems: Annotated[
        list[str], typer.Argument(metavar="PROBLEM...", help="Requirements files, folders of them, globs.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="RESULTS", help="Results: .jsonl; .csv or .parquet beside it."),
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=V1,V2", help='A grid: "limits.deadline=30 days,60 days".'),
    ] = None,
    sweep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Variants as YAML: grid, zip, list.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10_000, help="Variants at a time; one a core.")
    ] = None,
    engine: Annotated[Engine, typer.Option(help="This machine, or a Ray cluster.")] = Engine.LOCAL,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Of the Ray cluster; none: one is started.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with RESULTS.")] = False,
    top: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Plans of a variant.")] = 5,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="The summary as a page.")] = None,
) -> None:
    """Answer many variants of problems, as fast as the cores allow."""
    from solver.batches import Run, Seats, variants_of
    from solver.report import progress

    gc.enable()  # of hours of work something may be left over
    expansion = variants_of(problems, sets or (), sweep, top)
    if expansion.repeated:
        sys.stderr.write(f"{expansion.repeated:,} variants stand twice; each is answered once\n")
    if html:
        _folder(html)
    made = _missing(out)
    run = Run(expansion.variants, out, resume=resume)
    sys.stderr.write(made)
    with progress(len(expansion.variants), len(expansion.variants) - len(run.todo)) as tell:
        for line in run.lines(Seats(jobs, engine.value, address)):
            tell(line)
    failed = _summary([variant.id for variant in expansion.variants], run.records, html)
    if run.left:
        again = shlex.join(["trainplan", *(a for a in sys.argv[1:] if a != "--resume"), "--resume"])
        sys.stderr.write(f"{run.left:,} variants are left; go on with: {again}\n")
    raise typer.Exit(INTERRUPTED if run.left else SOME_FAILED if failed else DONE)


def _summary(ids: list[str], results: Path, html: Path | None) -> bool:
    """Tells what became of the variants; whether any failed."""
    from solver.batches import records
    from solver.report import batch_page, batch_report, row_of, show

    place = {name: number for number, name in enumerate(ids)}
    found = {place[r["id"]]: row_of(r) for r in records(results) if r["id"] in place}
    rows = [row for _, row in sorted(found.items())]
    show(batch_report(rows, str(results)))
    if html:
        with writing(html):
            html.write_text(batch_page(rows, str(results)), "utf-8")
    return any(row.status == "error" for row in rows)


def _folder(file: Path) -> None:
    """Makes the folder of a page before hours of work go into it."""
    made = _missing(file)
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir():
        raise InputError(str(file), [Fault("", "is a folder; name a file")])
    sys.stderr.write(made)


def _missing(file: Path) -> str:
    """What is told of a folder that is about to be made."""
    return "" if is_folder(file.parent) else f"{file.parent} did not exist; the folder is made\n"


def batch_table(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Records of a batch (.jsonl).")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="What to write: .csv or .parquet.")],
) -> None:
    """Write the plans of a batch as a flat table, one row a plan."""
    from solver.batches import write_table

    count = write_table(results, table)
    sys.stderr.write(f"{count:,} plans in {table}\n")
