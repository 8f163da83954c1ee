"""Wilson's interval for any mean on a known scale."""

from __future__ import annotations

import math

from ._interval import Interval, on_scale

__all__ = ["coefficient_limits", "score_interval", "score_limits"]


def score_interval(mean: float, variance: float, quantile: float, scale: tuple[float, float], method: str) -> Interval:
    """The interval of a mean with this variance, where the variance shrinks towards the ends of the scale as that of a rate
    does.
    """
    low, high = scale
    share = (mean - low) / (high - low)
    room = (mean - low) * (high - mean)
    spread = quantile * quantile * variance / room if room > 0 else 0.0
    return on_scale(*score_limits(share, spread), mean, scale, method)


def score_limits(share: float, spread: float) -> tuple[float, float]:
    """The two shares p that solve (share - p)² = spread * p * (1 - p)."""
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * share * (1 - share) + spread * spread / 4) / (1 + spread)
    return centre - half, centre + half


def coefficient_limits(
    agreement: float, chance: float, variance: float, quantile: float, count: float
) -> tuple[float, float]:
    """Limits of a coefficient that corrects agreement for chance: (agreement - chance) / (1 - chance).

    Such a coefficient is agreement on another scale, which starts at the agreement that chance gives. So its limits are those of
    agreement in Wilson's form, with its own variance in place of that of a rate, and have a width where judge and people always
    agree.

    Args:
        agreement: observed, 0 to 1.
        chance: what chance would give, below 1.
        variance: of the coefficient.
        quantile: of the normal or of Student's distribution.
        count: how many rows there are.

    Returns:
        Limits from -1 to 1, with the coefficient between them.
    """
    value, room = (agreement - chance) / (1 - chance), agreement * (1 - agreement)
    share = variance * (1 - chance) ** 2 / room if room > 0 and variance > 0 else 1 / count
    low, high = ((limit - chance) / (1 - chance) for limit in score_limits(agreement, quantile * quantile * share))
    return max(min(low, value), -1.0), min(max(high, value), 1.0)
