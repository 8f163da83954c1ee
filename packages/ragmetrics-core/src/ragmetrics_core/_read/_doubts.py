"""What was read as it stands although it may mean something else: words for a missing value, lists written as one text.

Nothing is guessed: an answer may well be "None", and a text may hold a semicolon. So the texts stay as they are, and the user
reads once per field how many rows have such a text, and where the first of them are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .._kernel._counts import count_of
from .._kernel._sample import Sample

PLACEHOLDERS = frozenset({"nan", "none", "null", "na", "n/a", "#n/a", "<na>", "\\n"})
"""What pandas, R, SQL and spreadsheets write where there is nothing, without regard to case."""

LONGEST = 2 * max(map(len, PLACEHOLDERS))
"""Characters of a text that may be one of these words, with blanks around it."""

SEPARATED = re.compile(r"\|\||(?<=[^\s|;])[|;](?=[^\s|;])")
"""What separates texts in a cell; a semicolon in prose has a blank behind it."""

ENTITY = re.compile(r"&#?\w{1,8};")
"""A character as HTML writes it, whose semicolon separates nothing."""

MOST_PLACES = 3


@dataclass
class Doubt:
    """Rows that share a doubt: how many, the first places, and what stands there."""

    column: str
    rows: int = 0
    places: list[str] = field(default_factory=list)
    words: dict[str, None] = field(default_factory=dict)
    parts: int = 0

    def add(self, place: str, word: str) -> None:
        """Count a row."""
        self.rows += 1
        self.words[word] = None
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def where(self) -> str:
        """In which rows."""
        more = "; ..." if self.rows > len(self.places) else ""
        return f"in {count_of(self.rows, 'row')} (column {self.column!r}: {'; '.join(self.places)}{more})"


class Doubts:
    """The doubts about the rows that were read.

    Attributes:
        lone: by field, how many rows hold one text only where a list may stand.
    """

    def __init__(self) -> None:
        self.lone: Counter[str] = Counter()
        self._missing: dict[str, Doubt] = {}
        self._lists: dict[str, Doubt] = {}

    def may_be_missing(self, field: str, column: str, place: str, word: str) -> None:
        """A text is a word that may stand for a missing value."""
        self._missing.setdefault(field, Doubt(column)).add(place, word)

    def may_be_a_list(self, field: str, column: str, place: str, text: str) -> None:
        """A text may be a list."""
        separator, parts = lone_list(text)
        self._lists.setdefault(field, Doubt(column, parts=parts)).add(place, separator)

    def sentences(self) -> Iterator[str]:
        """What the user should know. A separator in few texts of many is part of these texts."""
        for name, doubt in self._missing.items():
            words = " or ".join(map(repr, doubt.words))
            yield (
                f"{name} is {words} {doubt.where()} and is judged as text: where that means a missing value, write \\N in a "
                "CSV file or a sheet, and null elsewhere"
            )
        for name, doubt in self._lists.items():
            if doubt.rows * 2 >= self.lone[name]:
                separator = next(iter(doubt.words))
                yield (
                    f"{name} looks like a list of {doubt.parts} {doubt.where()} and is read as one text: if it is a list, give "
                    f"separator=\"{separator}\" (command line: --separator '{separator}')"
                )


def placeholders(sample: Sample) -> Iterator[tuple[str, str]]:
    """The fields that hold a word for a missing value, and the word."""
    texts = (("user_input", sample.user_input), ("response", sample.response), ("reference", sample.reference))
    for name, text in texts:
        if isinstance(text, str) and len(text) <= LONGEST and text.strip().casefold() in PLACEHOLDERS:
            yield name, text.strip()
    for name, items in (
        ("retrieved_contexts", sample.retrieved_contexts),
        ("reference_contexts", sample.reference_contexts),
    ):
        for item in items if isinstance(items, (list, tuple)) else ():
            if isinstance(item, str) and len(item) <= LONGEST and item.strip().casefold() in PLACEHOLDERS:
                yield name, item.strip()
                break


def lone_list(text: str) -> tuple[str, int]:
    """What separates the texts that a text seems to hold, and how many they are; ("", 1) where it seems to hold one."""
    plain = ENTITY.sub("", text)
    found = SEPARATED.search(plain)
    return (found[0], sum(not part.isspace() and part != "" for part in plain.split(found[0]))) if found else ("", 1)
