"""Results as blocks, and three renderers of blocks: text for a terminal, Markdown, and HTML.

Each result is turned into blocks once, by its ``_blocks``, and every renderer gets the same blocks, so none can leave out a
sentence or a number that another one shows::

    class Summary(Result):
        def _blocks(self) -> list[Block]:
            return [Sentence(self.sentence), Table(("metric", "mean"), rows), Items(("a remark", "another")), Note("a caveat")]

``Result`` uses these blocks for ``print``, notebooks and ``to_markdown``; ``as_text``, ``as_markdown`` and ``as_html`` render any
blocks.

Texts in blocks are plain strings that may quote data unescaped: the renderer escapes them. So a function that makes blocks never
calls ``printable``, ``prose``, ``code`` or ``element``; it cuts long names with ``cut_middle``. A list without items, a table
without rows and a note without words are left out. Three things depend on the renderer:

* A terminal is read from its end, a page from its top. Notes at the end of a result stay there in text; Markdown and HTML put
  them after the heading.
* ``Details`` are folded in Markdown. Text and HTML show their content.
* A table that is too wide for a terminal is continued below, see ``_tables``. Words joined by ``whole`` stay on one line.

Data is not trusted in Markdown: the name of a metric may contain a pipe that splits a table, an id may mention people by
``@name``, a claim may be a link, an image or HTML. So every character with a meaning in Markdown is written as a numeric reference,
which no parser reads as markup. Names in tables are also put into ``<code>``, where platforms do not look for mentions and
references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .._values._evidence_html import block, grid
from .._values._findings import Line, Tone
from .._values._layout import cells, printable, readable
from .._values._tags import EMPTY, Html, element, joined
from ._bars import Bar, Glyphs, bar_lines, pictures
from ._tables import GAP, cut_middle, hanging, room, table, wrapped

MARKUP = re.compile(r"[^\w\s,;()%'+=.?:/-]|_|:(?=\S)|(?<=www)\.", re.ASCII)
"""ASCII characters that may have a meaning in Markdown; letters of all scripts have none."""

CALLS = re.compile("(&#(?:64|35|58|46);)")
"""Characters that platforms turn into a mention, a reference or an address, even if they are written as numeric references."""

LONGEST_PART = 12_000
"""The largest number of characters of each part; platforms refuse comments of more than 65,536."""


def code(text: str, length: int = 120) -> str:
    """Return a text from the data as inline code without any Markdown effect, cut in the middle to ``length`` characters."""
    return f"<code>{_references(cut_middle(' '.join(text.split()), length))}</code>"


def prose(text: str) -> str:
    """Return one of our sentences, which may quote data, without any Markdown effect. A zero-width space is put after ``@`` and
    between ``:`` and ``//``, so that there are no mentions and no links.
    """
    return CALLS.sub("\\1&#8203;", _references(printable(" ".join(text.split()))))


def _references(text: str) -> str:
    return MARKUP.sub(lambda match: f"&#{ord(match[0])};" if match[0].isascii() else match[0], text)


def row(cells: Sequence[str]) -> str:
    """Return a line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def cut_lines(lines: Sequence[str]) -> list[str]:
    """Return as many lines as a part may have, and a line that counts the rest."""
    kept: list[str] = []
    room = LONGEST_PART
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, "", f"and {len(lines) - len(kept):,} more lines, which the JSON has"]
        kept.append(line)
    return kept


SHORTEST_NAME = 16
"""The smallest number of columns of a name in a table, however narrow the table is."""


@dataclass(frozen=True)
class Heading:
    """The subject of all blocks that follow."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """The result in words, before everything else; in Markdown it is bold, as it is too long for a heading."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list. An item with a title has its own list below it.

    Attributes:
        items: the items.
        title: the line above them; "" for no title.
        tone: what the title says, from which a terminal chooses a colour.
    """

    items: Sequence[str | Items]
    title: str = ""
    tone: Tone = ""

    @property
    def parts(self) -> Iterator[tuple[str, Items]]:
        """Yield each item with the items below it."""
        return ((item, Items(())) if isinstance(item, str) else (item.title, item) for item in self.items)


@dataclass(frozen=True)
class Table:
    """A table. Its first column is aligned to the left, the others to the right.

    Attributes:
        headings: the headings of the columns.
        rows: the cells of each row.
        split: the column before which a table that is too wide is split first; 0 for any.
        names: whether the first column has names from the data, which are cut if the table is too wide.
        bars: for each row its interval as a bar, if it has one; terminals and notebooks draw them.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    split: int = 0
    names: bool = True
    bars: Sequence[Bar | None] = ()


