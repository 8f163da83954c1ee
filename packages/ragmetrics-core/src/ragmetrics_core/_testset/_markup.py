"""Converts HTML and Markdown to the text that a reader sees, with the offsets of headings.

Strategy. beautifulsoup4 (the extra ``documents``) parses HTML. markdown-it converts Markdown to HTML that is simple enough to
find its tags with a pattern. Both parsers give *pieces*: a text with its place, that is, the elements around it that matter to a
reader, such as the block, the list item or the table row. Consecutive pieces of the same block become one paragraph, so missing
end tags do not matter. Blank lines separate blocks, and line breaks separate list items and rows. Outside ``pre``, spaces and
line breaks are collapsed, as in a browser. A table row repeats the names of its columns, so that it can be understood without the
head of the table. Nothing in a page is ever run or downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import groupby
from typing import Any, NamedTuple

from .._values._errors import MissingExtra

Heading = tuple[int, int, str]
"""The offset of a heading in the text, its level (1 is the highest), and its words."""

NEVER_READ = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "select", "textarea", "title"])
"""Elements whose text a browser does not show as text."""

AROUND = frozenset({"button", "dialog", "footer", "nav", "object"})
"""Elements that are not part of the content of a page."""

HEADINGS = {f"h{level}": level for level in range(1, 7)}
ROLES = {"ol": "list", "ul": "list", "li": "item", "dd": "item", "pre": "pre", "table": "table", "tr": "row"}
ROLES |= {"td": "cell", "th": "cell"}
"""The field of ``Place`` that an element fills."""

OTHER_BLOCKS = (
    "address article aside blockquote body caption details dialog div dl dt fieldset figcaption figure footer form header hr html "
    "main nav p section summary tbody tfoot thead"
)
BLOCKS = frozenset(OTHER_BLOCKS.split()) | ROLES.keys() | HEADINGS.keys()
NUMBER = re.compile(r"\d{1,9}")
BLANKS = re.compile(r"[ \t\n\r\f\v]+")
BLANKS_IN_LINE = re.compile(" {2,}")
AROUND_LINE = re.compile(r" *\n *")

NO_TEXT = re.compile(
    r"<(script|style)\b.*?(?:</\1\b[^>]*>?|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Scripts, styles, comments and declarations. They are removed because the HTML parser of older Python releases stops at them or
takes quadratic time.
"""

NULL = re.compile(r"&#x?0+(?:;|(?![0-9a-fx]))", re.IGNORECASE)
"""A reference to the NUL character. Browsers replace it; older releases of beautifulsoup4 do not."""

TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)(?: start="(\d+)")?[^<>]*>|([^<]+|<)', re.IGNORECASE)
"""A tag in the HTML of a Markdown file, with the first number of a list; or the text before the next tag."""

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=[\w-]+[ \t]*:).*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
"""The front matter of a Markdown file: settings at its top, between lines of dashes."""


class FileText(NamedTuple):
    """The text of a file.

    Attributes:
        text: the text that a reader sees.
        headings: its headings, in order.
        pages: the offset at which each page begins, in order; empty if the file has no pages.
    """

    text: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()


@dataclass(eq=False)
class Element:
    """An element of a page.

    Attributes:
        tag: its name.
        number: the number of an item of a numbered list. For such a list: the number of its last item so far.
        has_table: whether the element is a table row that contains a table, which is only used for layout.
    """

    tag: str
    number: int | None = None
    has_table: bool = False


class Place(NamedTuple):
    """The elements around a text: the innermost block, list item, table row and so on, and whether the text is hidden."""

    block: Element
    list: Element | None = None
    item: Element | None = None
    pre: Element | None = None
    table: Element | None = None
    row: Element | None = None
    cell: Element | None = None
    hidden: bool = False

    def inside(self, tag: str, left_out: frozenset[str], number: str) -> Place:
        """Return the place inside a child element with this tag. ``number`` is the first number of a numbered list."""
        if tag not in BLOCKS:
            return self._replace(hidden=True) if tag in left_out else self
        element = Element(tag)
        changes: dict[str, Any] = {"block": element, "hidden": self.hidden or tag in left_out}
        if tag in ROLES:
            changes[ROLES[tag]] = element
        if tag in ("table", "tr"):
            changes["cell"] = None
        if tag == "table":
            changes["row"] = None
            if self.row is not None:
                self.row.has_table = True
        elif tag in ("td", "th") and self.row is None:
            changes["row"] = element
        elif tag == "ol":
            element.number = int(number) - 1 if NUMBER.fullmatch(number) else 0
        elif tag == "li" and self.list is not None and self.list.number is not None:
            element.number = self.list.number = self.list.number + 1
        return self._replace(**changes)


Piece = tuple[Place, str]


def text_of_html(page: str) -> FileText:
    """Return the text of an HTML page.

    Raises:
        MissingExtra: beautifulsoup4 is not installed.
    """
    return _text_of(_html_pieces(page))


