"""Convert values to plain JSON, and keep the order of keys in files that sort them.

A model sees the items of a mapping in order (in an example of a prompt, first the reason, then the verdict), but YAML writers and
JSON stores sort keys. So ``in_order`` writes a mapping as one JSON text under the key ``json_text``. ``read_in_order`` also accepts
plain mappings, written by hand or by an earlier version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, TypeVar

T_co = TypeVar("T_co", covariant=True)

PLAIN_TYPES: frozenset[type] = frozenset({str, int, bool, type(None)})
"""Types of values that are plain already."""


LISTS = (list, tuple)


class Shown(tuple[T_co, ...]):
    """A tuple that is converted to other values than its items."""

    __slots__ = ()

    def shown(self) -> list[Any]:
        """Return the values to convert instead of the items."""
        raise NotImplementedError


def json_walk(
    leaf: Callable[[Any], Any],
    *,
    kept: frozenset[type] = PLAIN_TYPES,
    mapping: Callable[[Mapping[Any, Any]], Any] | None = None,
) -> Callable[[Any], Any]:
    """Return a function that copies a value as JSON values: tuples become lists, and the keys of mappings become texts.

    Args:
        leaf: converts a value that is neither plain already nor a list nor a mapping.
        kept: the types whose values are plain already; finite floats are always plain.
        mapping: converts a mapping; default: to a dict with converted items.
    """

    def of_mapping(value: Mapping[Any, Any]) -> Any:
        if mapping is not None:
            return mapping(value)
        return {str(key): item if type(item) in kept else walk(item) for key, item in value.items()}

    def walk(value: Any) -> Any:
        kind = type(value)
        if kind in kept or (kind is float and isfinite(value)):
            return value
        if kind is dict:  # the usual case
            return of_mapping(value)
        if isinstance(value, Shown):
            value = value.shown()
        if isinstance(value, LISTS):
            # the shortcut matters: there are many lists of ranks and texts
            return list(value) if kept.issuperset(map(type, value)) else [walk(item) for item in value]
        return of_mapping(value) if isinstance(value, Mapping) else leaf(value)

    return walk


def _in_details(value: Any) -> Any:
    if type(value) is float:
        raise ValueError(f"numbers in details must be finite, got {value}")
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
    raise TypeError(f"details must consist of plain JSON values, got {type(value).__name__}")


plain = json_walk(_in_details)
"""Return a copy of a value as plain JSON values, so that it can be written to a file and read back. Pydantic models and dataclasses
become dicts, arrays become lists.

Raises:
    TypeError: JSON does not have such a value.
    ValueError: a number is not finite.
"""


TEXT = "json_text"
"""The only key of a mapping that was written as a JSON text."""


def in_order(value: Any) -> Any:
    """Return the value as plain JSON values, with each mapping that is not empty as ``{"json_text": ...}``.

    Raises:
        TypeError: JSON does not have such a value.
        ValueError: a number is not finite.
    """
    return _WALK(value)


def read_in_order(value: Any) -> Any:
    """Restore the value that ``in_order`` wrote: every ``{"json_text": ...}`` becomes the mapping again, its keys in the old order.

    Raises:
        ValueError: the text under ``json_text`` is not JSON.
    """
    if isinstance(value, Mapping) and value.keys() == {TEXT} and isinstance(value[TEXT], str):
        return json.loads(value[TEXT])
    if isinstance(value, list | tuple):
        return [read_in_order(item) for item in value]
    return value


def _as_text(value: Mapping[Any, Any]) -> dict[str, str]:
    if not value:
        return {}
    text = json.dumps(plain(value), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file cannot contain lone surrogates, but it can contain their escapes
        text = json.dumps(plain(value))
    return {TEXT: text}


_WALK = json_walk(plain, mapping=_as_text)
