"""JSON schemas in the subset that strict structured output accepts.

Servers that promise a reply in a schema want every property required, ``additionalProperties`` false and none of
the keywords that restrict values; what those said is checked by the reader anyway. A model that this subset cannot
say (free-form objects, tuples, anything at all) has no schema and relies on its instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["answer_schema", "strict_schema"]

_KEPT = ("type", "enum", "const", "description", "$ref")


class _Inexpressible(Exception):
    """The strict subset has no way to say this."""


def answer_schema(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The schema of one answer after its reason."""
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, key: answer},
        "required": ["reason", key],
        "additionalProperties": False,
    }


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """A pydantic JSON schema cut down to the strict subset, or None where that cannot be done."""
    try:
        strict = _strict(schema)
        if "$ref" in strict and len(strict) == 1:
            strict = {**_strict(schema["$defs"][strict["$ref"].rsplit("/", 1)[-1]])}
        definitions = {name: _strict(part) for name, part in schema.get("$defs", {}).items()}
    except _Inexpressible:
        return None
    if strict.get("type") != "object":
        return None
    if definitions:
        strict["$defs"] = definitions
    return strict


def _strict(node: Mapping[str, Any]) -> dict[str, Any]:
    if "allOf" in node and len(node["allOf"]) == 1:
        node = {**node, **node["allOf"][0]}
    strict = {key: node[key] for key in _KEPT if key in node}
    if "$ref" in strict:
        # Siblings of a reference are refused.
        return {"$ref": strict["$ref"]}
    for union in ("anyOf", "oneOf"):
        if union in node:
            strict["anyOf"] = [_strict(option) for option in node[union]]
    kind = node.get("type")
    if kind == "object":
        if "properties" not in node or node.get("additionalProperties") not in (None, False):
            raise _Inexpressible
        strict["properties"] = {key: _strict(value) for key, value in node["properties"].items()}
        strict["required"] = list(node["properties"])
        strict["additionalProperties"] = False
    elif kind == "array":
        if not isinstance(node.get("items"), Mapping) or "prefixItems" in node:
            raise _Inexpressible
        strict["items"] = _strict(node["items"])
    if not (set(strict) - {"description"}):
        raise _Inexpressible
    return strict
