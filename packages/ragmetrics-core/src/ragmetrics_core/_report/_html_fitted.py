"""A page that is no larger than somebody wants to send: what is always in it, and as much evidence as fits beside that."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._tags import Html, joined
from ._html_evidence import Evidence
from ._html_packed import data_block, packed
from ._html_page import PageKind, joined_page

LARGEST = 12.0
"""Megabytes of a page, unless somebody asks for another size."""

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Content:
    """What a page is made of.

    Attributes:
        title: what the tab of the browser shows.
        kind: what kind of page it is.
        parts: markup by the name of its place.
        data: what its script knows from the start, besides the rows.
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
