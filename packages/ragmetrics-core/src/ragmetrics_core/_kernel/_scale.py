"""The scale that scores stand on: its two ends."""

from __future__ import annotations

import math
from collections.abc import Sequence


def checked_scale(scale: Sequence[float]) -> tuple[float, float]:
    """The two ends of a scale as floats.

    Raises:
        ValueError: they are no two finite numbers, the lower one first.
    """
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (low <= high and high - low < math.inf):
        raise ValueError(
            f"a scale is its two finite ends, the lower one first, got {scale!r}: None where an end is not known"
        )
    return low, high
