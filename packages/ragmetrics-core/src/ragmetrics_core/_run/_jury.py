"""What the jurors of a jury did over all rows: how often each had a value, what it took, and how far they agree.

Read from the evidence of the scores, so that it is the same for a run that goes on, a run that is loaded, and a file of scores.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from .._kernel._requests import Usage, counted
from .._kernel._score import Score
from ..statistics import Measure, annotator_alpha
from ._repeats import judgements, mean_of_repeats

T = TypeVar("T")

MOST_DISPUTED = 3
"""Rows that a summary names, on which the jurors differ most."""

LEAST_ROWS = 2

JUDGED = frozenset({"jurors", "repeats"})
"""Details that what several judges said can stand in."""


@dataclass(frozen=True)
class JurorSummary:
    """One juror over all rows that the jury judged.

    Attributes:
        name: what it is called in the details of the scores.
        model: the models that it asks, by name; None where it is not known, or it asks none. Several, if they changed between rows.
        mean: mean of its values; None if it has none.
        scored, unscored, failed: rows by what it made of them.
        usage: what its calls cost.
        errors: why it failed, the most common first, each with its number of rows.
    """

    name: str
    model: str | None
    mean: float | None
    scored: int
    unscored: int
    failed: int
    usage: Usage
    errors: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {**vars(self), "usage": self.usage.to_dict(), "errors": [list(item) for item in self.errors]}


@dataclass(frozen=True)
class JurySummary:
    """The jurors of one metric over all rows.

    Attributes:
        jurors: each of them, in their order.
        rows: rows that they judged.
        alpha: Krippendorff's alpha between their values, with its 95 % interval: 1 where all agree, 0 where they agree as often as
            by chance.
        tied: rows without a majority, or whose median lies between two different values.
        incomplete: rows with a score to which not all of them have contributed.
        disputed: the rows on which they differ most, as (label, difference), the most first; a difference is that of two jurors on
            average, on the scale of the metric.
    """

    jurors: tuple[JurorSummary, ...]
    rows: int
    alpha: Measure
    tied: int
    incomplete: int
    disputed: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        limits = self.alpha.interval
        return {
            "jurors": [item.to_dict() for item in self.jurors],
            "rows": self.rows,
            "alpha": self.alpha.value,
            "alpha_interval": list(limits[:2]) if limits else None,
            "alpha_problem": self.alpha.problem,
            "tied": self.tied,
            "incomplete": self.incomplete,
            "disputed": [list(item) for item in self.disputed],
        }


class _Vote(NamedTuple):
    """What one juror made of one row, in one judgement of it."""

    juror: str
    model: str | None
    value: float | None
    error: str | None
    usage: Usage


@dataclass
class _Juror:
    models: dict[str, None] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    unscored: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)

    def add(self, votes: Sequence[_Vote]) -> float | None:
        """Count a row, with all judgements of it; returns the juror's value of it."""
        self.usage = sum((vote.usage for vote in votes), self.usage)
        # on one row a metric may ask its LLM alone, and on others its embedding model too
        self.models.update((name, None) for vote in votes if vote.model is not None for name in vote.model.split(", "))
        values = [vote.value for vote in votes if vote.value is not None]
        error = next((vote.error for vote in votes if vote.error is not None), None)
        if values:
            self.values.append(mean_of_repeats(values))
            return self.values[-1]
        if error is not None:
            self.errors[error] += 1
        else:
            self.unscored += 1
        return None

    def summary(self, name: str) -> JurorSummary:
        return JurorSummary(
            name=name,
            model=", ".join(self.models) or None,
            mean=mean_of_repeats(self.values) if self.values else None,
            scored=len(self.values),
            unscored=self.unscored,
            failed=self.errors.total(),
            usage=self.usage,
            errors=tuple(self.errors.most_common()),
        )


