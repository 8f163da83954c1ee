"""Wilson's interval for any mean on a known scale."""

from __future__ import annotations

import math

from ._interval import Interval, on_scale


def student_interval(
    mean: float, variance: float, quantile: float, scale: tuple[float, float] | None, method: str
) -> Interval:
    """Student's t with this variance of the mean.

    On a known scale in Wilson's form: the variance is taken to shrink towards the ends of the scale as that of a rate does. Then
    the method "t" is called "wilson-t".
    """
    half = quantile * math.sqrt(variance)
    if scale is None:
        return Interval(mean - half, mean + half, method)
    if not scale[0] < mean < scale[1]:  # a corrected mean may come to lie at an end though the labels do not
        return Interval(max(mean - half, scale[0]), min(mean + half, scale[1]), method)
    ratio = variance / ((mean - scale[0]) * (scale[1] - mean))
    limits = score_limits(share_of(mean, scale), quantile**2 * ratio)
    return on_scale(*limits, mean, scale, "wilson-t" if method == "t" else method)


def unseen_interval(mean: float, count: float, scale: tuple[float, float] | None, z2: float) -> Interval | None:
    """What equal values do not exclude, given how many there are and the square of the normal quantile."""
    if scale is None:
        return None
    unseen, share = z2 / (count + z2), share_of(mean, scale)
    return on_scale(share * (1 - unseen), share * (1 - unseen) + unseen, mean, scale, "constant")


def share_of(mean: float, scale: tuple[float, float]) -> float:
    """How far along the scale it lies, 0 to 1."""
    return (mean - scale[0]) / (scale[1] - scale[0])


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
