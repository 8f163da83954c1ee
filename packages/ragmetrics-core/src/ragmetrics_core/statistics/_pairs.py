"""How sure a difference between two runs over the same rows is.

Rows that are hard in one run are hard in the other, so the runs are compared row by row: what counts is how much the changes differ
from row to row, not how much the scores do. Five methods; each interval says which one made it:

``tango``
    All scores are ends of the scale, as passes and fails are: Tango's score interval, and the mid-p test of McNemar
    (`tango_limits`, `mcnemar_mid_p`).
``t``
    Other scores: Student's t of the changes. The p-value is that of the t test, and where at most 12 pairs changed it is exact: the
    share of all ways to flip the signs of the changes that lead as far from 0 (`sign_flip_p`).
``few-changes``
    Fewer than half of the pairs changed, and fewer than 50: a score interval for other scores (`FewChanges`).
    The p-value is exact as above, or that of the score test.
``constant``
    All pairs changed alike, most often not at all. That shows no spread, which is not the same as none: as for a mean of equal
    values, a share of z² / (n + z²) of all rows may change otherwise, by as much as the scale allows in either direction. So equal
    pairs never have the interval [0, 0]. The p-value is exact; it is 1 if nothing changed. Without a scale there is no interval.
``cr2``
    Clusters are given: Student's t with the variance CR2 and Satterthwaite's degrees of freedom (`clustered_mean`). Where fewer
    than half of the clusters changed, and fewer than 50, ``few-changes`` takes clusters for rows, and also where fewer than half
    of the rows changed and all clusters that did went the same way. Where all clusters changed alike on average, ``constant``
    does. A single cluster has no interval: nothing tells how far another one would lie.

The p-value and the interval agree where they come from the same test: always for ``cr2``, for ``t`` and ``few-changes`` where more
than 12 pairs changed (or clusters, for ``few-changes``). An exact p-value may exceed 0.05 while the interval lies just beside 0, or
the other way round, and so may the one of McNemar, which looks at changed pairs alone. The exact one of ``constant`` is tiny where
many pairs changed by the very same amount, while the interval allows for what they do not show. Where the two disagree, nothing can
be said.

How many rows it takes to see a rare, large loss (`rows_to_meet_losses`): an interval knows the spread of the rows that were seen.
Thirty scores that differ by 0.001 have a narrow one, and yet one row in thirty of the population may score 0: with 30 rows,
chance leaves out all such rows in a third of the samples. So a mean is called good enough only if its interval says so and, apart
from that, there are enough rows to have met such losses.

If a share p of all rows lost as much as a row can lose, L, the mean would be p * L lower. It reaches a limit at the distance m from
p = m / L on. That n independent rows contain none of them has the probability (1 - p)^n, which is at most 0.05 from
n = ln 0.05 / ln(1 - m / L) on: about 3 L / m.

Losses of more than half of L that were met are a share q of full ones. Where p brings the mean to the limit, p - q = m / L, and
n independent rows show as few as q in at most 0.05 of samples from about z² p (1 - p) / (p - q)² rows on, z being the quantile of
0.95.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from .._values._errors import InvalidInput
from ._distributions import beta_cdf, crossing, normal_quantile, t_quantile, t_two_sided
from ._interval import (
    ROUNDING,
    Interval,
    at_ends,
    check_clusters,
    check_confidence,
    check_scale,
    checked_values,
    scale_of,
)
from ._means import FEW, ClusteredMean, FewChanges, clustered_mean, reach_of


def tango_limits(gained: int, lost: int, pairs: int, confidence: float) -> tuple[float, float]:
    """The score interval for the difference of two paired rates, (gained - lost) / pairs.

    It holds the differences that a score test would not reject: their standard error is that of the most likely rates that have
    exactly this difference. So it is no point where no pair changed: then it holds z² / (n + z²) on either side of 0.

    Source: Tango 1998, Statistics in Medicine 17:891, equations 19 to 24 (p. 896).

    Returns:
        Its limits, from -1 to 1.
    """
    z = normal_quantile((1 + confidence) / 2)

    def excess(difference: float) -> float:
        away = gained - lost - pairs * difference
        if away == 0:
            return -z * z
        # the most likely rate of losses, given the difference: the larger root of a quadratic equation
        a, b = 2 * pairs, (2 * pairs - gained + lost) * difference - gained - lost
        c = -lost * difference * (1 - difference)
        root = math.sqrt(max(b * b - 4 * a * c, 0.0))
        rate = (root - b) / (2 * a) if b < 0 else -2 * c / (root + b) if root + b else 0.0
        variance = pairs * (2 * rate + difference * (1 - difference))
        return (away / math.sqrt(variance)) ** 2 - z * z if variance > 0 else math.inf

    observed = (gained - lost) / pairs
    return crossing(excess, -1.0, observed), crossing(excess, observed, 1.0)


def mcnemar_mid_p(gained: int, lost: int) -> float:
    """The two-sided p-value of "gains and losses are equally likely": the exact one, with half the weight on what was observed.

    1 where nothing changed, or as much in either direction.

    Source: Fagerland, Lydersen & Laake 2013, BMC Medical Research Methodology 13:91, p. 3 (mid-p version of McNemar 1947).
    """
    changed, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0
    at_most = beta_cdf(0.5, changed - fewer, fewer + 1)
    ways = math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1)
    exactly = math.exp(ways - changed * math.log(2))
    return min(2 * at_most - exactly, 1.0)


MOST_FLIPPED = 12
"""Changes whose signs are flipped in every way: 4,096 ways."""

ROUNDING_OF_SUMS = 1e-9


def sign_flip_p(changes: Sequence[float]) -> float:
    """The two-sided p-value of "each of these changes might as well have gone the other way".

    The share of all ways to flip their signs in which the sum is at least as far from 0 as the observed one. Changes of 0 do not
    matter, so with fewer than 6 others it is above 0.05, whatever they are. It is exact where changes are as likely up as down by
    the same amount, as between two runs of the same system.

    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    first, *others = [change for change in changes if change] or [0.0]
    sums = [first]  # flipping all signs at once changes nothing, so the first one keeps its own
    for change in others:
        sums = [total + change for total in sums] + [total - change for total in sums]
    far = abs(sum(changes)) - ROUNDING_OF_SUMS * sum(map(abs, changes))
    return sum(abs(total) >= far for total in sums) / len(sums)


