"""A page joined from its sources: one file, which loads nothing and runs nothing but its own script.

Strategy. The sources are plain HTML, CSS and JavaScript in the folder `page`, small files that are read as they are; changing
one needs no tool but an editor. They are joined when a page is written. The policy of the page names its script and its
style by their digests: whatever else might get into the file could neither run, nor be loaded, nor send anything anywhere.

Data that lies in a page without being part of it: JSON, compressed, in letters that mean nothing in HTML.

The browser unpacks it with its own DecompressionStream. No text of the data is in the file as it is, so none can close a tag,
and none is read before it is looked at.

The evidence of rows in a page: everything that is known of a row, in blocks that are unpacked when a row is looked at.

Strategy. A page has a size that can be sent. So the evidence of the worst rows goes in first, and what no longer fits
is left out; the page says how many rows that concerns. A block holds some dozens of rows: fewer would compress badly, more would
have to be unpacked for one.

A page that is small enough to send: what is always in it, and as much evidence as fits beside that.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._store._exchanges import Exchanges
from .._store._records import Record, json_value, record_dict
from .._store._run_settings import MetricColumn, row_digest
from .._values._errors import InvalidInput
from .._values._tags import Html, element, joined, shown

SCRIPTS = ("dom", "unpack", "rows", "filters", "table", "claims", "marks", "texts", "evidence", "row")
"""The parts of the script that all pages have, in the order in which they are joined; ``main``, which starts it, is the last."""

STYLES = ("base", "table", "row")


@dataclass(frozen=True)
class PageKind:
    """What one kind of page has that others have not.

    Attributes:
        name: its markup around the rows is in ``<name>.html``, the fields of its filters are in ``<name>-filters.html``.
        scripts: the parts of its script other than ``SCRIPTS``, which call them where a comment says so.
        styles: the parts of its style other than ``STYLES``.
    """

    name: str
    scripts: tuple[str, ...]
    styles: tuple[str, ...] = ()


LABELS = ("labels-kept", "labels-file", "labels-rows", "labels-view", "labels")
"""The parts of label mode, which is one of the pages of one run."""

REPORT = PageKind("report", ("scores", "slices", "record", *LABELS), ("labels",))
COMPARISON = PageKind("comparison", ("changes", "pair"), ("comparison",))

PLACE = re.compile(r"\{\{(\w+)\}\}")


@lru_cache(maxsize=32)
def source(name: str) -> str:
    """A source of the page, by the name of its file."""
    text = (files(__name__.rpartition(".")[0]) / "sources" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # a browser reads it so, and the digest is of what it reads


def policy(style: str, script: str) -> str:
    """The content security policy that allows this style and this script, and nothing else."""
    rules = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def joined_page(title: str, parts: Mapping[str, Html], kind: PageKind = REPORT) -> str:
    """The page with these parts in their places.

    Args:
        title: what the tab of the browser shows.
        parts: markup by the name of its place in the sources.
        kind: what kind of page it is.

    Raises:
        KeyError: a place has no part.
    """
    style = "".join(source(f"{name}.css") for name in (*STYLES, *kind.styles, "print"))
    scripts = (source(f"{name}.js") for name in (*SCRIPTS, *kind.scripts, "main"))
    script = "".join(["'use strict';\n(() => {\n", *scripts, "})();\n"])
    rows = _filled(source("rows.html"), {"filters": source(f"{kind.name}-filters.html")})
    given = {
        **parts,
        "overview": _filled(source(f"{kind.name}.html"), {**parts, "rows": rows}),
        "title": shown(title),
        "policy": shown(policy(style, script)),
        "style": style,
        "script": script,
    }
    return _filled(source("page.html"), given)


def _filled(template: str, given: Mapping[str, str]) -> str:
    """The template with what is given in its places, in one pass: what is filled in is not read again."""
    return PLACE.sub(lambda match: given[match[1]], template)


def packed(value: Any) -> str:
    """Plain JSON values as base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(_json(value), 9)).decode("ascii")


LONG = re.compile(rb"\d{16}")
MOST_EXACT = 2**53
"""Whole numbers beyond it are not distinguished by a browser."""


def _json(value: Any) -> bytes:
    found = _dumped(value)
    return _dumped(_exact(value)) if LONG.search(found) else found


