"""Measures the uncertainty of a difference between two runs over the same rows.

Rows that are hard in one run are usually hard in the other. So the runs are compared row by row: the uncertainty depends on how
much the changes differ between rows, not on how much the scores do. There are five methods; each interval names its method:

``tango``
    Used if all scores are ends of the scale, as passes and fails are. The interval is Tango's score interval (`tango_limits`),
    and the p-value comes from McNemar's mid-p test (`mcnemar_mid_p`).
``t``
    Used for other scores. The interval is Student's t of the changes, with the p-value of the t test. If at most 12 pairs
    changed, the p-value is exact: the share of all ways to flip the signs of the changes that lead at least as far from 0
    (`sign_flip_p`).
``few-changes``
    Used for other scores if fewer than half of the pairs changed, and fewer than 50 pairs. The interval is a score interval
    (`FewChanges`). The p-value is exact as above, or comes from the score test.
``constant``
    Used if all pairs changed by the same amount, most often by 0. This shows no spread, but it does not show that there is none.
    As for a mean of equal values, a share of z² / (n + z²) of all rows may change differently, by as much as the scale allows in
    either direction. So equal pairs never have the interval [0, 0]. The p-value is exact; it is 1 if nothing changed. Without a
    scale there is no interval.
``cr2``
    Used if clusters are given. The interval is Student's t with the variance CR2 and Satterthwaite's degrees of freedom
    (`clustered_mean`). If fewer than 50 clusters changed, ``few-changes`` replaces it, with clusters in place of rows, in two
    cases: fewer than half of the clusters changed, or fewer than half of the rows changed and all clusters that changed did so in
    the same direction. If all clusters have the same mean change, ``constant`` replaces it. A single cluster has no interval,
    because nothing shows how much clusters differ.

The p-value and the interval agree if they come from the same test: always for ``cr2``, and for ``t`` and ``few-changes`` if more
than 12 pairs changed (or clusters, for ``few-changes``). An exact p-value may exceed 0.05 while the interval just excludes 0, or
the other way round. So may McNemar's p-value, which depends on changed pairs alone. The exact p-value of ``constant`` is tiny if
many pairs changed by the very same amount, while the interval allows for unseen changes. If p-value and interval disagree, no
conclusion can be drawn.

`rows_to_meet_losses` says how many rows are needed to see a rare, large loss. An interval only knows the spread of the rows that
were seen. Thirty scores that differ by 0.001 have a narrow interval, and yet one row in thirty of the population may score 0:
with 30 rows, chance leaves out all such rows in a third of the samples. So a mean is called good enough only if its interval says
so and there are also enough rows to have met such losses.

If a share p of all rows lost as much as a row can lose, L, the mean would be p * L lower. At the distance m from a limit, it
would reach the limit from p = m / L on. The probability that n independent rows contain no such row is (1 - p)^n, which is at
most 0.05 from n = ln 0.05 / ln(1 - m / L) on: about 3 L / m.

Losses of more than half of L that were met are a share q of full losses. If p brings the mean to the limit, p - q = m / L. Then n
independent rows show as few as q in at most 0.05 of samples from about z² p (1 - p) / (p - q)² rows on, where z is the quantile
of 0.95.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .._values._errors import InvalidInput
from ._distributions import beta_cdf, crossing, normal_quantile, t_quantile, t_two_sided
from ._interval import (
    ROUNDING,
    Interval,
    Scale,
    check_clusters,
    check_confidence,
    check_scale,
    checked_values,
    scale_of,
)
from ._means import FEW, ClusteredMean, FewChanges, clustered_mean, reach_of, units_of
from ._numbers import Numbers
from ._sequences import interval_of_units, single_units


def tango_limits(gained: int, lost: int, pairs: int, confidence: float) -> tuple[float, float]:
    """Return the score interval for the difference of two paired rates, (gained - lost) / pairs.

    It contains the differences that a score test would not reject. The standard error is computed for the most likely rates
    with exactly this difference. So the interval has a width even if no pair changed: then it is z² / (n + z²) on either side of 0.

    Source: Tango 1998, Statistics in Medicine 17:891, equations 19 to 24 (p. 896).

    Returns:
        The limits, from -1 to 1.
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
    """Return the two-sided p-value of "gains and losses are equally likely": the exact one, with half the weight on the observed
    outcome.

    The p-value is 1 if nothing changed, or if as many pairs changed in one direction as in the other.

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
"""The largest number of changes whose signs are flipped in every way: 4,096 ways."""

ROUNDING_OF_SUMS = 1e-9


def sign_flip_p(changes: Sequence[float]) -> float:
    """Return the two-sided p-value of "each of these changes might as well have gone in the other direction".

    It is the share of all ways to flip the signs in which the sum is at least as far from 0 as the observed sum. Changes of 0
    do not matter. With fewer than 6 changes that are not 0, the p-value is always above 0.05. The p-value is exact if changes
    are equally likely up and down by the same amount, as between two runs of the same system.

    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    first, *others = [change for change in changes if change] or [0.0]
    sums = [first]  # flipping all signs at once gives the same distance from 0, so the first sign stays
    for change in others:
        sums = [total + change for total in sums] + [total - change for total in sums]
    far = abs(sum(changes)) - ROUNDING_OF_SUMS * sum(map(abs, changes))
    return sum(abs(total) >= far for total in sums) / len(sums)


