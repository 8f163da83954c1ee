"""Counts with their noun, for messages and reports; and items grouped by a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def count_of(number: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 row`` or ``1,200 rows``; the plural must end in ``s``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Group items by key. Keys, and the items of a key, keep the order of ``pairs``."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found
