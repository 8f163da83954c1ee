"""Prepare texts from data and models for a terminal: escape control characters, and break lines to a width.

Claims, reasons and ids come from documents and models, so they may be hostile. Characters that would move the cursor, change
colours, hide text or change the direction of writing are shown as escapes. The two zero-width joiners stay, because Persian, Hindi
and emojis need them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

JOINERS = "\u200c\u200d"
BLANKS = "".join(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""Spaces that are not control characters, although Python counts them as not printable."""

Piece = tuple[str, int]
"""Characters that stay on one line, and the number of blanks before them if they do not begin a line."""


def printable(text: str, kept: str = "") -> str:
    """Return the text with control characters as escapes: ids and errors can contain commands for the terminal.

    Args:
        text: the text.
        kept: characters that are not escaped.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in kept else ascii(char)[1:-1] for char in text)


def harmless(text: str) -> str:
    """Return a text of several lines with control characters as escapes, except line ends, spaces of any width and joiners."""
    return printable(text, f"\n{BLANKS}{JOINERS}")


def readable(text: str) -> str:
    """Return a text on one line, with control characters as escapes; blanks and line ends become single spaces."""
    return printable(" ".join(text.split()), JOINERS)


def cells(text: str) -> int:
    """Return the width of a printable text in columns of a terminal; a Chinese, Japanese or Korean character takes two."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if character in JOINERS or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Break a text into lines of at most ``width`` columns; only words that are wider, and CJK words, are split.

    Args:
        text: any text; control characters are escaped.
        width: the width of a line, in columns.
        first: the beginning of the first line.
        others: the beginning of all other lines.
    """
    most = max(1, width - max(cells(first), cells(others)))
    return filled((piece for word in readable(text).split() for piece in parted(word, most)), width, first, others)


def filled(pieces: Iterable[Piece], width: int, first: str, others: str) -> list[str]:
    """Put pieces into lines, each as full as possible."""
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
    """Split a word into pieces of at most ``most`` columns; each character of two columns is a piece by itself."""
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
    """Return the text on one line, with escapes, and cut at the end to ``most`` columns."""
    line = readable(text)
    if cells(line) <= most:
        return line
    return f"{within(line, most - 3).rstrip()}..."


def within(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most ``most`` columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += _width(character)
        if taken > most:
            return text[:place]
    return text
