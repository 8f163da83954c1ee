"""Rows with their scores as lines of text, for terminals and pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._kernel._evidence import Line, evidence_lines
from .._kernel._layout import fitted, printable
from .._kernel._sample import Document, Sample
from .._kernel._score import Score
from .._kernel._wording import to_json
from .._store._records import Record, json_value
from ._row_names import row_name
from ._table import cut_middle

LONGEST_NAME = 60
"""Columns of a row's id in a title."""

ASKED = {"user_input": "question", "response": "answer", "reference": "reference"}
LISTS = {
    "retrieved_contexts": "passage",
    "reference_contexts": "reference passage",
    "retrieved_documents": "document",
    "reference_documents": "reference document",
}
"""What the items of a list are called, one by one."""


def title_of(record: Record) -> str:
    """The id of a row and where it stands."""
    name, place = cut_middle(row_name(record), LONGEST_NAME), printable(record.place)
    return place if record.sample.id is None else f"{name} ({place})"


def brief_lines(record: Record, metric: str, width: int) -> Iterator[Line]:
    """A row for a list of rows: what was asked and answered, and the evidence of one metric, with the passages it names."""
    sample = record.sample
    yield from _lines(title_of(record), width, "", "  ", "title")
    yield from _texts(sample, ("user_input", "response"), width)
    yield from _indented(record.scores[metric], width, sample.retrieved_contexts)


def failed_lines(record: Record, scores: Mapping[str, Score], width: int) -> Iterator[Line]:
    """A row and those of its scores that failed, with the replies that could not be read."""
    yield from _lines(title_of(record), width, "", "  ", "title")
    yield from _texts(record.sample, ("user_input", "response"), width)
    for score in scores.values():
        yield from _with_replies(score, width)


def full_lines(record: Record, metrics: Sequence[str], width: int) -> Iterator[Line]:
    """All of a row: its texts, passages, documents and metadata in full, and the evidence of these metrics."""
    sample = record.sample
    yield from _lines(title_of(record), width, "", "  ", "title")
    yield from _texts(sample, ASKED, width)
    for field, name in LISTS.items():
        yield from _items(getattr(sample, field), name, width)
    for key, value in sample.metadata.items():
        yield from _lines(f"metadata.{key}: {_text(value)}", width, "  ", "    ", "aside")
    for metric in metrics:
        yield Line("")
        yield from _with_replies(record.scores[metric], width)


def plain_text(rows: Iterable[Iterable[Line]]) -> str:
    """The rows as they are printed where there are no colours, with a blank line between them."""
    return "\n\n".join("\n".join(line.text for line in lines) for lines in rows)


def text_lines(sample: Sample, fields: Iterable[str] = tuple(ASKED)) -> Iterator[str]:
    """Question, answer and reference, as far as there are such, each behind its name."""
    values = ((ASKED[field], getattr(sample, field)) for field in fields)
    return (f"{name}: {_text(value)}" for name, value in values if value is not None)


def _texts(sample: Sample, fields: Iterable[str], width: int) -> Iterator[Line]:
    for text in text_lines(sample, fields):
        yield from _lines(text, width)


def _items(values: Any, name: str, width: int) -> Iterator[Line]:
    if values is None:
        return
    if not isinstance(values, Sequence) or isinstance(values, str):
        yield from _lines(f"{name}s: {_text(values)}", width)
        return
    if not values:
        yield from _lines(f"no {name}s", width)
    for number, value in enumerate(values, 1):
        yield from _lines(f"{name} {number}: {_text(value)}", width)


def _indented(score: Score, width: int, contexts: Any = None) -> Iterator[Line]:
    return (Line(f"  {text}", tone) for text, tone in evidence_lines(score, width - 2, contexts))


def _with_replies(score: Score, width: int) -> Iterator[Line]:
    yield from _indented(score, width)
    for number, raw in enumerate(_raw(score.details), 1):
        yield from _lines(f"raw reply {number}: {raw}", width, "    ", "      ", "aside")


def _lines(text: str, width: int, first: str = "  ", others: str = "    ", tone: Any = "") -> Iterator[Line]:
    return (Line(line, tone) for line in fitted(text, width, first, others))


def _text(value: Any) -> str:
    if isinstance(value, Document) and value.content is not None:
        return f"{value.id}: {value.content}" if value.id is not None else value.content
    return value if isinstance(value, str) else to_json(json_value(value))


def _raw(details: Mapping[str, Any]) -> Iterator[str]:
    """The replies that could not be read, as they came."""
    raw = details.get("raw")
    return (text for text in (raw if isinstance(raw, list) else ()) if isinstance(text, str))
