"""README and its companions say what is so."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import solver
from solver.problem import Problem, read_problem

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "catalogs/README.md"]
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")


def test_the_first_two_blocks_run_the_job_and_the_tests_in_one_line_each() -> None:
    (first, run), (second, test) = BLOCKS[:2]
    assert first == second == "bash"
    assert run.count("\n") == test.count("\n") == 1
    assert "trainplan solve problems/" in run
    assert "pytest" in test


def test_ci_runs_the_test_line_of_readme() -> None:
    assert BLOCKS[1][1] in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_problem_of_the_first_block_exists() -> None:
    path = re.search(r"trainplan solve (\S+)", BLOCKS[0][1])
    assert path is not None
    assert solver.load(ROOT / path[1]).tokens == 15 * 10**12


def test_the_requirements_file_by_example_is_read(tmp_path: Path) -> None:
    example = next(text for language, text in BLOCKS if language == "yaml")
    (tmp_path / "example.yaml").write_text(example, "utf-8")
    read = read_problem(tmp_path / "example.yaml")
    assert set(read.given) >= {"model", "training", "limits", "hardware", "objective"}


def test_the_market_by_example_is_read_and_solved(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "money.md").read_text("utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "example.yaml").write_text(example, "utf-8")
    read = read_problem(tmp_path / "example.yaml")
    assert set(read.given) == set(Problem.model_fields) - {"catalog"}
    assert solver.solve(read, top=1).plans


def test_readme_figures_are_those_that_the_commands_print() -> None:
    script = [sys.executable, "benchmarks/readme.py", "--check"]
    checked = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.stderr == ""
    assert checked.returncode == 0


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_points_to_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    missing = [path for path in LINK.findall(text) if not ((ROOT / document).parent / path).exists()]
    assert not missing


@pytest.mark.parametrize("path", sorted((ROOT / "problems").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_problem_says_in_its_first_line_who_would_ask(path: Path) -> None:
    assert path.read_text("utf-8").startswith("# ")


def test_changelog_has_the_numbers_first() -> None:
    headings = re.findall(r"^### (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "Changed numbers"