@dataclass(frozen=True)
class Note:
    """A caveat that readers must know.

    Attributes:
        text: a sentence; "" if the items say everything.
        label: the word before the sentence.
        items: several caveats of one kind, each on a line.
    """

    text: str
    label: str = "note"
    items: Sequence[str] = ()

    @property
    def head(self) -> str:
        """The first line."""
        return f"{self.label}: {self.text}".rstrip()


Flat = Heading | Sentence | Text | Items | Table | Note


@dataclass(frozen=True)
class Details:
    """Blocks that Markdown folds under a title; text and HTML show the blocks alone."""

    title: str
    blocks: Sequence[Flat]


Block = Flat | Details


class Result:
    """The base of every result, which is printed, shown in notebooks and written as Markdown from the same blocks."""

    def _blocks(self) -> Sequence[Block]:
        """Return the content of the result as blocks."""
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return Markdown for a comment on a pull request; texts from the data are escaped."""
        return as_markdown(self._blocks())

    def __str__(self) -> str:
        return as_text(self._blocks(), room())

    def terminal_lines(self, glyphs: Glyphs) -> list[Line]:
        """Return the lines of the text, with colours, and with bars for intervals, for an interactive terminal."""
        return list(as_lines(self._blocks(), room(), glyphs))

    def _repr_html_(self) -> str:
        """Return the tables as HTML, for notebooks."""
        return block(as_html(self._blocks()))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text, for IPython in a terminal."""
        printer.text("..." if cycle else str(self))


def as_text(blocks: Sequence[Block], width: int) -> str:
    """Return the blocks as plain text, one below the other. A line is wider than ``width`` only if a value would have to be cut."""
    return "\n\n".join("\n".join(line.text for line in _text_lines(each, width)) for each in _unfolded(blocks))


def as_lines(blocks: Sequence[Block], width: int, glyphs: Glyphs) -> Iterator[Line]:
    """Return the lines of the text with their tones, and below each table its bars, for a terminal that a person reads."""
    for place, each in enumerate(_unfolded(blocks)):
        yield from [Line("")] if place else []
        yield from _text_lines(each, width)
        if isinstance(each, Table) and any(each.bars):
            yield Line("")
            yield from bar_lines([first for first, *_ in each.rows], each.bars, width, glyphs)


def _unfolded(blocks: Sequence[Block]) -> Iterator[Flat]:
    """Yield all blocks with content; ``Details`` are replaced by their blocks."""
    for each in blocks:
        if isinstance(each, Details):
            yield from _unfolded(each.blocks)
        elif any(getattr(each, content, None) for content in ("text", "items", "rows")):
            yield each


def _text_lines(each: Flat, width: int) -> list[Line]:
    if isinstance(each, Heading | Sentence):
        return _toned(wrapped(each.text, width), "title")
    if isinstance(each, Text):
        return _toned(hanging(each.text, width))
    if isinstance(each, Table):
        lines = _text_table(each, width).split("\n")
        return [Line(line, "aside" if not before else "") for before, line in pairwise(["", *lines])]
    if isinstance(each, Note):
        lines = [
            *hanging(each.head, width),
            *(line for item in each.items for line in wrapped(item, width, indent="  ")),
        ]
        return _toned(lines, "open")
    if not each.title:
        return list(_text_items(each, width, ""))
    return [*_toned(wrapped(each.title, width), each.tone), *_text_items(each, width, "  ")]


def _text_items(items: Items, width: int, indent: str) -> Iterator[Line]:
    for text, below in items.parts:
        yield from _toned(wrapped(text, width, indent=indent) if indent else hanging(text, width), below.tone)
        yield from _text_items(below, width, f"{indent}  ")


