"""The check of the lowest passing value."""

from __future__ import annotations

from ragmetrics_core import InvalidInput

__all__ = ["check_threshold"]


def check_threshold(metric: str, threshold: object, low: float, high: float) -> None:
    """A threshold is a number on the metric's scale; True is not a number here, though Python takes it for 1.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not low <= threshold <= high:
        raise InvalidInput(f"{metric}: threshold must be a number from {low:g} to {high:g}, got {threshold!r}")
