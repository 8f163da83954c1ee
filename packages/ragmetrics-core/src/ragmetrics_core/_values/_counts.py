"""Numbers with what they count, as messages and reports say them; and items by what they have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def count_of(number: int, noun: str) -> str:
    """Such as ``1 row`` or ``1,200 rows``; for nouns whose plural takes an s."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The items of each key; keys and items in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found
