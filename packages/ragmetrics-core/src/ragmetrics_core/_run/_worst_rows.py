"""The rows of a run to read first: those with the worst values of a metric, or those on which the jurors of a jury differ most.

They are shown with their texts and evidence: as lines for terminals and pipes, or as foldable HTML for notebooks. The HTML is
static, and texts are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from .._kernel._wording import to_json
from .._show._tables import cut_middle, room
from .._store._records import Record, json_value
from .._store._run_settings import MetricColumn
from .._values._errors import InvalidInput
from .._values._evidence_html import block, score_body
from .._values._findings import Line, evidence_lines
from .._values._layout import fitted, printable, readable
from .._values._sample import Document, Sample
from .._values._score import Score
from .._values._tags import EMPTY, Html, element
from ._judgements import difference_of, keep_lowest
from ._slices import row_name

LONGEST_NAME = 60
"""The number of columns that a row's id takes in a title."""

BRIEF = ("user_input", "response")
ASKED = {"user_input": "question", "response": "answer", "reference": "reference"}
LISTS = {
    "retrieved_contexts": "passage",
    "reference_contexts": "reference passage",
    "retrieved_documents": "document",
    "reference_documents": "reference document",
}
"""What the items of a list are called, one by one."""


def title_of(record: Record) -> str:
    """Return the id and the place of a row."""
    name, place = cut_middle(row_name(record), LONGEST_NAME), printable(record.place)
    return place if record.sample.id is None else f"{name} ({place})"


def brief_lines(record: Record, metric: str, width: int) -> Iterator[Line]:
    """Return a row as an entry of a list: the question, the answer, and the evidence of one metric with the passages that it
    names.
    """
    yield from _head(record, width, BRIEF)
    yield from _evidence(record.scores[metric], width, record.sample.retrieved_contexts)


def failed_lines(record: Record, scores: Mapping[str, Score], width: int) -> Iterator[Line]:
    """Return a row and its failed scores, with the replies that could not be parsed."""
    yield from _head(record, width, BRIEF)
    for score in scores.values():
        yield from _with_replies(score, width)


def full_lines(record: Record, metrics: Sequence[str], width: int) -> Iterator[Line]:
    """Return everything about a row: its earlier turns, texts, passages, documents and metadata in full, and the evidence of these
    metrics.
    """
    yield from _lines(title_of(record), width, "", "  ", "title")
    for text in (*_turns(record.sample.history), *text_lines(record.sample)):
        yield from _lines(text, width)
    for field, name in LISTS.items():
        for text in _items(getattr(record.sample, field), name):
            yield from _lines(text, width)
    for key, value in record.sample.metadata.items():
        yield from _lines(f"metadata.{key}: {_text(value)}", width, "  ", "    ", "aside")
    for metric in metrics:
        yield Line("")
        yield from _with_replies(record.scores[metric], width)


def text_lines(sample: Sample, fields: Iterable[str] = tuple(ASKED)) -> Iterator[str]:
    """Return the question, the answer and the reference, each after its name; missing texts are left out."""
    values = ((ASKED[field], getattr(sample, field)) for field in fields)
    return (f"{name}: {_text(value)}" for name, value in values if value is not None)


def _head(record: Record, width: int, fields: Iterable[str]) -> Iterator[Line]:
    """Return the title of a row, and these texts of it."""
    yield from _lines(title_of(record), width, "", "  ", "title")
    for text in text_lines(record.sample, fields):
        yield from _lines(text, width)


def _turns(history: Any) -> Iterator[str]:
    """Return the texts of earlier turns, each after the word for its speaker."""
    for turn in history if isinstance(history, list | tuple) else [] if history is None else [history]:
        known = turn if isinstance(turn, Mapping) else {"role": "turn", "content": turn}
        yield f"earlier {_text(known.get('role'))}: {_text(known.get('content'))}"
        yield from _items(known.get("retrieved_contexts"), "earlier passage")


def _items(values: Any, name: str) -> list[str]:
    """Return the items of a list, each under its number."""
    if values is None:
        return []
    if not isinstance(values, Sequence) or isinstance(values, str):
        return [f"{name}s: {_text(values)}"]
    return [f"{name} {number}: {_text(value)}" for number, value in enumerate(values, 1)] or [f"no {name}s"]


