"""The text of a web page as its reader sees it, with the places of its headings.

The parser of the standard library tells one tag and one text after the other, whatever the page does wrong, and nothing of a page
is ever run or fetched. Blocks are set apart by blank lines, items and rows by lines; spaces and line breaks mean nothing outside
``pre``, as in a browser. A row of a table is told with the names of its columns, so that it says the same far from its head.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
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


NEVER_READ = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "select", "textarea", "title"])
"""Elements whose text a browser does not show as text."""

AROUND = frozenset({"button", "dialog", "footer", "nav", "object"})
"""Elements whose text is no part of what a page says."""

TABLES = frozenset({"table", "tbody", "tfoot", "thead", "tr"})
CELLS = frozenset({"td", "th"})
LINES = frozenset({"dd", "li"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
OTHER_BLOCKS = (
    "address article aside blockquote body caption details dialog div dl dt fieldset figcaption figure footer form header hr html "
    "main nav ol p pre section summary ul"
)
BLOCKS = frozenset(OTHER_BLOCKS.split()) | TABLES | LINES | HEADINGS.keys()
START = re.compile(r"\d{1,9}")
BLANK = re.compile(" {2,}")
BLANKS = re.compile(r"[ \t\n\r\f\v]+")
AROUND_LINE = re.compile(r" *\n *")


NO_TEXT = re.compile(
    r"<(script|style)\b.*?(?:</\1\b[^>]*>?|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""What the parser need not see: code, comments, declarations."""


def text_of_html(page: str) -> FileText:
    """The text of a page of HTML."""
    page = _parsed_quickly(page)
    left_out = NEVER_READ | AROUND
    reader = _PageReader.after(page, left_out)
    while reader.left_open in AROUND:  # without its end it would take the rest of the page along
        left_out -= {reader.left_open}
        reader = _PageReader.after(page, left_out)
    return reader.result()


def _parsed_quickly(page: str) -> str:
    """The page without what stops the parser of older releases of Python, or takes it a time that grows with the square."""
    page = NO_TEXT.sub(" ", page)
    end = page.rfind(">") + 1
    return page[:end] + page[end:].replace("<", "&lt;")


class _Block(NamedTuple):
    """A paragraph, a heading (with a level), an item or a row; ``before`` sets it apart from the block before it."""

    before: str
    text: str
    level: int = 0


class _PageReader(HTMLParser):
    """Collects blocks of text while the parser goes through a page."""

    def __init__(self, left_out: frozenset[str]) -> None:
        super().__init__()
        self._left_out = left_out
        self._inside: list[str] = []  # of an element that is left out, once for each of its kind in it
        self._blocks: list[_Block] = []
        self._words: list[str] = []
        self._before, self._mark = "\n\n", ""
        self._lists: list[int | None] = []  # the number of the last item; None: items have marks
        self._preformatted = 0
        self._cell: str | None = None
        self._row: list[tuple[str, str]] = []
        self._columns: list[str] = []
        self._rows = 0

    @classmethod
    def after(cls, page: str, left_out: frozenset[str]) -> _PageReader:
        """A reader that has gone through the page."""
        reader = cls(left_out)
        reader.feed(page)
        reader.close()
        reader._end_row()
        reader._end_block()
        return reader

    @property
    def left_open(self) -> str | None:
        """An element that is left out and has no end."""
        return self._inside[0] if self._inside else None

    def result(self) -> FileText:
        """All blocks as one text."""
        parts: list[str] = []
        headings: list[Heading] = []
        length = 0
        for before, text, level in self._blocks:
            parts += [before if parts else "", text]
            length += len(parts[-2])
            if level:
                headings.append((length, level, BLANKS.sub(" ", text)))
            length += len(text)
        return FileText("".join(parts), tuple(headings))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._inside:
            self._inside += [tag] * (tag == self._inside[0])
        elif tag in self._left_out:
            if tag in BLOCKS:
                self._end_block()
            self._inside.append(tag)
        elif tag == "br":
            self._words.append("\n")
        elif tag in CELLS:
            self._end_cell()
            self._end_block()
            self._cell = tag
        elif tag in BLOCKS:
            if tag in TABLES:
                self._end_row()
            self._end_block()
            self._begin(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            if tag == self._inside[0]:
                self._inside.pop()
        elif tag in CELLS:
            self._end_cell()
        elif tag in BLOCKS:
            if tag in TABLES:
                self._end_row()
            self._end_block(HEADINGS.get(tag, 0))
            if tag == "pre" and self._preformatted:
                self._preformatted -= 1
            elif tag in {"ol", "ul"} and self._lists:
                self._lists.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._words.append(data if self._preformatted else BLANKS.sub(" ", data))

    def _begin(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "pre":
            self._preformatted += 1
        elif tag == "table":
            self._columns, self._rows = [], 0
        elif tag in {"ol", "ul"}:
            start = attributes.get("start") or "1"
            self._lists.append(None if tag == "ul" else int(start) - 1 if START.fullmatch(start) else 0)
        elif tag in LINES:
            self._before = "\n"
            if tag == "li":
                self._mark = self._next_mark()

    def _next_mark(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return "- "
        self._lists[-1] += 1
        return f"{self._lists[-1]}. "

    def _end_block(self, level: int = 0) -> None:
        if self._cell is not None:
            self._words.append(" ")
            return
        text = "".join(self._words)
        self._words = []
        text = text.strip("\n").rstrip() if self._preformatted else AROUND_LINE.sub("\n", BLANK.sub(" ", text)).strip()
        if text:
            self._add(self._mark + text, self._before, level)

    def _end_cell(self) -> None:
        if self._cell is not None:
            self._row.append((self._cell, BLANKS.sub(" ", "".join(self._words)).strip()))
            self._words, self._cell = [], None

    def _end_row(self) -> None:
        """Add the row that was collected; a first row of nothing but heads names the columns."""
        self._end_cell()
        row, self._row = self._row, []
        texts = [text for _, text in row]
        if not any(texts):
            return
        columns = self._columns if len(self._columns) == len(texts) else [""] * len(texts)
        told = [f"{column}: {text}" if column else text for column, text in zip(columns, texts, strict=True) if text]
        if not self._rows and len(row) > 1 and all(tag == "th" for tag, _ in row):
            self._columns = texts
        self._add("; ".join(told), "\n" if self._rows else self._before)
        self._rows += 1

    def _add(self, text: str, before: str, level: int = 0) -> None:
        self._blocks.append(_Block(before, text, level))
        self._before, self._mark = "\n\n", ""
