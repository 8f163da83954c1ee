"""Intervals, and the checks of input that are common to this package.

An interval names its method. A message about input names the place and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .._values._errors import InvalidInput

ROUNDING = 1e-9
"""Values that differ by less than this share of the scale count as equal: cosines of equal texts differ from 1 in the last
digits.
"""

METHODS = {
    "wilson": "Wilson",
    "wilson-t": "Wilson with Student's t",
    "constant": "worst case of equal values",
    "t": "Student's t",
    "tango": "Tango's score interval",
    "few-changes": "score interval for few changes",
    "cr2": "Student's t over clusters (CR2)",
    "none": "none",
    "post-stratified-beta": "post-stratified beta posterior",
    "post-stratified-dirichlet": "post-stratified Dirichlet posterior",
    "ppi++": "PPI++",
    "newcombe": "Newcombe's score interval",
    "fisher": "Fisher's z",
    "wilson-chance": "Wilson, corrected for chance",
    "betting": "always valid, by betting",
    "asymptotic": "always valid, asymptotic",
}
"""The methods, as a summary names them."""


Scale = tuple[float, float] | None
"""The lowest and the highest possible value; None if they are not known."""


class Interval(NamedTuple):
    """An interval for a mean or for a difference of means.

    Attributes:
        low: the lower limit, on the scale of the scores.
        high: the upper limit, on the scale of the scores.
        method: a key of ``METHODS``; the functions that compute intervals describe their methods.
    """

    low: float
    high: float
    method: str

    @property
    def is_always_valid(self) -> bool:
        """Whether it is from a method whose intervals hold at every number of rows at once."""
        return self.method in {"betting", "asymptotic"}

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"


def on_scale(low: float, high: float, mean: float, scale: tuple[float, float], method: str) -> Interval:
    """Convert limits that are shares of the scale to an interval on the scale. Rounding cannot move a limit off the scale or
    past the mean.
    """
    (start, end), width = scale, scale[1] - scale[0]
    return Interval(min(max(start + low * width, start), mean), max(min(start + high * width, end), mean), method)


def wilson(mean: float, spread: float, scale: tuple[float, float], method: str = "wilson") -> Interval:
    """Return Wilson's interval for a mean on a scale. ``spread`` is the squared quantile divided by the number of rows, or what
    replaces it.
    """
    return on_scale(*score_limits(share_of(mean, scale), spread), mean, scale, method)


@dataclass(frozen=True)
class Measure:
    """A statistic about a judge.

    Attributes:
        value: the value; None if it cannot be computed.
        interval: the interval; None if it cannot be computed.
        problem: in words, why the value or the interval is missing; None if neither is missing.
    """

    value: float | None = None
    interval: Interval | None = None
    problem: str | None = None


def difference_of_means(one: float, interval: Interval, other: float, other_interval: Interval) -> Interval:
    """Return the interval of ``one - other``, where the two means have no row in common.

    The distance of each limit from the difference is the root of the sum of two squares. For the lower limit, these are the
    distances of the two means from those ends of their intervals that make the difference smaller; for the upper limit, larger
    (the method of variance estimates recovery). For two rates with Wilson's intervals it is Newcombe's interval.

    Source: Zou & Donner 2008, Statistics in Medicine 27:1693, equation 4; Newcombe 1998, Statistics in Medicine 17:873, method
    10.
    """
    difference = one - other
    low = difference - math.hypot(one - interval.low, other_interval.high - other)
    high = difference + math.hypot(interval.high - one, other - other_interval.low)
    return Interval(low, high, "newcombe")


def student_interval(mean: float, variance: float, quantile: float, scale: Scale, method: str) -> Interval:
    """Return Student's t interval for a mean with this variance.

    On a known scale it has Wilson's form: the variance is assumed to shrink towards the ends of the scale as the variance of a rate
    does. Then the method "t" is named "wilson-t".
    """
    half = quantile * math.sqrt(variance)
    if scale is None:
        return Interval(mean - half, mean + half, method)
    if not scale[0] < mean < scale[1]:  # a corrected mean may be at an end of the scale even if the labels are not
        return Interval(max(mean - half, scale[0]), min(mean + half, scale[1]), method)
    ratio = variance / ((mean - scale[0]) * (scale[1] - mean))
    return wilson(mean, quantile**2 * ratio, scale, "wilson-t" if method == "t" else method)


def unseen_interval(mean: float, count: float, scale: tuple[float, float] | None, z2: float) -> Interval | None:
    """Return the interval of equal values: a share z² / (count + z²) of other rows may lie at either end of the scale."""
    if scale is None:
        return None
    unseen, share = z2 / (count + z2), share_of(mean, scale)
    return on_scale(share * (1 - unseen), share * (1 - unseen) + unseen, mean, scale, "constant")


def at_ends(values: Iterable[float], scale: tuple[float, float]) -> bool:
    """Whether all values are ends of the scale, as passes and fails are."""
    near = ROUNDING * (scale[1] - scale[0])
    return all(min(value - scale[0], scale[1] - value) <= near for value in values)


def weighted_mean(values: Sequence[float], masses: Sequence[float]) -> float:
    """Return the mean of values, each weighted by the number of rows that it represents."""
    return math.fsum(map(math.prod, zip(values, masses, strict=True))) / math.fsum(masses)


def share_of(mean: float, scale: tuple[float, float]) -> float:
    """Return the position of the mean on the scale, as a share from 0 (lowest) to 1 (highest)."""
    return (mean - scale[0]) / (scale[1] - scale[0])


def score_limits(share: float, spread: float) -> tuple[float, float]:
    """Return the two shares p that solve (share - p)² = spread * p * (1 - p)."""
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * share * (1 - share) + spread * spread / 4) / (1 + spread)
    return centre - half, centre + half


def coefficient_limits(
    agreement: float, chance: float, variance: float, quantile: float, count: float
) -> tuple[float, float]:
    """Return the limits of a coefficient that corrects agreement for chance: (agreement - chance) / (1 - chance).

    Such a coefficient is the agreement on a scale that starts at the agreement expected by chance. So its limits are Wilson's for
    the agreement, with the coefficient's own variance in place of the variance of a rate. They have a width even if judge and
    people always agree.

    Args:
        agreement: the observed agreement, 0 to 1.
        chance: the agreement expected by chance, below 1.
        variance: the variance of the coefficient.
        quantile: the quantile of the normal or of Student's distribution.
        count: the number of rows.

    Returns:
        Limits from -1 to 1, with the coefficient between them.
    """
    value, room = (agreement - chance) / (1 - chance), agreement * (1 - agreement)
    # 1 / count for a rate; the coefficient's variance may equal the variance of a rate over more or fewer rows
    share = variance * (1 - chance) ** 2 / room if room > 0 and variance > 0 else 1 / count
    low, high = ((limit - chance) / (1 - chance) for limit in score_limits(agreement, quantile * quantile * share))
    return max(min(low, value), -1.0), min(max(high, value), 1.0)


LARGEST = 1e100
"""The largest number that is accepted: squares of larger numbers, and products of such squares, would overflow."""


def check_confidence(confidence: float) -> None:
    """Check that the confidence level is above 0 and below 1."""
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie between 0 and 1, got {confidence!r}: give 0.95 for 95 %")


def check_scale(scale: tuple[float, float] | None) -> None:
    """Check that a scale is two finite ends, the lower one first. They may be equal."""
    if scale is not None and not (all(map(is_finite, scale)) and -LARGEST <= scale[0] <= scale[1] <= LARGEST):
        raise InvalidInput(f"scale must be two finite numbers, the lower first, got {scale!r}: leave it out if unknown")


def checked_values(
    name: str, values: Sequence[float], scale: tuple[float, float] | None, places: Sequence[int] | None = None
) -> list[float]:
    """Return the values after checking that they are finite and on the scale. Values that are off an end only by rounding are
    moved to the end.

    Args:
        name: the name of the argument, for messages.
        values: the numbers to check.
        scale: the scale of the values; None for any.
        places: the index of each value in the argument, if other items of the argument are None.
    """
    low, high = scale or (-LARGEST, LARGEST)
    near, checked = ROUNDING * (high - low) if scale else 0.0, []
    for index, value in enumerate(values):
        number = float(value) if is_finite(value) else math.nan
        if low - near <= number <= high + near:
            checked.append(min(max(number, low), high))
            continue
        problem = f": give numbers up to {LARGEST:g}"
        if math.isnan(number) and places is None:
            problem = ": give finite numbers, and leave out rows without a score"
        elif math.isnan(number):
            problem = ": give a finite number, or None if the row has no label"
        elif scale:
            problem = f", which is not on the scale {low:g} to {high:g}: give the scale of these values"
        raise InvalidInput(f"{name}[{places[index] if places else index}] is {value!r}{problem}")
    return checked


def is_bool(value: object) -> bool:
    """Whether a value is True or False, including numpy's."""
    return type(value).__name__ in {"bool", "bool_"}


def is_finite(value: float | None) -> bool:
    """Whether a value of any type is a finite number."""
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError):  # None, a text, or an integer too large for a float
        return False


def scale_of(values: Sequence[float], scale: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the given scale; if it is None, 0 to 1 for True and False, else None."""
    if scale is None and len(values) and all(is_bool(value) for value in values):
        return 0.0, 1.0
    return scale


def check_clusters(clusters: Sequence[Hashable] | None, count: int) -> None:
    """Check that each row has a cluster."""
    if clusters is None:
        return
    if len(clusters) != count:
        raise InvalidInput(f"clusters has {len(clusters)} entries for {count} rows: give each row its cluster")
    for place, cluster in enumerate(clusters):
        try:
            hash(cluster)
            usable = cluster is not None and not bool(cluster != cluster)  # noqa: PLR0124  NaN is not itself
        except TypeError:  # a list; or the NA of a table, which does not say whether it equals itself
            usable = False
        if not usable:
            raise InvalidInput(f"clusters[{place}] is {cluster!r}: give every row a cluster, even one of a single row")
