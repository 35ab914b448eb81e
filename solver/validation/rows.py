"""A published run as a row of a runs file: typed, nothing resolved yet."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from solver.errors import Fault, InputError

NEEDED = ("id", "device", "framework", "precision", "step_time_s")


@dataclass(frozen=True)
class Row:
    """One run; `cells` are its texts by column, empty where unknown."""

    cells: dict[str, str]

    @property
    def id(self) -> str:
        return self.cells["id"]

    def text(self, column: str) -> str:
        return (self.cells.get(column) or "").strip()

    def number(self, column: str) -> float | None:
        """None where the cell is empty or no number."""
        try:
            return float(self.text(column))
        except ValueError:
            return None

    def integer(self, column: str, default: int = 1) -> int:
        value = self.number(column)
        return default if value is None else round(value)

    @property
    def date(self) -> str:
        """The first date of the cell: 2024, 2024-04 or 2024-04-22; of no cell: the empty text."""
        found = re.match(r"\d{4}(-(0[1-9]|1[0-2])(-\d\d)?)?(?!\d)", self.text("date"))
        return found.group() if found else ""

    @property
    def missing(self) -> list[str]:
        """Columns without which a run cannot be laid out."""
        needed = ("layers", "hidden", "heads", "vocab", "seq_len", "devices", "tp", "pp", "dp", "micro_batch")
        found = [name for name in (*needed, "global_batch_seq") if not self.number(name)]
        return found + [name for name in ("device", "precision", "framework") if not self.text(name)]


def read(path: str | Path) -> list[Row]:
    """Raises InputError."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [Row({k: v or "" for k, v in cells.items() if k}) for cells in reader]
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(str(path), [Fault("", f"could not be read: {error}")]) from None
    if missing := [name for name in NEEDED if name not in columns]:
        told = (
            f"the columns {', '.join(missing)} are missing; a runs file has those of catalogs/runs/README.md"
        )
        raise InputError(str(path), [Fault("", told)])
    return rows
