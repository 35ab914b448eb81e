"""Counts of small models that `transformers` builds on the meta device, written as data of the tests.

    python -m venv oracle && oracle/bin/pip install torch==2.13.0 transformers==5.24.0
    oracle/bin/python benchmarks/count_oracle.py [FAMILY...]      # writes tests/data/oracle_counts.json

Neither is a dependency of the package or of its tests. Families named on the command line are renewed,
the rest kept.
"""

import json
import sys
import warnings
from pathlib import Path
from random import Random
from typing import Any

import torch
import transformers
from oracle_encoders import ENCODERS
from oracle_families import FAMILIES, variant

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "oracle_counts.json"


def parameters(model_type: str, values: dict[str, Any]) -> int:
    """The count of the library itself, tied weights once."""
    config = transformers.AutoConfig.for_model(model_type, **values)
    with torch.device("meta"):
        if model_type in ENCODERS:
            chosen = getattr(transformers, ENCODERS[model_type][0])
            model = chosen.from_config(config) if chosen.__name__.startswith("Auto") else chosen(config)
        else:
            model = transformers.AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    return sum(p.numel() for p in model.parameters())


def family(name: str) -> dict[str, Any]:
    """The default config of a family, and its variants: keys once, then rows of values and a count."""
    random, rows = Random(name), []
    if name in ENCODERS:
        drawn = [ENCODERS[name][1](random) for _ in range(ENCODERS[name][2])]
    else:
        drawn = [variant(name, random) for _ in range(FAMILIES[name][3])]
    keys = list(drawn[0])
    for values in drawn:
        # why: the library writes into nested configs that it is given.
        count = parameters(name, json.loads(json.dumps(values)))
        rows.append([*(values[key] for key in keys), count])
    return {"keys": keys, "rows": rows} | _default(name)


def _default(name: str) -> dict[str, Any]:
    """The default config and its count; some families have a default that the library itself cannot build."""
    try:
        count = parameters(name, {})
    except (TypeError, AssertionError, AttributeError):
        return {"default": None, "default_count": None}
    default = json.loads(transformers.AutoConfig.for_model(name).to_json_string(use_diff=False))
    return {"default": _plain(default), "default_count": count}


NOISE = (
    "id2label", "label2id", "output_", "return_", "_name_or_path", "transformers_version", "problem_type",
    "dropout",
    "pdrop", "_eps", "epsilon", "rope_param", "rope_theta", "rope_scal", "rope_layer", "initializer",
    "cache", "aux_loss", "router_z", "dtype", "chunk_size_feed",
    "softcap", "norm_topk", "time_step_m", "time_step_limit", "time_step_floor", "scaling", "_coef", "jitter",
    "_act", "act_fn", "activation_", "summary", "token_id", "token_index", "multiplier", "_factor", "drop",
)  # fmt: skip


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """What bears on the count, and not the library's housekeeping."""
    kept = {k: v for k, v in config.items() if v is not None and not any(word in k for word in NOISE)}
    return {k: _plain(v) if isinstance(v, dict) else v for k, v in kept.items()}


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    found = json.loads(OUT.read_text()) if OUT.exists() else {"families": {}}
    for name in names or sorted({*FAMILIES, *ENCODERS}):
        found["families"][name] = family(name)
        sys.stderr.write(f"{name}: {found['families'][name]['default_count']}\n")
    found["versions"] = {"torch": torch.__version__, "transformers": transformers.__version__}
    found["families"] = dict(sorted(found["families"].items()))
    lines = [f'"{k}":{json.dumps(v, separators=(",", ":"))}' for k, v in found["families"].items()]
    versions = json.dumps(found["versions"])
    OUT.write_text('{"versions":' + versions + ',\n"families":{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
