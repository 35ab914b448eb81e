"""Any mapping as plain, private values: dicts with text keys, lists, and scalars."""

import math
import numbers
import os
from collections.abc import Mapping
from typing import Any

from solver.errors import Fault, InputError
from solver.units import shown

MAX_DEPTH = 40
MAX_VALUES = 200_000


def plain(value: object, source: str) -> Any:
    """A copy of its own. Nulls are left out of mappings; what is no data stays, to be refused.

    Raises InputError for what is nested or repeated without end.
    """
    return _Copier(source).copy(value, 0)


class _Copier:
    def __init__(self, source: str) -> None:
        self.source = source
        self.values = 0

    def copy(self, value: object, depth: int) -> Any:
        self.values += 1
        if depth > MAX_DEPTH:
            raise InputError(self.source, [Fault("", f"nested deeper than {MAX_DEPTH} levels; flatten it")])
        if self.values > MAX_VALUES:
            raise InputError(self.source, [Fault("", f"more than {MAX_VALUES:,} values; make it smaller")])
        if isinstance(value, Mapping):
            return {_key(k): self.copy(v, depth + 1) for k, v in value.items() if v is not None}
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value]
        return _scalar(value)


def _key(key: object) -> str:
    return str(key) if isinstance(key, str) else shown(key)


def _scalar(value: object) -> object:
    """Numbers of any library as int or float, text and paths as str."""
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _float(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    return str.__str__(value) if isinstance(value, str) else value


def _float(value: numbers.Real) -> object:
    try:
        return float(value)
    except OverflowError:  # a fraction beyond any float
        return math.inf
