"""How far people agree with each other: the ceiling for any judge.

Krippendorff's alpha for any number of annotators, of whom each may have labelled some of the rows only. Differences count
squared, as for interval data; for passes and fails that is alpha for nominal data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._kernel._errors import InvalidInput
from ._checks import check_confidence, is_finite
from ._distributions import t_quantile
from ._interval import Interval
from ._measure import Measure
from ._score_form import coefficient_limits

FEWEST_ROWS = 2
ROUNDING = 1e-12

Unit = tuple[int, float, float]
"""Of one row: how many labels it has, their sum, and the sum of their squares."""


def annotator_alpha(ratings: Sequence[Sequence[float | None]], confidence: float = 0.95) -> Measure:
    """Krippendorff's alpha between annotators: 1 where all agree, 0 where they agree as often as labels at random.

    The interval has the variance of the jackknife over rows (Miller 1974, Biometrika 61:1), Student's t and Wilson's form.

    Args:
        ratings: of each row the labels that annotators gave it, finite; None where one gave none. Rows with fewer than two labels
            do not count.
        confidence: how often such intervals hold, above 0 and below 1.

    Returns:
        No value where fewer than two rows have labels of two annotators, and where all labels are equal; no interval of two rows
        each of which has equal labels.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D.

    Raises:
        InvalidInput: if a label is not finite, or if confidence is impossible.
    """
    check_confidence(confidence)
    rows = [_given(row, given) for row, given in enumerate(ratings)]
    rows = [labels for labels in rows if len(labels) > 1]
    if len(rows) < FEWEST_ROWS:
        return Measure(problem="fewer than two rows have labels of two annotators")
    everything = [label for labels in rows for label in labels]
    if min(everything) == max(everything):
        return Measure(problem="all labels are equal, so agreement beyond chance cannot be told")
    centre = math.fsum(everything) / len(everything)  # sums of squares about it lose no digits
    units = [
        (
            len(labels),
            math.fsum(label - centre for label in labels),
            math.fsum((label - centre) ** 2 for label in labels),
        )
        for labels in rows
    ]
    observed, expected = _disagreement(units)
    value, count = 1 - observed / expected, len(units)
    # what rounding leaves of no difference at all is none either
    without = [1 - own / other for own, other in _each_left_out(units) if other > ROUNDING * expected]
    if not without:
        return Measure(value, problem="without either row all labels are equal, so that nothing tells how sure this is")
    middle = math.fsum(without) / len(without)
    variance = math.fsum((one - middle) ** 2 for one in without) * (count - 1) / count
    reach = (max(everything) - min(everything)) ** 2
    quantile = t_quantile((1 + confidence) / 2, count - 1)
    limits = coefficient_limits(1 - observed / reach, 1 - expected / reach, variance, quantile, count)
    low, high = min(limits[0], max(value, -1.0)), max(limits[1], value)  # rounding must not push them past the value
    return Measure(value, Interval(low, high, "wilson-chance"))


def _given(row: int, labels: Sequence[float | None]) -> list[float]:
    given = [label for label in labels if label is not None]
    for label in given:
        if not is_finite(label):
            raise InvalidInput(f"ratings[{row}] has the label {label!r}: give finite numbers, or None for no label")
    return given


def _disagreement(units: Sequence[Unit]) -> tuple[float, float]:
    """Mean squared difference between labels of the same row, and between labels of any rows."""
    return _ratios(*(math.fsum(sums) for sums in zip(*map(_terms, units), strict=True)))


def _each_left_out(units: Sequence[Unit]) -> list[tuple[float, float]]:
    """The same without the first row, without the second, and so on."""
    terms = [_terms(unit) for unit in units]
    whole = [math.fsum(sums) for sums in zip(*terms, strict=True)]
    return [_ratios(*(total - own for total, own in zip(whole, term, strict=True))) for term in terms]


def _terms(unit: Unit) -> tuple[float, float, float, float]:
    """What a row adds: labels, their sum, their squares, and squared differences among them."""
    count, total, squares = unit
    return count, total, squares, 2 * (count * squares - total * total) / (count - 1)


def _ratios(count: float, total: float, squares: float, within: float) -> tuple[float, float]:
    return max(within, 0.0) / count, 2 * (count * squares - total * total) / count / (count - 1)
