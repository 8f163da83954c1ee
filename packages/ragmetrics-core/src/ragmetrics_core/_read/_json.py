"""JSONL, read line by line, and JSON, read whole because the format leaves no choice.

A key that stands twice in an object is legal JSON, and every parser silently keeps the last value. Here it makes the row a bad
one: only its author knows which of the two answers should be scored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from ._text import NOT_UTF8, BadShape, RawRow, lines_of, raw_lines

__all__ = ["JsonFile", "jsonl_rows"]


def jsonl_rows(path: Path) -> Iterator[RawRow]:
    """Every line that is not blank."""
    for number, line in raw_lines(path):
        if line.strip():
            yield f"{path.name}, line {number}", _json_line(line.rstrip())


def _json_line(line: bytes) -> Any:
    try:
        value = json.loads(line.decode(), object_pairs_hook=_object_of)
    except UnicodeDecodeError:
        return BadShape(NOT_UTF8)
    except json.JSONDecodeError as error:
        return BadShape(
            f"not JSON ({error.msg} at column {error.colno}): every line must hold one whole JSON object "
            "(a file with one JSON value over several lines is named .json)"
        )
    except (ValueError, RecursionError) as error:  # a number that is too long, or nesting that is too deep
        return InvalidInput(f"not JSON that can be read ({error})")
    return _object(value)


class JsonFile:
    """A JSON file, read once, when its rows or their number are first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> Iterator[RawRow]:
        """Every item of the list that the file is, or holds under "samples" or "data".

        Raises:
            InvalidInput: the file is not JSON, or holds no such list.
        """
        for number, item in enumerate(self._items, 1):
            yield f"{self._path.name}, item {number}", _object(item)

    def count(self, most: int | None) -> int | None:
        """The number of items, or ``most``; None for a file that cannot be read."""
        try:
            return len(self._items[:most])
        except InvalidInput:
            return None

    @cached_property
    def _items(self) -> list[Any]:
        return _items(self._path)


def _items(path: Path) -> list[Any]:
    text = "".join(line for _, line in lines_of(path))
    if not text.strip():
        return []
    try:
        data = json.loads(text, object_pairs_hook=_object_of)
    except json.JSONDecodeError as error:
        cure = ": a file with one JSON object per line is named .jsonl" if error.msg == "Extra data" else ""
        raise InvalidInput(f"{path.name}, line {error.lineno}: not JSON ({error.msg}){cure}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path.name}: not JSON that can be read ({error})") from None
    if isinstance(data, DoubleKeys):
        raise InvalidInput(f"{path.name}: {data.problem('file')}")
    if isinstance(data, dict):
        data = data.get("samples", data.get("data"))
    if not isinstance(data, list):
        raise InvalidInput(
            f'{path.name} must hold a list of rows, or an object with such a list under "samples" or "data"'
        )
    return data


class DoubleKeys(dict[str, Any]):
    """An object in which a key stands twice."""

    def __init__(self, values: dict[str, Any], key: str) -> None:
        super().__init__(values)
        self.key = key

    def problem(self, where: str) -> str:
        return f"the key {self.key!r} stands twice in one object of this {where}: keep one of them"


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        return DoubleKeys(values, next(key for key in keys if keys.count(key) > 1))
    return values


def _double(value: Any) -> DoubleKeys | None:
    """The first object inside the value in which a key stands twice."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, DoubleKeys):
            return item
        if isinstance(item, dict | list):
            pending.extend(item.values() if isinstance(item, dict) else item)
    return None


def _object(value: Any) -> Any:
    double = _double(value)
    if double is not None:
        return InvalidInput(double.problem("row"))
    if isinstance(value, dict):
        return value
    kind = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}.get(type(value), "a number")
    return BadShape(f'a row must be a JSON object such as {{"user_input": "..."}}, got {kind}')
