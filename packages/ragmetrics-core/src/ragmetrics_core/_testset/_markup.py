"""The text of HTML and of Markdown as their reader sees it, with the places of its headings.

Strategy. beautifulsoup4 (the extra ``documents``) reads HTML. markdown-it makes HTML of Markdown, so plain that a pattern finds
its tags. Both give the same *pieces*: texts, each with its place: the elements around it that matter to a reader, such as the
block, the item of a list, the row of a table. Pieces of one block become one paragraph, so it does not matter whether an element
has an end tag. Blocks are set apart by blank lines, items and rows by lines; spaces and line breaks mean nothing outside ``pre``,
as in a browser. A row of a table repeats the names of its columns, so that it says the same far from its head. Nothing of a page
is ever run or fetched.
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
"""Where a heading begins in the text, its level (1 is the highest), and its words."""

NEVER_READ = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "select", "textarea", "title"])
"""Elements whose text a browser does not show as text."""

AROUND = frozenset({"button", "dialog", "footer", "nav", "object"})
"""Elements whose text is no part of what a page says."""

HEADINGS = {f"h{level}": level for level in range(1, 7)}
ROLES = {"ol": "list", "ul": "list", "li": "item", "dd": "item", "pre": "pre", "table": "table", "tr": "row"}
ROLES |= {"td": "cell", "th": "cell"}
"""What an element is in the ``Place`` of the text in it."""

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
"""Code, comments and declarations: they stop the HTML parser of older releases of Python, or take it quadratic time."""

NULL = re.compile(r"&#x?0+(?:;|(?![0-9a-fx]))", re.IGNORECASE)
"""A character that no text holds; older releases of beautifulsoup4 do not replace it, as browsers do."""

TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)(?: start="(\d+)")?[^<>]*>|([^<]+|<)', re.IGNORECASE)
"""A tag in the HTML of a Markdown file, with the first number of a list; or the text up to the next tag."""

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?=[\w-]+[ \t]*:).*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
"""Settings at the top of a Markdown file, between lines of dashes."""


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


@dataclass(eq=False)
class Element:
    """An element.

    Attributes:
        tag: its name.
        number: of an item of a numbered list; of such a list, that of its last item.
        has_table: whether it is a row with a table in it, which only lays out what is there.
    """

    tag: str
    number: int | None = None
    has_table: bool = False


class Place(NamedTuple):
    """Where a text stands: of each role the innermost element around it, and whether the text is left out."""

    block: Element
    list: Element | None = None
    item: Element | None = None
    pre: Element | None = None
    table: Element | None = None
    row: Element | None = None
    cell: Element | None = None
    hidden: bool = False

    def inside(self, tag: str, left_out: frozenset[str], number: str) -> Place:
        """The place in an element that stands here; ``number`` is the first one of a list."""
        if tag not in BLOCKS:
            return self._replace(hidden=True) if tag in left_out else self
        element = Element(tag)
        found: dict[str, Any] = {"block": element, "hidden": self.hidden or tag in left_out}
        if tag in ROLES:
            found[ROLES[tag]] = element
        if tag in ("table", "tr"):
            found["cell"] = None
        if tag == "table":
            found["row"] = None
            if self.row is not None:
                self.row.has_table = True
        elif tag in ("td", "th") and self.row is None:
            found["row"] = element
        elif tag == "ol":
            element.number = int(number) - 1 if NUMBER.fullmatch(number) else 0
        elif tag == "li" and self.list is not None and self.list.number is not None:
            element.number = self.list.number = self.list.number + 1
        return self._replace(**found)


Piece = tuple[Place, str]


def text_of_html(page: str) -> FileText:
    """The text of a page of HTML.

    Raises:
        MissingExtra: beautifulsoup4 is not installed.
    """
    return _text_of(_html_pieces(page))


def text_of_markdown(text: str) -> FileText:
    """The text of Markdown, in which there may be HTML."""
    return _text_of(_markdown_pieces(FRONT_MATTER.sub("", text.replace("\r\n", "\n"))))


def _html_pieces(page: str) -> Iterator[Piece]:
    try:
        from bs4 import BeautifulSoup  # noqa: PLC0415  an extra
        from bs4.element import PreformattedString, Tag  # noqa: PLC0415
    except ImportError:
        raise MissingExtra('beautifulsoup4 is not installed: pip install "ragmetrics-core[documents]"') from None
    page = NULL.sub("\ufffd", NO_TEXT.sub(" ", page))
    left_out = _left_out(page)
    end = page.rfind(">") + 1  # what begins behind it is no tag, and takes the parser quadratic time
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
    inside = [("", Place(Element("")))]  # the elements that are open
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
    """The elements that are not read; one that lacks an end tag somewhere is, as it could hold the rest of the page."""
    lower = page.lower()
    return NEVER_READ | {tag for tag in AROUND if lower.count(f"</{tag}") >= lower.count(f"<{tag}")}


def _plain(text: str, place: Place) -> str:
    return text if place.pre else BLANKS.sub(" ", text)


def _text_of(pieces: Iterable[Piece]) -> FileText:
    parts: list[str] = []
    headings: list[Heading] = []
    begun: set[Element] = set()  # items that have text
    columns: dict[Element | None, list[str]] = {}  # of each table that has rows
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
    """What the text of a piece is part of: a row, or a block."""
    row = piece[0].row
    return piece[0].block if row is None or row.has_table else row


def _paragraph(text: str, place: Place) -> str:
    return text.strip("\n").rstrip() if place.pre else AROUND_LINE.sub("\n", BLANKS_IN_LINE.sub(" ", text)).strip()


def _mark(item: Element) -> str:
    if item.tag == "dd":
        return ""
    return "- " if item.number is None else f"{item.number}. "


def _row(members: Sequence[Piece], columns: dict[Element | None, list[str]]) -> str:
    """The cells of a row with the names of their columns; a first row of nothing but heads names them."""
    parts: dict[Element | None, list[str]] = {}
    block = None
    for place, words in members:
        parts.setdefault(place.cell, []).append(words if place.block is block else f" {words}")
        block = place.block
    cells = {cell: BLANKS.sub(" ", "".join(found)).strip() for cell, found in parts.items()}
    if not cells.get(None):  # what stands between cells is mostly blank
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
