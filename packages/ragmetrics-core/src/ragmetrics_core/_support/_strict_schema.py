"""JSON schemas in the strict dialect of structured output.

A server that promises a reply in a schema wants every property required, no others allowed, and nothing beside a reference.
A schema that the dialect cannot express (objects with free keys, tuples, values of any type) has no strict form.
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
    """The schema says something that the strict dialect cannot express."""


def strict_schema(schema: Mapping[str, Any], *, portable: bool = False) -> dict[str, Any] | None:
    """The schema in the strict dialect; None where it has no such form.

    Args:
        schema: a JSON schema of an object.
        portable: leave out what only some servers accept: keywords that restrict a value, and words beside a reference.
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
    """One schema without what only wraps it, if the dialect can express it."""
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
    """A schema that is all of one other one is that one: pydantic wrote references like this before 2.9."""
    if len(node.get("allOf", ())) != 1:
        return node
    return {**node["allOf"][0], **{key: item for key, item in node.items() if key != "allOf"}}


def _portable(node: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    kept = {key: node[key] for key in PORTABLE if key in node}
    return {**kept, "anyOf": node["oneOf"]} if "oneOf" in node else kept


def _resolved(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference refers to, joined with what stands beside the reference; any other schema unchanged."""
    if "$ref" not in node:
        return node
    found = root
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return {**found, **{key: item for key, item in node.items() if key != "$ref"}}