def text_of_markdown(text: str) -> FileText:
    """Return the text of Markdown, which may contain HTML."""
    return _text_of(_markdown_pieces(FRONT_MATTER.sub("", text.replace("\r\n", "\n"))))


def _html_pieces(page: str) -> Iterator[Piece]:
    try:
        from bs4 import BeautifulSoup  # noqa: PLC0415  an extra
        from bs4.element import PreformattedString, Tag  # noqa: PLC0415
    except ImportError:
        raise MissingExtra('beautifulsoup4 is not installed: pip install "ragmetrics-core[documents]"') from None
    page = NULL.sub("\ufffd", NO_TEXT.sub(" ", page))
    left_out = _left_out(page)
    end = page.rfind(">") + 1  # a "<" after the last ">" begins no tag, but would take the parser quadratic time
    soup = BeautifulSoup(page[:end] + page[end:].replace("<", "&lt;") + "\n", "html.parser")
    places = {id(soup): Place(Element(""))}
    for node in soup.descendants:
        place = places[id(node.parent)]
        if isinstance(node, Tag):
            places[id(node)] = inner = place.inside(node.name, left_out, str(node.attrs.get("start")))
            yield inner, "\n" if node.name == "br" else ""
        elif not isinstance(node, PreformattedString):
            yield place, _plain(str(node), place)


def _markdown_pieces(text: str) -> Iterator[Piece]:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where there is Markdown

    page = NO_TEXT.sub(" ", MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))
    left_out = _left_out(page)
    inside = [("", Place(Element("")))]  # the open elements
    for slash, name, number, words in TAG.findall(page):
        tag, place = name.lower(), inside[-1][1]
        if slash:
            depth = next((depth for depth in range(len(inside) - 1, 0, -1) if inside[depth][0] == tag), len(inside))
            del inside[depth:]
        elif tag:
            inner = place.inside(tag, left_out, number)
            if tag in BLOCKS or tag in left_out:
                inside.append((tag, inner))
            yield inner, "\n" if tag == "br" else ""
        else:
            yield place, _plain(unescape(words), place)


def _left_out(page: str) -> frozenset[str]:
    """Return the tags of the elements to skip. An element that lacks an end tag is not skipped, as it could contain the rest of
    the page.
    """
    lower = page.lower()
    return NEVER_READ | {tag for tag in AROUND if lower.count(f"</{tag}") >= lower.count(f"<{tag}")}


def _plain(text: str, place: Place) -> str:
    return text if place.pre else BLANKS.sub(" ", text)


def _text_of(pieces: Iterable[Piece]) -> FileText:
    parts: list[str] = []
    headings: list[Heading] = []
    begun: set[Element] = set()  # items whose text has begun
    columns: dict[Element | None, list[str]] = {}  # of each table that already has rows
    length = 0
    for block, group in groupby(pieces, key=_block_of):
        members = [(place, words) for place, words in group if not place.hidden]
        if not members:
            continue
        place, before = members[0][0], "\n\n"
        if block is place.row:
            before = "\n" if place.table in columns else before
            text = _row(members, columns)
        else:
            text = _paragraph("".join(words for _, words in members), place)
        if not text:
            continue
        if place.item is not None and place.item not in begun:
            begun.add(place.item)
            before = "\n"
            text = _mark(place.item) + text
        parts += [before if parts else "", text]
        length += len(parts[-2])
        if block.tag in HEADINGS:
            headings.append((length, HEADINGS[block.tag], BLANKS.sub(" ", text)))
        length += len(text)
    return FileText("".join(parts), tuple(headings))


def _block_of(piece: Piece) -> Element:
    """Return the element to which the text of a piece belongs: its row, or else its block."""
    row = piece[0].row
    return piece[0].block if row is None or row.has_table else row


def _paragraph(text: str, place: Place) -> str:
    return text.strip("\n").rstrip() if place.pre else AROUND_LINE.sub("\n", BLANKS_IN_LINE.sub(" ", text)).strip()


def _mark(item: Element) -> str:
    if item.tag == "dd":
        return ""
    return "- " if item.number is None else f"{item.number}. "


def _row(members: Sequence[Piece], columns: dict[Element | None, list[str]]) -> str:
    """Return the cells of a row with the names of their columns. The first row names the columns if all its cells are header
    cells.
    """
    parts: dict[Element | None, list[str]] = {}
    block = None
    for place, words in members:
        parts.setdefault(place.cell, []).append(words if place.block is block else f" {words}")
        block = place.block
    cells = {cell: BLANKS.sub(" ", "".join(words)).strip() for cell, words in parts.items()}
    if not cells.get(None):  # the text between cells is usually blank
        cells.pop(None, None)
    texts = list(cells.values())
    if not any(texts):
        return ""
    table = members[0][0].table
    names = columns.get(table, [])
    if table not in columns:
        columns[table] = texts if len(texts) > 1 and all(cell and cell.tag == "th" for cell in cells) else []
    names = names if len(names) == len(texts) else [""] * len(texts)
    return "; ".join(f"{name}: {text}" if name else text for name, text in zip(names, texts, strict=True) if text)
