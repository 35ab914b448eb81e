"""JSON Schema of the requirements file, for editors."""

from typing import Any

from solver.problem.fields import Problem


def schema() -> dict[str, Any]:
    """Every field with what it is for and examples; quantities may be text or numbers."""
    body: dict[str, Any] = _stripped(Problem.model_json_schema(mode="validation"))
    return (
        {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        | body
        | {"title": "trainplan requirements"}
    )


def _stripped(node: Any) -> Any:
    """Without titles that repeat the name, and without null: what is not given is left out."""
    if isinstance(node, list):
        return [_stripped(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {name: _stripped(value) for name, value in node.items() if not _is_noise(name, value)}
    options = kept.get("anyOf")
    if options is not None and len(options) == 1:
        del kept["anyOf"]
        return options[0] | kept
    return kept


def _is_noise(name: str, value: object) -> bool:
    return (name == "title" and isinstance(value, str)) or (name == "default" and value in (None, [], {}, ""))
