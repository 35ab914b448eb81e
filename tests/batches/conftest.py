"""A problem that is answered in a tenth of a second."""

import json
from pathlib import Path
from typing import Any

import pytest

PROBLEM: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "training": {"tokens": "1B", "sequence_length": 131072, "global_batch": "4 sequences"},
    "limits": {"machines": ["h100-sxm-8", "l40s-8"], "frameworks": "megatron-core"},
}


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    """Its file; YAML reads JSON."""
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps(PROBLEM), "utf-8")
    return path
