"""Rows with several judgements: repeats by one judge, and the jurors of a jury. Also rows for which the system retrieved or
answered nothing.

A judge that is asked twice may give two answers. The spread of its answers, and the agreement of jurors, show how far a single
score can be trusted. Both are read from the evidence of the scores, so they are the same for a resumed run, a loaded run and a
file of scores.

A system must not gain by staying silent on hard questions. It would gain if these rows were unscored, because unscored rows are
not in the mean. So a run can count such rows as the worst value.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from .._kernel._inputs import SILENCE
from .._kernel._metric import Metric
from .._values._counts import grouped
from .._values._plain import plain
from .._values._requests import Usage, counted
from .._values._score import Score
from ..statistics import Measure, annotator_alpha
from ..statistics._means import mean_of


def combined(metric: Metric, scores: Sequence[Score]) -> Score:
    """Combine the scores of a row that was judged several times.

    The value is the mean of their values. Judgements without a value are left out, and the reason says how many. The row passes if
    most verdicts are passes. ``details["repeats"]`` has all judgements.
    """
    details = {"repeats": [{**score.to_dict(), "usage": score.usage.to_dict()} for score in scores]}
    values = [score.value for score in scores if score.value is not None]
    if values:
        verdicts = [score.passing for score in scores if score.value is not None and score.passing is not None]
        lost = f"; {len(scores) - len(values)} of {len(scores)} gave no value" if len(values) < len(scores) else ""
        score = Score(
            mean_of_repeats(values),
            passing=sum(verdicts) * 2 > len(verdicts) if verdicts else None,
            reason=f"mean of {len(values)} judgements{lost}",
            details=details,
            scale=next(score.scale for score in scores if score.value is not None),
            label=scores[0].label if len({score.label for score in scores}) == 1 else None,
        )
    else:
        first = next((score for score in scores if score.error is not None), scores[0])
        score = Score(None, reason=first.reason, error=first.error, details=details, label=first.label)
    return score.made_by(metric.name, metric.scale, sum((score.usage for score in scores), Usage()), {})


def judgements(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the details of each judgement of a row, whether there are several or only one; anything that is not a judgement is
    skipped.
    """
    repeats = details.get("repeats")
    if not isinstance(repeats, list):
        yield details
        return
    for repeat in repeats:
        inner = repeat.get("details") if isinstance(repeat, Mapping) else None
        if isinstance(inner, Mapping):
            yield inner


