"""How unlikely few passes are at a given rate, exactly: far out, the Wilson interval is too sure of itself."""

from __future__ import annotations

from ._distributions import beta_cdf


def rate_mid_p(hits: int, count: int, rate: float) -> float:
    """The one-sided mid-p value of "the rate is at least this": the chance of fewer hits, and half that of just as many.

    The chance of as many or fewer is at most twice that.

    Source: Lancaster 1961, Journal of the American Statistical Association 56:223 (mid-p); the binomial distribution as a beta
    distribution: Abramowitz & Stegun 1964, 26.5.24.

    Args:
        hits: how many there were, from 0 to count.
        count: out of how many, from 1.
        rate: from 0 to 1.
    """
    at_most = beta_cdf(1 - rate, count - hits, hits + 1) if hits < count else 1.0
    fewer = beta_cdf(1 - rate, count - hits + 1, hits) if hits else 0.0
    return (at_most + fewer) / 2
