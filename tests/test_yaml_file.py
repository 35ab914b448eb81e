"""YAML: values as written, and a sentence for everything that is no requirements file."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import InputError
from solver.yaml_file import MAX_BYTES, parse_document, read_yaml


def fault(data: bytes | str) -> str:
    with pytest.raises(InputError) as error:
        parse_document(data, "a.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e18", 1e18),  # YAML 1.1 makes text of it
        ("2.5e-3", 2.5e-3),
        (".5", 0.5),
        ("-7", -7),
        ("0123", 123),  # YAML 1.1 reads it as octal
        ("yes", "yes"),  # ... as true
        ("NO", "NO"),
        ("on", "on"),
        ("true", True),
        ("1:30", "1:30"),  # ... as 90
        ("2026-12-01", "2026-12-01"),  # ... as a date
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("null", None),
        ("~", None),
        ("", None),
        ("none", "none"),
        ("h100*", "h100*"),
        ("9" * 40, int("9" * 40)),
        ("9" * 400, "9" * 400),
        ("[1, [], {}]", [1, [], {}]),
    ],
)
def test_a_scalar_is_what_was_written(text: str, value: object) -> None:
    read = parse_document(f"a: {text}\n", "a.yaml").fields["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", 'the file is empty; write one "name: value" on each line'),
        ("# only a comment\n", "the file is empty"),
        ("- 1\n- 2\n", 'the file holds a list; write one "name: value"'),
        ("hello", 'the file holds "hello"'),
        (b"\xff\xfea", "line 1: byte 0xff is not UTF-8; save the file as UTF-8 text"),
        (b"a: 1\nb: \xe9\n", "line 2: byte 0xe9 is not UTF-8"),
        ("a: 1\nb: \x00", "line 2: the control character U+0000 is not text; remove it"),
        ("a:\n\t- b", "line 2: a tab cannot indent YAML; use spaces"),
        ("a: 1\n\tb: 2", "line 2: a tab cannot indent YAML; use spaces"),
        ("a: b: c", "line 1: this is not YAML (mapping values are not allowed"),
        ("a: b: c", 'put text that holds ": " in quotes, and one "name: value" on a line'),
        ("x: 1\na: {b: 1", "line 2: this is not YAML"),
        ("x: 1\na: 'b", "line 2: this is not YAML"),
        ("a: @b", "put the text in quotes"),
        ("a: [*, b]", "put text that starts with * or & in quotes"),
        ("a: *h100", 'line 1: "*h100" points at nothing; put text that starts with * in quotes'),
        ("a: &x [1, *x]", 'line 1: "*x" points at nothing'),
        ("? [1, 2]\n: 3", 'line 1: the name of a field must be plain text; write "name: value"'),
        ("a: &x b\n*x : 3", "line 2: the name of a field must be plain text"),
        ("--- {a: 1}\n--- {b: 1}\n", 'line 2: a second document starts here; remove the "---"'),
        ("a: !!python/object:os.system b", "line 1: the tag"),
        ("a: !!binary aGk=", "is not understood; remove it"),
        ("a: !!set {b}", "is not understood; remove it"),
        ("a: !!timestamp 2026-01-01", "is not understood; remove it"),
        ("[" * 100_000, "nest"),
        ("a: " + "[" * 41 + "]" * 41, "line 1: nested deeper than 40 levels; flatten it"),
    ],
    ids=lambda x: repr(x)[:30],
)  # fmt: skip
def test_what_is_no_mapping_of_plain_values_is_refused(data: bytes | str, sentence: str) -> None:
    message = fault(data)
    assert message.startswith("a.yaml: ")
    assert sentence in message
    assert "\n" not in message
    assert len(message) < 300


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_document(b"\xef\xbb\xbfa: 1\n", "a.yaml").fields == {"a": 1}


def test_every_duplicate_key_is_told_with_both_lines() -> None:
    document = parse_document("a: 1\nb:\n  - {x: 1, y: 2}\n  - {x: 1, x: 2}\na: 3\n", "a.yaml")
    assert document.fields == {"a": 1, "b": [{"x": 1, "y": 2}, {"x": 1}]}
    assert document.faults == [
        ("b[1].x", "line 4: stated twice, first on line 4; keep one of the two"),
        ("a", "line 5: stated twice, first on line 1; keep one of the two"),
    ]


def test_an_alias_stands_for_its_value() -> None:
    assert parse_document("a: &x {b: [1]}\nc: *x\n", "a.yaml").fields == {"a": {"b": [1]}, "c": {"b": [1]}}


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]" for i in range(30)]
    start = time.monotonic()
    assert "more than 200,000 values, aliases written out; make the file smaller" in fault("\n".join(lines))
    assert time.monotonic() - start < 5


@given(st.binary(max_size=60) | st.text(alphabet="a:- \t\n[]{}&*!|>'\"#%@,?1.~\\", max_size=40))
def test_any_bytes_give_a_document_or_a_sentence(data: bytes | str) -> None:
    try:
        document = parse_document(data, "a.yaml")
    except InputError as error:
        lines = error.lines()
    else:
        lines = [f.message for f in document.faults]
    assert all(line.isprintable() for line in lines)


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_yaml(path)
    return str(error.value)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "problem.yaml").write_text("a: 1\na: 2\n")
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    assert "problem.yaml: a: line 2: stated twice, first on line 1" in refused(tmp_path / "problem.yaml")
    assert "this is a folder, not a file" in refused(tmp_path)
    assert f'did you mean "{tmp_path / "problem.yaml"}"?' in refused(tmp_path / "problem.yml")
    assert refused(tmp_path / "elsewhere" / "b.yaml").endswith("b.yaml: no such file")
    assert "no such file" in refused(tmp_path / "problem.yaml" / "b.yaml")
    assert "the file is larger than the 1,048,576 bytes that are read" in refused(tmp_path / "large.yaml")
    assert "the file cannot be read; check its name" in refused(tmp_path / ("x" * 5000))
    assert "the file cannot be read; check its name" in refused(Path("a\0b"))
