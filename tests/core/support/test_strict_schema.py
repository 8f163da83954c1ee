"""The strict dialect of JSON schemas, with what most servers accept and with what all of them do."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core.adapters import strict_schema


def test_every_property_is_required_and_no_other_is_allowed() -> None:
    nested = {
        "$defs": {"Item": {"title": "Item", "type": "object", "properties": {"n": {"type": "integer", "title": "N"}}}},
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
            "first": {"$ref": "#/$defs/Item", "description": "the first one", "default": None},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "one": {"allOf": [{"$ref": "#/$defs/Item"}], "description": "old pydantic"},
            "title": {"type": "string"},
        },
    }
    item = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert strict_schema(nested) == {
        "$defs": {"Item": item},
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
            "first": {**item, "description": "the first one"},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "one": {**item, "description": "old pydantic"},
            "title": {"type": "string"},
        },
        "required": ["items", "first", "either", "one", "title"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"description": "anything"},
        {"not": {"type": "string"}, "type": "number"},
        True,
    ],
)
def test_what_the_dialect_cannot_say_has_no_form(field: Any) -> None:
    assert strict_schema({"type": "object", "properties": {"field": field}}) is None


def test_the_whole_is_an_object() -> None:
    assert strict_schema({"type": "array", "items": {"type": "string"}}) is None
    node = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
    whole = strict_schema({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert whole is not None
    assert whole["required"] == ["next"]
    assert whole["$defs"]["Node"] == {key: whole[key] for key in node.keys() | {"required", "additionalProperties"}}


def test_portable_leaves_out_what_only_some_servers_accept() -> None:
    schema = {
        "$defs": {"Item": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "title": "N"}}}},
        "type": "object",
        "properties": {
            "first": {"$ref": "#/$defs/Item", "description": "the first one"},
            "either": {"oneOf": [{"type": "string", "pattern": "a+"}, {"type": "null"}]},
        },
    }
    assert strict_schema(schema) is None
    portable = strict_schema(schema, portable=True)
    assert portable is not None
    assert portable["properties"] == {
        "first": {"$ref": "#/$defs/Item"},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    assert portable["$defs"]["Item"]["properties"] == {"n": {"type": "integer"}}


@pytest.mark.parametrize("portable", [False, True])
def test_a_root_that_is_all_of_a_reference(portable: bool) -> None:
    """As pydantic 2.7 writes a model that holds itself."""
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "required": ["children"],
    }
    schema = {"$defs": {"Node": node}, "allOf": [{"$ref": "#/$defs/Node"}]}
    strict = strict_schema(schema, portable=portable)
    assert strict is not None
    assert strict["required"] == ["children"]
    assert strict["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
