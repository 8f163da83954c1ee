"""Values as plain JSON: the one walk through lists and mappings, and a form in which no file changes the order of keys.

A model sees the items of a mapping in their order (an example of a prompt: first the reason, then the verdict), but YAML writers
and JSON stores sort keys. So ``in_order`` writes a mapping as one JSON text under the key ``json_text``. A mapping that was written
plainly, by hand or by an earlier version, is read as it is.
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
    """A tuple that is shown as something else than its items."""

    __slots__ = ()

    def shown(self) -> list[Any]:
        """The items that are shown."""
        raise NotImplementedError


def json_walk(
    leaf: Callable[[Any], Any],
    *,
    kept: frozenset[type] = PLAIN_TYPES,
    mapping: Callable[[Mapping[Any, Any]], Any] | None = None,
) -> Callable[[Any], Any]:
    """A function that copies a value as JSON has it: tuples become lists, and the keys of mappings become texts.

    Args:
        leaf: says what becomes of a value that is neither a list nor a mapping; what is plain already is not shown to it.
        kept: types whose values are plain already, as every finite float is.
        mapping: says what becomes of a mapping; by default a dict with its items.
    """

    def of_mapping(value: Mapping[Any, Any]) -> Any:
        if mapping is not None:
            return mapping(value)
        return {str(key): item if type(item) in kept else walk(item) for key, item in value.items()}

    def walk(value: Any) -> Any:
        kind = type(value)
        if kind in kept or (kind is float and isfinite(value)):
            return value
        if kind is dict:  # as nearly always
            return of_mapping(value)
        if isinstance(value, Shown):
            value = value.shown()
        if isinstance(value, LISTS):
            # ranks and texts need no second look, and there are many of them
            return list(value) if kept.issuperset(map(type, value)) else [walk(item) for item in value]
        return of_mapping(value) if isinstance(value, Mapping) else leaf(value)

    return walk


def _in_details(value: Any) -> Any:
    if type(value) is float:
        raise ValueError(f"details hold finite numbers, got {value}")
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


plain = json_walk(_in_details)
"""The value as plain JSON values, copied, so that evidence can be written down and read back: pydantic models and dataclasses
become dicts, arrays become lists.

Raises:
    TypeError: JSON has no such value.
    ValueError: a number is not finite.
"""


TEXT = "json_text"
"""The only key of a mapping that was written as a text."""


def in_order(value: Any) -> Any:
    """The value as plain JSON values, with each mapping that is not empty as ``{"json_text": ...}``.

    Raises:
        TypeError: JSON has no such value.
        ValueError: a number is not finite.
    """
    return _WALK(value)


def read_in_order(value: Any) -> Any:
    """What ``in_order`` wrote, with its mappings in their order.

    Raises:
        ValueError: a text is not JSON.
    """
    if isinstance(value, Mapping) and value.keys() == {TEXT} and isinstance(value[TEXT], str):
        return json.loads(value[TEXT])
    if isinstance(value, list | tuple):
        return [read_in_order(item) for item in value]
    return value


def _as_text(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {TEXT: _text(plain(value))} if value else {}


_WALK = json_walk(plain, mapping=_as_text)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates cannot stand in a file, but their escapes can
        return json.dumps(value)
    return text