class JuryTally:
    """Counts what jurors said, row by row; of a metric that is no jury it counts nothing."""

    def __init__(self) -> None:
        self._jurors: dict[str, _Juror] = {}
        self._values: list[list[float | None]] = []
        self._scales: set[Any] = set()
        self._tied = self._incomplete = 0
        self._disputed: list[tuple[float, str]] = []

    def add(self, score: Score, label: str) -> None:
        """Count one score; the label names its row."""
        if JUDGED.isdisjoint(score.held):  # as nearly always; to look into the details costs more than all the counting
            return
        judged = list(judgements(score.details))
        votes = [vote for judgement in judged for vote in _votes(judgement)]
        if not votes:
            return
        for vote in votes:
            self._jurors.setdefault(vote.juror, _Juror())
        by_juror = {name: [vote for vote in votes if vote.juror == name] for name in self._jurors}
        values = [self._jurors[name].add(found) if found else None for name, found in by_juror.items()]
        self._values.append(values)
        self._scales.add(score.scale)
        self._tied += any(judgement.get("tied") is True for judgement in judged)
        self._incomplete += score.value is not None and any(vote.value is None for vote in votes)
        difference = _difference(values)
        if difference:
            keep_lowest(self._disputed, -difference, label, MOST_DISPUTED)

    def summary(self) -> JurySummary | None:
        """The counts so far; None where no jury has judged."""
        if not self._jurors:
            return None
        return JurySummary(
            jurors=tuple(juror.summary(name) for name, juror in self._jurors.items()),
            rows=len(self._values),
            alpha=self._alpha(),
            tied=self._tied,
            incomplete=self._incomplete,
            disputed=tuple((label, -key) for key, label in self._disputed),
        )

    def _alpha(self) -> Measure:
        if len(self._scales) > 1:
            return Measure(problem="the scale differs from row to row")
        rows = [given for values in self._values if len(given := [item for item in values if item is not None]) > 1]
        if len(rows) < LEAST_ROWS:
            return Measure(problem="fewer than two rows have values of two jurors")
        if len({value for values in rows for value in values}) == 1:
            return Measure(problem="all their values are equal, so that agreement beyond chance cannot be told")
        return annotator_alpha(rows)


def keep_lowest(found: list[tuple[float, T]], key: float, item: T, most: int) -> None:
    """Put an item among those with the lowest keys, in their order; among equals the earlier one stays first."""
    if len(found) < most or key < found[-1][0]:
        insort(found, (key, item), key=itemgetter(0))
        del found[most:]


def difference_of(score: Score) -> float | None:
    """By how much two jurors differ on average about a row; None where fewer than two have a value."""
    by_juror: dict[str, list[float]] = {}
    for judgement in judgements(score.details):
        for vote in _votes(judgement):
            if vote.value is not None:
                by_juror.setdefault(vote.juror, []).append(vote.value)
    return _difference([mean_of_repeats(values) for values in by_juror.values()])


def _difference(values: Sequence[float | None]) -> float | None:
    pairs = list(combinations([value for value in values if value is not None], 2))
    return math.fsum(abs(one - other) for one, other in pairs) / len(pairs) if pairs else None


def _votes(details: Mapping[str, Any]) -> Iterator[_Vote]:
    """The votes in the details of a jury; other people's details may have anything under that name."""
    jurors = details.get("jurors")
    for item in jurors if isinstance(jurors, list) else ():
        if not isinstance(item, Mapping) or not isinstance(item.get("juror"), str) or "state" not in item:
            continue
        value, error, model = item.get("value"), item.get("error"), item.get("model")
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        used = item.get("usage")
        names = ("calls", "prompt_tokens", "completion_tokens", "cached_calls")
        usage = Usage(*(counted(used.get(name)) for name in names)) if isinstance(used, Mapping) else Usage()
        yield _Vote(
            item["juror"],
            model if isinstance(model, str) else None,
            number,
            error if isinstance(error, str) else None,
            usage,
        )
