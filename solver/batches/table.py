"""Results as a flat table, one row a plan: CSV, or Parquet."""

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from solver.batches.journal import records
from solver.errors import Fault, InputError, writing

RECORDS = ".jsonl"
TABLES = (".csv", ".parquet")
BASE = ("id", "problem", "name", "status", "seconds")
UNKNOWN = "NULL"  # of a column that has no value yet
WIDTH = {UNKNOWN: 0, "BOOLEAN": 1, "BIGINT": 2, "DOUBLE": 3, "VARCHAR": 4}  # the widest value decides

Row = dict[str, Any]


def check_table(path: Path) -> None:
    """Whether a table of that name can be written. Raises InputError."""
    if path.suffix not in TABLES:
        raise InputError(str(path), [Fault("", f"must end in {RECORDS}, {' or '.join(TABLES)}")])
    if path.suffix == ".parquet":
        _duckdb()


def write_table(source: Path, table: Path) -> int:
    """Writes the plans of a file of records, all at once or not at all; how many. Raises InputError."""
    check_table(table)
    columns = _columns(source)
    text = table.with_name(f".{table.name}.csv")
    ready = table.with_name(f".{table.name}.new")
    with writing(table):
        count = _write_csv(text, list(columns), _rows(source))
        if table.suffix == ".parquet":
            _to_parquet(text, ready, columns)
            text.unlink()
        else:
            text.replace(ready)
        with ready.open("rb") as written:
            os.fsync(written.fileno())
        ready.replace(table)
    return count


def _rows(source: Path) -> Iterator[Row]:
    """A row for each plan."""
    for record in records(source):
        base = {name: record.get(name) for name in BASE}
        given = {f"set.{field}": text for field, text in record["set"].items()}
        for plan in record.get("answer", {}).get("plans", ()):
            yield base | given | dict(_flat("", plan))


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Fields within fields by their dotted names; lists as text."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _flat(f"{name}.{inner}" if name else inner, item)
    else:
        yield name, json.dumps(value) if isinstance(value, list) else value


def _columns(source: Path) -> dict[str, str]:
    """Every column with its type: those of the record, its settings, those of plans."""
    found = dict.fromkeys(BASE, "VARCHAR") | {"seconds": "DOUBLE"}
    given: dict[str, str] = {}
    plans: dict[str, str] = {}
    for row in _rows(source):
        for name, value in row.items():
            group = given if name.startswith("set.") else plans
            if name not in found:
                group[name] = max(group.get(name, UNKNOWN), _type(value), key=WIDTH.__getitem__)
    told = found | given | plans
    return {name: "VARCHAR" if kind == UNKNOWN else kind for name, kind in told.items()}


def _type(value: object) -> str:
    if value is None or isinstance(value, bool):
        return UNKNOWN if value is None else "BOOLEAN"
    return "BIGINT" if isinstance(value, int) else "DOUBLE" if isinstance(value, float) else "VARCHAR"


def _write_csv(path: Path, columns: list[str], rows: Iterator[Row]) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _to_parquet(text: Path, ready: Path, columns: Mapping[str, str]) -> None:
    types = json.dumps(dict(columns)).replace('"', "'").replace("\\'", "'")
    source, target = (str(path).replace("'", "''") for path in (text, ready))
    read = f"read_csv('{source}', header=true, auto_detect=false, quote='\"', escape='\"', columns={types})"
    with _duckdb().connect() as connection:
        connection.execute(f"COPY (SELECT * FROM {read}) TO '{target}' (FORMAT parquet)")


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        told = "Parquet needs duckdb; pip install 'trainplan[parquet]', or name a .csv"
        raise InputError("trainplan", [Fault("", told)]) from None
    return duckdb
