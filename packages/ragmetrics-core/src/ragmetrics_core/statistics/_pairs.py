"""How sure a difference between two runs over the same rows is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from .._kernel._errors import InvalidInput
from ._binary_pairs import mcnemar_mid_p, tango_limits
from ._checks import check_clusters, check_confidence, check_scale, checked_values
from ._clusters import clustered_mean
from ._distributions import normal_quantile, t_quantile, t_two_sided
from ._interval import ROUNDING, Interval

__all__ = ["PairedDifference", "paired_difference"]

MOST_ROWS = 100_000
"""More rows than that are no advice."""


@dataclass(frozen=True)
class PairedDifference:
    """The difference between the means of two runs over the same rows: after minus before.

    Attributes:
        difference: mean of after minus mean of before, on the scale of the scores.
        interval: of that difference; None if there is none, and ``problem`` says why.
        p_value: two-sided, of "there is no difference": 0 to 1; None where there is no interval.
        method: how the interval was made, a key of ``METHODS``; ``none`` without one.
        pairs: how many there are.
        changed: pairs whose two values differ by more than rounding.
        clusters: how many there are; None if none were given.
        problem: in words, why there is no interval; None where there is one.
    """

    difference: float
    interval: Interval | None
    p_value: float | None
    method: str
    pairs: int
    changed: int
    clusters: int | None = None
    problem: str | None = None
    _confidence: float = field(default=0.95, repr=False)
    _row_variance: float = field(default=0.0, repr=False)
    """Of the mean difference, times the number of pairs: what one row contributes, its likeness to others counted in."""

    def rows_needed(self, effect: float, power: float = 0.8) -> int | None:
        """Rows that would show a difference of this size, given how much the pairs differ among each other.

        Shown is a difference whose interval excludes 0. The size is one that matters to you, such as a margin: with the observed
        difference this would be its p-value again, in other words.

        Args:
            effect: the difference to be shown, on the scale of the scores; its sign does not matter.
            power: how often it should be shown, above 0 and below 1.

        Returns:
            The number of rows; None if it is above 100,000 or cannot be told, since no pair changed.

        Raises:
            InvalidInput: if the effect is 0 or not finite, or if power is impossible.
        """
        if not (math.isfinite(effect) and effect):
            raise InvalidInput(
                f"effect must be a difference other than 0, got {effect!r}: give the smallest that matters"
            )
        if not 0 < power < 1:
            raise InvalidInput(f"power must lie between 0 and 1, got {power!r}: give 0.8 for 80 %")
        if not self._row_variance > 0:
            return None
        z, more = normal_quantile((1 + self._confidence) / 2), normal_quantile(power)
        rows = math.ceil((z + more) ** 2 * self._row_variance / effect**2 + z * z / 2)
        return rows if rows <= MOST_ROWS else None


@dataclass(frozen=True)
class _Changes:
    """What the two runs tell: the change of every row, and what bounds it."""

    values: Sequence[float]
    clusters: Sequence[Hashable] | None
    width: float | None
    near: float
    binary: bool

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)


@dataclass(frozen=True)
class _Finding:
    interval: Interval
    p_value: float
    row_variance: float


def paired_difference(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PairedDifference:
    """How much better or worse the same rows are after a change than before it, and how sure that is.

    Args:
        before: one score for each row, finite, inside the scale.
        after: the scores of the same rows in the same order.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: lowest and highest possible score, the lowest first; None if they are not known.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if the two differ in length or are empty, if a value is not finite or not on the scale, if a row has no
            cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    changes = _changes(before, after, clusters, scale)
    pairs, number = len(changes.values), None if clusters is None else len(set(clusters))
    problem: str | None = None
    found: _Finding | None = None
    if pairs < 2:
        problem = "a single pair does not tell how much others differ"
    elif number == 1:
        problem = "all rows are of one cluster, which does not tell how much others differ"
    else:
        found = _finding(changes, confidence)
        problem = None if found else "all pairs changed alike, and without a scale nothing tells how much others may"
    return PairedDifference(
        difference=changes.mean,
        interval=found.interval if found else None,
        p_value=found.p_value if found else None,
        method=found.interval.method if found else "none",
        pairs=pairs,
        changed=sum(value != 0 for value in changes.values),
        clusters=number,
        problem=problem,
        _confidence=confidence,
        _row_variance=found.row_variance if found else 0.0,
    )


def _changes(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None,
    scale: tuple[float, float] | None,
) -> _Changes:
    check_scale(scale)
    if len(before) != len(after):
        raise InvalidInput(
            f"after has {len(after)} values and before {len(before)}: give both scores of every row, in the same order"
        )
    if not len(before):
        raise InvalidInput("before has no values: give at least one pair")
    before, after = checked_values("before", before, scale), checked_values("after", after, scale)
    check_clusters(clusters, len(before))
    width = scale[1] - scale[0] if scale else None
    near = ROUNDING * (max(map(abs, (*before, *after))) if width is None else width)
    values = [new - old if abs(new - old) > near else 0.0 for old, new in zip(before, after, strict=True)]
    binary = scale is not None and all(
        min(value - scale[0], scale[1] - value) <= near for run in (before, after) for value in run
    )
    return _Changes(values, clusters, width, near, binary)


def _finding(changes: _Changes, confidence: float) -> _Finding | None:
    if changes.clusters is not None and len(set(changes.clusters)) < len(changes.values):
        return _of_clusters(changes, changes.clusters, confidence)
    if changes.binary:
        return _of_passes(changes, confidence)
    if max(changes.values) - min(changes.values) <= changes.near:
        return _of_equal(changes, len(changes.values), confidence)
    count, mean = len(changes.values), changes.mean
    variance = math.fsum((value - mean) ** 2 for value in changes.values) / (count - 1)
    return _student(changes, variance / count, count - 1, confidence, method="t")


def _of_clusters(changes: _Changes, clusters: Sequence[Hashable], confidence: float) -> _Finding | None:
    found = clustered_mean(changes.values, clusters)
    if found.variance is None or found.freedom is None or found.variance <= changes.near**2:
        return _of_equal(changes, found.clusters, confidence)
    return _student(changes, found.variance, found.freedom, confidence, method="cr2")


def _of_passes(changes: _Changes, confidence: float) -> _Finding:
    assert changes.width is not None
    count, mean = len(changes.values), changes.mean
    gained, lost = sum(value > 0 for value in changes.values), sum(value < 0 for value in changes.values)
    low, high = tango_limits(gained, lost, count, confidence)
    interval = Interval(min(low * changes.width, mean), max(high * changes.width, mean), "tango")
    variance = math.fsum((value - mean) ** 2 for value in changes.values) / count
    return _Finding(interval, mcnemar_mid_p(gained, lost), variance)


def _of_equal(changes: _Changes, count: int, confidence: float) -> _Finding | None:
    """A share of z² / (n + z²) of all rows may change otherwise, by as much as the scale allows."""
    if changes.width is None:
        return None
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    unseen, mean = z2 / (count + z2), changes.mean
    low, high = (mean * (1 - unseen) + end * unseen for end in (-changes.width, changes.width))
    return _Finding(Interval(low, high, "constant"), 2.0 ** (1 - count) if mean else 1.0, 0.0)


def _student(changes: _Changes, variance: float, freedom: float, confidence: float, *, method: str) -> _Finding:
    mean, error = changes.mean, math.sqrt(variance)
    half, p_value = t_quantile((1 + confidence) / 2, freedom) * error, t_two_sided(mean / error, freedom)
    return _Finding(Interval(mean - half, mean + half, method), p_value, variance * len(changes.values))