FEWEST_CHANGED = 6
"""The smallest number of changed pairs for a conclusion. If 5 pairs all changed for the better, chance alone would do that in 1
of 16 cases.
"""

FARTHEST = 1e6
"""The largest difference that is looked for, as a multiple of the observed changes, if no scale limits it."""

MOST_ROWS = 100_000
"""The largest number of rows that is given as advice."""


@dataclass(frozen=True)
class PairedDifference:
    """The difference between the means of two runs over the same rows: after minus before.

    Attributes:
        difference: the mean of after minus the mean of before, on the scale of the scores.
        interval: the interval of the difference; None if there is no interval, and then ``problem`` gives the reason.
        p_value: the two-sided p-value of "there is no difference", 0 to 1; None if there is no interval.
        method: the method of the interval, a key of ``METHODS``; ``none`` without an interval.
        pairs: the number of pairs.
        changed: the number of pairs whose values differ by more than rounding.
        clusters: the number of clusters; None if no clusters were given.
        problem: in words, why there is no interval; None if there is one.
    """

    difference: float
    interval: Interval | None
    p_value: float | None
    method: str
    pairs: int
    changed: int
    clusters: int | None = None
    problem: str | None = None
    _numbers: PairedNumbers | None = field(default=None, repr=False, compare=False)
    _confidence: float = field(default=0.95, repr=False)

    def rows_needed(self, effect: float, power: float = 0.8) -> int | None:
        """Estimate how many rows would show a difference of this size, given how much the pairs differ among each other.

        A difference is shown if its interval excludes 0. Choose a size that matters to you, such as a margin: the observed
        difference would only repeat the p-value in other words. If the size needs more changed pairs than were seen, these are
        assumed to change by as much as the pairs that changed. With clusters, the similarity of their rows counts, and the
        clusters are assumed to keep their size. From a pilot of 100 rows, 0.70 to 0.86 of differences are shown at a power of
        0.8.

        Args:
            effect: the difference to be shown, on the scale of the scores; its sign does not matter.
            power: the probability with which it should be shown, above 0 and below 1.

        Returns:
            The number of rows. None if it is above 100,000, or if nothing shows how much the pairs differ: all pairs changed by
            the same amount, or there is no interval.

        Raises:
            InvalidInput: if the effect is 0 or not finite, or if power is impossible.
        """
        if not (math.isfinite(effect) and effect):
            raise InvalidInput(f"effect must be finite, not 0, got {effect!r}: give the least difference that matters")
        rows = self._rows_to_show(power)
        needed = rows and math.ceil(rows(abs(effect)))
        return needed if needed and needed <= MOST_ROWS else None

    def smallest_change(self, power: float = 0.8) -> float | None:
        """Estimate the smallest true difference that these pairs show with this power: the effect for which
        ``rows_needed`` returns their number. In simulated samples of 30 to 300 pairs, of which 5 to 50 % change, such a difference
        was shown in 0.82 to 0.98.

        Source: Hoenig & Heisey 2001, The American Statistician 55:19 (p. 22, detectable effect size).

        Args:
            power: the probability with which it should be shown, above 0 and below 1.

        Returns:
            The size of the difference, on the scale of the scores, rounded to three digits. None if nothing shows how much the
            pairs differ, or if not even the largest difference that is possible would be shown.

        Raises:
            InvalidInput: if power is impossible.
        """
        rows = self._rows_to_show(power)
        if rows is None or self._numbers is None:
            return None
        most = min(self._numbers.width, self._numbers.changes.size * FARTHEST)
        if rows(most) > self.pairs:
            return None
        return float(f"{crossing(lambda effect: 1 - self.pairs / rows(effect), most * TINY, most):.3g}")

    def _rows_to_show(self, power: float) -> Callable[[float], float] | None:
        """Return the function that estimates, for a true difference, the number of rows whose interval excludes 0 with the given
        power; None if nothing shows how much the pairs differ.

        For the t test of a mean it is (z + z')² * variance / effect², plus z² / 2 because the variance is estimated (Guenther
        1981, The American Statistician 35:243).

        If all pairs changed, the variance is the variance of their changes. Otherwise a difference larger than the observed one
        needs more changes in one direction, as far as they fall on pairs that did not change, and these changes add to the spread.
        As they are assumed to have the size of the observed changes, they add the missing difference times the mean square of a
        change divided by its mean size. Without this, a pilot in which nothing got worse would give too few rows to show that
        something did. The rows must also contain six changes with this power, by the normal approximation of their number.
        """
        if not 0 < power < 1:
            raise InvalidInput(f"power must lie between 0 and 1, got {power!r}: give 0.8 for 80 %")
        pairs = self._numbers
        if pairs is None or not (pairs.found.variance > 0 and pairs.changes.changed):
            return None
        changes, changed = pairs.changes, pairs.changes.changed
        z, count, mean = normal_quantile((1 + self._confidence) / 2), len(changes), pairs.found.mean
        more = normal_quantile(power)
        observed = changes.squares(mean) / (count - 1)
        size, square = changes.size / changed, changes.squares(0.0) / changed
        design_effect = pairs.found.variance * count / observed

        def rows(effect: float) -> float:
            missing = max(effect - abs(mean), 0.0) * (1 - changed / count)
            needed = (z + more) ** 2 * (observed + missing * square / size) * design_effect / effect / effect
            share = min(max(changed / count, effect / size), 1.0)
            changes_needed = FEWEST_CHANGED + more * math.sqrt(FEWEST_CHANGED * (1 - share))
            return max(needed + z * z / 2 * (count / pairs.units), changes_needed / share)

        return rows