@dataclass(frozen=True)
class _Changes:
    """The changes of two rows or more, and how much they differ.

    Attributes:
        values: after minus before, row by row; 0 where the two differ by rounding only.
        found: their mean; its variance is 0 if all units have the same mean. A unit, which is independent of the others, is a row
            or a cluster of rows.
        changed: in how many units a row changed.
        width: of the scale, which no change exceeds; infinite if the scale is not known.
        near: changes up to this size are rounding.
        clustered: whether a unit may have several rows.
    """

    values: Sequence[float]
    found: ClusteredMean
    changed: int
    width: float
    near: float
    clustered: bool

    @classmethod
    def of(cls, values: Sequence[float], clusters: Sequence[Hashable] | None, width: float, near: float) -> _Changes:
        """The changes, in two clusters or more if they have clusters."""
        count, mean = len(values), math.fsum(values) / len(values)
        if clusters is not None and len(set(clusters)) < count:
            found = clustered_mean(values, clusters)
            found = replace(found, variance=found.variance if found.variance > near**2 else 0.0)
            changed = len({cluster for cluster, value in zip(clusters, values, strict=True) if value})
            return cls(values, found, changed, width, near, clustered=True)
        alike = max(values) - min(values) <= near
        variance = 0.0 if alike else math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count
        found = ClusteredMean(mean, variance, 1.0, count - 1, tuple((value, 1) for value in values))
        return cls(values, found, sum(map(bool, values)), width, near, clustered=False)

    def possible(self, low: float, high: float, method: str) -> Interval:
        """An interval on the scale, with the observed difference inside, which rounding might push out."""
        mean = self.found.mean
        return Interval(min(max(low, -self.width), mean), max(min(high, self.width), mean), method)


FEWEST_CHANGED = 6
"""Changed pairs below which nothing can be said: were they all for the better, chance alone would do that in 1 of 16 cases."""

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
    _changes: _Changes | None = field(default=None, repr=False, compare=False)
    _confidence: float = field(default=0.95, repr=False)

    def rows_needed(self, effect: float, power: float = 0.8) -> int | None:
        """Rows that would show a difference of this size, given how much the pairs differ among each other.

        Shown is a difference whose interval excludes 0. The size is one that matters to you, such as a margin: with the observed
        difference this would be its p-value again, in other words. Where it takes more changed pairs than were seen, these are
        taken to change by as much as those that did. With clusters their likeness counts, and they are taken to stay as large as
        they are. From a pilot of 100 rows, 0.70 to 0.86 of differences are shown where 0.8 is asked for.

        Args:
            effect: the difference to be shown, on the scale of the scores; its sign does not matter.
            power: how often it should be shown, above 0 and below 1.

        Returns:
            The number of rows. None if it is above 100,000, or if nothing tells how much the pairs differ: all of them changed
            alike, or there is no interval.

        Raises:
            InvalidInput: if the effect is 0 or not finite, or if power is impossible.
        """
        if not (math.isfinite(effect) and effect):
            raise InvalidInput(f"effect must be finite and not 0, got {effect!r}: give the smallest that matters")
        if not 0 < power < 1:
            raise InvalidInput(f"power must lie between 0 and 1, got {power!r}: give 0.8 for 80 %")
        return _rows_to_show(abs(effect), self._changes, power, self._confidence) if self._changes else None


