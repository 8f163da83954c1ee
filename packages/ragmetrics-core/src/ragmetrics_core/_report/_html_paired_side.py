"""One of two runs as a page shows it: by row of the page, what became of it, its texts and its records.

Values are those that the comparison counts: repeats of a row count once, with their mean. Texts are those of the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._kernel._score import NOT_ASKED
from .._store._records import Record
from ._compared_rows import Run
from ._html_columns import LONGEST_ANSWER, LONGEST_NOTE, LONGEST_QUESTION, beginning

ABSENT, SCORED, UNSCORED, FAILED, UNASKED = "-", "s", "u", "f", "n"
"""What became of a row by a metric in one run; ``ABSENT``: that run has not got it."""


class Side:
    """One of the runs.

    Attributes:
        run: the run.
        positions: by row of the page, its position in the run; None where the run has not got it.
    """

    def __init__(self, run: Run, positions: Sequence[int | None], metrics: Sequence[str]) -> None:
        self.run = run
        self.positions = positions
        self._metrics = metrics
        count = len(run.rows)
        self._questions, self._answers = [""] * count, [""] * count
        self._metadata: list[Mapping[str, Any]] = [{}] * count
        self._notes: list[list[str | None]] = [[]] * count
        firsts = {row.records[0]: position for position, row in enumerate(run.rows)}
        for index, record in enumerate(run.evaluation.records):
            if index in firsts:
                self._take(firsts[index], record)

    def _take(self, position: int, record: Record) -> None:
        sample = record.sample
        self._questions[position] = beginning(sample.user_input, LONGEST_QUESTION)
        self._answers[position] = beginning(sample.response, LONGEST_ANSWER)
        self._metadata[position] = sample.metadata
        scores = (record.scores[name] for name in self._metrics)
        self._notes[position] = [beginning(score.error or score.reason, LONGEST_NOTE) or None for score in scores]

    def question(self, row: int) -> str:
        """The beginning of the question; "" where there is none."""
        return self._at(row, self._questions, "")

    def answer(self, row: int) -> str:
        """The beginning of the answer; "" where there is none."""
        return self._at(row, self._answers, "")

    def metadata(self, row: int) -> Mapping[str, Any]:
        """The metadata; empty where the run has not got the row."""
        return self._at(row, self._metadata, {})

    def note(self, row: int, metric: int) -> str | None:
        """Why there is no value, or what the judge said."""
        return self._at(row, self._notes, [None] * len(self._metrics))[metric]

    def value(self, row: int, metric: str) -> float | None:
        """The value by a metric; None where there is none."""
        return self._at(row, self.run.columns[metric].values, None)

    def label(self, row: int, metric: str) -> str | None:
        """The label by a metric; None where there is none."""
        return self._at(row, self.run.columns[metric].labels, None)

    def slice(self, row: int) -> str | None:
        """What stands in the column that the comparison is sliced by."""
        return None if self.run.slices is None else self._at(row, self.run.slices, None)

    def state(self, row: int, metric: str) -> str:
        """What became of the row, in one letter."""
        position = self.positions[row]
        if position is None:
            return ABSENT
        column = self.run.columns[metric]
        if column.labels[position] == NOT_ASKED:
            return UNASKED
        if column.values[position] is not None:
            return SCORED
        return FAILED if column.failed[position] else UNSCORED

    def records(self, row: int) -> list[Record]:
        """The records of the row: one, several where it stands several times, none where the run has not got it."""
        position = self.positions[row]
        if position is None:
            return []
        return [self.run.evaluation.records[index] for index in self.run.rows[position].records]

    def _at(self, row: int, column: Sequence[Any], without: Any) -> Any:
        position = self.positions[row]
        return without if position is None else column[position]
