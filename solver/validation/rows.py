"""A published run as a row of a runs file: typed, nothing resolved yet."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from solver.errors import Fault, InputError
from solver.record_files import nearest
from solver.units import shown
from solver.yaml_file import read_bytes, unreadable

NEEDED = ("id", "device", "framework", "precision", "step_time_s")
COUNTS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn_hidden", "vocab", "seq_len", "experts",
    "experts_per_token", "moe_ffn_hidden", "shared_experts", "dense_layers", "nodes", "devices",
    "devices_per_node", "tp", "pp", "vpp", "cp", "ep", "dp", "micro_batch", "global_batch_seq", "gated_mlp",
    "tied_embeddings", "sequence_parallel",
)  # fmt: skip
NUMBERS = (
    *COUNTS, "params_total_b", "params_active_b", "step_time_s", "tokens_per_s_per_device",
    "model_tflops_per_device", "hw_tflops_per_device", "mfu_pct", "peak_mem_gib", "days", "device_hours",
    "tokens_b",
)  # fmt: skip
TEXTS = (
    "id", "source", "date", "model_name", "arch_key", "attn_type", "attention_kernel", "device", "network",
    "precision", "fsdp_or_zero_stage", "recompute", "framework", "notes", "source_kind", "task",
    "flops_convention", "commit", "step_time_basis", "completeness", "group", "split",
)  # fmt: skip
KNOWN = frozenset((*NUMBERS, *TEXTS))
LARGEST = 1e15  # no count or measurement of a run is beyond it
LARGEST_FILE = 1 << 26  # bytes: some 200,000 runs
MANUAL = "catalogs/runs/README.md"


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
    def source(self) -> str:
        """Whose runs these are: what the id begins with."""
        return self.id.split("-")[0]

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
    """Raises InputError with every fault."""
    data = read_bytes(Path(path), LARGEST_FILE)
    try:
        reader = csv.DictReader(StringIO(data.decode("utf-8-sig"), newline=""))
        cells = list(reader)
        columns = list(reader.fieldnames or [])
    except UnicodeDecodeError as error:
        raise InputError(str(path), [Fault("", unreadable(Path(path), error))]) from None
    except csv.Error as error:
        raise InputError(str(path), [Fault("", f"is not CSV: {error}")]) from None
    faults = list(_of_columns(columns)) or [fault for line in enumerate(cells, 2) for fault in _of_row(*line)]
    if not faults and not cells:
        faults = [Fault("", "holds no runs; below the line of columns there must be one line a run")]
    if faults:
        raise InputError(str(path), faults)
    return [Row({k: v or "" for k, v in row.items() if k}) for row in cells]


def _of_columns(columns: Sequence[str]) -> Iterator[Fault]:
    """Columns that are missing, stand twice, or are a slip; others of the user's own are not read."""
    if missing := [name for name in NEEDED if name not in columns]:
        told = f"the columns {', '.join(missing)} are missing; a runs file has those of {MANUAL}"
        yield Fault("", told if columns else f"is empty; a runs file has the columns of {MANUAL}")
    for name in dict.fromkeys(columns):
        if columns.count(name) > 1:
            yield Fault(f"column {shown(name)}", "stands twice; leave one")
        elif slip := _slip(name, columns):
            yield Fault(f"column {shown(name)}", f"is not known{slip} The columns are those of {MANUAL}")


def _slip(name: str, columns: Sequence[str]) -> str:
    """The question whether a known column was meant that the file does not have; else nothing."""
    if name in KNOWN:
        return ""
    near = nearest(name, sorted(KNOWN - set(columns)))
    return near if "did you mean" in near else ""


def _of_row(line: int, cells: dict[str | None, str | list[str] | None]) -> Iterator[Fault]:
    """Cells that no column names, and texts where numbers must stand."""
    name = f"line {line} ({shown(cells.get('id') or 'no id')})"
    if None in cells:
        yield Fault(name, "has more cells than there are columns; put texts with commas in quotes")
    if not cells.get("id"):
        yield Fault(name, 'needs an id, such as "source-001"')
    for column in NUMBERS:
        text = str(cells.get(column) or "").strip()
        if text and not _is_number(text):
            told = (
                f"{shown(text)} is not taken; write a number from 0 to {LARGEST:g}, or leave the cell empty"
            )
            yield Fault(f"{name}: {column}", told)


def _is_number(text: str) -> bool:
    """Whether a text is a number that can be of a run."""
    try:
        return 0 <= float(text) <= LARGEST
    except ValueError:
        return False