def _evidence(score: Score, width: int, contexts: Any = None) -> Iterator[Line]:
    return (Line(f"  {text}", tone) for text, tone in evidence_lines(score, width - 2, contexts))


def _with_replies(score: Score, width: int) -> Iterator[Line]:
    yield from _evidence(score, width)
    for number, raw in enumerate(_raw(score.details), 1):
        yield from _lines(f"raw reply {number}: {raw}", width, "    ", "      ", "aside")


def _lines(text: str, width: int, first: str = "  ", others: str = "    ", tone: Any = "") -> Iterator[Line]:
    return (Line(line, tone) for line in fitted(text, width, first, others))


def _text(value: Any) -> str:
    if isinstance(value, Document) and value.content is not None:
        return f"{value.id}: {value.content}" if value.id is not None else value.content
    return value if isinstance(value, str) else to_json(json_value(value))


def _raw(details: Mapping[str, Any]) -> Iterator[str]:
    """Return the replies that could not be parsed, unchanged."""
    raw = details.get("raw")
    return (text for text in (raw if isinstance(raw, list) else ()) if isinstance(text, str))


def row_parts(records: Sequence[Record], metric: str, unfolded: int = 0) -> list[Html]:
    """Return each row as a foldable part, with the result of the metric; the first ``unfolded`` parts are open."""
    parts = []
    for number, record in enumerate(records):
        score = record.scores[metric]
        value = score.state if score.value is None else f"{score.value:.4g}"
        parts.append(
            element(
                "details",
                element("summary", f"{readable(title_of(record))}: {value}"),
                _earlier(record.sample.history),
                *(element("p", readable(line)) for line in text_lines(record.sample)),
                score_body(score),
                _passages(record.sample.retrieved_contexts),
                open=number < unfolded,
            )
        )
    return parts


def _earlier(history: object) -> Html:
    """Return the earlier turns, folded."""
    lines = [element("p", readable(line)) for line in _turns(history)]
    return element("details", element("summary", "earlier turns"), *lines) if lines else EMPTY


def _passages(contexts: object) -> Html:
    """Return the retrieved contexts with the numbers that verdicts use."""
    if not isinstance(contexts, Sequence) or isinstance(contexts, str) or not contexts:
        return EMPTY
    items = (element("li", readable(text if isinstance(text, str) else repr(text))) for text in contexts)
    return element("details", element("summary", "passages"), element("ol", *items))


@dataclass(frozen=True)
class WorstRow:
    """A row with its score.

    Attributes:
        index: its position in the input, from 0.
        place: its place in the input, such as ``questions.jsonl, line 7``.
        sample: the row.
        score: its score by the metric.
    """

    index: int
    place: str
    sample: Sample
    score: Score