def _rows_to_show(effect: float, changes: _Changes, power: float, confidence: float) -> int | None:
    """Rows in which an interval of that confidence excludes 0 with that power, where the true difference is the effect.

    The t test of a mean: (z + z')² * variance / effect², and z² / 2 more for that the variance is estimated (Guenther 1981, The
    American Statistician 35:243).

    Where all pairs changed, the variance is that of their changes. Otherwise a difference that is larger than the observed one
    takes more changes in one direction, as far as it falls on pairs that did not change, and these add to the spread: being of the
    size of the observed ones, the missing difference times the mean square of a change over its mean size. Without that, a pilot
    in which nothing got worse would name too few rows to show that something did. Rows for six changes are always needed.
    """
    changed = [change for change in changes.values if change]
    if not (changes.found.variance > 0 and changed):
        return None
    z, more = normal_quantile((1 + confidence) / 2), normal_quantile(power)
    count, mean = len(changes.values), changes.found.mean
    own = math.fsum((change - mean) ** 2 for change in changes.values) / (count - 1)
    size = math.fsum(map(abs, changed)) / len(changed)
    square = math.fsum(change * change for change in changed) / len(changed)
    missing = max(effect - abs(mean), 0.0) * (1 - len(changed) / count)
    variance = own + missing * square / size
    design_effect = changes.found.variance * count / own
    rows = ((z + more) ** 2 * variance * design_effect / effect**2) + z * z / 2 * (count / len(changes.found.clusters))
    share = min(max(len(changed) / count, effect / size), 1.0)
    needed = math.ceil(max(rows, FEWEST_CHANGED / share))
    return needed if needed <= MOST_ROWS else None


UNMET = 0.3
"""Of a unit that changes by the whole scale, which few smaller changes have not met. Where 10 % of 50 to 120 rows change, a fifth
of them by 1 and the others by 0.2, intervals hold in 0.86 to 0.99 of samples with it, and in 0.85 to 0.88 without; those of changes
of at most a half are 2 to 9 % wider with it."""


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
        scale: lowest and highest possible score, the lowest first; None if they are not known. That of True and False is 0 to 1.
        confidence: how often such intervals hold, above 0 and below 1.

    Raises:
        InvalidInput: if the two differ in length or are empty, if a value is not finite or not on the scale, if a row has no
            cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    check_scale(scale)
    if len(before) != len(after):
        raise InvalidInput(
            f"after has {len(after)} values and before {len(before)}: give both scores of each row, in order"
        )
    if not len(before):
        raise InvalidInput("before has no values: give at least one pair")
    check_clusters(clusters, len(before))
    scale = scale_of((*before, *after), scale)
    before, after = checked_values("before", before, scale), checked_values("after", after, scale)
    return _difference_of(before, after, clusters, scale, confidence)


def _difference_of(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None,
    scale: tuple[float, float] | None,
    confidence: float,
) -> PairedDifference:
    """The same of values that were checked."""
    both = (*before, *after)
    near = ROUNDING * (scale[1] - scale[0] if scale else max(map(abs, both)))
    values = [new - old if abs(new - old) > near else 0.0 for old, new in zip(before, after, strict=True)]
    number = None if clusters is None else len(set(clusters))
    changes, interval, p_value, problem = None, None, None, None
    if len(values) < 2:
        problem = "a single pair does not tell how much others differ"
    elif scale and scale[0] == scale[1]:
        problem = "the scale is a single point, on which nothing can differ"
    elif number == 1:
        problem = "all rows are of one cluster, which does not tell how much others differ"
    else:
        changes = _Changes.of(values, clusters, scale[1] - scale[0] if scale else math.inf, near)
        binary = scale is not None and not changes.clustered and at_ends(both, scale)
        interval, p_value = (_of_passes if binary else _of_scores)(changes, confidence)
        problem = None if interval else "all rows changed alike, and without a scale nothing tells how much others may"
    return PairedDifference(
        difference=math.fsum(values) / len(values),
        interval=interval,
        p_value=p_value,
        method=interval.method if interval else "none",
        pairs=len(values),
        changed=sum(map(bool, values)),
        clusters=number,
        problem=problem,
        _changes=changes,
        _confidence=confidence,
    )


def _of_passes(changes: _Changes, confidence: float) -> tuple[Interval, float]:
    gained, width = sum(value > 0 for value in changes.values), changes.width
    lost = changes.changed - gained
    low, high = tango_limits(gained, lost, len(changes.values), confidence)
    return changes.possible(low * width, high * width, "tango"), mcnemar_mid_p(gained, lost)


