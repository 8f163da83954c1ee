"""Answer relevance, rated by two criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import BadReply, Prompt, Score, Steps
from ragmetrics_core.metrics.ratings import RatingMetric
from ragmetrics_core.replies import ScoreReply


def check_points(reply: tuple[float, str], _: Mapping[str, Any]) -> None:
    """Check that the score is a whole number of criteria."""
    if not reply[0].is_integer():
        raise BadReply(f"the score is the number of criteria that are met, 0, 1 or 2, got {reply[0]:g}")


RATE_ANSWER_RELEVANCE = Prompt(
    name="rate_answer_relevance",
    version="5",
    instructions=(
        "Rate how relevant the response is to the query. Answer two questions with yes or no, and give a reason:\n"
        "1. Is the response about the subject of the query?\n"
        "2. Does the response take the point of view or the focus from which the query looks at this subject?\n"
        "Every yes is one point. The score is the number of points: 0, 1 or 2. Whether the response is true does not matter here."
    ),
    reply=ScoreReply(0, 2),
    check=check_points,
)


@dataclass(frozen=True)
class AnswerRelevanceRating(RatingMetric):
    """How many of two criteria the response meets: the subject of the query, and its point of view. 0, 0.5 or 1.

    One call gives one point for each criterion that is met; the value is points / 2. A reply with half a point is a bad reply and
    is never rounded. The reason is the judge's feedback.

    Attributes:
        threshold: the lowest passing value; 1.0: both criteria are met.

    Source: LlamaIndex, AnswerRelevancyEvaluator, https://docs.llamaindex.ai, "Answer Relevancy and Context Relevancy
    Evaluations".
    """

    calls: ClassVar[str] = "1"

    rate: Prompt[tuple[float, str]] = RATE_ANSWER_RELEVANCE

    def measure(self, user_input: str, response: str) -> Steps[Score]:
        """Ask once."""
        points, reason = yield from self.rate.ask(query=user_input, response=response)
        return self._rated(points / 2, reason, points=points, reason=reason, reasons=[reason])