UNMET = 0.3
"""The number of units that are assumed to change by the whole scale in addition; few smaller changes do not show them. If 10 %
of 50 to 120 rows change, a fifth of them by 1 and the others by 0.2, intervals contain the true difference in 0.86 to 0.99 of
samples with it, and in 0.85 to 0.88 without; the intervals of changes of at most a half are 2 to 9 % wider with it.
"""


def paired_difference(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PairedDifference:
    """Estimate how much better or worse the same rows are after a change than before it, with the interval and the p-value.

    Args:
        before: one score for each row, finite and on the scale.
        after: the scores of the same rows, in the same order.
        clusters: for each row what it shares with others, such as the name of its document: any hashable value. None if the rows
            are independent.
        scale: the lowest and the highest possible score, in this order; None if they are not known. The scale of True and False
            is 0 to 1.
        confidence: the confidence level of the interval, above 0 and below 1.

    Raises:
        InvalidInput: if the two differ in length or are empty, if a value is not finite or not on the scale, if a row has no
            cluster, or if confidence or scale are impossible.
    """
    check_confidence(confidence)
    check_scale(scale)
    if len(before) != len(after):
        raise InvalidInput(f"after has {len(after)} values, before {len(before)}: give both scores per row, in order")
    if not len(before):
        raise InvalidInput("before has no values: give at least one pair")
    check_clusters(clusters, len(before))
    scale = scale_of((*before, *after), scale)
    one, two = (Numbers(checked_values(name, each, scale)) for name, each in (("before", before), ("after", after)))
    return PairedNumbers.of(one, two, clusters, scale).difference(confidence)


@dataclass(frozen=True)
class PairedNumbers:
    """The values of the same rows before and after, of which only sums, ends and counts are used.

    A unit is a row, or a cluster of rows; units are independent of each other.

    Attributes:
        before: the values before; there is one or more.
        after: the values after.
        changes: after minus before for each row; 0 if the two differ only by rounding.
        scale: the lowest and the highest possible value; None if they are not known.
        clusters: for each sum of changes and number of rows, how many clusters have them; None if rows are independent.
        changed_clusters: the number of clusters in which a row changed.
    """

    before: Numbers
    after: Numbers
    changes: Numbers
    scale: Scale = None
    clusters: Counter[tuple[float, int]] | None = None
    changed_clusters: int = 0

    @classmethod
    def of(cls, before: Numbers, after: Numbers, clusters: Sequence[Hashable] | None, scale: Scale) -> PairedNumbers:
        """Return values that were already checked, given the cluster of each row; None if rows are independent."""
        near = near_zero(before, after, scale)
        pairs = zip(before.values, after.values, strict=True)
        values = [new - old if abs(new - old) > near else 0.0 for old, new in pairs]
        changes = Numbers(values, before.counts)
        if clusters is None:
            return cls(before, after, changes, scale)
        changed = {cluster for cluster, value in zip(clusters, values, strict=True) if value}
        return cls(before, after, changes, scale, units_of(changes, clusters), len(changed))

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def near(self) -> float:
        """The largest change that counts as rounding."""
        return near_zero(self.before, self.after, self.scale)

    @property
    def width(self) -> float:
        """The width of the scale, which no change exceeds; infinite if the scale is not known."""
        return self.scale[1] - self.scale[0] if self.scale else math.inf

    @property
    def clustered(self) -> bool:
        """Whether a unit has several rows."""
        return self.clusters is not None and self.clusters.total() < len(self)

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self) if self.clusters is None else self.clusters.total()

    @property
    def changed(self) -> int:
        """The number of units in which a row changed."""
        return self.changed_clusters if self.clustered else self.changes.changed

    @property
    def moved(self) -> int:
        """The number of units whose changes do not add up to 0."""
        if not self.clustered or self.clusters is None:
            return self.changes.changed
        return sum(number for (total, rows), number in self.clusters.items() if abs(total) > self.near * rows)

    @cached_property
    def found(self) -> ClusteredMean:
        """The mean of the changes of two units or more; its variance is 0 if all units have the same mean."""
        changes, near = self.changes, self.near
        if self.clustered and self.clusters is not None:
            moments = clustered_mean(self.clusters)
            # changes of a cluster that cancel out leave a rounding error, which has no direction
            units: Counter[tuple[float, int]] = Counter()
            for (total, rows), number in self.clusters.items():
                units[total if abs(total) > near * rows else 0.0, rows] += number
            return replace(moments, variance=moments.variance if moments.variance > near**2 else 0.0, units=units)
        count, alike = len(changes), changes.high - changes.low <= near
        variance = 0.0 if alike else changes.squares(changes.mean) / (count - 1) / count
        units = Counter({(0.0, 1): count - changes.changed})
        if changes.changed < FEW:  # more of them are not used
            ends = (value for sign in (1, -1) for value in changes.ends(sign, FEW) if sign * value < 0)
            units.update((value, 1) for value in ends)
        return ClusteredMean(changes.mean, variance, 1.0, count - 1, units)

    def difference(self, confidence: float = 0.95) -> PairedDifference:
        """Return the mean difference with its interval and its p-value."""
        numbers, interval, p_value, problem = None, None, None, None
        if len(self) < 2:
            problem = "a single pair does not show how much others differ"
        elif not self.width:
            problem = "the scale is a single point, on which nothing can differ"
        elif self.units == 1:
            problem = "all rows are in one cluster, so nothing shows how much clusters differ"
        else:
            numbers, scale = self, self.scale
            binary = scale and not self.clustered and all(each.at_ends(scale) for each in (self.before, self.after))
            interval, p_value = (_of_passes if binary else _of_scores)(self, confidence)
            problem = (
                None if interval else "all rows changed alike, and without a scale nothing shows how much others may"
            )
        return PairedDifference(
            difference=self.changes.mean,
            interval=interval,
            p_value=p_value,
            method=interval.method if interval else "none",
            pairs=len(self),
            changed=self.changes.changed,
            clusters=None if self.clusters is None else self.units,
            problem=problem,
            _numbers=numbers,
            _confidence=confidence,
        )

    def always_valid(self, confidence: float, largest: int) -> Interval | None:
        """Return the interval of the mean change that holds at every number of pairs; arguments as for
        `always_valid_interval`.
        """
        units = single_units(self.changes) if self.clusters is None else self.clusters
        return interval_of_units(units, self.scale and (-self.width, self.width), confidence, largest)

    def unseen(self, mean: float, confidence: float) -> tuple[float, float]:
        """Return how far the true mean change may lie from the observed one: a share z² / (n + z²) of all rows may change by the
        whole scale.
        """
        z2 = normal_quantile((1 + confidence) / 2) ** 2
        share = z2 / (self.units + z2)
        return mean * (1 - share) - self.width * share, mean * (1 - share) + self.width * share

    def possible(self, low: float, high: float, method: str) -> Interval:
        """Return an interval that is cut to the scale and contains the observed difference despite rounding."""
        mean = self.found.mean
        return Interval(min(max(low, -self.width), mean), max(min(high, self.width), mean), method)

    def enough(self, sign: int, most: float, have: int) -> int:
        """Return how many pairs are needed so that rare losses that the sample missed cannot add up to more than ``most``.

        A missed loss is taken to be a row whose second value is the worst of the scale. The result is 1 if no scale is known.

        Args:
            sign: 1 if a rise is good, -1 if a fall is good.
            most: the largest mean loss allowed.
            have: the number of pairs, or of clusters of pairs; if these are enough for sure, an upper limit is returned.
        """
        if self.scale is None:
            return 1
        farthest = self.scale[0 if sign > 0 else 1] - self.before.mean
        return rows_to_meet_losses(self.changes, sign, -sign * most, farthest, have=have)


