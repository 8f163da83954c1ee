"""The frame of a page: one file, small enough to send, which loads nothing and runs nothing except its own script.

The sources are plain HTML, CSS and JavaScript in the folder `sources`, joined unchanged when a page is written. The content
security policy of the page names its script and its style by their digests: any other script in the file can neither run, nor be
loaded, nor send anything.

Data is compressed JSON in base64, which means nothing in HTML. The browser unpacks it with its own DecompressionStream. No text
of the data is in the file in plain form, so none can close a tag.

The evidence of a row is everything known about it. It is stored in blocks that are unpacked when a row is opened. A block has
some dozens of rows: fewer would compress badly, more would take too long to unpack for one row. The evidence of the worst rows is
added first. Where the evidence of all rows does not fit, contexts that no claim cites are cut first (`_uncited`), those of the
worst rows last. Evidence that still does not fit is left out, and the page says how many rows each concerns.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._values._errors import InvalidInput
from .._values._tags import EMPTY, Html, element, joined, shown
from ._uncited import without_uncited

SCRIPTS = (
    *("dom", "unpack", "metrics", "rows", "address", "search", "export", "filters", "table"),
    *("claims", "marks", "markdown", "texts", "judges", "evidence", "row"),
)
"""The parts of the script that all pages have, in the order in which they are joined; ``main``, which starts it, is the last."""

STYLES = ("base", "metrics", "table", "row")

MARKDOWN = "vendor/markdown-it"
"""The parser of Markdown from npm, which only pages have whose answers look like Markdown."""

LABELS = ("labels-kept", "labels-file", "labels-rows", "labels-view", "labels")
"""The parts of label mode, which only the page of a run has."""

REPORT, COMPARISON, RUNS = "report", "comparison", "runs"
"""The kinds of page. ``<kind>.html`` is the markup around the rows and ``<kind>-filters.html`` has the fields of the filters; the
list of runs has neither."""

OWN_SCRIPTS = {REPORT: ("scores", "slices", "record", *LABELS), COMPARISON: ("changes", "pair")}
"""The parts of the script that only one kind of page has; comments in ``SCRIPTS`` mark where they are called."""

OWN_STYLES = {REPORT: "labels", COMPARISON: "comparison", RUNS: "runs"}

SERVED = {REPORT: ("served", "served-labels"), COMPARISON: ("served",)}
"""The parts of the script that only a served page has."""

COMPLETE = "Written by ragmetrics. This file is complete: it loads nothing and sends nothing."
SERVED_BY = "Served by ragmetrics view, from this folder only. Nothing is changed there but labels."

PLACE = re.compile(r"\{\{(\w+)\}\}")
SECTION = re.compile(r'<h2 id="([\w-]+)-title">([^<]+)</h2>')
PART_OF_NAME = re.compile(r"(?<=[_.:/-])(?=\w)")


@lru_cache(maxsize=32)
def source(name: str) -> str:
    """Return a source of the page, by the name of its file."""
    text = (files(__name__.rpartition(".")[0]) / "sources" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # a browser normalizes line ends before it computes the digest


def policy(style: str, script: str, served: bool = False) -> str:
    """Return the content security policy that allows this style and this script, and nothing else.

    A page that is served may also send requests and forms to its server.
    """
    if served:
        return policy(style, script).replace("form-action 'none'", "form-action 'self'; connect-src 'self'")
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def joined_page(
    title: str, parts: Mapping[str, Html], kind: str = REPORT, *, markdown: bool = False, served: bool = False
) -> str:
    """Return the page with rows and these parts inserted.

    Args:
        title: the title in the browser's tab.
        parts: markup, by the name of its placeholder in the sources.
        kind: the kind of page.
        markdown: whether the page can show Markdown as what it means.
        served: whether a server sends the page, and its data on request.

    Raises:
        KeyError: a placeholder has no part.
    """
    own_scripts = (*OWN_SCRIPTS[kind], *(SERVED[kind] if served else ()))
    scripts = (source(f"{name}.js") for name in (*SCRIPTS, *own_scripts, "main"))
    script = "".join(["'use strict';\n", _parser() if markdown else "", "(() => {\n", *scripts, "})();\n"])
    rows = filled(source("rows.html"), {"filters": source(f"{kind}-filters.html")})
    own = {
        "skip": '<a class="skip" href="#rows">Skip to the rows</a>\n',
        "overview": filled(source(f"{kind}.html"), {"calibration": EMPTY, **parts, "rows": rows}),
        "row": source("row.html"),
    }
    return framed(title, {**parts, **own}, kind, script, served=served)


def _parser() -> str:
    """Return the parser of Markdown below its licence, without the comment that would make a browser look for its source map."""
    return f"/*\n{source(f'{MARKDOWN}.LICENSE')}*/\n{source(f'{MARKDOWN}.min.js').partition('//# sourceMappingURL')[0]}"


def framed(title: str, parts: Mapping[str, str], kind: str, script: str = "", *, served: bool = False) -> str:
    """Return the frame of a page with its header and overview inserted, the styles of its kind, and its script, if any."""
    style = "".join(source(f"{name}.css") for name in (*STYLES, OWN_STYLES[kind], "print"))
    own = {
        "title": shown(title),
        "sections": _section_links(parts["overview"]),
        "policy": shown(policy(style, script, served)),
        "footer": SERVED_BY if served else COMPLETE,
        "style": style,
        "script": script and f"<script>{script}</script>\n",
    }
    return filled(source("page.html"), {"skip": "", "row": "", "data": "", **parts, **own})


def _section_links(overview: str) -> Html:
    """Return links to all sections, by the titles in their markup."""
    links = (element("a", Html(title), href=f"#{name}", dir="auto") for name, title in SECTION.findall(overview))
    return element("nav", *links, id="sections", aria_label="Sections")


def breakable(name: str) -> Html:
    """Return a name that a line may break between its parts, and nowhere else if there is room."""
    first, *others = PART_OF_NAME.split(name)
    return joined([first, *(part for each in others for part in (element("wbr"), each))])


def title_of(path: str) -> list[Html | str]:
    """Return the name of a run for a title, with its folder in small letters."""
    folder, slash, name = path.rpartition("/")
    return [element("span", f"{folder}{slash}", class_="folder"), name] if slash and name else [path]


def filled(template: str, given: Mapping[str, str]) -> str:
    """Fill the placeholders of a template in one pass: inserted text is not searched for placeholders."""
    return PLACE.sub(lambda match: given[match[1]], template)


def packed(value: Any) -> str:
    """Return plain JSON values as base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(_json(value), 9)).decode("ascii")


