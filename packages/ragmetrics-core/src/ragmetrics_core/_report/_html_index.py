"""What a page knows of every row from the start: enough for its table, its filters and its search.

Strategy. Columns, not rows: ten thousand rows are then a few lists of one kind each, which compress well and are read in one step.
Texts stand here with their beginning only; all else about a row is evidence, which is looked at one row at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from .._kernel._score import Score
from .._store._records import Record
from .._store._run_settings import MetricColumn
from ._html_columns import LONGEST_ANSWER, LONGEST_NOTE, LONGEST_QUESTION, MetadataColumns, beginning, short
from ._repeats import prompts_of
from ._row_names import name_of

FAILED, NOTHING = -1.0, 2.0
"""Goodness of a row that failed, before all others, and of one without any value, behind them."""


class RowIndex:
    """The columns of all rows, filled while the rows pass by.

    Attributes:
        ids: the id of each row as text; None where it has none.
        names: by which labels call each row.
        values: by metric one value per row, None where there is none.
    """

    def __init__(self, metrics: Sequence[MetricColumn]) -> None:
        self._metrics = metrics
        self.ids: list[str | None] = []
        self.names: list[str] = []
        self._goodness: list[list[float]] = []
        self.values: dict[str, list[float | None]] = {item.name: [] for item in metrics}
        self._places: list[str] = []
        self._questions: list[str] = []
        self._answers: list[str] = []
        self._states: dict[str, list[str]] = {item.name: [] for item in metrics}
        self._passing: dict[str, list[str]] = {item.name: [] for item in metrics}
        self._labels: dict[str, list[str | None]] = {item.name: [] for item in metrics}
        self._notes: list[list[str | None]] = []
        self._metadata = MetadataColumns()
        self.prompts: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, record: Record) -> None:
        """Note one row."""
        sample = record.sample
        self._metadata.add(sample.metadata)
        self.ids.append(None if sample.id is None else str(sample.id))
        self.names.append(name_of(record))
        self._places.append(record.place)
        self._questions.append(beginning(sample.user_input, LONGEST_QUESTION))
        self._answers.append(beginning(sample.response, LONGEST_ANSWER))
        for metric in self._metrics:
            self._add_score(metric.name, record.scores[metric.name])
        notes = (record.scores[metric.name] for metric in self._metrics)
        self._notes.append([beginning(score.error or score.reason, LONGEST_NOTE) or None for score in notes])
        self._goodness.append([goodness(metric, record.scores[metric.name]) for metric in self._metrics])

    def _add_score(self, name: str, score: Score) -> None:
        self.values[name].append(score.value)
        self._states[name].append(score.state[0])
        self._passing[name].append({True: "y", False: "n", None: "-"}[score.passing])
        self._labels[name].append(score.label)
        for prompt, version in prompts_of(score.held):
            self.prompts.setdefault(prompt, {})[version] = None

    def slices(self) -> dict[str, list[str | None]]:
        """The columns of the metadata by which rows can be told apart into groups."""
        return self._metadata.slices()

    def worst(self) -> list[float]:
        """Per row how good its worst score is, 0 to 1; ``FAILED`` and ``NOTHING`` where there is none.

        A metric without a value of any row, such as one that failed on all of them, says nothing about which row is worse.
        """
        says = [any(value is not None for value in values) for values in self.values.values()]
        if not any(says):
            says = [True] * len(says)
        return [min(compress(row, says), default=NOTHING) for row in self._goodness]

    def worst_first(self) -> list[int]:
        """The rows, those with the worst scores first, in input order where they are equal."""
        return sorted(range(len(self)), key=self.worst().__getitem__)

    def complete(self) -> int:
        """How many rows have a value of every metric."""
        return sum(None not in values for values in zip(*self.values.values(), strict=True))

    def to_dict(self, without_evidence: Iterable[int]) -> dict[str, Any]:
        """As the page reads it; rows without evidence keep their notes here."""
        names = [item.name for item in self._metrics]
        return {
            "ids": self.ids,
            "places": self._places,
            "questions": self._questions,
            "answers": self._answers,
            "worst": [round(value, 6) for value in self.worst()],
            "values": [[short(value) for value in self.values[name]] for name in names],
            "states": ["".join(self._states[name]) for name in names],
            "passing": ["".join(self._passing[name]) for name in names],
            "labels": [self._labels[name] if any(self._labels[name]) else None for name in names],
            "metadata": self.slices(),
            "notes": {row: self._notes[row] for row in sorted(without_evidence)},
        }


def goodness(metric: MetricColumn, score: Score) -> float:
    """How good a score is, 0 to 1; ``FAILED`` where it failed, ``NOTHING`` without a value or a better end."""
    if score.error is not None:
        return FAILED
    scale = score.scale or metric.scale
    if score.value is None or metric.higher_is_better is None or scale is None:
        return NOTHING
    low, high = scale
    if not math.isfinite(high - low) or high == low:
        return NOTHING
    share = (score.value - low) / (high - low)
    return share if metric.higher_is_better else 1.0 - share
