"""The one reader of columns: each row of a run once, and what every metric says of it.

The records are gone through once, as they may stand in a file, and of each only numbers and short texts are kept; evidence is read
again for the few rows that are shown. Rows that are repeats of one another become one row, with the mean of their values.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._store._records import Record
from .._store._run_settings import MetricColumn, digest_of, row_digest
from .._values._score import NOT_ASKED, Score
from ._judgements import mean_of_repeats, prompts_of
from ._scored_rows import ScoredRows
from ._slices import RowGroups, as_label, name_of

Scale = tuple[float, float] | None

REFERENCES = ("reference", "reference_contexts", "reference_documents", "rubric")
"""The fields that the data sets and no system: what responses and contexts are held against."""


def common_scale(of_metric: Scale, of_scores: Iterable[Scale]) -> Scale:
    """The scale that all scores name, else the scale of the metric; None where scores differ."""
    found = {scale or of_metric for scale in of_scores} or {of_metric}
    return found.pop() if len(found) == 1 else None


@dataclass(slots=True)
class RunRow:
    """One row of a run; first one record, later all that are repeats of it.

    Attributes:
        id: as text; None where the data has none.
        question: without regard to line ends and spaces; None where the data has none.
        references: by field, a digest of what the row is judged by, where it has that.
        name: what people call it: its id, or where it stood in the input.
        place: where it stood in the input.
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
        """The row of one record."""
        sample = record.sample
        row_id, question, reference = as_label(sample.id), _text(sample.user_input), _text(sample.reference)
        references = {name: row_digest(sample, (name,)) for name in REFERENCES[1:] if getattr(sample, name)}
        if reference is not None:
            references[REFERENCES[0]] = digest_of(reference)
        return cls(row_id, question, references, name_of(record), record.place, [position])

    @property
    def texts(self) -> tuple[str | None, str | None] | None:
        """The question and a digest of the reference, which tell rows without ids apart; None where the data has neither."""
        reference = self.references.get(REFERENCES[0])
        return None if self.question is None and reference is None else (self.question, reference)


@dataclass(slots=True)
class Column:
    """What one metric says of the rows of a run.

    Attributes:
        metric: the metric.
        values: one per row; None where there is none.
        failed: by row, whether it failed.
        labels: one per row.
        passing: by row, whether the metric passes it; None where it does not say. Of records only, not of repeats gathered.
        scales: one per row; None also where there is no value.
        prompts: by the name of each prompt that was asked, its versions.
        asked: whether any model was asked.
        short: by row, the share of its repeats that have no value, where others have one; none before repeats are gathered.
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
        """Note the score of one more record."""
        self.values.append(score.value)
        self.failed.append(score.error is not None)
        self.labels.append(score.label)
        self.passing.append(score.passing)
        self.scales.append(score.scale if score.value is not None else None)
        self.asked = self.asked or score.usage.calls > 0
        for name, version in prompts_of(score.unread):
            self.prompts.setdefault(name, set()).add(version)

    def short_at(self, row: int) -> float:
        """The share of the repeats of a row that have no value, where others have one."""
        return self.short[row] if self.short else 0.0

    def merged(self, rows: Sequence[RunRow]) -> Column:
        """The same by row instead of by record: repeats have the mean of those that have a value."""
        new = Column(self.metric, prompts=self.prompts, asked=self.asked)
        for positions in (row.records for row in rows):
            values = [value for position in positions if (value := self.values[position]) is not None]
            scales = {self.scales[position] for position in positions if self.values[position] is not None}
            new.values.append(mean_of_repeats(values) if values else None)
            asked = sum(self.labels[position] != NOT_ASKED for position in positions)
            new.short.append(1 - len(values) / asked if values else 0.0)
            new.failed.append(not values and any(self.failed[position] for position in positions))
            new.labels.append(_shared([self.labels[position] for position in positions]))
            new.scales.append(scales.pop() if len(scales) == 1 else None)
        return new


@dataclass
class Run:
    """The rows of a run and what its metrics say of them, filled record by record.

    Attributes:
        name: what it is called in messages.
        evaluation: the run itself.
        rows: its rows; each record is one, until ``merged`` gathers repeats.
        columns: what its metrics say of them.
        slices: by row what it is sliced by, if anything; None for a row without.
        clusters: by row what it shares with others, if anything.
    """

    name: str
    evaluation: ScoredRows
    rows: list[RunRow]
    columns: dict[str, Column]
    slices: list[str | None] | None = None
    clusters: list[str | None] | None = None

    @classmethod
    def empty(cls, evaluation: ScoredRows, name: str = "") -> Run:
        """The run before its first record is added."""
        return cls(name, evaluation, [], {item.name: Column(item) for item in evaluation.metrics})

    @classmethod
    def of(cls, evaluation: ScoredRows, name: str, groups: RowGroups) -> Run:
        """Read all records of a run; ``groups`` collects what its rows are sliced by and what they share with others."""
        run = cls.empty(evaluation, name)
        for record in evaluation.records:
            run.add(record)
            groups.add(record.sample, record.place)
        return replace(run, slices=groups.slices, clusters=groups.clusters)

    def add(self, record: Record) -> None:
        """Note one more record, as a row."""
        self.rows.append(RunRow.of(record, len(self.rows)))
        for metric, column in self.columns.items():
            column.add(record.scores[metric])

    @property
    def records(self) -> int:
        """How many records it has; more than rows, where there are repeats."""
        return sum(len(row.records) for row in self.rows)

    @property
    def has_ids(self) -> bool:
        """Whether any row has an id."""
        return any(row.id is not None for row in self.rows)

    def merged(self, rows: list[RunRow]) -> Run:
        """The same with these rows, into which the records were gathered."""
        if len(rows) == len(self.rows):
            return self
        slices, clusters = (
            None if labels is None else [_shared([labels[position] for position in row.records]) for row in rows]
            for labels in (self.slices, self.clusters)
        )
        columns = {name: column.merged(rows) for name, column in self.columns.items()}
        return Run(self.name, self.evaluation, rows, columns, slices, clusters)

    def scores(self, row: int, metric: str) -> list[Score]:
        """The scores of a row with their evidence, one for each of its repeats."""
        return [self.evaluation.records[position].scores[metric] for position in self.rows[row].records]


def _shared(labels: Sequence[str | None]) -> str | None:
    """The label that all have; None where they differ."""
    return labels[0] if all(label == labels[0] for label in labels) else None


def _text(value: Any) -> str | None:
    """A text by which rows are compared; None where there is none."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return unicodedata.normalize("NFC", " ".join(text.split())) or None
