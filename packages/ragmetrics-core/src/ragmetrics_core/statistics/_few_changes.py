"""An interval for a mean of which most rows tell the same: a score interval, as Tango's is for passes and fails.

Where 5 rows of 50 changed, all of them for the worse, Student's t takes the spread of these five for that of all rows: it holds in
0.85 to 0.91 of such samples where 0.95 is asked for, and this interval in 0.94 to 0.98 (20,000 samples; changes of one size,
uniform, beta(2, 2) and beta(0.7, 2), of a claim lost and of a score halved).

A score interval asks of each supposed mean whether the data would be odd if it were true, with the spread that the rows would most
likely have then. Most likely is, of all distributions with that mean, the one that gives the observed rows the largest probability
(the empirical likelihood: Owen 2001, Empirical Likelihood, chapter 2). It may lie on what was observed, and on one value more that
was not: the farthest that may reasonably be expected. Without it no mean beyond the observed values could be supposed at all; in
Wilson's and Tango's intervals it is the other end of the scale.

On changes of -1, 0 and 1 this is Tango's interval, and on equal values Wilson's z² / (n + z²). For clusters the spread is scaled by
what CR2 adds to the plain estimate, and the quantile is Student's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ._roots import crossing

FEW = 50
"""From so many changes on Student's t is as good, however many rows did not change."""


def reach_of(units: Sequence[tuple[float, int]], most: float) -> tuple[float, float]:
    """The farthest sums for the worse and for the better that an unseen unit of average size may be expected to have.

    Where there was any in a direction, the largest of all k mean changes and 2 / k of it beyond: of k draws from one to any largest
    value, all as likely, that reaches the latter in 0.67 (k = 1) to 0.86 of cases. Where there was none, they are taken to be like
    the others, turned round: the mean square of these over their mean, which gives about the spread that flipping signs gives.

    Args:
        units: of each the sum of its changes and its number of rows; at least one sum is not 0.
        most: farther than that no row can change.
    """
    size = sum(rows for _, rows in units) / len(units)
    changed = [(total, rows) for total, rows in units if total]
    farthest = size * min(max(abs(total) / rows for total, rows in changed) * (1 + 2 / len(changed)), most)
    usual = math.fsum(total * total for total, _ in changed) / math.fsum(abs(total) for total, _ in changed)
    worse = farthest if any(total < 0 for total, _ in changed) else min(usual, farthest)
    better = farthest if any(total > 0 for total, _ in changed) else min(usual, farthest)
    return -worse, better


@dataclass(frozen=True)
class FewChanges:
    """Units, which are rows or clusters of rows, most of which tell the same.

    Attributes:
        units: how often there is a unit with this sum of values and this number of rows.
        reach: lowest and highest sum that an unseen unit of average size may have.
        inflation: unbiased over plain variance.
        unmet: the variance of a unit that rare, large changes add, which few changes have not met.
    """

    units: Counter[tuple[float, int]]
    reach: tuple[float, float]
    inflation: float
    unmet: float = 0.0

    @cached_property
    def _rows(self) -> int:
        return sum(size * count for (_, size), count in self.units.items())

    @cached_property
    def _number(self) -> int:
        return self.units.total()

    @cached_property
    def mean(self) -> float:
        """Of all rows."""
        return math.fsum(total * count for (total, _), count in self.units.items()) / self._rows

    def limits(self, quantile: float) -> tuple[float, float]:
        """The lowest and the highest mean from which the observed one is at most so many standard errors away."""

        def excess(mean: float) -> float:
            return self.distance(mean) ** 2 - quantile**2

        size = self._rows / self._number
        ratios = [total / rows for total, rows in self.units]
        lowest, highest = min(self.reach[0] / size, *ratios), max(self.reach[1] / size, *ratios)
        return crossing(excess, lowest, self.mean), crossing(excess, self.mean, highest)

    def distance(self, mean: float) -> float:
        """How many standard errors the observed mean lies from a supposed one, without a sign."""
        side = 1 if self.mean >= mean else -1
        away = [(side * (total - mean * size), count) for (total, size), count in self.units.items()]
        observed = math.fsum(value * count for value, count in away) / self._number
        if observed <= 0:
            return 0.0
        unseen = side * (mean * self._rows / self._number - self.reach[0 if side > 0 else 1])
        variance = self.inflation * _likely_variance(away, max(unseen, 0.0), self._number) + self.unmet
        return observed / math.sqrt(variance / self._number) if variance > 0 else math.inf


def _likely_variance(away: list[tuple[float, int]], unseen: float, number: int) -> float:
    """The variance of the likeliest distribution with mean 0, where the values have a mean above 0.

    Its weights are 1 / (number * (1 + m * value)) with one multiplier m. That is held back by the unseen value at -unseen, which
    may have no negative weight; where it holds m back, it has what weight the others leave.

    Args:
        away: values, and how often there is each.
        unseen: how far below 0 the unseen value lies.
        number: how many values there are.
    """
    lowest = -min(value for value, _ in away)

    def pull(multiplier: float) -> float:
        return math.fsum(count * value / (1 + multiplier * value) for value, count in away)

    most = (1 - 1 / number) / lowest if lowest > 0 else math.inf
    held_back = unseen > 0 and 1 / unseen < most and pull(1 / unseen) >= 0
    if most == math.inf and not held_back:
        return 0.0
    multiplier = 1 / unseen if held_back else crossing(pull, 0.0, min(most, 1 / unseen) if unseen > 0 else most)
    weights = [(value, count / (number * (1 + multiplier * value))) for value, count in away]
    rest = max(1 - math.fsum(weight for _, weight in weights), 0.0) if held_back else 0.0
    return math.fsum(weight * value * value for value, weight in weights) + rest * unseen * unseen