def prompts_of(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the version of every prompt that was used for a row, in any of its judgements."""
    parts = (
        (details, *judgements(details)) if "repeats" in details else (details,)
    )  # a metric may store its own repeats
    for part in parts:
        asked = part.get("prompts")
        if isinstance(asked, Mapping):
            yield from ((str(name), str(version)) for name, version in asked.items())


def repeated_values(details: Mapping[str, Any]) -> list[float]:
    """Return the values of the judgements of one row that have one; empty if it was judged once."""
    repeats = details.get("repeats")
    items = [item for item in repeats if isinstance(item, Mapping)] if isinstance(repeats, list) else []
    values = [item.get("value") for item in items]
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def variance_of(values: Sequence[float]) -> float | None:
    """Return the variance of the judgements of one row; None for fewer than two."""
    if len(values) < 2:
        return None
    mean = mean_of_repeats(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def spread_of(details: Mapping[str, Any]) -> float | None:
    """Return the standard deviation of the judgements of one row; None if fewer than two have a value."""
    variance = variance_of(repeated_values(details))
    return None if variance is None else math.sqrt(variance)


def mean_of_repeats(values: Sequence[float]) -> float:
    """Return the mean of the values. Rounding cannot move it below the smallest or above the largest value."""
    # equal judgements have exactly their common value as mean, and no spread
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


LABELS = frozenset(SILENCE.values())


def is_silence(score: Score) -> bool:
    """Whether the score says that the system retrieved or answered nothing."""
    return score.label in LABELS


def with_worst_value(metric: Metric, score: Score) -> Score:
    """Return a score with the worst value of the metric's scale if it is unscored because the system was silent; return any
    other score unchanged. If the worst value is not known, the score stays unscored, and its reason says so.
    """
    if score.value is not None or not is_silence(score):
        return score
    worst, reason = None, f"{metric.name} has no worst value that it could be counted as"
    if metric.scale is not None and metric.higher_is_better is not None:
        worst, reason = metric.scale[0 if metric.higher_is_better else 1], "counted as the worst value"
    reason = f"{score.reason}; {reason}"
    return Score(worst, reason=reason, label=score.label).made_by(metric.name, metric.scale)


T = TypeVar("T")

MOST_DISPUTED = 3
"""The number of rows that a summary names as those on which jurors differ most."""

JUDGED = frozenset({"jurors", "repeats"})
"""The keys of details under which several judgements are stored."""


@dataclass(frozen=True)
class JurorSummary:
    """One juror over all rows that the jury judged.

    Attributes:
        name: the name of the juror in the details of the scores.
        model: the names of the models that it asks, several if they changed between rows; None if they are not known, or it asks
            none.
        mean: mean of its values; None if it has no values.
        scored, unscored, failed: numbers of its rows by outcome.
        usage: the calls and tokens of its judgements.
        errors: the errors that it met, the most common first, each with its number of rows.
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
        """Return all fields as plain JSON values."""
        return plain(vars(self))


@dataclass(frozen=True)
class JurySummary:
    """The jurors of one metric over all rows.

    Attributes:
        jurors: each juror, in the order of the jury.
        rows: number of rows that they judged.
        alpha: Krippendorff's alpha of their values, with its 95 % interval: 1 if all agree, 0 if they agree as often as by
            chance.
        tied: number of rows without a majority, or whose median lies between two different values.
        incomplete: number of rows with a score to which not all jurors contributed.
        disputed: the rows on which the jurors differ most, as (label, difference), the largest difference first. A difference is
            the mean difference between two jurors, on the scale of the metric.
    """

    jurors: tuple[JurorSummary, ...]
    rows: int
    alpha: Measure
    tied: int
    incomplete: int
    disputed: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        value, limits, problem = self.alpha.value, self.alpha.interval, self.alpha.problem
        return plain({**vars(self), "alpha": value, "alpha_interval": limits and limits[:2], "alpha_problem": problem})


class _Vote(NamedTuple):
    """The result of one juror for one row, in one judgement of this row."""

    model: str | None
    value: float | None
    error: str | None
    usage: Usage


def _juror(name: str, rows: Sequence[Sequence[_Vote]]) -> JurorSummary:
    """Return the summary of one juror; each item of ``rows`` has all its judgements of one row."""
    votes = [vote for row in rows for vote in row]
    values = [value for row in rows if (value := _value(row)) is not None]
    lost = (next((vote.error for vote in row if vote.error is not None), None) for row in rows if _value(row) is None)
    errors = Counter(error for error in lost if error is not None)
    # for one row a metric may ask only its LLM, for another its embedding model too
    models = dict.fromkeys(model for vote in votes if vote.model is not None for model in vote.model.split(", "))
    return JurorSummary(
        name=name,
        model=", ".join(models) or None,
        mean=mean_of_repeats(values) if values else None,
        scored=len(values),
        unscored=len(rows) - len(values) - errors.total(),
        failed=errors.total(),
        usage=sum((vote.usage for vote in votes), Usage()),
        errors=tuple(errors.most_common()),
    )


class JuryTally:
    """Counts the votes of jurors, row by row. For a metric that is not a jury it counts nothing."""

    def __init__(self) -> None:
        self._jurors: defaultdict[str, list[list[_Vote]]] = defaultdict(list)
        self._values: list[list[float]] = []
        self._scales: set[Any] = set()
        self._tied = self._incomplete = 0
        self._disputed: list[tuple[float, str]] = []

    def add(self, score: Score, label: str) -> None:
        """Count one score. ``label`` is the name of its row in messages."""
        # the usual case: no jury. Reading the details costs more than all the counting
        votes = {} if JUDGED.isdisjoint(score.details) else _votes(score)
        if not votes:
            return
        for name, cast in votes.items():
            self._jurors[name].append(cast)
        self._values.append(_values(votes))
        self._scales.add(score.scale)
        self._tied += any(judgement.get("tied") is True for judgement in judgements(score.details))
        lacking = any(vote.value is None for cast in votes.values() for vote in cast)
        self._incomplete += score.value is not None and lacking
        if difference := _difference(self._values[-1]):
            keep_lowest(self._disputed, -difference, label, MOST_DISPUTED)

    def summary(self) -> JurySummary | None:
        """Return the counts so far; None if no jury has judged."""
        if not self._jurors:
            return None
        return JurySummary(
            jurors=tuple(_juror(name, rows) for name, rows in self._jurors.items()),
            rows=len(self._values),
            alpha=self._alpha(),
            tied=self._tied,
            incomplete=self._incomplete,
            disputed=tuple((label, -key) for key, label in self._disputed),
        )

    def _alpha(self) -> Measure:
        if len(self._scales) > 1:
            return Measure(problem="the scale differs from row to row")
        rows = [values for values in self._values if len(values) > 1]
        if len(rows) < 2:
            return Measure(problem="fewer than two rows have values of two jurors")
        if len({value for values in rows for value in values}) == 1:
            return Measure(problem="all their values are equal, so that agreement beyond chance cannot be measured")
        return annotator_alpha(rows)


def keep_lowest(found: list[tuple[float, T]], key: float, item: T, most: int) -> None:
    """Insert an item into a sorted list of the ``most`` items with the lowest keys; among equal keys the earlier item stays
    first.
    """
    if len(found) < most or key < found[-1][0]:
        insort(found, (key, item), key=itemgetter(0))
        del found[most:]


def difference_of(score: Score) -> float | None:
    """Return the mean difference between two jurors about a row; None if fewer than two jurors have a value."""
    return _difference(_values(_votes(score)))


def _difference(values: Sequence[float]) -> float | None:
    return mean_of([abs(one - other) for one, other in combinations(values, 2)])


def _value(votes: Sequence[_Vote]) -> float | None:
    """Return the mean of a juror's judgements of one row; None if none has a value."""
    values = [vote.value for vote in votes if vote.value is not None]
    return mean_of_repeats(values) if values else None


def _values(votes: Mapping[str, Sequence[_Vote]]) -> list[float]:
    """Return the values of the jurors that have a value."""
    return [value for cast in votes.values() if (value := _value(cast)) is not None]


def _votes(score: Score) -> dict[str, list[_Vote]]:
    """Return the votes of each juror over all judgements of a row. Details of other metrics that use the same keys are skipped."""
    lists = (details.get("jurors") for details in judgements(score.details))
    items = (item for each in lists if isinstance(each, list) for item in each if isinstance(item, Mapping))
    return grouped((one["juror"], _vote(one)) for one in items if isinstance(one.get("juror"), str) and "state" in one)


def _vote(item: Mapping[str, Any]) -> _Vote:
    value, error, model, used = (item.get(name) for name in ("value", "error", "model", "usage"))
    names = ("calls", "prompt_tokens", "completion_tokens", "cached_calls")
    return _Vote(
        model if isinstance(model, str) else None,
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None,
        error if isinstance(error, str) else None,
        Usage(*(counted(used.get(name)) for name in names)) if isinstance(used, Mapping) else Usage(),
    )
