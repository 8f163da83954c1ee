"""A summary as Markdown, for a comment on a pull request: what must be known, the table, and what the numbers rest on.

The sections are those of the text; whatever comes from the data has no effect, see `_markdown`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .._show._markdown import code, cut_lines, folded, prose, row
from ._text import NOTES, groups_of, slice_tables

if TYPE_CHECKING:
    from ._summary import Summary


WIDE = 1_000_000
"""Columns for a text whose lines are not to be broken."""


def summary_markdown(summary: Summary) -> str:
    """The whole account."""
    rests = [line for section in NOTES for line in _items(section(summary, WIDE))]
    parts = [
        [f"### {prose(summary.title)}"],
        list(_warnings(summary)),
        _table(summary),
        *([_cells(headings), *map(_cells, [_ends(headings), *rows])] for headings, rows in slice_tables(summary)),
        folded("What the numbers rest on", cut_lines(rests, "which the table in a terminal has")) if rests else [],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _warnings(summary: Summary) -> Iterator[str]:
    """What must be known first, as a quotation."""
    found = [*summary.caveats, *([f"stopped: {summary.stopped}"] if summary.stopped is not None else [])]
    if summary.failed_everywhere:
        found.append(f"failed on every row: {', '.join(summary.failed_everywhere)}")
    if found:
        yield from ["> **Read this first**", ">", *(f"> * {prose(text)}" for text in found)]


def _table(summary: Summary) -> list[str]:
    columns = sum(groups_of(summary), ())
    headings = ["metric", *(heading for heading, _ in columns)]
    rows = ([code(item.name), *(prose(cell(item)) for _, cell in columns)] for item in summary.metrics)
    return [row(headings), row(_ends(headings)), *map(row, rows)]


def _ends(headings: Sequence[str]) -> list[str]:
    return [":--", *("--:" for _ in headings[1:])]


def _cells(cells: Sequence[str]) -> str:
    """A line of a table, of texts that may come from the data."""
    first, *others = cells
    return row([first if first == ":--" else code(first), *(cell if cell == "--:" else prose(cell) for cell in others)])


def _items(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a text as items of a list, those that are set in below the one before."""
    for line in "\n".join(lines).splitlines():
        if line.strip():
            yield f"{'  ' if line.startswith(' ') else ''}* {prose(line)}"
