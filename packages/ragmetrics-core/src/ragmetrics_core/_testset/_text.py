"""What every reader of files makes of one: its text, and where in it headings and pages begin."""

from __future__ import annotations

from typing import NamedTuple

Heading = tuple[int, int, str]
"""Where a heading begins in the text, its level (1 is the highest), and its words."""


class FileText(NamedTuple):
    """The text of a file.

    Attributes:
        text: what its reader sees.
        headings: its headings, in order.
        pages: where each of its pages begins, in order; empty where it has none.
    """

    text: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()
