"""The global batch: whole sequences, however it is written."""

import math
import re
from typing import NamedTuple

from pydantic import ValidationInfo

from solver import units
from solver.units import shown

_BATCH = re.compile(r"(.*?)\s*(tokens?|sequences?|seqs?|samples?)", re.IGNORECASE | re.DOTALL)
_BINARY = re.compile(r"(.*\d[.]?)\s*([kKM])", re.DOTALL)
_POWERS = {"k": 1 << 10, "K": 1 << 10, "M": 1 << 20}
MAX_SEQUENCES = 10**9


class Batch(NamedTuple):
    """Sequences a step; `reading` tells how its text was read where that is not plain."""

    sequences: int
    reading: str = ""


def batch_sequences(value: object, info: ValidationInfo) -> int:
    """Validator of the field: sequences a step. A fault of the sequence length is told there, not here."""
    return read_batch(value, info.data.get("sequence_length", 1)).sequences


def read_batch(value: object, sequence_length: int) -> Batch:
    """Text such as "1024 sequences" or "4M tokens" as whole sequences. Raises ValueError."""
    match = _BATCH.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= 200 else None
    number = _number(value, match[1] if match else value)
    if match is None:
        raise ValueError(
            f'{shown(value)} does not say of what; write "{value} sequences" or "{value} tokens"'
        )
    if not match[2].lower().startswith("token"):
        return Batch(_believable(_whole(value, number), value))
    return _of_tokens(value, match[1], number, sequence_length)


def _number(value: object, text: object) -> float:
    try:
        number = units.count(text)  # type: ignore[arg-type]  # it refuses what is no number
    except ValueError:
        raise ValueError(
            f'{shown(value)} is not a batch; write e.g. "1024 sequences" or "4M tokens"'
        ) from None
    if number == 0:
        raise ValueError(f'{shown(value)} is not above zero; write e.g. "1024 sequences"')
    return number


def _whole(value: object, number: float) -> int:
    if number != int(number):
        below = max(1, int(number))
        raise ValueError(
            f'{shown(value)} is not a whole number; write "{below} sequences" or "{below + 1} sequences"'
        )
    return int(number)


def _believable(sequences: int, value: object) -> int:
    if sequences > MAX_SEQUENCES:
        raise ValueError(
            f'{shown(value)} is above {MAX_SEQUENCES:.0e} sequences; write e.g. "1024 sequences"'
        )
    return sequences


def _of_tokens(value: object, text: str, decimal: float, sequence_length: int) -> Batch:
    """Decimal first; binary where only that is whole; else refused with the nearest whole values."""
    suffix = _BINARY.fullmatch(text.strip())
    binary = units.count(suffix[1]) * _POWERS[suffix[2]] if suffix else decimal
    wholes = [tokens for tokens in (decimal, binary) if tokens % sequence_length == 0]
    if not wholes:
        raise ValueError(_nearest(value, decimal, sequence_length))
    sequences = _believable(int(wholes[0]) // sequence_length, value)
    if decimal == binary or wholes == [decimal]:
        return Batch(sequences)
    other = f'write "{int(binary) // sequence_length} sequences" if {int(binary):,} tokens are meant'
    why = other if wholes[0] == decimal else f"{decimal:,.0f} would not be whole sequences"
    reading = f"{int(wholes[0]):,} tokens, {sequences:,} sequences of {sequence_length:,}"
    return Batch(sequences, f"{shown(value)} is read as {reading}; {why}")


def _nearest(value: object, tokens: float, sequence_length: int) -> str:
    below = math.floor(tokens / sequence_length)
    choices = [f'"{n} sequences" ({n * sequence_length:,} tokens)' for n in (below, below + 1) if n > 0]
    return (
        f"{shown(value)} is {tokens / sequence_length:,.6g} sequences of {sequence_length:,} tokens, "
        f"which must be whole; write {' or '.join(choices)}"
    )
