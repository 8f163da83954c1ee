"""Two differently worded judges rate the same thing, and their valid ratings are averaged (the NVIDIA metrics' device)."""

from __future__ import annotations

from typing import Any

from ragmetrics_core import BadReply, Score, Steps, together
from ragmetrics_core.replies import value_and_reason

__all__ = ["mean_rating"]


def mean_rating(first: Steps[Any], second: Steps[Any], highest: int) -> Steps[Score]:
    """Ask both judges in one round; the mean of the valid ratings / ``highest``.

    They reply with a rating, or with a rating and its reason.

    Raises:
        BadReply: neither judge gave a rating of the menu; ``raw`` keeps all their replies.
    """
    outcomes = yield from together(first, second, keep_bad_replies=True)
    problems = [outcome for outcome in outcomes if isinstance(outcome, BadReply)]
    if len(problems) == len(outcomes):
        raise BadReply(
            f"neither judge gave a rating: {problems[0].reason}", [text for item in problems for text in item.raw]
        )
    rated = [(None, "") if isinstance(item, BadReply) else value_and_reason(item) for item in outcomes]
    ratings = [rating for rating, _ in rated if rating is not None]
    details: dict[str, Any] = {"ratings": [rating for rating, _ in rated], "reasons": [reason for _, reason in rated]}
    if problems:
        details["unreadable"] = [{"reason": item.reason, "raw": list(item.raw)} for item in problems]
    return Score(sum(ratings) / len(ratings) / highest, details=details)