def near_zero(before: Numbers, after: Numbers, scale: Scale) -> float:
    """Return the largest change of a value that counts as rounding."""
    if scale:
        return ROUNDING * (scale[1] - scale[0])
    return ROUNDING * max(abs(end) for each in (before, after) for end in (each.low, each.high))


def _of_passes(pairs: PairedNumbers, confidence: float) -> tuple[Interval, float]:
    gained = pairs.changes.above(0.0)
    lost = pairs.changes.changed - gained
    low, high = tango_limits(gained, lost, len(pairs), confidence)
    return pairs.possible(low * pairs.width, high * pairs.width, "tango"), mcnemar_mid_p(gained, lost)


def _of_scores(pairs: PairedNumbers, confidence: float) -> tuple[Interval | None, float | None]:
    found = pairs.found
    if not found.variance:
        return _of_equal(pairs, confidence)
    few, freedom, error = _few_changes(pairs), found.freedom, math.sqrt(found.variance)
    if few and not pairs.clustered:
        # a normal quantile, as for Tango's interval, because no variance of the rows is estimated separately
        freedom = math.inf
    quantile = t_quantile((1 + confidence) / 2, freedom)
    low, high = few.limits(quantile) if few else (found.mean - quantile * error, found.mean + quantile * error)
    if pairs.changed <= MOST_FLIPPED and (few or not pairs.clustered):
        moved = Counter({unit: number for unit, number in found.units.items() if unit[0]})
        p_value = sign_flip_p([total for total, _ in moved.elements()])
    else:
        p_value = t_two_sided(few.distance(0.0) if few else found.mean / error, freedom)
    return pairs.possible(low, high, "few-changes" if few else "cr2" if pairs.clustered else "t"), p_value


