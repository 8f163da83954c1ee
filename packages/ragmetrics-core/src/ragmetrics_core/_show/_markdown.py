"""Markdown of which the data has no part: a comment for a pull request.

Whatever comes from the data is hostile there: a metric's name may hold a pipe that splits a table, an id may call people by
``@name``, a claim may be a link, an image or HTML. So every character of it that could mean anything is written as a numeric
reference, which no parser takes for markup, and stands in ``<code>``, where platforms look for no mentions and no references.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._kernel._layout import printable
from ._tables import cut_middle

MARKUP = re.compile(r"[^\w\s,;()%'+=.?:/-]|_|:(?=\S)|(?<=www)\.", re.ASCII)
"""ASCII characters that may mean something; letters of all scripts mean nothing."""

CALLS = re.compile("(&#(?:64|35|58|46);)")
"""What platforms make a mention, a reference or an address of, even where it is written as a numeric reference."""

LONGEST_PART = 12_000
"""Characters of each part; platforms refuse comments of more than 65,536."""


def code(text: str, length: int = 120) -> str:
    """A text from the data, cut in the middle to so many characters, without effect."""
    return f"<code>{_references(cut_middle(' '.join(text.split()), length))}</code>"


def prose(text: str) -> str:
    """A sentence of ours that may quote data, without effect; an invisible space parts ``@`` from a name, ``:`` from ``//``."""
    return CALLS.sub("\\1&#8203;", _references(printable(" ".join(text.split()))))


def _references(text: str) -> str:
    return MARKUP.sub(lambda match: f"&#{ord(match[0])};" if match[0].isascii() else match[0], text)


def row(cells: Sequence[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that are shown when the title is clicked."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def cut_lines(lines: Sequence[str], rest: str = "which the JSON has") -> list[str]:
    """As many lines as a part may have; the rest is counted, and ``rest`` says where it can be read."""
    kept: list[str] = []
    room = LONGEST_PART
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, "", f"and {len(lines) - len(kept):,} more lines, {rest}"]
        kept.append(line)
    return kept
