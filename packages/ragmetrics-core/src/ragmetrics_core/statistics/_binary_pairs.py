"""Pairs of passes and fails: Tango's score interval and the mid-p test of McNemar.

Of n pairs, g rows are gained (failed before, passed after) and l rows lost; the others tell nothing but their number.
"""

from __future__ import annotations

import math

from ._distributions import beta_cdf, normal_quantile
from ._roots import crossing


def tango_limits(gained: int, lost: int, pairs: int, confidence: float) -> tuple[float, float]:
    """The score interval for the difference of two paired rates, (gained - lost) / pairs.

    It holds the differences that a score test would not reject: their standard error is that of the most likely rates that have
    exactly this difference. So it is no point where no pair changed: then it holds z² / (n + z²) on either side of 0.

    Source: Tango 1998, Statistics in Medicine 17:891, equations 19 to 24 (p. 896).

    Returns:
        Its limits, from -1 to 1.
    """
    z = normal_quantile((1 + confidence) / 2)
    observed = (gained - lost) / pairs

    def excess(difference: float) -> float:
        return _score(gained, lost, pairs, difference) ** 2 - z * z

    return (
        crossing(excess, -1.0, observed) if observed > -1 else -1.0,
        crossing(excess, observed, 1.0) if observed < 1 else 1.0,
    )


def _score(gained: int, lost: int, pairs: int, difference: float) -> float:
    """How many standard errors the observed difference lies from a supposed one."""
    away = gained - lost - pairs * difference
    if away == 0:
        return 0.0
    # the most likely rate of losses, given the difference: the larger root of a quadratic equation
    a, b = 2 * pairs, (2 * pairs - gained + lost) * difference - gained - lost
    c = -lost * difference * (1 - difference)
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    rate = (root - b) / (2 * a) if b < 0 else -2 * c / (root + b) if root + b else 0.0
    variance = pairs * (2 * rate + difference * (1 - difference))
    return away / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, away)


def mcnemar_mid_p(gained: int, lost: int) -> float:
    """The two-sided p-value of "gains and losses are equally likely": the exact one, with half the weight on what was observed.

    1 where nothing changed, or as much in either direction.

    Source: Fagerland, Lydersen & Laake 2013, BMC Medical Research Methodology 13:91, p. 3 (mid-p version of McNemar 1947).
    """
    changed, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0
    at_most = beta_cdf(0.5, changed - fewer, fewer + 1)
    exactly = math.exp(
        math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1) - changed * math.log(2)
    )
    return min(2 * at_most - exactly, 1.0)
