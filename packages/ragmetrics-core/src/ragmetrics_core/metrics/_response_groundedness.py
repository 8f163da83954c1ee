"""Response groundedness, rated by two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.ratings import mean_rating
from ragmetrics_core.metrics.rules import CONTEXTS_ALONE, SUPPORT
from ragmetrics_core.replies import RatingReply, WithReason

RATE_GROUNDEDNESS = Prompt(
    name="rate_groundedness",
    version="5",
    instructions=(
        "Rate how far the contexts support the response.\n"
        "2: they support every claim, or the response makes no claim, as when it only says that something is unknown or not "
        "stated.\n"
        "1: they support some of its claims.\n"
        "0: they support none of its claims.\n"
        f"{SUPPORT} {CONTEXTS_ALONE}"
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)

RATE_GROUNDEDNESS_AGAIN = Prompt(
    name="rate_groundedness_again",
    version="5",
    instructions=(
        "Check the response against the contexts, as an editor checks a text against its sources. Which mark does it get?\n"
        "2: every claim can be traced to the contexts. A response without claims gets this mark too.\n"
        "1: part of it can be traced; the rest is missing from the contexts or contradicts them.\n"
        "0: nothing in it can be traced, or its main point is the opposite of what the contexts say.\n"
        f"{SUPPORT} {CONTEXTS_ALONE}"
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)


@dataclass(frozen=True)
class ResponseGroundedness(Metric):
    """Whether every claim of the response is in the contexts or follows from them, rated by two judges.

    Each judge rates 0, 1 or 2. The value is the mean of the valid ratings / 2. The score fails if neither rating is valid.

    Source: NVIDIA's answer evaluation metrics, in the RAGAS documentation, "NVIDIA Metrics: Response Groundedness",
    https://docs.ragas.io.
    """

    calls: ClassVar[str] = "2"

    first: Prompt[tuple[int, str]] | Prompt[int] = RATE_GROUNDEDNESS
    second: Prompt[tuple[int, str]] | Prompt[int] = RATE_GROUNDEDNESS_AGAIN

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask both judges in one round."""
        contexts = list(retrieved_contexts)
        first = self.first.ask(contexts=contexts, response=response)
        second = self.second.ask(contexts=contexts, response=response)
        return mean_rating(first, second, highest=2)
