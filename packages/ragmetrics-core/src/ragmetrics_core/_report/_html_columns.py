"""Columns that a page has of all rows: texts with their beginning only, values with the digits that are read, and metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._store._records import json_value
from ._slices import MOST_SLICES

LONGEST_QUESTION, LONGEST_ANSWER = 200, 300
"""Characters of a question and of an answer that the table shows and the search reads."""

LONGEST_NOTE = 300
"""Characters of the reason of a row whose evidence is not in the page."""

LONGEST_VALUE = 80
"""Characters of a value of the metadata that can be a slice."""


class MetadataColumns:
    """What stands in the metadata of every row, by path: single values, as text; None where a row has none."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str | None]] = {}
        self._rows = 0

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Note those of one more row."""
        found = dict(_leaves(json_value(metadata)))
        for path in found:
            if path not in self._columns:
                self._columns[path] = [None] * self._rows
        for path, column in self._columns.items():
            column.append(found.get(path))
        self._rows += 1

    def slices(self) -> dict[str, list[str | None]]:
        """The columns by which rows can be told apart into groups: few values, each on several rows on average."""
        return {path: column for path, column in self._columns.items() if _is_slice(column)}


def beginning(text: object, length: int) -> str:
    """The beginning of a text on one line; of a value of another type, of what it looks like."""
    if text is None:
        return ""
    whole = text if isinstance(text, str) else str(json_value(text))
    line = " ".join(whole[: 4 * length].split())
    return line if len(line) <= length and len(whole) <= 4 * length else f"{line[: length - 1].rstrip()}\u2026"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """What stands in the metadata, by path: single values, as text."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, bool):
        yield path, str(value).lower()
    elif isinstance(value, str | int | float) and 0 < len(text := str(value).strip()) <= LONGEST_VALUE:
        yield path, text


def _is_slice(column: Sequence[str | None]) -> bool:
    groups = set(column)
    return len(groups) > 1 and len(groups - {None}) <= min(MOST_SLICES - 1, max(2, len(column) // 2))


def short(value: float | None) -> float | None:
    """The value with as many digits as anybody looks at."""
    return None if value is None else round(value, 6)