def deflated(value: Any) -> bytes:
    """Return plain JSON values as deflated JSON, for a browser that unpacks it as it arrives."""
    return zlib.compress(_json(value), 1)


LONG = re.compile(rb"\d{16}")
MOST_EXACT = 2**53
"""The largest whole number up to which a browser distinguishes whole numbers."""


def _json(value: Any) -> bytes:
    found = _dumped(value)
    return _dumped(_exact(value)) if LONG.search(found) else found


def _exact(value: Any) -> Any:
    """Return the value with whole numbers as texts if a browser would round them."""
    if isinstance(value, Mapping):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > MOST_EXACT else value


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # lone surrogates, which only escapes can represent
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def data_block(name: str, content: str) -> Html:
    """Return an element with the output of ``packed``; no browser runs a script of this type."""
    return Html(element("script", Html(content), type="application/octet-stream", id=name) + "\n")


ROWS, SERVED_ROWS = 48, 8
"""The number of rows in a block of a file, and in one that a server sends."""


LARGEST = 12.0
"""The largest size of a page in megabytes, unless the caller asks for another size."""

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Block:
    """The evidence of some rows.

    Attributes:
        rows: the rows.
        content: their evidence, packed.
        cut: of how many rows contexts were cut.
    """

    rows: Sequence[int]
    content: str
    cut: int


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        title: the title in the browser's tab.
        kind: the kind of page.
        parts: markup, by the name of its placeholder.
        data: the data that the script has from the start, without the rows.
        rows: the columns of all rows.
        notes: one note per row, shown if the evidence of the row does not fit.
        order: the rows in the order in which their evidence is added.
        evidence: returns everything known about a row, as plain JSON values.
        markdown: whether a text looks like Markdown.
    """

    title: str
    kind: str
    parts: Mapping[str, Html]
    data: Mapping[str, Any]
    rows: Mapping[str, Any]
    notes: Sequence[Any]
    order: Sequence[int]
    evidence: Callable[[int], Any]
    markdown: bool = False

    def written_to(self, path: str | os.PathLike[str], most: int) -> None:
        """Write the page, with about ``most`` bytes at most."""
        # the size without evidence, at its largest: with the notes of all rows
        fixed = self._page(most, [Block(self.order, "", len(self.order))], self.order)
        blocks = self._fitting(max(most - len(fixed.encode()), 0))
        page = self._page(most, blocks, set(self.order).difference(*(block.rows for block in blocks)))
        # written as bytes, because the digests of the policy need these exact characters
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            file.write(page)

    def _fitting(self, most: int) -> list[Block]:
        """Return the evidence that fits into ``most`` bytes. If contexts must be cut, the worst rows keep theirs as far as there
        is room.
        """
        whole = self._packed(most, self.evidence)
        if sum(len(block.rows) for block in whole) == len(self.order):
            return whole
        blocks = self._packed(most, lambda row: without_uncited(self.evidence(row)))
        left = most - sum(len(block.content) for block in blocks)
        for at, (block, short) in enumerate(zip(whole, blocks, strict=False)):
            left -= len(block.content) - len(short.content)
            if left < 0 or len(block.rows) < len(short.rows):
                break
            blocks[at] = block
        return blocks

    def _packed(self, most: int, evidence: Callable[[int], Any]) -> list[Block]:
        """Return the evidence of the rows in order, as far as it fits into ``most`` bytes."""
        blocks: list[Block] = []
        for start in range(0, len(self.order), ROWS):
            part = self.order[start : start + ROWS]
            fitting = [evidence(row) for row in part]
            block = packed(fitting)
            while fitting and len(block) > most:  # the last block has as many rows as fit
                fitting = fitting[: len(fitting) * most // (len(block) + 1)]
                block = packed(fitting)
            if fitting:
                blocks.append(Block(part[: len(fitting)], block, sum(bool(item.get("cut")) for item in fitting)))
                most -= len(block)
            if len(fitting) < len(part):
                break
        return blocks

    def served(self, version: str, *, first: bool = False) -> tuple[str, bytes]:
        """Return the page without its data, for a server, and what the server answers when the page asks for its index. The
        evidence follows in blocks of ``SERVED_ROWS`` rows, in their order.

        Args:
            version: what the page adds to its requests, so that all answers are about the same rows.
            first: whether the page has the first rows only, and is loaded anew when the server has all of them.
        """
        rows = range(len(self.order))
        blocks = [list(rows[start : start + SERVED_ROWS]) for start in rows[::SERVED_ROWS]]
        index = {**self.data, "megabytes": 0, "rows": {**self.rows, "notes": {}}, "blocks": blocks}
        parts = {**self.parts, "data": data_block("served", f"{version} first" if first else version)}
        html = joined_page(self.title, parts, self.kind, markdown=self.markdown, served=True)
        return html, deflated(index)

    def _page(self, most: int, blocks: Sequence[Block], without: Collection[int]) -> str:
        """Return the page with the evidence in these blocks, and with notes on the rows without evidence."""
        noted = {**self.rows, "notes": {row: self.notes[row] for row in sorted(without)}}
        of_blocks = {"blocks": [block.rows for block in blocks], "cut": sum(block.cut for block in blocks)}
        index = {**self.data, "megabytes": round(most / MEGABYTE, 1), "rows": noted, **of_blocks}
        packs = {"index": packed(index), **{f"block-{number}": block.content for number, block in enumerate(blocks)}}
        data = joined(data_block(name, content) for name, content in packs.items())
        return joined_page(self.title, {**self.parts, "data": data}, self.kind, markdown=self.markdown)


def bytes_of(max_megabytes: float) -> int:
    """Convert megabytes to bytes.

    Raises:
        InvalidInput: the number is not positive.
    """
    if isinstance(max_megabytes, bool) or not isinstance(max_megabytes, int | float) or not max_megabytes > 0:
        raise InvalidInput(f"max_megabytes must be a number greater than 0, got {max_megabytes!r}")
    return int(max_megabytes * MEGABYTE)


def notice(head: str, text: str, kind: str = "caveat", items: Iterable[str] = ()) -> Html:
    """Return a highlighted paragraph, with a list below it."""
    sign = element("span", "!", class_="sign", aria_hidden="true")
    found = [element("li", item, dir="auto") for item in items]
    listed = element("ul", *found) if found else None
    return element("div", element("p", sign, element("b", f"{head}: "), text), listed, class_=kind)


def caveat_section(texts: Sequence[str]) -> Html:
    """Return the section of caveats; nothing if there are none."""
    items = element("ul", *(element("li", text, dir="auto") for text in texts))
    return section("caveats", f"Caveats ({len(texts)})", element("div", items, class_="caveat")) if texts else EMPTY


def section(name: str, title: str, *parts: Html | None) -> Html:
    """Return a section of the overview with its title; None if it has no content."""
    found = [part for part in parts if part]
    head = element("h2", title, id=f"{name}-title")
    return element("section", head, *found, id=name, aria_labelledby=f"{name}-title") if found else EMPTY
