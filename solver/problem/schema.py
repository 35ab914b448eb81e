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
    """Without titles that repeat the name and without null: what is not given is left out."""
    if isinstance(node, list):
        return [_stripped(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {name: _stripped(value) for name, value in node.items() if not _is_noise(name, value)}
    if "oneOf" in kept and "properties" not in kept:  # a name and a path are both text: any of them will do
        kept["anyOf"] = kept.pop("oneOf")
    if len(kept.get("anyOf", [])) == 1:
        kept = kept.pop("anyOf")[0] | kept
    return kept


def _is_noise(name: str, value: object) -> bool:
    """Titles, and defaults that no file would state in this form."""
    if name == "default":
        names = value if isinstance(value, list) else [value]
        return not names or any(isinstance(item, dict) or item in (None, "", 0) for item in names)
    return name == "title" and isinstance(value, str)
