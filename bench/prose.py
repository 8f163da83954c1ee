"""Words for texts that benchmarks make up."""

from __future__ import annotations

WORDS = [
    "the",
    "old",
    "harbour",
    "of",
    "the",
    "town",
    "was",
    "rebuilt",
    "in",
    "the",
    "spring",
    "after",
    "a",
    "storm",
    "had",
    "damaged",
    "its",
    "northern",
    "wall",
    "and",
    "the",
    "mayor",
    "said",
    "that",
    "boats",
    "of",
    "every",
    "size",
    "could",
    "land",
    "there",
    "again",
    "from",
    "the",
    "first",
    "of",
    "June",
    "while",
    "repairs",
    "of",
    "the",
    "light",
    "went",
    "on",
]


def prose(count: int, start: int) -> str:
    """So many words, from the one at this place on."""
    return " ".join(WORDS[(start + index) % len(WORDS)] for index in range(count))