def _of_scores(changes: _Changes, confidence: float) -> tuple[Interval | None, float | None]:
    found = changes.found
    if not found.variance:
        return _of_equal(changes, confidence)
    few, freedom, error = _few_changes(changes), found.freedom, math.sqrt(found.variance)
    if few and not changes.clustered:
        freedom = math.inf  # as Tango's is, since no variance of the rows is estimated on its own
    quantile = t_quantile((1 + confidence) / 2, freedom)
    low, high = few.limits(quantile) if few else (found.mean - quantile * error, found.mean + quantile * error)
    if changes.changed <= MOST_FLIPPED and (few or not changes.clustered):
        p_value = sign_flip_p([total for total, _ in found.clusters])
    else:
        p_value = t_two_sided(few.distance(0.0) if few else found.mean / error, freedom)
    return changes.possible(low, high, "few-changes" if few else "cr2" if changes.clustered else "t"), p_value


def _of_equal(changes: _Changes, confidence: float) -> tuple[Interval | None, float | None]:
    if math.isinf(changes.width):
        return None, None
    z2, units, mean = normal_quantile((1 + confidence) / 2) ** 2, len(changes.found.clusters), changes.found.mean
    unseen = z2 / (units + z2)
    low, high = (mean * (1 - unseen) + end * unseen for end in (-changes.width, changes.width))
    p_value = 1.0 if abs(mean) <= changes.near else 2.0 ** (1 - units)
    return changes.possible(low, high, "constant"), p_value


def _few_changes(changes: _Changes) -> FewChanges | None:
    """Score limits, where fewer than half of the units changed, or of the rows and all in one direction."""
    units, count = changes.found.clusters, len(changes.values)
    one_way = not (any(total < 0 for total, _ in units) and any(total > 0 for total, _ in units))
    few_rows_one_way = 2 * sum(map(bool, changes.values)) < count and one_way
    if changes.changed >= FEW or not (2 * changes.changed < len(units) or few_rows_one_way):
        return None
    largest = max(map(abs, changes.values))
    beyond = 0.0 if math.isinf(changes.width) else max(changes.width - largest, 0.0) * count / len(units)
    reach = reach_of(units, changes.width)
    return FewChanges(Counter(units), reach, changes.found.inflation, UNMET * beyond**2 / len(units))


MISSED = 0.05
"""The largest chance to meet no such loss."""

TINY = 1e-12


def rows_to_meet_losses(values: Sequence[float], sign: int, limit: float, worst: float) -> int:
    """The number of independent rows from which on unseen losses cannot bring a mean to the limit.

    The distance from the mean to the limit counts with the ordinary noise of the mean, which the interval allows for already. That
    noise is measured on the good side of the mean only, and a large loss that was met adds nothing to it.

    Args:
        values: of the rows, on the good side of the limit on average; one or more.
        sign: 1 if high values are good, -1 if low ones are.
        limit: what the mean must not reach.
        worst: the value that a lost row would have.
    """
    count = len(values)
    mean = math.fsum(values) / count
    met = sign * (mean - worst) / 2
    others = [value for value in values if sign * (mean - value) <= met] or values
    usual = math.fsum(others) / len(others)
    squares = math.fsum((value - usual) ** 2 for value in others if sign * (value - usual) > 0)
    noise = normal_quantile(1 - MISSED / 2) * math.sqrt(2 * squares) / count
    loss = sign * (usual - worst)
    distance = max(sign * (mean - limit) + noise, TINY)
    if distance >= loss:
        return 1
    share, seen = distance / loss, sign * (usual - mean) / loss
    none = math.log(MISSED) / math.log1p(-share)
    if len(others) == count:
        return math.ceil(none)
    few = normal_quantile(1 - MISSED) ** 2 * (share + seen) * max(1 - share - seen, 0.0) / share**2
    return math.ceil(max(none, few))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted for that several hypotheses are tested at once.

    If a difference is called real where its adjusted value is at most 0.05, at most 5 % of such families hold any false claim,
    however the tests depend on each other. The smallest of m values is multiplied by m, the next by m - 1, and so on; none falls
    below one before it, and none exceeds 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65, p. 67.

    Args:
        p_values: from 0 to 1, one for each hypothesis; None where there is no test, which then does not count.

    Returns:
        The adjusted values in the same order, with None in the same places.

    Raises:
        InvalidInput: if a value is no number from 0 to 1.
    """
    for place, value in enumerate(p_values):
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput(f"p_values[{place}] is {value!r}: give numbers from 0 to 1, or None without a test")
    tested = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (value, place) in enumerate(tested):
        largest = max(largest, min((len(tested) - rank) * value, 1.0))
        adjusted[place] = largest
    return adjusted