def _of_equal(pairs: PairedNumbers, confidence: float) -> tuple[Interval | None, float | None]:
    if math.isinf(pairs.width):
        return None, None
    mean = pairs.found.mean
    p_value = 1.0 if abs(mean) <= pairs.near else 2.0 ** (1 - pairs.units)
    return pairs.possible(*pairs.unseen(mean, confidence), "constant"), p_value


def _few_changes(pairs: PairedNumbers) -> FewChanges | None:
    """Return a score interval if few units changed, else None.

    Fewer than 50 units must have changed, and also fewer than half of the units, or fewer than half of the rows with all units
    that changed in one direction.
    """
    if pairs.changed >= FEW:
        return None
    units, changes, count = pairs.found.units, pairs.changes, len(pairs)
    one_way = not (any(total < 0 for total, _ in units) and any(total > 0 for total, _ in units))
    if not (2 * pairs.changed < pairs.units or (2 * changes.changed < count and one_way)):
        return None
    largest = max(abs(changes.low), abs(changes.high))
    # how far the change of an unseen unit may exceed the largest change of a row, times the rows of a unit
    beyond = 0.0 if math.isinf(pairs.width) else max(pairs.width - largest, 0.0) * count / pairs.units
    reach = reach_of(units, pairs.width)
    return FewChanges(units, reach, pairs.found.inflation, UNMET * beyond**2 / pairs.units)


