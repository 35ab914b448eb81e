"""YAML text as plain dicts, lists and scalars: what people write, and nothing that surprises or harms.

Typed as in YAML 1.2: true and false, null, decimal numbers (1e18 too); all else is text, so that `no`, 1:30
and 2026-12-01 stay what was written.

Why: the events of PyYAML are assembled here instead of by its loaders, because those drop duplicate keys,
expand aliases without a limit, run out of stack on deep nesting and type by the rules of YAML 1.1.
"""

import math
import re
from collections.abc import Iterator

import yaml

from solver.errors import Fault
from solver.units import shown

MAX_DEPTH = 40
MAX_VALUES = 200_000
"""Of the document with every alias written out: an alias bomb is as large as what it stands for."""

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,4})?")
_CORE = "tag:yaml.org,2002:"
_HINTS = {
    "mapping values are not allowed": 'put text that holds ": " in quotes, and one "name: value" on a line',
    "did not find expected key": "check the indentation and the quotes of this line and the one above it",
    "did not find expected ',' or": "close the bracket or brace",
    "could not find expected ':'": 'write "name: value"',
    "unexpected end of stream": "close the quote",
    "cannot start any token": "put the text in quotes",
    "undefined alias": "put text that starts with * in quotes",
    "alphabetic or numeric character": "put text that starts with * or & in quotes",
}


class YamlError(ValueError):
    """What is wrong, and on which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)


def values(text: str) -> tuple[object, list[Fault]]:
    """The document, and its duplicate keys (the first of each holds). Raises YamlError."""
    builder = _Builder()
    for event in _events(text):
        builder.take(event)
    return builder.root, builder.faults


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of PyYAML, its errors as sentences."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one of libyaml is some ten times as fast
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text) from None
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, int) else ord(error.character[0])
        line = text.count("\n", 0, max(text.find(chr(character)), 0)) + 1
        raise YamlError(line, f"the control character U+{character:04X} is not text; remove it") from None
    except (
        yaml.YAMLError,
        ValueError,
    ):  # ValueError: an escape beyond Unicode, in the loader without libyaml
        raise YamlError(0, "the file is not YAML that can be read") from None


def _syntax(error: yaml.MarkedYAMLError, text: str) -> YamlError:
    problem = error.problem or "this is not YAML"
    opened = any(word in (error.context or "") for word in ("quoted", "flow"))
    mark = (error.context_mark if opened else None) or error.problem_mark
    line = mark.line + 1 if mark else 0
    written = text.split("\n")[line - 1 : line]
    if "tab character" in problem or any("\t" in row[: len(row) - len(row.lstrip())] for row in written):
        return YamlError(line, "a tab cannot indent YAML; use spaces")
    hint = next(
        (advice for part, advice in _HINTS.items() if part in problem), "check this line and the one above it"
    )
    return YamlError(line, f"this is not YAML ({problem}); {hint}")


class _Open:
    """A mapping or list whose end has not come yet."""

    def __init__(self, items: dict[str, object] | list[object], anchor: str | None, values: int) -> None:
        self.items = items
        self.anchor = anchor
        self.values_before = values
        self.key: str | None = None
        self.lines: dict[str, int] = {}


class _Builder:
    """Assembles events to plain values. A stack of its own: depth costs no recursion."""

    def __init__(self) -> None:
        self.root: object = None
        self.faults: list[Fault] = []
        self.open: list[_Open] = []
        self.documents = 0
        self.values = 0
        self.anchors: dict[str, tuple[object, int]] = {}  # value, and how many values it holds

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.ScalarEvent():
                self._scalar(event, line)
            case yaml.AliasEvent():
                self._alias(event.anchor or "", line)
            case yaml.MappingStartEvent():
                self._start({}, event, line)
            case yaml.SequenceStartEvent():
                self._start([], event, line)
            case yaml.CollectionEndEvent():
                self._end(line)
            case yaml.DocumentStartEvent():
                self._count_document(line)

    def _count_document(self, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise YamlError(line, 'a second document starts here; remove the "---"')

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if self.open and isinstance(self.open[-1].items, dict) and self.open[-1].key is None:
            self._take_key(event.value, line)
            return
        value = _typed(event, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        self._add(value, 1, line)

    def _take_key(self, key: str, line: int) -> None:
        within = self.open[-1]
        if key in within.lines:
            first = within.lines[key]
            message = f"line {line}: stated twice, first on line {first}; keep one of the two"
            self.faults.append(Fault(self._path(key), message))
        within.key = key
        within.lines.setdefault(key, line)

    def _path(self, key: str) -> str:
        """Dotted name of a key of the innermost mapping, e.g. hardware[1].price."""
        steps = [f".{o.key}" if isinstance(o.items, dict) else f"[{len(o.items)}]" for o in self.open[:-1]]
        return "".join([*steps, f".{key}"])[1:][:120]

    def _start(
        self, items: dict[str, object] | list[object], event: yaml.CollectionStartEvent, line: int
    ) -> None:
        self._refuse_as_key(line)
        if event.tag not in {None, "!", _CORE + "map", _CORE + "seq"}:
            raise YamlError(line, f"the tag {shown(event.tag)} is not understood; remove it")
        if len(self.open) >= MAX_DEPTH:
            raise YamlError(line, f"nested deeper than {MAX_DEPTH} levels; flatten it")
        self.open.append(_Open(items, event.anchor, self.values))

    def _refuse_as_key(self, line: int) -> None:
        if self.open and isinstance(self.open[-1].items, dict) and self.open[-1].key is None:
            raise YamlError(line, 'the name of a field must be plain text; write "name: value"')

    def _end(self, line: int) -> None:
        done = self.open.pop()
        if done.anchor is not None:
            self.anchors[done.anchor] = (done.items, self.values - done.values_before + 1)
        self._add(done.items, 1, line)

    def _alias(self, anchor: str, line: int) -> None:
        self._refuse_as_key(line)
        if anchor not in self.anchors:
            raise YamlError(
                line, f'"*{anchor[:50]}" points at nothing; put text that starts with * in quotes'
            )
        self._add(*self.anchors[anchor], line)

    def _add(self, value: object, values: int, line: int) -> None:
        """Puts a finished value where it belongs. values: how many it stands for."""
        self.values += values
        if self.values > MAX_VALUES:
            raise YamlError(
                line, f"more than {MAX_VALUES:,} values, aliases written out; make the file smaller"
            )
        within = self.open[-1] if self.open else None
        if within is None:
            self.root = value
        elif isinstance(within.items, list):
            within.items.append(value)
        elif within.key is not None:
            within.items.setdefault(within.key, value)  # of a duplicate the first holds
            within.key = None


def _typed(event: yaml.ScalarEvent, line: int) -> object:
    """The value of a scalar: quoted or tagged as text it is text, plain perhaps a number, bool or null."""
    text: str = event.value
    plain, quoted = event.implicit
    if quoted or event.tag in {"!", _CORE + "str"}:
        return text
    if not plain and event.tag not in {_CORE + name for name in ("int", "float", "bool", "null")}:
        raise YamlError(line, f"the tag {shown(event.tag)} is not understood; remove it")
    return _plain(text)


def _plain(text: str) -> object:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
