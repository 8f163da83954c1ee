"""Ratings: values that pass from a threshold on, and the mean of two judges with different wordings (as in the NVIDIA metrics)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ragmetrics_core import BadReply, Metric, Score, Steps, together
from ragmetrics_core.metrics.settings import check_number
from ragmetrics_core.replies import value_and_reason

__all__ = ["RatingMetric", "mean_rating"]


@dataclass(frozen=True)
class RatingMetric(Metric):
    """Base of metrics whose value passes if it reaches a threshold.

    Attributes:
        threshold: the lowest passing value.

    Raises:
        InvalidInput: ``threshold`` is not a number on the scale.
    """

    threshold: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.scale or (-math.inf, math.inf)
        check_number(self.name, "threshold", self.threshold, low, high)

    def _rated(self, value: float, why: str, **details: Any) -> Score:
        """Return the score with ``passing``, and with the judge's reason if it gave one."""
        return Score(value, passing=value >= self.threshold, reason=why or None, details=details)


def mean_rating(first: Steps[Any], second: Steps[Any], highest: int) -> Steps[Score]:
    """Ask both judges in one round. The result is the mean of the valid ratings, divided by ``highest``.

    A judge replies with a rating, or with a rating and its reason.

    Raises:
        BadReply: neither judge gave one of the allowed ratings; ``raw`` keeps all their replies.
    """
    outcomes = yield from together(first, second, keep_bad_replies=True)
    problems = [outcome for outcome in outcomes if isinstance(outcome, BadReply)]
    if len(problems) == len(outcomes):
        raw = [text for item in problems for text in item.raw]
        raise BadReply(f"neither judge gave a rating: {problems[0].reason}", raw)
    rated = [(None, "") if isinstance(item, BadReply) else value_and_reason(item) for item in outcomes]
    ratings = [rating for rating, _ in rated if rating is not None]
    details: dict[str, Any] = {"ratings": [rating for rating, _ in rated], "reasons": [reason for _, reason in rated]}
    if problems:
        details["unreadable"] = [{"reason": item.reason, "raw": list(item.raw)} for item in problems]
    return Score(sum(ratings) / len(ratings) / highest, details=details)
