"""Context relevance, rated by two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.ratings import mean_rating
from ragmetrics_core.metrics.rules import CONTEXTS_ALONE
from ragmetrics_core.replies import RatingReply, WithReason

RATE_CONTEXTS = Prompt(
    name="rate_contexts",
    version="5",
    instructions=(
        "Rate how much of what is needed to answer the question the contexts contain, taken together.\n"
        "0: they contain nothing that helps to answer it.\n"
        "1: they contain part of what is needed.\n"
        "2: they contain all that is needed.\n"
        f"{CONTEXTS_ALONE}"
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)

RATE_CONTEXTS_AGAIN = Prompt(
    name="rate_contexts_again",
    version="5",
    instructions=(
        "A reader has these contexts and nothing else. How well can the reader answer the question?\n"
        "2: completely.\n"
        "1: in part; something that the question asks for is missing.\n"
        "0: not at all, even if the contexts are about the same subject."
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)


@dataclass(frozen=True)
class ContextRelevance(Metric):
    """Whether the retrieved contexts contain what the question asks for, rated by two judges.

    Each judge rates all contexts together: 0, 1 or 2. The value is the mean of the valid ratings / 2. The score fails if neither
    rating is valid.

    Source: NVIDIA's answer evaluation metrics, in the RAGAS documentation, "NVIDIA Metrics: Context Relevance",
    https://docs.ragas.io.
    """

    calls: ClassVar[str] = "2"

    first: Prompt[tuple[int, str]] | Prompt[int] = RATE_CONTEXTS
    second: Prompt[tuple[int, str]] | Prompt[int] = RATE_CONTEXTS_AGAIN

    def measure(self, user_input: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask both judges in one round."""
        contexts = list(retrieved_contexts)
        first = self.first.ask(question=user_input, contexts=contexts)
        second = self.second.ask(question=user_input, contexts=contexts)
        return mean_rating(first, second, highest=2)
