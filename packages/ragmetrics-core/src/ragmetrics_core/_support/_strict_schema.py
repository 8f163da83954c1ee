"""Convert JSON schemas to the strict dialect of structured output.

In this dialect, every property is required, no other properties are allowed, and a reference has no other keys beside it. Some
schemas cannot be expressed in it: objects with free keys, tuples, values of any type.
The dialect: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_STRICT = frozenset({"oneOf", "allOf", "not", "if", "prefixItems", "patternProperties"})
MEANINGLESS = frozenset({"title", "default", "$schema", "examples"})
TYPED = frozenset({"$ref", "type", "anyOf", "enum", "const"})
PORTABLE = (
    *("type", "enum", "const", "description", "anyOf", "items", "prefixItems"),
    *("properties", "additionalProperties", "$defs"),
)


class NotStrictError(Exception):
    """The schema cannot be expressed in the strict dialect."""


def strict_schema(schema: Mapping[str, Any], *, portable: bool = False) -> dict[str, Any] | None:
    """Return the schema in the strict dialect; None if this is not possible.

    Args:
        schema: a JSON schema of an object.
        portable: whether to leave out what only some servers accept: keywords that restrict a value, and keys beside a reference.
    """
    try:
        strict = _strict(_resolved(_unwrapped(schema), schema), schema, portable=portable)
    except NotStrictError:
        return None
    return strict if strict.get("type") == "object" else None


def _strict(node: Any, root: Mapping[str, Any], *, portable: bool) -> dict[str, Any]:
    node = _plain(node, root, portable=portable)
    strict = {key: item for key, item in node.items() if key not in MEANINGLESS}
    for key in ("properties", "$defs"):
        if key in node:
            strict[key] = {name: _strict(item, root, portable=portable) for name, item in node[key].items()}
    if "anyOf" in node:
        strict["anyOf"] = [_strict(item, root, portable=portable) for item in node["anyOf"]]
    if "items" in node or node.get("type") == "array":
        strict["items"] = _strict(node.get("items"), root, portable=portable)
    if node.get("type") == "object":
        if "properties" not in node:
            raise NotStrictError
        strict.update(required=list(node["properties"]), additionalProperties=False)
    return strict


def _plain(node: Any, root: Mapping[str, Any], *, portable: bool) -> Mapping[str, Any]:
    """Unwrap a schema, or a part of one; raises ``NotStrictError`` if the dialect cannot express it."""
    if not isinstance(node, Mapping):
        raise NotStrictError  # a schema may also be true or false
    node = _unwrapped(node)
    if portable:
        node = _portable(node)
    elif len(node) > 1:
        node = _resolved(node, root)
    free = node.get("additionalProperties") not in (None, False)
    if free or not node.keys() & TYPED or node.keys() & NOT_STRICT:
        raise NotStrictError
    return node


def _unwrapped(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge an ``allOf`` with a single schema into its parent; pydantic before 2.9 wrote references like this."""
    if len(node.get("allOf", ())) != 1:
        return node
    return {**node["allOf"][0], **{key: item for key, item in node.items() if key != "allOf"}}


def _portable(node: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    kept = {key: node[key] for key in PORTABLE if key in node}
    return {**kept, "anyOf": node["oneOf"]} if "oneOf" in node else kept


def _resolved(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a reference refers to, merged with the keys beside the reference; other schemas are unchanged."""
    if "$ref" not in node:
        return node
    found = root
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return {**found, **{key: item for key, item in node.items() if key != "$ref"}}