MISSED = 0.05
"""The largest probability to meet no such loss."""

TINY = 1e-12


def rows_to_meet_losses(
    values: Sequence[float] | Numbers, sign: int, limit: float, worst: float, *, have: int = 0
) -> int:
    """Return the number of independent rows from which on unseen losses cannot bring a mean to the limit.

    The distance from the mean to the limit includes the ordinary noise of the mean, which the interval already allows for. This
    noise is measured only on the good side of the mean, and a large loss that was met adds nothing to it.

    Args:
        values: the values of the rows, one or more; their mean is on the good side of the limit.
        sign: 1 if high values are good, -1 if low values are good.
        limit: the value that the mean must not reach.
        worst: the value of a lost row.
        have: a number of rows. If no more can be needed, whatever the single values are, an upper limit is returned.
    """
    numbers = Numbers.of(values)
    count, mean = len(numbers), numbers.mean
    most = _most_rows(sign * (mean - limit), sign * ((numbers.high if sign > 0 else numbers.low) - worst))
    if most <= have:
        return most
    others = numbers.within(sign, mean, sign * (mean - worst) / 2)
    others = others if len(others) else numbers
    usual = others.mean
    squares = others.squares(usual, sign)
    noise = normal_quantile(1 - MISSED / 2) * math.sqrt(2 * squares) / count
    loss = sign * (usual - worst)
    distance = max(sign * (mean - limit) + noise, TINY)
    if distance >= loss:
        return 1
    # the share of further lost rows that would bring the mean to the limit, and the share that the rows contain
    share, seen = distance / loss, sign * (usual - mean) / loss
    none = math.log(MISSED) / math.log1p(-share)  # rows, if they contain no loss
    if len(others) == count:
        return math.ceil(none)
    few = normal_quantile(1 - MISSED) ** 2 * (share + seen) * max(1 - share - seen, 0.0) / share**2
    return math.ceil(max(none, few))


def _most_rows(distance: float, loss: float) -> int:
    """Return an upper limit of ``rows_to_meet_losses`` that needs no look at single values.

    The distance can only grow by the noise, no loss is larger than the loss of the best value, and x * (1 - x) is 1/4 at most.
    """
    share = max(distance, TINY) / max(loss, TINY)
    if share >= 1:
        return 1
    return math.ceil(max(math.log(MISSED) / math.log1p(-share), (normal_quantile(1 - MISSED) / share) ** 2 / 4))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for testing several hypotheses at once.

    If a difference is called real when its adjusted value is at most 0.05, at most 5 % of such families contain any false claim,
    however the tests depend on each other. The smallest of m values is multiplied by m, the next by m - 1, and so on. No adjusted
    value is below a previous one, and none exceeds 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65, p. 67.

    Args:
        p_values: a value from 0 to 1 for each hypothesis; None for a hypothesis without a test, which is not counted.

    Returns:
        The adjusted values in the same order, with None in the same places.

    Raises:
        InvalidInput: if a value is not a number from 0 to 1.
    """
    for place, value in enumerate(p_values):
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput(f"p_values[{place}] is {value!r}: give a number from 0 to 1, or None without a test")
    tested = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (value, place) in enumerate(tested):
        largest = max(largest, min((len(tested) - rank) * value, 1.0))
        adjusted[place] = largest
    return adjusted
