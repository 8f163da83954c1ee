"""Finished rows and what became of them: in memory, or read back from a file one at a time.

Everything that looks at a run (tables, reports, data frames) goes through ``Records``: a sequence in input order. A run without
a directory holds its records in columns (see ``_in_memory``); one with a directory holds only where each stands in the file, so
that a hundred thousand rows cost no memory.
"""

from __future__ import annotations

import abc
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar, overload

from .._kernel._errors import InvalidInput
from .._kernel._plain import json_walk
from .._kernel._sample import Document, Sample
from .._kernel._score import Score
from .._kernel._wording import to_json

T = TypeVar("T")


@dataclass(slots=True)  # not frozen: that would take four times as long, for every row
class Record:
    """One row with its scores.

    Attributes:
        index: its position in the input, from 0.
        place: where it stood there, such as ``questions.jsonl, line 7``.
        sample: the row.
        scores: by metric, in the order of the metrics.
    """

    index: int
    place: str
    sample: Sample
    scores: Mapping[str, Score]


class LazySequence(Sequence[T], Generic[T]):
    """A sequence whose items are read when they are looked at; otherwise it behaves as a list does."""

    @abc.abstractmethod
    def _at(self, index: int) -> T:
        """The item with this index, from 0."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._at(each) for each in range(*index.indices(len(self)))]
        return self._at(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # lists have no hash either

    def __repr__(self) -> str:
        return repr(list(self))


class Records(LazySequence[Record]):
    """Every record of a run, in input order."""

    def samples(self) -> Sequence[Sample]:
        """The samples."""
        return View(self, lambda record: record.sample)

    def places(self) -> Sequence[str]:
        """Where they stood in the input."""
        return View(self, lambda record: record.place)

    def scores(self, metric: str) -> Sequence[Score]:
        """The scores by the metric of that name."""
        return View(self, lambda record: record.scores[metric])


class View(LazySequence[T]):
    """One part of every record, read when it is looked at."""

    def __init__(self, records: Records, part: Callable[[Record], T]) -> None:
        self._records = records
        self._part = part

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        return map(self._part, self._records)

    def _at(self, index: int) -> T:
        return self._part(self._records[index])


def record_dict(record: Record) -> dict[str, Any]:
    """The record as plain JSON values."""
    return {
        "row": record.index + 1,
        "place": record.place,
        "sample": json_value(record.sample),
        "scores": {name: score.to_dict() for name, score in record.scores.items()},
    }


def record_line(record: Record) -> str:
    """The record as one line of JSON."""
    return to_json(record_dict(record)) + "\n"


def record_of(line: str | bytes) -> Record:
    """The record that ``record_line`` wrote.

    Raises:
        ValueError: the line holds no record.
    """
    try:
        data = json.loads(line)
        row, place, sample, scores = (data[name] for name in ("row", "place", "sample", "scores"))
        _check(type(row) is int and row >= 1, "row must be a whole number from 1")
        _check(
            isinstance(place, str) and isinstance(sample, dict) and isinstance(scores, dict), "a part has another type"
        )
        return Record(row - 1, place, _sample(sample), {name: _score(score) for name, score in scores.items()})
    except (LookupError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"no record: {error}") from None


def _score(data: Any) -> Score:
    _check(isinstance(data, dict), "a score must be an object")
    details, usage = data.get("details") or {}, data.get("usage") or {}
    _check(isinstance(details, dict) and isinstance(usage, dict), "a part of a score has another type")
    _check(all(type(count) is int for count in usage.values()), "a count must be a whole number")
    texts = (data.get(name) for name in ("metric", "reason", "error"))
    _check(all(text is None or isinstance(text, str) for text in texts), "a text of a score has another type")
    return Score.from_dict(data)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def roundtripped(sample: Sample) -> Sample:
    """The sample as it comes back from a file."""
    return _sample(json.loads(to_json(json_value(sample))))


def _sample(data: dict[str, Any]) -> Sample:
    for name in ("retrieved_documents", "reference_documents"):
        if isinstance(data.get(name), list):
            data[name] = [_document(item, name) for item in data[name]]
    if isinstance(data.get("rubric"), dict):  # keys are never numbers in JSON
        data["rubric"] = {_whole(key): text for key, text in data["rubric"].items()}
    return Sample(**data)


def _document(item: Any, field: str) -> Any:
    try:
        return Document.of(item, field)
    except InvalidInput:  # the metrics have said so already: the row stays as it was
        return item


def _whole(key: str) -> Any:
    try:
        number = int(key)
    except ValueError:
        return key
    return number if str(number) == key else key


def _in_file(value: Any) -> Any:
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Sample | Document):
        values = {item.name: getattr(value, item.name) for item in fields(value)}
        return {name: json_value(item) for name, item in values.items() if is_given(item)}
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return json_value(value.tolist())
    return str(value)


json_value = json_walk(_in_file)
"""The value as JSON can hold it. Metadata is only carried through, so a value for which JSON has no form is written as text."""


def is_given(value: object) -> bool:
    """Whether a field of a sample holds anything."""
    return value is not None and not (isinstance(value, Mapping) and not value)
