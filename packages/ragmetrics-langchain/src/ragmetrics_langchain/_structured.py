"""Structured output as text: the JSON of what a model was asked to fill in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

__all__ = ["json_of"]

DEEPEST = 20
"""Levels that are read; what is deeper is no answer of a model."""


class _NoJson(Exception):
    pass


def json_of(value: Any) -> str | None:
    """The JSON of a mapping, a list, a pydantic object or a dataclass; None where something in it is no JSON value.

    Messages and documents are none: what holds them is the state of a program and not what a model wrote.
    """
    try:
        return json.dumps(_plain(value, DEEPEST), ensure_ascii=False)
    except _NoJson:
        return None


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, BaseMessage | Document | type) or not depth:
        raise _NoJson
    if isinstance(value, Enum):
        return _plain(value.value, depth - 1)
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    if is_dataclass(value):
        value = {item.name: getattr(value, item.name) for item in fields(value)}
    declared = getattr(type(value), "model_fields", None)
    if isinstance(declared, Mapping):
        value = {name: getattr(value, name) for name in declared}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise _NoJson
    return {name: _plain(item, depth - 1) for name, item in value.items()}
