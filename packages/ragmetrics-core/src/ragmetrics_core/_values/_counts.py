"""Numbers with what they count, as messages and reports say them."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """Such as ``1 row`` or ``1,200 rows``; for nouns whose plural takes an s."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
