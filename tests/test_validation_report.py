"""What `validate` writes beside its report: a plot, and tables for documents."""

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from solver.catalog import load
from solver.cli import main
from solver.errors import InputError
from solver.report.accuracy import accuracy_page
from solver.report.scatter import write_scatter

RUNS = Path(__file__).parents[1] / "catalogs" / "runs"
SVG = "{http://www.w3.org/2000/svg}"


def result(name: str, predicted: float, measured: float | None, device: str = "h100-sxm") -> dict[str, Any]:
    error = 100 * (predicted / measured - 1) if measured else None
    return {
        "id": name, "model": "a <b> & c", "device": device, "precision": "bf16", "step_time_s": predicted,
        "measured_step_time_s": measured, "error_pct": error,
    }  # fmt: skip


def drawn(folder: Path, *results: dict[str, Any]) -> ElementTree.Element:
    write_scatter({"results": results}, folder / "plot.svg")
    return ElementTree.parse(folder / "plot.svg").getroot()


def test_every_timed_run_is_a_dot_and_every_device_a_colour(tmp_path: Path) -> None:
    runs = [result("x-1", 1, 1.1), result("x-2", 30, 20, "b200-sxm"), result("x-3", 5, None)]
    root = drawn(tmp_path, *runs)
    titles = [
        dot.findtext(f"{SVG}title")
        for dot in root.iter(f"{SVG}circle")
        if dot.find(f"{SVG}title") is not None
    ]
    assert titles == ["x-2 a <b> & c +50 %", "x-1 a <b> & c -9 %"]
    groups = [group.get("fill") for group in root.iter(f"{SVG}g")]
    assert len(set(groups)) == 2


def test_a_run_that_is_met_lies_on_the_line_of_equal_times(tmp_path: Path) -> None:
    root = drawn(tmp_path, result("x-1", 2, 2), result("x-2", 40, 80))
    line = next(root.iter(f"{SVG}line"))
    x1, y1, x2, y2 = (float(line.get(name) or "nan") for name in ("x1", "y1", "x2", "y2"))
    dots = [d for d in root.iter(f"{SVG}circle") if d.find(f"{SVG}title") is not None]
    off = [
        float(d.get("cy") or "nan") - (y1 + (float(d.get("cx") or "nan") - x1) * (y2 - y1) / (x2 - x1))
        for d in dots
    ]
    assert off[0] == pytest.approx(0, abs=0.2)
    assert off[1] > 5  # half the measured time: below the line


@pytest.mark.parametrize(
    ("name", "results", "told"),
    [("plot.gif", [result("x-1", 1, 1)], "must end in .svg or .png"), ("plot.svg", [], "nothing to draw")],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, name: str, results: list[Any], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        write_scatter({"results": results}, tmp_path / name)


def test_a_png_without_matplotlib_says_what_to_install(tmp_path: Path) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match="trainplan\\[plot\\]"):
            write_scatter({"results": [result("x-1", 1, 1)]}, tmp_path / "plot.png")
    else:
        write_scatter({"results": [result("x-1", 1, 1)]}, tmp_path / "plot.png")
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_document_holds_the_sums_and_the_largest_error_first() -> None:
    one = {
        "rows": 2, "timed": 2, "step_time_mape_pct": 30.0, "step_time_median_ape_pct": 30.0,
        "step_time_bias_pct": 20.0, "within_10_pct": 50.0,
    }  # fmt: skip
    groups = {
        f"by_{name}": {"all": one}
        for name in ("device", "framework", "family", "kind", "precision", "source")
    }
    runs = [result("x-1", 1.05, 1), result("x-2", 3, 2)]
    text = accuracy_page(one | groups | {"results": runs, "order_by_source": {}, "skipped": []}, "runs.csv")
    assert "| runs.csv | 2 | 30.0 | 30.0 | 20.0 | 50.0 |" in text
    assert text.index("| x-2 |") < text.index("| x-1 |")
    assert "Skipped" not in text


def test_the_command_writes_what_is_asked_for_and_prints_its_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs.csv"
    lines = (RUNS / "published.csv").read_text("utf-8").splitlines()
    runs.write_text("\n".join((lines[0], *lines[-40:])) + "\n", "utf-8")
    files = [str(tmp_path / name) for name in ("plot.svg", "tables.md", "own/accuracy.csv")]
    (tmp_path / "own").mkdir()
    options = [word for pair in zip(("--plot", "--markdown", "--bands"), files, strict=True) for word in pair]
    monkeypatch.setattr(sys, "argv", ["trainplan", "validate", str(runs), "--json", *options])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["evaluated"] == found["rows"] == 40
    assert {"by_device", "by_framework", "by_family", "by_precision", "by_source", "order"} <= found.keys()
    assert (tmp_path / "plot.svg").read_text("utf-8").startswith("<svg ")
    assert "## By device" in (tmp_path / "tables.md").read_text("utf-8")
    bands = load(tmp_path / "own").accuracy  # few runs: some levels of evidence have none, and are assumed
    assert any(not band.runs and (band.low, band.high) == (0.75, 1.25) for band in bands.values())
