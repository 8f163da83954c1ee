"""What a row may hold so that it can be written down again: limits to nesting, numbers and size.

Strategy. Metadata is only carried through, so nobody looks at it before it is written. One row that no file can hold must cost that
row and no other, so it is found where the row is read. Values are walked through without recursion, and the type alone tells
that a value is plain, as nearly all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any

from .._kernel._sample import Document, Sample

MOST_DEEP = 100
"""Levels of lists and mappings inside each other."""

MOST_DIGITS = 4000
"""Python itself writes no numbers of more than 4,300 digits."""

MOST_BITS = 13_287
"""Bits of a whole number with that many digits."""

MOST_VALUES = 1_000_000
"""In all lists and mappings together, save lists that hold only texts and floats; a list that occurs several times counts each
time."""

PLAIN = frozenset({str, float, bool, type(None)})
FIELDS = tuple(item.name for item in fields(Sample) if item.name != "metadata")
VALUES = attrgetter(*FIELDS)


def out_of_bounds(sample: Sample) -> str | None:
    """What stands in the way of writing this row, such as "metadata['tree'] is nested more than 100 levels deep"; or None."""
    for name, value in zip(FIELDS, VALUES(sample), strict=True):
        # as nearly always: texts, and lists of texts
        if type(value) not in PLAIN and not (type(value) is list and PLAIN.issuperset(map(type, value))):
            problem = _problem(value)
            if problem is not None:
                return f"{name} {problem}"
    for column, value in sample.metadata.items():
        if type(value) not in PLAIN or type(column) is not str:
            problem = _problem(value) or _problem(column)
            if problem is not None:
                return f"metadata[{str(column)[:80]!r}] {problem}" if isinstance(column, str) else f"metadata {problem}"
    return None


def _problem(value: Any) -> str | None:
    pending = [(value, 0)]
    seen = 0
    while pending:
        item, depth = pending.pop()
        if isinstance(item, int):
            if item.bit_length() > MOST_BITS:
                return f"holds a whole number of more than {MOST_DIGITS:,} digits"
            continue
        parts = _parts(item)
        if not parts:
            continue
        if depth >= MOST_DEEP:
            return f"is nested more than {MOST_DEEP} levels deep"
        seen += len(parts)
        if seen > MOST_VALUES:
            return f"holds more than {MOST_VALUES:,} values"
        pending += [(part, depth + 1) for part in parts if type(part) not in PLAIN]
    return None


def _parts(item: Any) -> list[Any] | tuple[Any, ...]:
    if isinstance(item, list | tuple):
        return () if PLAIN.issuperset(map(type, item)) or _are_plain_documents(item) else item
    if isinstance(item, Document):
        return (item.id, item.score, item.meta) if item.meta else (item.id, item.score)
    if isinstance(item, Mapping):
        return [*item, *item.values()]
    return ()


def _are_plain_documents(items: list[Any] | tuple[Any, ...]) -> bool:
    """Whether each is a document of plain values: rankings have many of them, and are read by the ten thousand a second."""
    for item in items:
        if type(item) is not Document or item.meta or type(item.id) not in PLAIN or type(item.score) not in PLAIN:
            return False
    return True