def _toned(lines: Sequence[str], tone: Tone = "") -> list[Line]:
    return [Line(line, tone) for line in lines]


def _text_table(each: Table, width: int) -> str:
    lines: list[list[str]] = [list(each.headings), *map(list, each.rows)]
    if each.names:
        widest = max((cells(cell) for line in lines for cell in line[1:]), default=0)
        longest = max(SHORTEST_NAME, width - widest - len(GAP))
        lines = [[cut_middle(name, longest), *others] for name, *others in lines]
    whole = table(lines[0], lines[1:], width)
    if not each.split or "\n\n" not in whole:
        return whole
    parts = [[line[: each.split] for line in lines], [[line[0], *line[each.split :]] for line in lines]]
    return "\n\n".join(table(part[0], part[1:], width) for part in parts)


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown in which texts from the data have no effect; long parts are cut and say so."""
    parts = []
    for each in _notes_first(blocks):
        inner = ["\n".join(_markdown_lines(flat)) for flat in _unfolded([each])]
        if inner and isinstance(each, Details):
            lines = cut_lines("\n\n".join(inner).split("\n"))
            head = f"<details>\n<summary>{prose(each.title)}</summary>"
            parts.append("\n".join([head, "", *lines, "", "</details>"]))
        else:
            parts += inner
    return "\n\n".join(parts) + "\n"


def _notes_first(blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks with the notes of the end moved after the heading."""
    end = len(blocks)
    while end and isinstance(blocks[end - 1], Note):
        end -= 1
    start = int(isinstance(blocks[0], Heading | Sentence)) if blocks else 0
    return [*blocks[:start], *blocks[end:], *blocks[start:end]]


def _markdown_lines(each: Flat) -> list[str]:
    if isinstance(each, Heading):
        return [f"### {prose(each.text)}"]
    if isinstance(each, Sentence):
        return [f"**{prose(each.text)}**"]
    if isinstance(each, Text):
        return [prose(each.text)]
    if isinstance(each, Table):
        first = code if each.names else prose
        ends = [":--", *("--:" for _ in each.headings[1:])]
        lines = [row([first(name), *map(prose, others)]) for name, *others in each.rows]
        return cut_lines([row([prose(text) for text in each.headings]), row(ends), *lines])
    if isinstance(each, Note):
        start = f"**{prose(each.label)}:**"
        head = f"> {start} {prose(each.text)}".rstrip()
        return cut_lines([head, *([">"] if each.items else []), *(f"> * {prose(item)}" for item in each.items)])
    title = [f"**{prose(each.title)}**", ""] if each.title else []
    return cut_lines([*title, *_markdown_items(each, "")])


def _markdown_items(items: Items, indent: str) -> Iterator[str]:
    for text, below in items.parts:
        yield f"{indent}* {prose(text)}"
        yield from _markdown_items(below, f"{indent}  ")


def as_html(blocks: Sequence[Block]) -> Html:
    """Return the blocks as HTML without scripts, with every text escaped; ``block`` of `_evidence_html` adds the style."""
    return joined([_html(each) for each in _unfolded(_notes_first(blocks))])


def _html(each: Flat) -> Html:
    if isinstance(each, Heading | Sentence):
        return element("p", element("strong", readable(each.text)))
    if isinstance(each, Text):
        return element("p", readable(each.text))
    if isinstance(each, Table):
        if not any(each.bars):
            return grid(each.headings, each.rows, numbers=True)
        first, *others = each.headings
        rows = [[name, bar, *more] for (name, *more), bar in zip(each.rows, pictures(each.bars), strict=True)]
        return grid([first, "", *others], rows, numbers=True)
    if isinstance(each, Note):
        text = readable(each.text)
        head = element("p", element("strong", f"{readable(each.label)}:"), f" {text}" if text else None)
        return joined([head, _html_items(Items(each.items)) if each.items else None])
    return joined([element("p", readable(each.title)) if each.title else EMPTY, _html_items(each)])


def _html_items(items: Items) -> Html:
    inner = ((readable(text), _html_items(below) if below.items else None) for text, below in items.parts)
    return element("ul", *(element("li", *each) for each in inner))
