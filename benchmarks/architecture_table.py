"""The table of docs/architectures.md: family, config, our count, the library's count, the difference.

python -m benchmarks.architecture_table          # prints it
python -m benchmarks.architecture_table --write  # writes docs/architectures.md
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from solver.architecture import ArchitectureError, from_hf
from solver.architecture.hf import known_families

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architectures.md"
DATA = ROOT / "tests" / "data"


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DATA / name).read_text("utf-8"))
    return content


def _differences(family: str, case: dict[str, Any]) -> str:
    """Of all random variants of a family: the largest difference."""
    found = [
        from_hf(dict(zip(case["keys"], row, strict=False)) | {"model_type": family}).total_parameters
        - row[-1]
        for row in case["rows"]
    ]
    return str(max(found, key=abs))


def _default(family: str, case: dict[str, Any]) -> tuple[str, str, str]:
    """Ours, the library's and the difference, for the default config; or why it has none."""
    if not case["default"]:
        return "-", "the library cannot build it", "-"
    try:
        ours = from_hf(case["default"] | {"model_type": family}).total_parameters
    except ArchitectureError as error:
        return f"refused: {error}", f"{case['default_count']:,}", "-"
    return f"{ours:,}", f"{case['default_count']:,}", str(ours - case["default_count"])


def hub_rows() -> Iterator[str]:
    yield "| config | `model_type` | our count | published | difference | active | without input table |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for name, case in _read("hub_configs.json").items():
        a = from_hf(case["config"])
        yield (
            f"| {name} | `{a.model_type}` | {a.total_parameters:,} | {case['total']:,} | "
            f"{a.total_parameters - case['total']} | {a.active_parameters:,} | "
            f"{a.active_parameters - a.token_embeddings:,} |"
        )


def family_rows() -> Iterator[str]:
    yield "| family | our count, default | meta-device count | difference | variants | largest difference |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for family, case in _read("oracle_counts.json")["families"].items():
        ours, theirs, difference = _default(family, case)
        cells = (f"`{family}`", ours, theirs, difference, len(case["rows"]), _differences(family, case))
        yield f"| {' | '.join(str(cell) for cell in cells)} |"


HEAD = """# Architectures

Written by `python -m benchmarks.architecture_table --write`; a test compares it.

What is counted is every parameter of the model that the config's class builds, tied tables once, buffers
(router offsets that no gradient moves) never. Active: what one token meets, the input table whole; without
input table: the other published convention.

## Published configs
"""
FAMILIES = """
## Families

The library's own count on the meta device ({versions}; `benchmarks/count_oracle.py`),
for its default config and for small random variants of the keys that bear on the count.
"""
FOOT = """
Counted by the same records, without a class of that library to compare with: {unbuilt}.

Where the library leaves its config: it ties the head of T5 whatever `tie_word_embeddings` says, builds
`nemotron_h` untied and without attention biases, and `mpt` with four times the width whatever
`expansion_ratio` says. There the config is followed.
"""


def page() -> str:
    oracle = _read("oracle_counts.json")
    versions = ", ".join(f"{name} {version}" for name, version in oracle["versions"].items())
    unbuilt = ", ".join(f"`{f}`" for f in known_families() if f not in oracle["families"])
    parts = (
        HEAD,
        *hub_rows(),
        FAMILIES.format(versions=versions),
        *family_rows(),
        FOOT.format(unbuilt=unbuilt),
    )
    return "\n".join(parts)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(), "utf-8")
    else:
        sys.stdout.write(page())
