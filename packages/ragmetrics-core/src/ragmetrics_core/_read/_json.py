"""Reads JSONL line by line, and JSON as a whole, because the format allows nothing else.

A key that occurs twice in an object is legal JSON, and every parser silently keeps the last value. Here it makes the row a bad
row: only its author knows which of the two values should be used.

In a JSON file, each export tool puts the list of rows in another place. If the whole file is a list, this list is used, and so is
a list at the place where data sets and well-known tools have it. Otherwise the objects in the file are searched for lists of
objects. A single list is used; of several lists the user must choose one, and the message names them with their numbers of rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from .._values._errors import InvalidInput, Setting
from .._values._sample import ALIASES, FIELD_NAMES
from ._input_file import BadShape, InputFile, RawRow, first_double, lines_of, text_lines

OF_A_ROW = (ALIASES.keys() | FIELD_NAMES) - {"id", "metadata"}
"""Keys that show that an object is itself a row."""

USUAL = ("samples", "data", "examples", "results", "results.results")
"""The paths to the rows in files of RAGAS, Langfuse, LlamaIndex and promptfoo."""

MOST_DEEP = 6
"""The largest number of nested objects that are searched."""

MOST_NAMED = 8
"""The largest number of lists that a message names."""

Found = tuple[str, list[Any]]
"""The path to the rows in the data of a JSON file, and the rows."""


def find_rows(data: Any, at: str | None, name: str) -> Found:
    """Return the path to the rows in the data of a JSON file, and the rows. The path is "" if the whole file is the list.

    Raises:
        InvalidInput: there are no rows, no rows at the given path, or several lists that could be meant.
    """
    if at is not None:
        return at, _at(data, at, name)
    if isinstance(data, list):
        return "", data
    for path in USUAL:
        rows = _follow(data, path)
        if isinstance(rows, list) and not (_has_columns(data) and rows and isinstance(rows[0], list)):
            return path, rows
    lists = dict(_lists(data, "")) if wraps_rows(data) else {}
    if not lists:
        raise InvalidInput(
            f'{name} must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"'
            + _why_none(data)
        )
    if len(lists) > 1:
        listed = [f"{path} ({len(rows)})" for path, rows in lists.items()]
        more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
        raise InvalidInput(
            f"{name} holds several lists that could be the rows: {', '.join(listed[:MOST_NAMED])}{more}: choose one, as in ",
            Setting("at", max(lists, key=lambda path: len(lists[path]))),
        )
    return next(iter(lists.items()))


def wraps_rows(data: Any) -> bool:
    """Whether the data is an object that contains lists of objects and is not itself a row."""
    return isinstance(data, dict) and OF_A_ROW.isdisjoint(data) and next(_lists(data, ""), None) is not None


def _follow(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _at(data: Any, at: str, name: str) -> list[Any]:
    found, reached = data, ""
    for key in at.split("."):
        if not isinstance(found, dict) or key not in found:
            keys = ", ".join(map(str, list(found)[:MOST_NAMED])) if isinstance(found, dict) else "no keys"
            problem = f": there is no {key!r} in {reached or 'the file'}, which has {keys}"
            raise InvalidInput(f"{name}: ", Setting("at", at), problem)
        found, reached = found[key], f"{reached}.{key}".lstrip(".")
    if not isinstance(found, list):
        raise InvalidInput(f"{name}: ", Setting("at", at), " is not a list of rows")
    return found


def _lists(data: Any, path: str, depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Yield every list of objects that is not itself a field of a row, with its path."""
    if not isinstance(data, dict) or depth > MOST_DEEP:
        return
    for key, value in data.items():
        if key in OF_A_ROW or key == "metadata":
            continue
        inner = f"{path}.{key}" if path else key
        # other items of the list may be bad rows
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield inner, value
        else:
            yield from _lists(value, inner, depth + 1)


def _has_columns(data: Any) -> bool:
    """Whether the names of the columns are in a separate list, as pandas (orient="split") and MLflow write them."""
    return isinstance(data, dict) and isinstance(data.get("columns"), list)


