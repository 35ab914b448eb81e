"""What a row says that cannot be so, or in words that nobody knows: reasons not to predict it."""

from collections.abc import Iterator, Mapping

from solver.layout import RECOMPUTE
from solver.units import shown
from solver.validation.recompute import MODULES
from solver.validation.rows import Row
from solver.validation.words import SHARDING

MANY = 10**9
MOST: Mapping[str, int] = {  # columns that count from 1 on: the most that can be meant
    "layers": 10_000,
    "experts_per_token": 10_000,
    **dict.fromkeys(("tp", "pp", "vpp", "cp", "ep"), 100_000),
    **dict.fromkeys(("hidden", "heads", "kv_heads", "head_dim", "ffn_hidden", "vocab", "seq_len"), MANY),
    **dict.fromkeys(("devices", "devices_per_node", "dp", "micro_batch", "global_batch_seq"), MANY),
}


def doubts(row: Row) -> Iterator[str]:
    """Each as a sentence that names its column."""
    for name, most in MOST.items():
        value = row.number(name)
        if value is not None and not 1 <= round(value) <= most:
            yield f"{name}: {row.text(name)} is not a number from 1 to {most:,}"
    if not _known(*parted(row, "recompute")):
        known = f"{', '.join(RECOMPUTE)}, full:N, selective:modules"
        yield f"recompute: {shown(row.text('recompute'))} is none of {known}"
    word, detail = parted(row, "fsdp_or_zero_stage")
    if (word and word not in SHARDING) or (detail and not detail.isdecimal()):
        told = shown(row.text("fsdp_or_zero_stage"))
        yield f"fsdp_or_zero_stage: {told} is none of {', '.join(SHARDING)}, zero3:N"


def parted(row: Row, column: str) -> tuple[str, str]:
    """A word, and what stands behind its colon."""
    word, _, detail = row.text(column).partition(":")
    return word, detail


def _known(word: str, detail: str) -> bool:
    """Whether it is a word of recomputation, with a number of layers or modules where it may have them."""
    if not detail:
        return word in ("", *RECOMPUTE)
    if word == "full":
        return detail.isdecimal()
    return word == "selective" and set(detail.split("+")) <= MODULES.keys()
