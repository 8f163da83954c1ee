"""Columns that a page has of all rows: texts with their beginning only, values with the digits that are read, and metadata.

What a page knows of every row from the start: enough for its table, its filters and its search.

Strategy. Columns, not rows: ten thousand rows are then a few lists of one kind each, which compress well and are read in one step.
Texts stand here with their beginning only; all else about a row is evidence, which is looked at one row at a time.

What label mode needs in addition to the rows: a name for what it keeps, and what each metric asks, in words for people.

The browser keeps labels by the digest of the report. It is of the rows and their scores and not of the file, so the same run
written again, larger or by a later version, finds them again.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import compress
from typing import Any

from .._run._judgements import prompts_of
from .._run._slices import MOST_SLICES, name_of
from .._store._records import Record, json_value
from .._store._run_settings import MetricColumn, built_in_class
from .._values._score import Score

LONGEST_QUESTION, LONGEST_ANSWER = 200, 300
"""Characters of a question and of an answer that the table shows and the search reads."""

LONGEST_NOTE = 300
"""Characters of the reason of a row whose evidence is not in the page."""

LONGEST_VALUE = 80
"""Characters of a value of the metadata that can be a slice."""


class MetadataColumns:
    """What is in the metadata of every row, by path: single values, as text; None where a row has none."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str | None]] = {}
        self._rows = 0

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Note those of one more row."""
        found = dict(_leaves(json_value(metadata)))
        for path in found:
            if path not in self._columns:
                self._columns[path] = [None] * self._rows
        for path, column in self._columns.items():
            column.append(found.get(path))
        self._rows += 1

    def slices(self) -> dict[str, list[str | None]]:
        """The columns by which rows form groups: few values, each on several rows on average."""
        return {path: column for path, column in self._columns.items() if _is_slice(column)}


def beginning(text: object, length: int) -> str:
    """The beginning of a text on one line; of a value of another type, of what it looks like."""
    if text is None:
        return ""
    whole = text if isinstance(text, str) else str(json_value(text))
    line = " ".join(whole[: 4 * length].split())
    return line if len(line) <= length and len(whole) <= 4 * length else f"{line[: length - 1].rstrip()}\u2026"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """What is in the metadata, by path: single values, as text."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, bool):
        yield path, str(value).lower()
    elif isinstance(value, str | int | float) and 0 < len(text := str(value).strip()) <= LONGEST_VALUE:
        yield path, text


def _is_slice(column: Sequence[str | None]) -> bool:
    groups = set(column)
    return len(groups) > 1 and len(groups - {None}) <= min(MOST_SLICES - 1, max(2, len(column) // 2))


def short(value: float | None) -> float | None:
    """The value with as many digits as anybody looks at."""
    return None if value is None else round(value, 6)


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
        """The columns of the metadata by which rows form groups."""
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


LONGEST = 400
"""Characters of a description."""


def label_data(metrics: Sequence[MetricColumn], index: RowIndex) -> dict[str, Any]:
    """As the page reads it: the digest, what labels call rows where that is not their id, and per metric what it asks, or None."""
    rows = index.to_dict(())
    told = [rows[name] for name in ("ids", "questions", "answers", "values", "states")]
    digest = sha256(json.dumps([[item.name for item in metrics], told]).encode()).hexdigest()
    names = {row: name for row, name in enumerate(index.names) if name != index.ids[row]}
    return {"digest": digest[:32], "names": names, "asks": [_asked(column) for column in metrics]}


def _asked(column: MetricColumn) -> str | None:
    """The first paragraph of what a built-in metric says of itself."""
    metric = built_in_class(column.name, column.settings)
    text = inspect.getdoc(metric) if metric else None
    if not text:
        return None
    return " ".join(text.split("\n\n")[0].split()).replace("`", "")[:LONGEST]
