"""Plain text that fits a width: tables split into parts if they are too wide, wrapped lines, long names cut in the middle.

A value is never cut and never separated from its row: half a number, or a number without its row, is worse than a
long line. So a table that does not fit is split between its columns, and the first column is repeated. Only names are cut, in
the middle, because ids and file names usually differ at their ends. Terminal control characters are shown as escapes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence

from .._values._counts import grouped
from .._values._layout import cells, filled, harmless, parted, printable, within

USUAL = 80
"""The number of columns if it is not known: in a file, a pipe, a notebook."""

LEAST = 40
"""The smallest number of columns for the layout; a narrower terminal wraps the lines itself."""

GAP = "  "

UNBROKEN = "\xa0"
"""A space at which a line is never broken."""

LINE_ENDS = str.maketrans(dict.fromkeys("\t\n\v\f\r", " "))


def room() -> int:
    """Return the number of columns for a text: the width of the terminal, or the environment variable COLUMNS."""
    return max(LEAST, shutil.get_terminal_size((USUAL, 24)).columns)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> str:
    """Return a table with two spaces between its columns. Columns that do not fit into ``width`` follow in further parts below.
    The first column is aligned to the left, the others to the right.
    """
    all_rows = [[_on_one_line(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(cells(row[column]) for row in all_rows) for column in range(len(headings))]
    parts = ("\n".join(_line(row, columns, widths) for row in all_rows) for columns in _parts(widths, width))
    return "\n\n".join(parts)


def _parts(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Return the columns of each part of a table; the first column, which every part repeats, is left out."""
    part: list[int] = []
    used = widths[0]
    for column in range(1, len(widths)):
        needed = len(GAP) + widths[column]
        if part and used + needed > width:
            yield part
            part, used = [], widths[0]
        part.append(column)
        used += needed
    yield part


def _line(row: Sequence[str], columns: Iterable[int], widths: Sequence[int]) -> str:
    right = (_blanks(row[column], widths[column]) + row[column] for column in columns)
    return GAP.join([row[0] + _blanks(row[0], widths[0]), *right]).rstrip()


def _blanks(text: str, width: int) -> str:
    return " " * (width - cells(text))


def wrapped(text: str, width: int, *, indent: str = "") -> list[str]:
    """Return the lines of a text, broken at spaces. A Chinese or Japanese word that is wider than a line is broken too.

    With an ``indent``, all lines except the first get four more spaces.
    """
    following = f"{indent}    " if indent else ""
    most = width - cells(following)
    pieces = (
        piece
        for word in _on_one_line(text).split(" ")
        if word
        for piece in (parted(word, cells(word)) if cells(word) > most else ((word, 1),))
    )
    lines = filled(pieces, width, indent, following) if text.strip() else []
    return [line.replace(UNBROKEN, " ") for line in lines]


def whole(text: str) -> str:
    """Return the text as one word, which ``wrapped`` and ``hanging`` do not break."""
    return text.replace(" ", UNBROKEN)


def hanging(remark: str, width: int) -> list[str]:
    """Return the lines of a remark; all except the first are indented."""
    first, *others = wrapped(remark, width, indent="  ")
    return [first.removeprefix("  "), *others]


def _on_one_line(text: str) -> str:
    return harmless(text.translate(LINE_ENDS))


def cut_middle(text: str, length: int) -> str:
    """Return a printable text of at most ``length`` columns, with its beginning and its end."""
    shown = printable(text)
    if cells(shown) <= length:
        return shown
    end = (length - 3) // 2
    tail = within(shown[::-1], end)[::-1]
    return f"{within(shown, length - 3 - end)}...{tail}"


MOST_ROWS = 5
"""The number of names that a sentence lists; the rest is counted."""

LONGEST_ROW = 40
"""The number of columns of a row's id in a sentence."""


def first_of(names: Sequence[str], most: int = MOST_ROWS) -> str:
    """Return the first few names, and the number of the others."""
    more = len(names) - most
    shown = ", ".join(cut_middle(name, LONGEST_ROW) for name in names[:most])
    return shown + (f" and {more} more" if more > 0 else "")


def in_groups(pairs: Iterable[tuple[str, str]]) -> str:
    """Say which names have which description: ``Wilson for a, b; CR2 for c``. If all have the same one, return only the
    description.
    """
    found = grouped(pairs)
    return "; ".join(found if len(found) == 1 else (f"{words} for {first_of(names)}" for words, names in found.items()))


def number(value: float | None) -> str:
    """Return a number for a table or a sentence, with three decimals; "-" for None."""
    return "-" if value is None else f"{value:.3f}"


def or_dash(value: object) -> str:
    """Return a value for a table; "-" for None."""
    return "-" if value is None else str(value)
