"""Texts of data and models on a terminal: nothing in them steers it, and they fit the columns that there are.

Claims, reasons and ids come from documents and models, so they may be hostile. What would move the cursor, change colours, hide
text or turn the direction of writing is shown as an escape. The two joiners stay: Persian, Hindi and emojis are written with them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

JOINERS = "\u200c\u200d"
BLANKS = "".join(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""Spaces that are no control characters, though Python does not call them printable."""

Piece = tuple[str, int]
"""Characters that stay on one line, and the number of blanks before them."""


def printable(text: str, kept: str = "") -> str:
    """The text with control characters shown as escapes: ids and errors can hold what a terminal would obey.

    Args:
        text: the text.
        kept: characters that stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in kept else ascii(character)[1:-1] for character in text
    )


def harmless(text: str) -> str:
    """The same for a text of several lines: its line ends stay, and so do spaces of any width, and joiners."""
    return printable(text, f"\n{BLANKS}{JOINERS}")


def readable(text: str) -> str:
    """A text of people on one line, printable; blanks and line ends become single spaces."""
    return printable(" ".join(text.split()), JOINERS)


def cells(text: str) -> int:
    """Columns that a terminal takes for a printable text: two for a character of Chinese, Japanese or Korean."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if character in JOINERS or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """The lines of a text, none wider than ``width`` columns; words are split only where they are wider than that, or are CJK.

    Args:
        text: as data has it; it is made printable.
        width: columns of the terminal.
        first: what the first line begins with.
        others: what the other lines begin with.
    """
    most = max(1, width - max(cells(first), cells(others)))
    return filled((piece for word in readable(text).split() for piece in parted(word, most)), width, first, others)


def filled(pieces: Iterable[Piece], width: int, first: str, others: str) -> list[str]:
    """The lines of these pieces, each as full as it can be."""
    lines, used, fresh = [first], cells(first), True
    for piece, blanks in pieces:
        gap = 0 if fresh else blanks
        if not fresh and used + gap + cells(piece) > width:
            lines.append(others)
            used, gap = cells(others), 0
        lines[-1] += " " * gap + piece
        used += gap + cells(piece)
        fresh = False
    return lines


def parted(word: str, most: int) -> Iterator[Piece]:
    """The parts of a word: characters of two columns one by one, the others together, as far as they fit."""
    piece, taken, blanks = "", 0, 1
    for character in word:
        width = _width(character)
        if piece and (width == 2 or taken + width > most or _width(piece[-1]) == 2):
            yield piece, blanks
            piece, taken, blanks = "", 0, 0
        piece += character
        taken += width
    yield piece, blanks


def shortened(text: str, most: int) -> str:
    """The text on one line, printable, cut at its end where it takes more than so many columns."""
    line = readable(text)
    if cells(line) <= most:
        return line
    return f"{within(line, most - 3).rstrip()}..."


def within(text: str, most: int) -> str:
    """The beginning of a text that takes at most so many columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += _width(character)
        if taken > most:
            return text[:place]
    return text
