"""How many rows would show a difference of a given size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ._distributions import normal_quantile

FEWEST_CHANGED = 6
"""Changed pairs below which nothing can be said: were they all for the better, chance alone would do that in 1 of 16 cases."""

MOST_ROWS = 100_000
"""More rows than that are no advice."""


@dataclass(frozen=True)
class Spread:
    """How much pairs differ among each other.

    Attributes:
        variance: of the changes.
        difference: their mean, without its sign.
        share: of the pairs that changed.
        size: mean amount of a change, over the pairs that changed.
        square: mean square of a change, over the pairs that changed.
        likeness: how many times as many rows are needed as if they were independent (the design effect; 1 without clusters).
        rows: rows per independent unit: 1, or the average size of a cluster.
    """

    variance: float
    difference: float
    share: float
    size: float
    square: float
    likeness: float
    rows: float


def spread_of(changes: Sequence[float], variance: float, units: int) -> Spread | None:
    """The spread of these changes, whose mean has this variance and rests on so many independent units; None if there is none."""
    count, mean = len(changes), math.fsum(changes) / len(changes)
    changed = [change for change in changes if change]
    if not (variance > 0 and changed):
        return None
    own = math.fsum((change - mean) ** 2 for change in changes) / (count - 1)
    return Spread(
        variance=own,
        difference=abs(mean),
        share=len(changed) / count,
        size=math.fsum(map(abs, changed)) / len(changed),
        square=math.fsum(change * change for change in changed) / len(changed),
        likeness=variance * count / own,
        rows=count / units,
    )


def rows_to_show(effect: float, spread: Spread, power: float, confidence: float) -> int | None:
    """Rows in which an interval of that confidence excludes 0 with that power, where the true difference is the effect.

    The t test of a mean: (z + z')² * variance / effect², and z² / 2 more for that the variance is estimated (Guenther 1981, The
    American Statistician 35:243).

    Where all pairs changed, the variance is that of their changes. Otherwise a difference that is larger than the observed one
    takes more changes in one direction, as far as it falls on pairs that did not change, and these add to the spread: being of the
    size of the observed ones, the missing difference times the mean square of a change over its mean size. Without that, a pilot
    in which nothing got worse would name too few rows to show that something did. Rows for six changes are always needed.

    Returns:
        The number; None if it is above 100,000.
    """
    effect = abs(effect)
    z, more = normal_quantile((1 + confidence) / 2), normal_quantile(power)
    missing = max(effect - spread.difference, 0.0) * (1 - spread.share)
    variance = spread.variance + missing * spread.square / spread.size
    rows = ((z + more) ** 2 * variance * spread.likeness / effect**2) + z * z / 2 * spread.rows
    share = min(max(spread.share, effect / spread.size), 1.0)
    needed = math.ceil(max(rows, FEWEST_CHANGED / share))
    return needed if needed <= MOST_ROWS else None