def _exact(value: Any) -> Any:
    """The value with whole numbers that a browser would round as texts."""
    if isinstance(value, Mapping):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > MOST_EXACT else value


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # halves of characters, which only escapes can carry
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def data_block(name: str, content: str) -> Html:
    """An element that holds what ``packed`` made; no browser runs a script of this type."""
    return Html(element("script", Html(content), type="application/octet-stream", id=name) + "\n")


ROWS = 48
"""Rows of a block."""


@dataclass(frozen=True)
class Evidence:
    """The blocks of a page.

    Attributes:
        blocks: each the packed records of some rows, by their index.
        rows: the indices of the rows of each block, in the order of the records in it.
        left_out: the indices of the rows that did not fit.
    """

    blocks: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    left_out: frozenset[int]

    @classmethod
    def of(cls, evidence: Callable[[int], Any], order: Sequence[int], most: int) -> Evidence:
        """What is known of the rows, in this order, as long as it takes at most so many bytes."""
        blocks: list[str] = []
        rows: list[tuple[int, ...]] = []
        left = most
        for part in _parts(order):
            fitting = [evidence(row) for row in part]
            block = packed(fitting)
            while fitting and len(block) > left:  # the last block has as many rows as fit
                fitting = fitting[: len(fitting) * left // (len(block) + 1)]
                block = packed(fitting) if fitting else ""
            if fitting:
                blocks.append(block)
                rows.append(tuple(part[: len(fitting)]))
                left -= len(block)
            if len(fitting) < len(part):
                break
        known = {row for part in rows for row in part}
        return cls(tuple(blocks), tuple(rows), frozenset(order) - known)


def _parts(order: Sequence[int]) -> Iterator[Sequence[int]]:
    return (order[start : start + ROWS] for start in range(0, len(order), ROWS))


def row_evidence(record: Record, exchanges: Exchanges, metrics: Sequence[MetricColumn]) -> dict[str, Any]:
    """Everything about a row, as plain JSON values that are finite; and by metric the digest that labels of it get."""
    found: dict[str, Any] = json_value(record_dict(record))
    read = {item.name: row_digest(record.sample, item.inputs) for item in metrics if item.inputs is not None}
    return {**found, "exchanges": json_value(exchanges.of(record)), "digests": read}


LARGEST = 12.0
"""Megabytes of a page, unless the caller asks for another size."""

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Content:
    """What a page is made of.

    Attributes:
        title: what the tab of the browser shows.
        kind: what kind of page it is.
        parts: markup by the name of its place.
        data: what its script knows from the start, other than the rows.
        rows: the columns of all rows, given those whose evidence is not in the page.
        order: the rows, those first whose evidence goes in first.
        evidence: all that is known of a row, as plain JSON values.
    """

    title: str
    kind: PageKind
    parts: Mapping[str, Html]
    data: Mapping[str, Any]
    rows: Callable[[Collection[int]], dict[str, Any]]
    order: Sequence[int]
    evidence: Callable[[int], Any]


def bytes_of(max_megabytes: float) -> int:
    """So many megabytes in bytes.

    Raises:
        InvalidInput: it is no positive number.
    """
    if isinstance(max_megabytes, bool) or not isinstance(max_megabytes, int | float) or not max_megabytes > 0:
        raise InvalidInput(f"max_megabytes must be a number greater than 0, got {max_megabytes!r}")
    return int(max_megabytes * MEGABYTE)


def put_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page; not line by line, for the digests of its policy are of these very characters."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(page)


def fitted_page(content: Content, most: int) -> str:
    """The page, of about so many bytes at most."""
    data = {**content.data, "megabytes": round(most / MEGABYTE, 1)}
    order = content.order
    # what is always there, and at its largest: with the notes of all rows
    whole = {**data, "rows": content.rows(order), "blocks": [list(order)]}
    fixed = _page(content, data_block("index", packed(whole)))
    evidence = Evidence.of(content.evidence, order, max(most - len(fixed.encode()), 0))
    known = {**data, "rows": content.rows(evidence.left_out), "blocks": evidence.rows}
    blocks = [data_block(f"block-{number}", block) for number, block in enumerate(evidence.blocks)]
    return _page(content, joined([data_block("index", packed(known)), *blocks]))


def _page(content: Content, data: Html) -> str:
    return joined_page(content.title, {**content.parts, "data": data}, content.kind)
