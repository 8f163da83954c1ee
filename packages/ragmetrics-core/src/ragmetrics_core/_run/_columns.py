"""Read the records of a run once, and collect the scores of every metric by row. Only this module reads columns.

The records are read in one pass because they may be in a file. Only numbers and short texts are kept; evidence is read
again for the few rows that are shown. Repeats of a row are merged into one row with the mean of their values.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .._store._records import Record
from .._store._run_settings import MetricColumn, digest_of, row_digest
from .._values._score import NOT_ASKED, Score
from ..statistics._interval import Scale
from ._judgements import mean_of_repeats, prompts_of
from ._scored_rows import ScoredRows
from ._slices import RowGroups, as_label, name_of

T = TypeVar("T")

REFERENCES = ("reference", "reference_contexts", "reference_documents", "rubric")
"""The fields that come from the data set and not from the system; responses and contexts are compared with them."""


def common_scale(of_metric: Scale, of_scores: Iterable[Scale]) -> Scale:
    """Return the scale that all scores name, or else the scale of the metric; None if the scales of the scores differ."""
    found = {scale or of_metric for scale in of_scores} or {of_metric}
    return found.pop() if len(found) == 1 else None


@dataclass(slots=True)
class RunRow:
    """One row of a run. At first it has one record; after merging it has all records that are repeats of it.

    Attributes:
        id: the id as text; None if the data has no id.
        question: the question with line ends and spaces normalized; None if the data has no question. Without an id, it ends with
            a digest of the earlier turns, because many conversations ask the same short question.
        references: for each field that the row is judged by, a digest of its value; fields without a value are left out.
        name: the name shown to people: the id, or the place in the input.
        place: the place in the input.
        records: positions of its records.
    """

    id: str | None
    question: str | None
    references: Mapping[str, str]
    name: str
    place: str
    records: list[int]

    @classmethod
    def of(cls, record: Record, position: int) -> RunRow:
        """Return the row of one record."""
        sample = record.sample
        row_id, question, reference = as_label(sample.id), _text(sample.user_input), _text(sample.reference)
        if question is not None and row_id is None and sample.history:
            question += f" {row_digest(sample, ('history',))}"
        references = {name: row_digest(sample, (name,)) for name in REFERENCES[1:] if getattr(sample, name)}
        if reference is not None:
            references[REFERENCES[0]] = digest_of(reference)
        return cls(row_id, question, references, name_of(record), record.place, [position])

    @property
    def texts(self) -> tuple[str | None, str | None] | None:
        """The question and a digest of the reference, which identify rows without ids; None if the data has neither."""
        reference = self.references.get(REFERENCES[0])
        return None if self.question is None and reference is None else (self.question, reference)


@dataclass(slots=True)
class Column:
    """The scores of one metric, one entry per row of the run.

    Attributes:
        metric: the metric.
        values: one value per row; None for a row without a value.
        failed: for each row, whether scoring failed.
        labels: one label per row; None for a row without a label.
        passing: for each row, whether it passes; None if the metric gives no verdict, or if repeats of the row disagree.
        scales: one scale per row; None if there is no value.
        prompts: the versions of each prompt that was used, by the name of the prompt.
        asked: whether any model was asked.
        short: for each row that has a value, the share of its repeats without a value; empty until repeats are merged.
    """

    metric: MetricColumn
    values: list[float | None] = field(default_factory=list)
    failed: list[bool] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    passing: list[bool | None] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)
    prompts: dict[str, set[str]] = field(default_factory=dict)
    asked: bool = False
    short: list[float] = field(default_factory=list)

    def add(self, score: Score) -> None:
        """Add the score of one more record."""
        self.values.append(score.value)
        self.failed.append(score.error is not None)
        self.labels.append(score.label)
        self.passing.append(score.passing)
        self.scales.append(score.scale if score.value is not None else None)
        self.asked = self.asked or score.usage.calls > 0
        for name, version in prompts_of(score.unread):
            self.prompts.setdefault(name, set()).add(version)

    def short_at(self, row: int) -> float:
        """Return the share of the repeats of a row without a value; 0 if no repeat has a value."""
        return self.short[row] if self.short else 0.0

    def merged(self, rows: Sequence[RunRow]) -> Column:
        """Return the column with one entry per row instead of one per record. A row gets the mean of the repeats that have a
        value.
        """
        new = Column(self.metric, prompts=self.prompts, asked=self.asked)
        for positions in (row.records for row in rows):
            values = [value for position in positions if (value := self.values[position]) is not None]
            scales = {self.scales[position] for position in positions if self.values[position] is not None}
            new.values.append(mean_of_repeats(values) if values else None)
            asked = sum(self.labels[position] != NOT_ASKED for position in positions)
            new.short.append(1 - len(values) / asked if values else 0.0)
            new.failed.append(not values and any(self.failed[position] for position in positions))
            new.labels.append(shared([self.labels[position] for position in positions]))
            new.passing.append(shared([self.passing[position] for position in positions]))
            new.scales.append(scales.pop() if len(scales) == 1 else None)
        return new


@dataclass
class Run:
    """The rows of a run with their scores, filled record by record.

    Attributes:
        name: the name of the run in messages.
        evaluation: the run itself.
        rows: its rows; each record is one row until ``merged`` merges repeats.
        columns: the scores of each metric.
        slices: one slice label per row, None for a row without a value; the whole attribute is None if there are no slices.
        clusters: one cluster label per row, that is, what the row shares with others; the whole attribute is None if there are no
            clusters.
    """

    name: str
    evaluation: ScoredRows
    rows: list[RunRow]
    columns: dict[str, Column]
    slices: list[str | None] | None = None
    clusters: list[str | None] | None = None

    @classmethod
    def empty(cls, evaluation: ScoredRows, name: str = "") -> Run:
        """Return the run before its first record is added."""
        return cls(name, evaluation, [], {item.name: Column(item) for item in evaluation.metrics})

    @classmethod
    def of(cls, evaluation: ScoredRows, name: str, groups: RowGroups) -> Run:
        """Read all records of a run; ``groups`` collects the slice and the cluster of each row."""
        run = cls.empty(evaluation, name)
        for record in evaluation.records:
            run.add(record)
            groups.add(record.sample, record.place)
        return replace(run, slices=groups.slices, clusters=groups.clusters)

    def add(self, record: Record) -> None:
        """Add one more record as a row."""
        self.rows.append(RunRow.of(record, len(self.rows)))
        for metric, column in self.columns.items():
            column.add(record.scores[metric])

    @property
    def records(self) -> int:
        """The number of its records. It is larger than the number of rows if there are repeats."""
        return sum(len(row.records) for row in self.rows)

    @property
    def has_ids(self) -> bool:
        """Whether any row has an id."""
        return any(row.id is not None for row in self.rows)

    def merged(self, rows: list[RunRow]) -> Run:
        """Return the run with these rows, into which the records were merged."""
        if len(rows) == len(self.rows):
            return self
        slices, clusters = (
            None if labels is None else [shared([labels[position] for position in row.records]) for row in rows]
            for labels in (self.slices, self.clusters)
        )
        columns = {name: column.merged(rows) for name, column in self.columns.items()}
        return Run(self.name, self.evaluation, rows, columns, slices, clusters)

    def records_of(self, row: int) -> list[Record]:
        """Return the records of a row, one for each of its repeats."""
        return [self.evaluation.records[position] for position in self.rows[row].records]


def repeat_keys(rows: Sequence[RunRow]) -> list[Hashable]:
    """Return a key for each row, which repeats of the row share: its id and question, or its texts."""
    return [(row.id, row.question) if row.id is not None else row.texts or place for place, row in enumerate(rows)]


def shared(labels: Sequence[T]) -> T | None:
    """Return the label that all entries share; None if they differ."""
    return labels[0] if all(label == labels[0] for label in labels) else None


def _text(value: Any) -> str | None:
    """Return the normalized text by which rows are compared; None if there is no text."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return unicodedata.normalize("NFC", " ".join(text.split())) or None
