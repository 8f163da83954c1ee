"""The shape of an object in a line, for the instructions of a model that gets no schema.

A JSON schema costs a few hundred tokens in every call; the shape says the same in a few dozen. Its blanks are
written in angle brackets, so that an echo of the shape is never mistaken for an answer.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.json_schema import SkipJsonSchema

from ._plan import bare, is_subclass, issubclass_mapping, item_hint, members

SKIPPED: Any = SkipJsonSchema
_PLAIN: dict[Any, str] = {
    str: "<text>",
    int: "<integer>",
    float: "<number>",
    bool: "<boolean>",
    type(None): "null",
}
_MAX_DEPTH = 6


def shape_of(hint: Any, description: str | None = None, depth: int = 0) -> str:
    """The shape of a type: ``{"statements": [{"statement": "<text>", "verdict": <0 or 1>}, ...]}``."""
    options = [bare(option) for option in members(hint)]
    if len(options) > 1:
        shapes = list(dict.fromkeys(shape_of(option, description, depth) for option in options))
        return " or ".join(shapes)
    hint = options[0]
    if is_subclass(hint, BaseModel):
        return _object(hint, depth)
    if is_subclass(hint, Enum):
        return _menu([member.value for member in hint], description)
    if get_origin(hint) is Literal:
        return _menu(list(get_args(hint)), description)
    item = item_hint(hint)
    if item is not None:
        return f"[{shape_of(item, description, depth)}, ...]"
    if issubclass_mapping(get_origin(hint)):
        return f'{{"<name>": {shape_of(get_args(hint)[1], description, depth)}, ...}}'
    if hint is str:
        return f'"<{description or "text"}>"'
    shape = _PLAIN.get(hint, "<value>")
    return f"{shape[:-1]}: {description}>" if description and shape.endswith(">") else shape


def _menu(values: list[Any], description: str | None) -> str:
    menu = " or ".join(json.dumps(value, ensure_ascii=False, default=str) for value in values)
    return f"<{menu}: {description}>" if description else f"<{menu}>"


def _object(model: type[BaseModel], depth: int) -> str:
    if depth >= _MAX_DEPTH:
        return "{...}"
    if issubclass(model, RootModel):
        return shape_of(model.model_fields["root"].annotation, None, depth)
    parts = [
        f"{json.dumps(info.serialization_alias or info.alias or field, ensure_ascii=False)}: "
        f"{shape_of(info.annotation, info.description, depth + 1)}"
        for field, info in model.model_fields.items()
        if SKIPPED not in map(type, info.metadata)  # read, but not asked for
    ]
    return "{" + ", ".join(parts) + "}"
