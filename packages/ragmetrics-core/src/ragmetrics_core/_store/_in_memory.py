"""Where the finished rows of a run go: into memory, or into the directory of the run (see ``_run_dir``).

Rows in memory are kept in columns. Metrics that ask no model score tens of thousands of rows a second, and as many objects as a
score for each metric and a record for each row keep the garbage collector busier than all the scoring: whenever their number has
grown by a quarter, it walks through everything that the process holds. Numbers and texts it does not walk through.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from .._engine._reply_store import ReplyStore
from .._kernel._requests import Usage
from .._kernel._row import Row
from .._kernel._sample import Sample
from .._kernel._score import NO_USAGE, Score, restored
from .._kernel._steps import Outcome
from .._read import OpenRows
from ._account import RunAccount
from ._prices import ModelUsage
from ._records import Record, Records


class Keeper(Protocol):
    """Keeps what a run has finished."""

    @property
    def journal(self) -> ReplyStore | None:
        """The replies of this run and of earlier ones, if they are kept."""
        ...

    @property
    def earlier(self) -> tuple[ModelUsage, ...]:
        """What the models were asked in earlier parts of the run."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known about scores that were there before."""
        ...

    def start(self, opened: OpenRows, at_most: Callable[[int], int | None]) -> Iterator[Row]:
        """The rows to score.

        Args:
            opened: the rows of this run.
            at_most: counts them up to a number; None where their number is not known.

        Raises:
            InvalidInput: the scores of other rows, or of another run, are kept there already.
        """
        ...

    def heard(self, outcome: Outcome) -> None:
        """Note that a model has answered a call, or has failed to."""
        ...

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        ...

    def snapshot(self) -> Records:
        """What is finished by now, in input order; from any thread."""
        ...

    def finish(self, account: RunAccount, *, complete: bool) -> Records:
        """The run is over: the records that stand, in input order.

        Args:
            account: what became of the run; the keeper knows its earlier parts and its notes itself.
            complete: whether it has come to its last row.
        """
        ...

    def close(self) -> None:
        """Nothing more will be kept."""
        ...


class InMemory:
    """Keeps the rows of a run as long as the process lives."""

    journal: ReplyStore | None = None
    earlier: tuple[ModelUsage, ...] = ()
    notes: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._records = KeptRecords()

    def start(self, opened: OpenRows, at_most: Callable[[int], int | None]) -> Iterator[Row]:  # noqa: ARG002  there is nothing to compare with
        """The rows to score."""
        return opened.rows

    def heard(self, outcome: Outcome) -> None:
        """All is kept in memory anyway."""

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        self._records.add(record)

    def snapshot(self) -> Records:
        """What is finished by now, in input order."""
        return self._records.in_order()

    def finish(self, account: RunAccount, *, complete: bool) -> Records:  # noqa: ARG002  nothing is written
        """The run is over."""
        return self.snapshot()

    def close(self) -> None:
        """Nothing is open."""


Rest = tuple[bool | None, str | None, str | None, str | None, tuple[float, float] | None, int, int, int, int]
"""What a score has but value and evidence: passing, reason, error, label, scale, and the four counts of its usage.

In one flat tuple, which the garbage collector forgets once it has seen that it holds only texts and numbers.
"""


class KeptScores:
    """The scores of one metric: value and evidence of each, and the rest, where there is anything.

    Scores are put together when somebody looks. A user's own kind of score is kept as it is.

    Args:
        metric: its name.
        scale: that of its first score.
    """

    __slots__ = ("_details", "_metric", "_rest", "_scale", "_values")

    def __init__(self, metric: str, scale: tuple[float, float] | None) -> None:
        self._metric = metric
        self._scale = scale
        self._values: list[float | Score | None] = []
        self._details: list[Mapping[str, Any] | None] = []
        self._rest: list[Rest | None] = []

    def add(self, score: Score) -> None:
        """Keep one more score."""
        takes_apart = type(score) is Score and type(score.usage) is Usage and score.metric == self._metric
        self._values.append(score.value if takes_apart else score)
        self._details.append(score.held if takes_apart else None)
        self._rest.append(self._rest_of(score) if takes_apart else None)

    def _rest_of(self, score: Score) -> Rest | None:
        """What is left of a score; None where that is what most have."""
        usage = score.usage
        if (
            usage is NO_USAGE
            and score.value is not None
            and score.reason is None
            and score.passing is None
            and score.label is None
            and score.scale is self._scale
        ):
            return None
        counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_calls)
        return (score.passing, score.reason, score.error, score.label, score.scale, *counts)

    def reordered(self, order: Sequence[int]) -> KeptScores:
        """The scores at these positions, in this order."""
        new = KeptScores(self._metric, self._scale)
        new._values = [self._values[position] for position in order]
        new._details = [self._details[position] for position in order]
        new._rest = [self._rest[position] for position in order]
        return new

    def __iter__(self) -> Iterator[Score]:
        return map(self.__getitem__, range(len(self._values)))

    def __getitem__(self, index: int) -> Score:
        value, details, rest = self._values[index], self._details[index], self._rest[index]
        if isinstance(value, Score):
            return value
        if rest is None:
            return Score(value, details=details, metric=self._metric, scale=self._scale)
        passing, reason, error, label, scale, *counts = rest
        score = restored(value, passing, reason, details, error, Usage(*counts), self._metric, scale, label)
        self._values[index] = score  # with its details, once somebody has looked at them
        return score


class KeptRecords(Records):
    """Rows in columns, from which the records are put together when they are looked at."""

    def __init__(self) -> None:
        self._indexes = array("q")
        self._places: list[str] = []
        self._samples: list[Sample] = []
        self._scores: dict[str, KeptScores] = {}

    def add(self, record: Record) -> None:
        """Keep a row, which has the same metrics as all others."""
        if not self._scores:
            self._scores = {name: KeptScores(name, score.scale) for name, score in record.scores.items()}
        self._places.append(record.place)
        self._samples.append(record.sample)
        for name, score in record.scores.items():
            self._scores[name].add(score)
        self._indexes.append(record.index)  # last: other threads count only what is complete

    def in_order(self) -> KeptRecords:
        """The rows that are there by now, in input order."""
        indexes = self._indexes[:]
        order = sorted(range(len(indexes)), key=indexes.__getitem__)
        new = KeptRecords()
        new._indexes = array("q", (indexes[position] for position in order))
        new._places = [self._places[position] for position in order]
        new._samples = [self._samples[position] for position in order]
        new._scores = {name: scores.reordered(order) for name, scores in self._scores.items()}
        return new

    def samples(self) -> list[Sample]:
        """The samples."""
        return self._samples[:]

    def places(self) -> list[str]:
        """Where they stood in the input."""
        return self._places[:]

    def scores(self, metric: str) -> list[Score]:
        """The scores by the metric of that name."""
        return list(self._scores[metric]) if self._scores else []

    def __len__(self) -> int:
        return len(self._indexes)

    def _at(self, index: int) -> Record:
        scores = {name: scores[index] for name, scores in self._scores.items()}
        return Record(self._indexes[index], self._places[index], self._samples[index], scores)
