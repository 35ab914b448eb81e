"""Writes the figures of README.md anew, each by the command that stands in its marker.

python benchmarks/readme.py           writes
python benchmarks/readme.py --check   writes nothing; exit 1 where a figure has moved
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- written by: trainplan (?P<command>.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
TO, FROM = re.compile(r"Cost: "), re.compile(r"(1 plan|The \d+ best plans), ")


def printed(command: str) -> str:
    """What a command prints on a terminal of 80 columns; exit codes are part of the commands' contract."""
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    arguments = [sys.executable, "-m", "solver", *command.split()]
    done = subprocess.run(
        arguments, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def excerpt(text: str) -> str:
    """Of the report of `solve` the plans and what the first is made of; any other text whole."""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if FROM.match(line)), 0)
    last = next((n for n, line in enumerate(lines) if TO.match(line)), len(lines))
    return "\n".join(f"    {line}".rstrip() for line in lines[first:last]).strip("\n")


def rewritten(text: str) -> str:
    """README with every figure written anew."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{excerpt(printed(m['command']))}\n\n{m[3]}", text)


def main() -> int:
    """Writes README.md, or tells whether it would change."""
    old = README.read_text("utf-8")
    new = rewritten(old)
    if sys.argv[1:] == ["--check"]:
        sys.stderr.write("" if new == old else "README.md is out of date: run python benchmarks/readme.py\n")
        return int(new != old)
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
