"""The command `catalog`, part of the command `trainplan` (cli.py)."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from solver.cli_print import Json, print_document
from solver.errors import Fault, InputError


class Records(StrEnum):
    """What the catalog lists; the check of its rules; the difference of two catalogs."""

    DEVICES = "devices"
    MACHINES = "machines"
    FABRICS = "fabrics"
    OFFERINGS = "offerings"
    MODELS = "models"
    FRAMEWORKS = "frameworks"
    PROVIDERS = "providers"
    STACKS = "stacks"
    MIGRATIONS = "migrations"
    SOURCES = "sources"
    CHECK = "check"
    DIFF = "diff"


Overlay = Annotated[
    Path | None, typer.Option("--catalog", metavar="DIR", help="Folder of records to lay over the catalog.")
]
TAKES = {Records.CHECK: (0, 0), Records.DIFF: (1, 2)}  # how many names follow; of a kind of records: 0 or 1


def catalog(
    records: Annotated[Records, typer.Argument(help="What to list; or check the rules; or diff two.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Id of one record to show; for diff: OLD [NEW], folders."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="GLOB", help='Ids that match, "h100*", or a field: "device=h100*".'),
    ] = None,
    overlay: Overlay = None,
    json: Json = False,
) -> None:
    """List, filter, show, check or compare records of the catalog."""
    from solver.catalog import filtered, listing, load, one
    from solver.report import catalog_report, record_report

    named = names or []
    least, most = TAKES.get(records, (0, 1))
    if not least <= len(named) <= most:
        raise InputError("trainplan", [Fault("", f"catalog {records.value} takes {least} to {most} names")])
    if records is Records.DIFF:
        _difference(named, json=json)
    elif records is Records.CHECK:
        _check(overlay, json=json)
    elif named:
        record = one(load(overlay), records.value, named[0])
        print_document(record, lambda shown: record_report(records.value, shown), json=json)
    else:
        listed = filtered(listing(load(overlay), records.value), filters or [])
        print_document(listed, lambda rows: catalog_report(records.value, rows), json=json)


def _check(overlay: Path | None, *, json: bool) -> None:
    from solver.catalog import check, listing, load
    from solver.report import check_report

    found = load(overlay)
    if broken := check(found):
        raise InputError(str(overlay or "catalog"), [_fault(sentence) for sentence in broken])
    kinds = [kind.value for kind in Records if kind not in TAKES]
    counts = {kind: len(listing(found, kind)) for kind in kinds}
    document = {"faults": [], "date": found.date, "hash": found.hash, "records": counts}
    print_document(document, check_report, json=json)


def _fault(sentence: str) -> Fault:
    """A sentence of `check`, told as "record: field: message"."""
    record, field, message = sentence.split(": ", 2)
    return Fault(f"{record}: {field}", message)


def _difference(names: list[str], *, json: bool) -> None:
    """Of two folders, or of the built-in catalog and one."""
    from solver.catalog import BUILT_IN, difference, read
    from solver.report import difference_report

    old, new = names if len(names) > 1 else [BUILT_IN, *names]
    print_document(difference(read(old), read(new)), difference_report, json=json)
