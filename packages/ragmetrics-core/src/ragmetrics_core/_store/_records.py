"""Finished rows with their scores: the sequence of them, the rows in memory, and a row as a line of JSON.

Everything that looks at a run (tables, reports, data frames) reads ``Records``, a sequence in input order. A run with a directory
holds only the position of each row in its file, so a hundred thousand rows cost no memory.

A run without a directory holds its rows in columns. Metrics that ask no model score tens of thousands of rows a second. An object
for each score and each row would slow the garbage collector: whenever their number has grown by a quarter, it visits every object
of the process. It does not visit numbers and texts.
"""

from __future__ import annotations

import abc
import json
import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from .._kernel._wording import to_json
from .._values._details import Evidence
from .._values._errors import InvalidInput
from .._values._plain import json_walk
from .._values._requests import MOST_COUNTED, NO_USAGE, Usage
from .._values._sample import Document, Sample
from .._values._score import Score

T = TypeVar("T")


@dataclass(slots=True)  # not frozen: that would take four times as long, for every row
class Record:
    """One row with its scores.

    Attributes:
        index: its position in the input, from 0.
        place: its place in the input in words, such as ``questions.jsonl, line 7``.
        sample: the row.
        scores: by metric, in the order of the metrics.
        calls: by metric, what was asked of language models for the score: the name of each prompt, and the key of the reply in the
            journal, as in ``verify_claims 1f3a...``. Only files of run directories have them.
    """

    index: int
    place: str
    sample: Sample
    scores: Mapping[str, Score]
    calls: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the row (from 1), the place, the sample and the scores as plain JSON values."""
        return record_dict(self)


class LazySequence(Sequence[T], Generic[T]):
    """A list whose items are read only when they are used."""

    @abc.abstractmethod
    def _at(self, index: int) -> T:
        """Return the item with this index, from 0."""

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
    """Every record of a run, in input order.

    Attributes:
        path: where they are; None if only the run knows.
    """

    path: Path | None = None

    def samples(self) -> Sequence[Sample]:
        """Return the samples."""
        return View(self, lambda record: record.sample)

    def places(self) -> Sequence[str]:
        """Return the places of the rows in the input."""
        return View(self, lambda record: record.place)

    def scores(self, metric: str) -> Sequence[Score]:
        """Return the scores by the metric of that name."""
        return View(self, lambda record: record.scores[metric])


class SomeRecords(Records):
    """Some records of a run, by their positions."""

    def __init__(self, source: Records, positions: Sequence[int]) -> None:
        self._source = source
        self._positions = positions
        self.path = source.path

    def __len__(self) -> int:
        return len(self._positions)

    def _at(self, index: int) -> Record:
        return self._source[self._positions[index]]


class View(LazySequence[T]):
    """What a function makes of each item of a sequence, such as one part of every record. It is called when an item is used."""

    def __init__(self, source: Sequence[Any], make: Callable[[Any], T]) -> None:
        self._source = source
        self._make = make

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._source)

    def _at(self, index: int) -> T:
        return self._make(self._source[index])


Rest = tuple[bool | None, str | None, str | None, str | None, tuple[float, float] | None, int, int, int, int, float]
"""The parts of a score without its value and evidence: passing, reason, error, label, scale, and the fields of its usage.

