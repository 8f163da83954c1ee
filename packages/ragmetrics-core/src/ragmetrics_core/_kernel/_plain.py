"""Any value as plain JSON values, so that what a score holds as evidence can be written down and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

__all__ = ["plain"]

IMMUTABLE = frozenset({str, int, bool, type(None)})
"""Types of values that are plain as they are."""


def plain(value: Any) -> Any:
    """The value as plain JSON values, copied: pydantic models and dataclasses become dicts, tuples become lists.

    Raises:
        TypeError: JSON has no such value.
        ValueError: a number is not finite.
    """
    kind = type(value)
    if kind is str or kind is bool or kind is int or value is None:
        return value
    if kind is float:
        if not isfinite(value):
            raise ValueError(f"details hold finite numbers, got {value}")
        return value
    if kind is list or kind is tuple:
        # ranks and texts need no second look, and there are many of them
        return list(value) if IMMUTABLE.issuperset(map(type, value)) else [plain(item) for item in value]
    if kind is dict or isinstance(value, Mapping):
        return {str(key): item if type(item) in IMMUTABLE else plain(item) for key, item in value.items()}
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    for base in (str, int, float):  # enum members and other kinds of text and number
        if isinstance(value, base):
            return plain(base(value))
    raise TypeError(f"details hold plain JSON values, got {type(value).__name__}")