def _why_none(data: Any) -> str:
    if not isinstance(data, dict):
        return ""
    of_a_row = not OF_A_ROW.isdisjoint(data)
    if _has_columns(data) or (of_a_row and all(isinstance(value, dict | list) for value in data.values())):
        return ': this one holds columns; with pandas, df.to_json(path, orient="records") writes rows'
    return ": this one is a single row; put it into a list: [{...}]" if of_a_row else ""


def jsonl_lines(file: InputFile) -> Iterator[tuple[str, str | BadShape]]:
    """Yield every line that is not blank, with its place."""
    for number, line in text_lines(file):
        if isinstance(line, BadShape) or not line.isspace():
            yield f"{file.name}, line {number}", line


def jsonl_rows(file: InputFile) -> Iterator[RawRow]:
    """Yield the value of every line that is not blank."""
    for place, line in jsonl_lines(file):
        yield place, line if isinstance(line, BadShape) else _json_line(line.rstrip("\r\n"))


def _json_line(line: str) -> Any:
    try:
        value = json.loads(line, object_pairs_hook=_object_of)
    except json.JSONDecodeError as error:
        return BadShape(
            f"not JSON ({error.msg} at column {error.colno}): every line must hold one whole JSON object "
            "(a file with one JSON value over several lines is named .json)"
        )
    except (ValueError, RecursionError) as error:  # a number is too long, or the nesting too deep
        return InvalidInput(f"not JSON that can be read ({error})")
    return _object(value)


def json_rows(find: Callable[[], Found], name: str) -> Iterator[RawRow]:
    """Yield every item of the list of rows that ``find`` finds in the file of this name."""
    at, rows = find()
    where = f"{at} item" if "." in at else "item"
    for number, item in enumerate(rows, 1):
        yield f"{name}, {where} {number}", _object(item)


def load_json(file: InputFile) -> Any:
    """Return the data of a JSON file; an empty list for an empty file.

    Raises:
        InvalidInput: the file is not JSON.
    """
    text = "".join(line for _, line in lines_of(file))
    if not text.strip():
        return []
    try:
        data = json.loads(text, object_pairs_hook=_object_of)
    except json.JSONDecodeError as error:
        cure = _cure(text[: error.pos]) if error.msg == "Extra data" else ""
        raise InvalidInput(f"{file.name}, line {error.lineno}: not JSON ({error.msg}){cure}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file.name}: not JSON that can be read ({error})") from None
    if isinstance(data, DoubleKeys):
        raise InvalidInput(f"{file.name}: {data.problem('file')}")
    return data


def _cure(first: str) -> str:
    """Say what to do about data after the first value."""
    if "\n" in first.strip():
        return ": a JSON file holds only one value: put several values into a list, as `jq -s .` does"
    return ": a file with one JSON object per line is named .jsonl"


class DoubleKeys(dict[str, Any]):
    """An object in which the key ``key`` occurs twice."""

    key = ""

    def problem(self, where: str) -> str:
        """Return the message for the user."""
        return f"the key {self.key!r} occurs twice in one object of this {where}: keep one of them"


class NoObject(BadShape):
    """A value that stands where a row should be, but is not an object. ``kind`` names its type."""

    def __init__(self, kind: str) -> None:
        super().__init__(f'a row must be a JSON object such as {{"user_input": "..."}}, got {kind}')
        self.kind = kind


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        values = DoubleKeys(values)
        values.key = str(first_double(key for key, _ in pairs))
    return values


def _double(value: Any) -> DoubleKeys | None:
    """Return the first object inside the value in which a key occurs twice; None if there is no such object."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, DoubleKeys):
            return item
        if isinstance(item, dict | list):
            pending.extend(item.values() if isinstance(item, dict) else item)
    return None


def _object(value: Any) -> Any:
    if (double := _double(value)) is not None:
        return InvalidInput(double.problem("row"))
    if isinstance(value, dict):
        return value
    kinds: dict[type, str] = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}
    return NoObject(kinds.get(type(value), "a number"))
