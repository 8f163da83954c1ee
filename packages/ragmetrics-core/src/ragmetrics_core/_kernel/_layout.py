"""Texts of data and models on a terminal: nothing in them steers it, and they fit the columns that there are.

Claims, reasons and ids come from documents and models that nobody vouches for. What would move the cursor, change colours, hide
text or turn the direction of writing is shown as an escape. The two joiners stay: Persian, Hindi and emojis are written with them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

__all__ = ["cells", "fitted", "printable", "readable", "shortened"]

JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """The text with control characters shown as escapes: ids and errors can hold what a terminal would obey."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def readable(text: str) -> str:
    """A text of people on one line, printable; blanks and line ends become single spaces."""
    words = " ".join(text.split())
    if words.isprintable():
        return words
    return "".join(character if character in JOINERS else printable(character) for character in words)


def cells(text: str) -> int:
    """Columns that a terminal takes for a printable text: two for a character of Chinese, Japanese or Korean."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """The lines of a text, none wider than ``width`` columns; words are parted only where they are wider than that, or are CJK.

    Args:
        text: as data has it; it is made printable.
        width: columns of the terminal.
        first: what the first line begins with.
        others: what the other lines begin with.
    """
    lines, used, fresh = [first], cells(first), True
    for piece, spaced in _pieces(readable(text), max(1, width - max(cells(first), cells(others)))):
        gap = 0 if fresh else spaced
        if not fresh and used + gap + cells(piece) > width:
            lines.append(others)
            used, gap = cells(others), 0
        lines[-1] += " " * gap + piece
        used += gap + cells(piece)
        fresh = False
    return lines


def _pieces(text: str, most: int) -> Iterator[tuple[str, int]]:
    """What must not be parted, each with the number of blanks before it."""
    for word in text.split():
        piece, taken, spaced = "", 0, 1
        for character in word:
            width = _width(character)
            if piece and (width == 2 or taken + width > most or _width(piece[-1]) == 2):
                yield piece, spaced
                piece, taken, spaced = "", 0, 0
            piece += character
            taken += width
        yield piece, spaced


def shortened(text: str, most: int) -> str:
    """The text on one line, printable, cut at its end where it takes more than so many columns."""
    line = readable(text)
    if cells(line) <= most:
        return line
    kept, taken = 0, 3
    for character in line:
        taken += _width(character)
        if taken > most:
            break
        kept += 1
    return f"{line[:kept].rstrip()}..."
