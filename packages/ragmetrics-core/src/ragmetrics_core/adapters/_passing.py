"""What frameworks want of a score besides its value: a verdict of every evaluator, and a failure as a score."""

from __future__ import annotations

import math
from typing import Any

from .._kernel._errors import InvalidInput, RagmetricsError
from .._kernel._metric import Metric
from .._kernel._score import Score


def passes(score: Score, threshold: float | None = None) -> bool | None:
    """The metric's own verdict if it has one, else whether the value reaches a threshold; None without a value, and for a tie.

    Args:
        score: the score.
        threshold: the lowest passing value; None: the middle of the scale.
    """
    if score.passing is not None or score.value is None or score.details.get("winner") == "tie":
        return score.passing
    return score.value >= (_middle(score.scale) if threshold is None else threshold)


def _middle(scale: tuple[float, float] | None) -> float:
    """The middle of the scale; half of the highest value if the scale goes below 0, as that of a cosine does."""
    low, high = scale or (0.0, 1.0)
    return high / 2 if low < 0 else (low + high) / 2


def check_threshold(owner: str, threshold: Any, *, positive: bool = False) -> None:
    """Refuse a threshold that is no finite number, or, where scores are divided by it, is not above 0."""
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold)
    if not number or (positive and threshold <= 0):
        wanted = "number above 0" if positive else "finite number"
        raise InvalidInput(f"{owner}: the threshold must be a {wanted}, got {threshold!r}")


def failed_score(metric: Metric, error: RagmetricsError | str) -> Score:
    """The failed score of a metric, with what it cost."""
    score = Score.failed(error)
    return score.made_by(metric.name, metric.scale, score.usage, {})
