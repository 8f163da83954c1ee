"""The check of thresholds, so that a wrong one is found where it is given and not in the middle of a run."""

from __future__ import annotations

import math

from ragmetrics_core import InvalidInput

__all__ = ["check_threshold"]


def check_threshold(owner: str, threshold: object, *, positive: bool = False) -> None:
    """A threshold is a finite number, above 0 where scores are divided by it.

    Raises:
        InvalidInput: it is not.
    """
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold)
    if not number or (positive and isinstance(threshold, int | float) and threshold <= 0):
        raise InvalidInput(
            f"{owner}: the threshold must be a {'number above 0' if positive else 'finite number'}, got {threshold!r}"
        )
