"""A score with its evidence as HTML for notebooks: static, without scripts, every text of data and models escaped.

The content and the words come from `_findings`. The colours of marks are readable on light and on dark backgrounds, and no
meaning is carried by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ._details import ScoreFields
from ._findings import TONES, Finding, findings_of, headline, mark_of, standing, verdict_words
from ._layout import readable
from ._tags import EMPTY, Html, element

STYLE = Html(
    ".ragmetrics{overflow-x:auto}"
    ".ragmetrics table{border-collapse:collapse;margin:.4em 0}"
    ".ragmetrics caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".ragmetrics th,.ragmetrics td{text-align:left;vertical-align:top;padding:.2em .8em .2em 0;border-bottom:1px solid #8884;"
    "overflow-wrap:break-word;unicode-bidi:isolate}"
    ".ragmetrics td.number,.ragmetrics th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".ragmetrics .good{color:#2f8f4e}.ragmetrics .bad{color:#d6453d}.ragmetrics .open{color:#a8741a}"
    ".ragmetrics .mark{font-weight:700}.ragmetrics p{margin:.3em 0}"
    ".ragmetrics ul,.ragmetrics ol{margin:.2em 0;padding-left:1.4em}"
    ".ragmetrics .pictures{display:flex;flex-wrap:wrap;gap:.4em 2em;margin:.4em 0}"
    ".ragmetrics svg{display:block;width:240px;height:70px}.ragmetrics .bar{fill:#6b8fd6}"
    ".ragmetrics svg.strip{width:160px;height:1em}.ragmetrics .strip line{vector-effect:non-scaling-stroke}"
    ".ragmetrics .strip .axis{stroke:#8888}.ragmetrics .strip .interval{stroke-width:3}"
    ".ragmetrics .axis,.ragmetrics .interval,.ragmetrics .mean{stroke:currentColor}.ragmetrics .mean{stroke-width:3}"
    ".ragmetrics details{margin:.3em 0 .3em .6em}.ragmetrics summary{cursor:pointer}"
)
"""A constant, without any text of the data."""


def block(*children: str | None) -> Html:
    """Return elements as one output of a notebook, with a style sheet that applies only to them."""
    return element("div", element("style", STYLE), *children, class_="ragmetrics")


def grid(
    headings: Sequence[str], rows: Iterable[Sequence[str | Html]], *, caption: str | None = None, numbers: bool
) -> Html:
    """Return a table.

    Args:
        headings: the names of the columns.
        rows: the cells of each row; control characters in texts are escaped.
        caption: the title of the table; None: there is none.
        numbers: whether all columns except the first hold numbers, which are aligned to the right.
    """
    right = ["number" if numbers and place else None for place in range(len(headings))]
    head = (
        element("th", readable(name), scope="col", class_=side) if name else element("td")  # a heading needs words
        for name, side in zip(headings, right, strict=True)
    )
    body = (
        element("tr", *(element("td", _escaped(cell), class_=side) for cell, side in zip(row, right, strict=True)))
        for row in rows
    )
    title = element("caption", readable(caption)) if caption else EMPTY
    return element("table", title, element("thead", element("tr", *head)), element("tbody", *body))


def _escaped(cell: str | Html) -> str:
    return cell if isinstance(cell, Html) else readable(cell)


def score_body(score: ScoreFields) -> Html:
    """Return the score with its evidence below it, without the style sheet."""
    found = findings_of(score.details)
    why = readable(standing(score))
    parts = [element("p", element("strong", readable(headline(score))))]
    parts += [element("p", why)] if why else []
    parts += [_findings(part, list(items)) for part, items in groupby(found.items, key=lambda item: item.part)]
    parts += [element("p", found.words)] if found.words and found.words != why else []
    return element("div", *parts)


def _findings(part: str, items: Sequence[Finding]) -> Html:
    rows = [(_mark(item), item.label, verdict_words(item), item.reason) for item in items]
    return grid(("", part or "what was judged", "verdict", "reason"), rows, numbers=False)


def _mark(item: Finding) -> Html:
    mark = mark_of(item)
    return element("span", mark, class_=f"mark {TONES.get(mark, '')}".strip())