One flat tuple: the garbage collector stops visiting it once it has seen that it holds only texts and numbers.
"""


class KeptScores:
    """The scores of one metric, in columns: one for values, one for evidence, and one for the other attributes of unusual
    scores. A score is built when it is read. A score of a user's own class is stored unchanged.

    Args:
        metric: the name of the metric.
        scale: the scale of its first score.
    """

    __slots__ = ("_details", "_metric", "_rest", "_scale", "_values")

    def __init__(self, metric: str, scale: tuple[float, float] | None) -> None:
        self._metric = metric
        self._scale = scale
        self._values: list[float | Score | None] = []
        self._details: list[Mapping[str, Any] | None] = []
        self._rest: list[Rest | None] = []

    def add(self, score: Score) -> None:
        """Store one more score."""
        takes_apart = type(score) is Score and type(score.usage) is Usage and score.metric == self._metric
        self._values.append(score.value if takes_apart else score)
        self._details.append(score.unread if takes_apart else None)
        self._rest.append(self._rest_of(score) if takes_apart else None)

    def _rest_of(self, score: Score) -> Rest | None:
        """Return the other attributes of a score; None if they are the usual ones."""
        usage = score.usage
        is_bare = score.reason is None and score.passing is None and score.label is None
        if is_bare and usage is NO_USAGE and score.value is not None and score.scale is self._scale:
            return None
        counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_calls, usage.seconds)
        return (score.passing, score.reason, score.error, score.label, score.scale, *counts)

    def __getitem__(self, index: int) -> Score:
        value, details, rest = self._values[index], self._details[index], self._rest[index]
        if isinstance(value, Score):
            return value
        if rest is None:
            return Score(value, details=details, metric=self._metric, scale=self._scale)
        passing, reason, error, label, scale, calls, prompt_tokens, completion_tokens, cached_calls, seconds = rest
        usage = Usage(calls, prompt_tokens, completion_tokens, cached_calls, seconds)
        score = Score(value, passing, reason, details, error, usage, self._metric, scale, label)
        self._values[index] = score  # it keeps the details that a reader has had it make
        return score


class KeptRecords(Records):
    """Rows stored in columns; a record is built when it is read."""

    def __init__(self) -> None:
        self._indexes = array("q")
        self._places: list[str] = []
        self._samples: list[Sample] = []
        self._scores: dict[str, KeptScores] = {}
        self._order: Sequence[int] | None = None

    def add(self, record: Record) -> None:
        """Store a row; it has the same metrics as all other rows."""
        if not self._scores:
            self._scores = {name: KeptScores(name, score.scale) for name, score in record.scores.items()}
        self._places.append(record.place)
        self._samples.append(record.sample)
        for name, score in record.scores.items():
            self._scores[name].add(score)
        self._indexes.append(record.index)  # last: other threads count only what is complete

    def in_order(self) -> KeptRecords:
        """Return the rows stored so far, in input order; they share the columns."""
        new = copy(self)
        new._order = sorted(range(len(self._indexes)), key=self._indexes.__getitem__)
        return new

    def _positions(self) -> Sequence[int]:
        return range(len(self._indexes)) if self._order is None else self._order

    def samples(self) -> list[Sample]:
        """Return the samples."""
        return [self._samples[position] for position in self._positions()]

    def places(self) -> list[str]:
        """Return the places of the rows in the input."""
        return [self._places[position] for position in self._positions()]

    def scores(self, metric: str) -> list[Score]:
        """Return the scores by the metric of that name."""
        return [self._scores[metric][position] for position in self._positions()]

    def __len__(self) -> int:
        return len(self._positions())

    def _at(self, index: int) -> Record:
        position = self._positions()[index]
        scores = {name: scores[position] for name, scores in self._scores.items()}
        return Record(self._indexes[position], self._places[position], self._samples[position], scores)


def record_dict(record: Record, write: Callable[[Score], Any] = methodcaller("to_dict")) -> dict[str, Any]:
    """Return the record as plain JSON values; ``write`` converts each score."""
    return {
        "row": record.index + 1,
        "place": record.place,
        "sample": json_value(record.sample),
        "scores": {name: write(score) for name, score in record.scores.items()},
    }


def record_line(record: Record, *, with_calls: bool = False, stopped: str | None = None) -> str:
    """Return the record as one line of JSON. ``with_calls`` adds the keys of its calls, for a file with a journal beside it;
    ``stopped`` is why the run ended with this row, before its last one.
    """
    parts = record_dict(record, partial(score_dict, shown={}))
    if with_calls and record.calls:
        parts["calls"] = record.calls
    if stopped is not None:
        parts["stopped"] = stopped
    return to_json(parts) + "\n"


def score_dict(score: Score, shown: dict[int, Any]) -> dict[str, Any]:
    """Return the same JSON as ``score.to_dict()``, with the seconds of the usage, but evidence that several scores share is
    converted only once. Tuples stay tuples, because JSON writes them as lists.
    """
    if type(score) is not Score:
        return score.to_dict()
    details: dict[str, Any] = dict(score.unread)
    for name, value in details.items():
        if type(value) is Evidence:
            if id(value) not in shown:
                shown[id(value)] = value.shown()
            details[name] = shown[id(value)]
    data = score.with_details(details)
    if score.usage.seconds:
        data["usage"]["seconds"] = score.usage.seconds
    return data


CALL = re.compile(r".* [0-9a-f]{32}", re.DOTALL)


def record_of(line: str | bytes) -> Record:
    """Return the record that ``record_line`` wrote.

    Raises:
        ValueError: the line is not a record.
    """
    try:
        data = json.loads(line)
        row, place, sample, scores = (data[name] for name in ("row", "place", "sample", "scores"))
        _check(type(row) is int and row >= 1, "row must be a whole number from 1")
        is_typed = isinstance(place, str) and isinstance(sample, dict) and isinstance(scores, dict)
        _check(is_typed, "a part has another type")
        calls = data.get("calls", {})
        _check(all(CALL.fullmatch(call) for several in calls.values() for call in several), "a call has no key")
        read = {name: read_score(score) for name, score in scores.items()}
        return Record(row - 1, place, read_sample(sample), read, calls)
    except (AttributeError, LookupError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"not a record: {error}") from None


def read_score(data: Any) -> Score:
    """Return the score that these JSON values describe.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: they describe none.
    """
    usage = data.get("usage") or {}
    _check(isinstance(data.get("details") or {}, dict), "details must be an object")
    seconds = usage.get("seconds", 0)
    _check(type(seconds) in (int, float) and 0 <= seconds <= MOST_COUNTED, "seconds must be a number from 0")
    _check(all(type(usage[name]) is int for name in usage if name != "seconds"), "a count must be a whole number")
    texts = (data.get(name) for name in ("metric", "reason", "error"))
    _check(all(text is None or isinstance(text, str) for text in texts), "a text of a score has another type")
    return Score.from_dict(data)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def round_trip(sample: Sample) -> Sample:
    """Return the sample as it would be read back from a file."""
    return read_sample(json.loads(to_json(json_value(sample))))


def read_sample(data: dict[str, Any]) -> Sample:
    """Return the sample that these JSON values describe."""
    for name in ("retrieved_documents", "reference_documents"):
        if isinstance(data.get(name), list):
            data[name] = [_document(item, name) for item in data[name]]
    if isinstance(data.get("rubric"), dict):  # keys are never numbers in JSON
        data["rubric"] = {_whole(key): text for key, text in data["rubric"].items()}
    return Sample(**data)


def _document(item: Any, field: str) -> Any:
    try:
        return Document.of(item, field)
    except InvalidInput:  # the metrics have reported it: the row stays as it was
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
        # the condition is is_given(item), written out as each row has ten fields
        return {
            name: json_value(item)
            for name, item in values.items()
            if item is not None and (not isinstance(item, Mapping) or item)
        }
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return json_value(value.tolist())
    return str(value)


json_value = json_walk(_in_file)
"""The value as JSON can hold it. Metadata is only carried through, so a value for which JSON has no form is written as text."""


def is_given(value: object) -> bool:
    """Whether a field of a sample has a value."""
    return value is not None and not (isinstance(value, Mapping) and not value)
