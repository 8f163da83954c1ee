"""A run as notebook output: the summary, pictures of the values, and the foldable evidence of the worst rows. No scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._page._charts import distribution
from .._run._scored_rows import ScoredRows
from .._run._worst_rows import row_parts, worst_of_each
from .._show._blocks import as_html
from .._store._records import Record
from .._summary._summary import Summary, summary_blocks
from .._summary._tally import summary_of
from .._values._evidence_html import block
from .._values._layout import readable
from .._values._tags import EMPTY, Html, element

MOST_ROWS = 3
"""The number of rows that are shown for each metric."""


def evaluation_html(run: ScoredRows) -> Html:
    """Return the summary with pictures of the values, and the worst rows of each metric, foldable."""
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
    """Return the distribution of the values of each metric, as in the report."""
    pictures = ((item.name, distribution(item, values[item.name])) for item in summary.metrics)
    found = [element("div", element("p", readable(name)), picture) for name, picture in pictures if picture]
    return element("div", *found, class_="pictures") if found else EMPTY
