"""The items of a list, in whatever form it comes: as an object keyed by number, as a text, as wrapped or numbered items."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

from pydantic import BaseModel

from .._json_text._find import embedded
from .._prose._items import split_lines
from .._prose._nothing import says_nothing
from .._prose._unreadable import Unreadable
from ._keys import ASIDES, CONTAINERS, REASONS, RELATED, WRITTEN, is_blank, is_schema, name, stem
from ._plan import FieldPlan, is_subclass, plan_of
from ._values import number_of

MAX_ITEMS = 5000
_AND = re.compile(r"[,;\n&]|\b(?:and|und|et|y|e|en|и|und)\b|和|と")
_NUMBERED = re.compile(r"\D{0,30}?(\d{1,4})\D{0,3}")


def items_of(data: Any, item: Any, key: str) -> list[Any]:
    """The items of a list under ``key`` whose items have the type ``item``, in their order.

    Raises:
        Unreadable: there is no list, or its numbers do not tell the order.
    """
    return _ordered(_items_of(data, item, key), item)


def _items_of(data: Any, item: Any, key: str) -> list[Any]:
    """The items of a list, in whatever form it comes."""
    if isinstance(data, str):
        data = embedded(data)
    items: list[Any] | None = None
    if isinstance(data, list):
        items = _flattened(data, key) if item is str else data
        if item is int and len(items) == 1 and isinstance(items[0], str):
            items = _numbers_in(items[0])
    elif isinstance(data, dict) and not is_schema(data):
        items = _items_of_object(data, item, key)
    elif isinstance(data, str):
        items = _numbers_in(data) if item is int else _items_of_text(data, item)
    elif isinstance(data, (bool, int)) and item is not str:
        items = [data]
    if items is None:
        raise Unreadable("must be a list")
    return items


def is_numbered(data: dict[str, Any]) -> bool:
    """Whether an object is a list whose keys are numbers."""
    return bool(data) and all(_NUMBERED.fullmatch(str(key)) for key in data)


def _items_of_object(data: dict[str, Any], item: Any, key: str) -> list[Any] | None:
    if is_numbered(data):
        return _by_number(data, item)
    if len(data) == 1:
        ((only, inner),) = data.items()
        if isinstance(inner, list):
            return inner
        if item is str and stem(only) in {stem(key), "item", "li", *RELATED.get(stem(key), ())}:
            return [inner]
    return [data] if is_subclass(item, BaseModel) else None


def _by_number(data: dict[str, Any], item: Any) -> list[Any]:
    """The values of an object in the order of its keys, which are numbers; items that ask for their number get it."""
    numbers = [int(match.group(1)) for match in map(_NUMBERED.fullmatch, map(str, data)) if match]
    if sorted(numbers) not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        raise Unreadable("does not number its items one by one")
    pairs = sorted(zip(numbers, data.values(), strict=True), key=itemgetter(0))
    fields = plan_of(item).fields if is_subclass(item, BaseModel) else ()
    asked = next((field for field in fields if field.is_number), None)
    return [value if asked is None else _with_number(value, number, asked, fields) for number, value in pairs]


def _with_number(value: Any, number: int, asked: FieldPlan, fields: tuple[FieldPlan, ...]) -> Any:
    """An item with the number under which it stands in its list; a bare value is the only one that the item must have."""
    if not isinstance(value, dict):
        others = [field for field in fields if field.required and field is not asked]
        return {asked.key: number, others[0].key: value} if len(others) == 1 else value
    named = {number_of(said) for key, said in value.items() if asked.is_named(key) or asked.answers_to(key)} - {None}
    if named - {number}:
        raise Unreadable("gives an item two numbers")
    return value if named else {asked.key: number, **value}


def _numbers_in(data: str) -> list[str] | None:
    """The numbers that a text lists ("1, 3", "contexts 1 and 3"), none where it says that there are none; None for other texts."""
    if not data.strip() or (data.strip().isalpha() and says_nothing(data)):
        return []
    return [part for part in _AND.split(data) if part.strip()] if any(map(str.isdigit, data)) else None


def _items_of_text(data: str, item: Any) -> list[Any] | None:
    if item is str:
        return split_lines(data) if data.strip() and not is_blank(data.strip()) else None
    parts = re.split(r"[,;\n]", data, maxsplit=MAX_ITEMS)
    return [part.strip() for part in parts if part.strip()] if len(parts) > 1 else None


def holds_list(data: Any, key: str) -> bool:
    """Whether an object has a list under this key."""
    return isinstance(data, dict) and any(stem(inner) == stem(key) and isinstance(data[inner], list) for inner in data)


def _flattened(data: list[Any], key: str) -> list[Any]:
    """Items of a list of texts that come in lists of their own, one per sentence."""
    flat: list[Any] = []
    for value in data:
        lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
        if len(data) == 1 and holds_list(value, key):
            raise Unreadable("holds the object itself")
        flat.extend(lists[0] if len(lists) == 1 else [value])
    return flat


def _ordered(items: list[Any], item: Any) -> list[Any]:
    """Items in the order of their numbers, when they carry numbers that the model itself does not ask for."""
    if not items or not all(isinstance(value, dict) for value in items):
        return items
    asked = {name(field.name) for field in plan_of(item).fields} if is_subclass(item, BaseModel) else set()
    for key in items[0]:
        if name(key) not in WRITTEN["number"] or name(key) in asked:
            continue
        numbers = [_number(value.get(key)) for value in items]
        if None in numbers:
            continue
        if len(set(numbers)) < len(numbers):
            raise Unreadable(f"gives the same {key} twice")
        return [value for _, value in sorted(zip(numbers, items, strict=True), key=lambda pair: pair[0] or 0)]
    return items


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _NUMBERED.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(match.group(1)) if match else None


def telling_text(data: dict[str, Any], key: str) -> str | None:
    """The text that an object stands for: the one under a telling name, or the only one but for reasons and the like."""
    mine = stem(key)
    telling = {mine, "text", "content"} | RELATED.get(mine, CONTAINERS)
    texts = [(inner, value) for inner, value in data.items() if isinstance(value, str)]
    named = next((value for inner, value in texts if stem(inner) in telling), None)
    if named is not None or any(isinstance(value, (dict, list)) for value in data.values()):
        return named
    others = [value for inner, value in texts if name(inner) not in REASONS | ASIDES]
    return others[0] if len(others) == 1 else None
