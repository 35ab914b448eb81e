"""Writes the examples of docs/fit.md anew, each by the command that stands in its marker.

python -m benchmarks.fit_examples
"""

from pathlib import Path

from benchmarks.readme import rewritten

PAGE = Path(__file__).parents[1] / "docs" / "fit.md"


def main() -> None:
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
