"""Whether the judge orders rows as people do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._distributions import normal_quantile
from ._interval import Interval
from ._labelled import effective_count
from ._measure import Measure
from ._roots import crossing

BESIDE = 1e-9


def auroc(
    judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float], confidence: float, alike: float = 1.0
) -> Measure:
    """How often the judge scores a row that people pass above one that they fail; equal scores count half.

    The interval is a score interval: it holds the areas from which the observed one is not too far, in standard errors at the
    supposed area. So it has a width where the judge separates the two perfectly.

    Source: Hanley & McNeil 1982, Radiology 143:29; interval: Newcombe 2006, Statistics in Medicine 25:559, method 5, with the
        variance of method 4.

    Args:
        judged: one score for each row.
        passes: whether people pass it.
        masses: how many rows each stands for.
        confidence: of the interval.
        alike: by how much clusters multiply variances, 1 or more.
    """
    passing, failing = (
        effective_count([mass for mass, passed in zip(masses, passes, strict=True) if passed is wanted]) / alike
        for wanted in (True, False)
    )
    if not passing or not failing:
        return Measure(problem=f"no labelled row {'fails' if passing else 'passes'}, so there is no pair to order")
    value = _concordance(judged, passes, masses)
    quantile = normal_quantile((1 + confidence) / 2)
    half = max((passing + failing) / 2 - 1, 0.0)

    def excess(supposed: float) -> float:
        more = half * ((1 - supposed) / (2 - supposed) + supposed / (1 + supposed))
        return (supposed - value) ** 2 - quantile**2 * supposed * (1 - supposed) * (1 + more) / (passing * failing)

    # at an end itself the excess is 0 too, and so no end of the interval: it is looked for beside it
    low = crossing(excess, 0.0, min(value, 1 - BESIDE)) if value > 0 else 0.0
    high = crossing(excess, max(value, BESIDE), 1.0) if value < 1 else 1.0
    return Measure(value, Interval(low, high, "newcombe"))


def _concordance(judged: Sequence[float], passes: Sequence[bool], masses: Sequence[float]) -> float:
    rows = sorted(zip(judged, passes, masses, strict=True))
    below, ahead, place = 0.0, 0.0, 0
    totals = [math.fsum(mass for _, passed, mass in rows if passed is wanted) for wanted in (True, False)]
    while place < len(rows):
        tied = [row for row in rows[place:] if row[0] == rows[place][0]] if place + 1 < len(rows) else rows[place:]
        passing = math.fsum(mass for _, passed, mass in tied if passed)
        failing = math.fsum(mass for _, passed, mass in tied if not passed)
        ahead += passing * (below + failing / 2)
        below += failing
        place += len(tied)
    return ahead / (totals[0] * totals[1])


def spearman(
    judged: Sequence[float], labels: Sequence[float], masses: Sequence[float], confidence: float, alike: float = 1.0
) -> Measure:
    """Spearman's rank correlation, equal values sharing their mean rank.

    The interval is Fisher's z with the variance (1 + r² / 2) / (n - 3) of Bonett & Wright 2000, Psychometrika 65:23, equation 6.
    """
    if min(judged) == max(judged) or min(labels) == max(labels):
        who = "labels" if min(labels) == max(labels) else "scores of the judge"
        return Measure(problem=f"all {who} are equal, so there is no order")
    value = _correlation(_ranks(judged, masses), _ranks(labels, masses), masses)
    count = effective_count(masses) / alike
    if abs(value) >= 1 - 1e-12:
        return Measure(
            math.copysign(1.0, value),
            None,
            "the order is the same in all rows, which leaves nothing to estimate an interval by",
        )
    if count <= 4:
        return Measure(value, None, "an interval needs more than 4 rows")
    half = normal_quantile((1 + confidence) / 2) * math.sqrt((1 + value * value / 2) / (count - 3))
    z = math.atanh(value)
    return Measure(value, Interval(math.tanh(z - half), math.tanh(z + half), "fisher"))


def _ranks(values: Sequence[float], masses: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, below, start = [0.0] * len(values), 0.0, 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        mass = math.fsum(masses[place] for place in order[start:end])
        for place in order[start:end]:
            ranks[place] = below + mass / 2
        below, start = below + mass, end
    return ranks


def _correlation(ones: Sequence[float], others: Sequence[float], masses: Sequence[float]) -> float:
    total = math.fsum(masses)
    centre, other_centre = (
        math.fsum(map(math.prod, zip(values, masses, strict=True))) / total for values in (ones, others)
    )
    rows = list(zip(ones, others, masses, strict=True))
    together = math.fsum(mass * (one - centre) * (other - other_centre) for one, other, mass in rows)
    spread = math.fsum(mass * (one - centre) ** 2 for one, _, mass in rows)
    other_spread = math.fsum(mass * (other - other_centre) ** 2 for _, other, mass in rows)
    return together / math.sqrt(spread * other_spread)