class RowsToRead(Sequence[WorstRow]):
    """Rows in the order in which to read them; ``print`` shows them with the evidence of one metric.

    Attributes:
        metric: name of the metric whose evidence is shown.
        records: the rows with the scores of all metrics.
        if_none: the text shown if there are no rows.
    """

    def __init__(self, metric: str, records: Sequence[Record], if_none: str) -> None:
        self.metric = metric
        self.records = tuple(records)
        self.if_none = if_none
        self._rows = tuple(WorstRow(item.index, item.place, item.sample, item.scores[metric]) for item in records)

    @overload
    def __getitem__(self, index: int) -> WorstRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[WorstRow, ...]: ...
    def __getitem__(self, index: int | slice) -> WorstRow | tuple[WorstRow, ...]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def lines(self, width: int) -> Iterator[Iterable[Line]]:
        """Return the lines of each row, with their tones, for callers that add colours."""
        return (brief_lines(record, self.metric, width) for record in self.records)

    def __str__(self) -> str:
        return "\n\n".join("\n".join(line.text for line in lines) for lines in self.lines(room())) or self.if_none

    def _repr_html_(self) -> str:
        """Return the rows as foldable HTML, for notebooks."""
        return block(*row_parts(self.records, self.metric, unfolded=1) or [element("p", str(self))])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the rows, for IPython."""
        printer.text("..." if cycle else str(self))


class WorstRows(RowsToRead):
    """Rows with the worst values of one metric, the worst first; ``print`` shows them with their evidence.

    Attributes:
        end: the worse end of the scale: ``lowest`` or ``highest``.
    """

    def __init__(self, metric: str, higher_is_better: bool, records: Sequence[Record]) -> None:
        super().__init__(metric, records, f"no row has a value of {cut_middle(metric, LONGEST_NAME)}")
        self.end = "lowest" if higher_is_better else "highest"

    def __repr__(self) -> str:
        return printable(f"<{len(self)} worst rows of {self.metric}>")


def why_no_worst(metric: MetricColumn) -> str | None:
    """Say why the metric has no worst rows; None if it can have some."""
    if metric.higher_is_better is not None:
        return None
    if metric.knows_better:
        return f"neither high nor low values of {metric.name} are better, so that no row is the worst"
    return f"a file of scores does not say which values of {metric.name} are better: load the directory of the run"


def wanted_column(owner: str, metrics: Sequence[MetricColumn], name: str, n: object) -> MetricColumn:
    """Return the metric of this name. Also checks ``n``, the number of rows; ``owner`` is the method that messages name.

    Raises:
        InvalidInput: there is no such metric, or ``n`` is not a whole number from 1.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidInput(f"{owner}: n must be a whole number, at least 1, got {n!r}")
    column = next((item for item in metrics if item.name == name), None)
    if column is None:
        known = ", ".join(item.name for item in metrics)
        raise InvalidInput(f"{owner}: there is no metric {name!r}; there are {known}")
    return column


def worst_rows(records: Iterable[Record], metrics: Sequence[MetricColumn], name: str, n: int) -> WorstRows:
    """Return the ``n`` rows with the worst values; among equal values the earlier row comes first.

    Raises:
        InvalidInput: there is no such metric, its scale has no worse end, or ``n`` is not a whole number from 1.
    """
    column = wanted_column("worst", metrics, name, n)
    if (problem := why_no_worst(column)) is not None:
        raise InvalidInput(f"worst: {problem}")
    (rows,) = worst_of_each(records, [column], n)
    return rows


def worst_of_each(records: Iterable[Record], metrics: Sequence[MetricColumn], n: int) -> list[WorstRows]:
    """Return the worst rows of each metric whose scale has a worse end, in one pass over the rows, which may be read from a
    file.
    """
    signs = {item.name: 1 if item.higher_is_better else -1 for item in metrics if item.higher_is_better is not None}
    found: dict[str, list[tuple[float, Record]]] = {name: [] for name in signs}
    for record in records:
        for name, sign in signs.items():
            value = record.scores[name].value
            if value is not None:
                keep_lowest(found[name], sign * value, record, n)
    return [WorstRows(name, signs[name] > 0, [record for _, record in worst]) for name, worst in found.items()]


class DisputedRows(RowsToRead):
    """Rows on which the jurors of a metric differ most, the largest difference first; ``print`` shows them with the evidence of
    each juror.

    Attributes:
        differences: for each row, the mean difference between two jurors, on the scale of the metric.
    """

    def __init__(self, metric: str, records: Sequence[Record], differences: Sequence[float]) -> None:
        super().__init__(metric, records, f"no two jurors of {cut_middle(metric, LONGEST_NAME)} differ on any row")
        self.differences = tuple(differences)

    def __repr__(self) -> str:
        return printable(f"<{len(self)} disputed rows of {self.metric}>")


def disputed_rows(records: Iterable[Record], metrics: Sequence[MetricColumn], name: str, n: int) -> DisputedRows:
    """Return the ``n`` rows on which jurors differ most; among equal differences the earlier row comes first.

    Raises:
        InvalidInput: there is no such metric, or ``n`` is not a whole number from 1.
    """
    wanted_column("disagreements", metrics, name, n)
    found: list[tuple[float, Record]] = []
    for record in records:
        difference = difference_of(record.scores[name])
        if difference:
            keep_lowest(found, -difference, record, n)
    return DisputedRows(name, [record for _, record in found], [-key for key, _ in found])
