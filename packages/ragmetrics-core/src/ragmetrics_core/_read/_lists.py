"""Where in a JSON file the rows are: exports wrap them, and each tool does so in its own way.

Strategy. A list that is the whole file, or stands where data sets and well-known tools have it, is taken. Otherwise the file is
searched through its objects for lists of objects. One such list can only be meant; of several one must be chosen, and the message
names them with what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import ALIASES, FIELD_NAMES

OF_A_ROW = (ALIASES.keys() | FIELD_NAMES) - {"id", "metadata"}
"""Keys that an object has which is a row itself."""

USUAL = ("samples", "data", "examples", "results", "results.results")
"""Where the rows stand in files of RAGAS, Langfuse, LlamaIndex and promptfoo."""

MOST_DEEP = 6
"""Objects inside each other that are searched."""

MOST_NAMED = 8
"""Lists that a message names."""


def find_rows(data: Any, at: str | None, name: str) -> tuple[str, list[Any]]:
    """The rows in what a JSON file holds, and the path to them: "" where they are the whole file.

    Raises:
        InvalidInput: there are none, none at that path, or several lists that could be meant.
    """
    if at is not None:
        return at, _at(data, at, name)
    if isinstance(data, list):
        return "", data
    for path in USUAL:
        rows = _reached(data, path)
        if isinstance(rows, list) and not (_has_columns(data) and rows and isinstance(rows[0], list)):
            return path, rows
    found = dict(_lists(data, "")) if wraps_rows(data) else {}
    if not found:
        raise InvalidInput(
            f'{name} must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"'
            + _why_none(data)
        )
    if len(found) > 1:
        named = [f"{path} ({len(rows)})" for path, rows in found.items()]
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        raise InvalidInput(
            f"{name} holds several lists that could be the rows: {', '.join(named[:MOST_NAMED])}{more}: choose one, as in "
            f'at="{max(found, key=lambda path: len(found[path]))}"'
        )
    return next(iter(found.items()))


def wraps_rows(data: Any) -> bool:
    """Whether there are lists of objects in an object that is no row itself."""
    return isinstance(data, dict) and OF_A_ROW.isdisjoint(data) and next(_lists(data, ""), None) is not None


def _reached(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _at(data: Any, at: str, name: str) -> list[Any]:
    found, reached = data, ""
    for key in at.split("."):
        if not isinstance(found, dict) or key not in found:
            keys = ", ".join(map(str, list(found)[:MOST_NAMED])) if isinstance(found, dict) else "no keys"
            raise InvalidInput(
                f"{name}: there is no {key!r} in {reached or 'the file'} for at={at!r}, which has {keys}"
            )
        found, reached = found[key], f"{reached}.{key}".lstrip(".")
    if not isinstance(found, list):
        raise InvalidInput(f"{name}: at={at!r} is no list of rows")
    return found


def _lists(data: Any, path: str, depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Every list of objects that is not itself a field of a row, and the path to it."""
    if not isinstance(data, dict) or depth > MOST_DEEP:
        return
    for key, value in data.items():
        if key in OF_A_ROW or key == "metadata":
            continue
        inner = f"{path}.{key}" if path else key
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):  # also with a bad one in it
            yield inner, value
        else:
            yield from _lists(value, inner, depth + 1)


def _has_columns(data: Any) -> bool:
    """Whether the names of columns stand in a list of their own, as pandas (orient="split") and MLflow write them."""
    return isinstance(data, dict) and isinstance(data.get("columns"), list)


def _why_none(data: Any) -> str:
    if not isinstance(data, dict):
        return ""
    of_a_row = not OF_A_ROW.isdisjoint(data)
    if _has_columns(data) or (of_a_row and all(isinstance(value, dict | list) for value in data.values())):
        return ': this one holds columns; with pandas, df.to_json(path, orient="records") writes rows'
    return ": this one is a single row; put it into a list: [{...}]" if of_a_row else ""
