"""A row with the score of one metric as HTML for notebooks: texts, evidence and passages, to unfold. Static; texts are escaped."""

from __future__ import annotations

from collections.abc import Sequence

from .._kernel._evidence_html import score_body
from .._kernel._layout import readable
from .._kernel._tags import EMPTY, Html, element
from .._store._records import Record
from ._row_text import text_lines, title_of


def row_parts(records: Sequence[Record], metric: str, unfolded: int = 0) -> list[Html]:
    """Each row with what the metric made of it, to unfold; so many of the first are unfolded."""
    return [_row(record, metric, unfolded=number < unfolded) for number, record in enumerate(records)]


def _row(record: Record, metric: str, *, unfolded: bool) -> Html:
    score = record.scores[metric]
    value = score.state if score.value is None else f"{score.value:.4g}"
    return element(
        "details",
        element("summary", f"{readable(title_of(record))}: {value}"),
        *(element("p", readable(line)) for line in text_lines(record.sample)),
        score_body(score),
        _passages(record.sample.retrieved_contexts),
        open=unfolded,
    )


def _passages(contexts: object) -> Html:
    """The retrieved contexts with the numbers that verdicts name."""
    if not isinstance(contexts, Sequence) or isinstance(contexts, str) or not contexts:
        return EMPTY
    items = (element("li", readable(text if isinstance(text, str) else repr(text))) for text in contexts)
    return element("details", element("summary", "passages"), element("ol", *items))
