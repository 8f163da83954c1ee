"""Results as outputs of a notebook: tables that are tables, and the evidence of the worst rows to unfold. Static, no scripts.

Everything goes through ``element``, which escapes every text; what a text section says in lines, a notebook says in paragraphs and
lists, so that both always tell the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from .._compare import _text as _comparison_text
from .._compare._words import NUMBERS
from .._kernel._evidence_html import block, grid
from .._kernel._layout import readable
from .._kernel._tags import EMPTY, Html, element
from .._page._charts import distribution
from .._run._scored_rows import ScoredRows
from .._run._worst_rows import row_parts, worst_of_each
from .._show._blocks import as_html
from .._store._records import Record
from .._summary._summary import Summary, summary_blocks
from .._summary._tally import summary_of

if TYPE_CHECKING:
    from .._compare._comparison import ComparedRuns, MetricComparison


T = TypeVar("T")

WIDE = 1_000_000
"""No line is broken: a browser does that."""

MOST_ROWS = 3
"""Rows of each metric that an evaluation shows."""


def comparison_html(comparison: ComparedRuns) -> Html:
    """The verdicts, the tables and what changed most."""
    name, verdict = ("metric", _comparison_text.shown_name), ("verdict", _verdict)
    return block(
        *_said(section(comparison, WIDE) for section in _comparison_text.HEAD),
        _numbers(comparison.metrics, (name, *NUMBERS)),
        _numbers(comparison.slices, (name, verdict, *NUMBERS)) if comparison.slices else None,
        *_said(section(comparison, WIDE) for section in _comparison_text.NOTES),
    )


def _verdict(item: MetricComparison) -> str:
    return item.verdict


def _numbers(items: Iterable[T], columns: Sequence[tuple[str, Callable[[T], str]]]) -> Html:
    """A table: a line per item, a column per function."""
    return grid([name for name, _ in columns], [[cell(item) for _, cell in columns] for item in items], numbers=True)


def evaluation_html(run: ScoredRows) -> Html:
    """The summary with pictures of the values, and of each metric the worst rows, to unfold."""
    values: dict[str, list[float]] = {item.name: [] for item in run.metrics}

    def note(record: Record) -> None:
        for name, score in record.scores.items():
            if score.value is not None:
                values[name].append(score.value)

    summary = summary_of(run, also=note)
    parts = [as_html(summary_blocks(summary)), _pictures(summary, values)]
    for rows in filter(None, worst_of_each(run.records, run.metrics, MOST_ROWS)):
        title = f"{rows.metric}: the {rows.end} {len(rows)}"
        parts.append(element("details", element("summary", readable(title)), *row_parts(rows.records, rows.metric)))
    return block(*parts)


def _pictures(summary: Summary, values: Mapping[str, Sequence[float]]) -> Html:
    """How the values of each metric are distributed, as in the report."""
    pictures = ((item.name, distribution(item, values[item.name])) for item in summary.metrics)
    found = [element("div", element("p", readable(name)), picture) for name, picture in pictures if picture]
    return element("div", *found, class_="pictures") if found else EMPTY


def _said(sections: Iterable[Sequence[str]]) -> Iterator[Html]:
    """Lines as paragraphs, and those that are indented as lists below them."""
    for section in sections:
        lines = [line for text in section for line in text.split("\n") if line.strip()]
        for indented, group in groupby(lines, key=lambda line: line.startswith(" ")):
            if indented:
                yield _listed(list(group))
            else:
                yield from (element("p", readable(line)) for line in group)


def _listed(lines: Sequence[str]) -> Html:
    """Lines as a list; those that are indented more than the first belong to the item above them."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        if items and _indent(line) > _indent(lines[0]):
            items[-1][1].append(line)
        else:
            items.append((line, []))
    return element("ul", *(element("li", readable(head), _listed(below) if below else None) for head, below in items))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
