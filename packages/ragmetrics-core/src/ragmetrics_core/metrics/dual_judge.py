"""Two differently worded judges rate the same thing, and their valid ratings are averaged (the NVIDIA metrics' device)."""

from __future__ import annotations

from typing import Any

from ragmetrics_core import BadReply, Score, Steps, together

__all__ = ["mean_rating"]


def mean_rating(first: Steps[int], second: Steps[int], highest: int) -> Steps[Score]:
    """Ask both judges in one round; the mean of the valid ratings / ``highest``.

    Raises:
        BadReply: neither judge gave a rating of the menu; ``raw`` keeps all their replies.
    """
    outcomes = yield from together(first, second, keep_bad_replies=True)
    ratings = [outcome for outcome in outcomes if not isinstance(outcome, BadReply)]
    problems = [outcome for outcome in outcomes if isinstance(outcome, BadReply)]
    if not ratings:
        raise BadReply(
            f"neither judge gave a rating: {problems[0].reason}", [text for item in problems for text in item.raw]
        )
    details: dict[str, Any] = {"ratings": [None if isinstance(item, BadReply) else item for item in outcomes]}
    if problems:
        details["unreadable"] = [{"reason": item.reason, "raw": list(item.raw)} for item in problems]
    return Score(sum(ratings) / len(ratings) / highest, details=details)
