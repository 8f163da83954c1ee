"""Response groundedness, by two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.dual_judge import mean_rating
from ragmetrics_core.replies import RatingReply, WithReason

__all__ = ["ResponseGroundedness"]

RATE_GROUNDEDNESS = Prompt(
    name="rate_groundedness",
    version="4",
    instructions=(
        "Rate how well the contexts back the response.\n"
        "2: every statement is found in the contexts or follows from them, in every detail; also if the response states nothing "
        "that would need backing, such as that it does not know.\n"
        "1: a part is found or follows, another part, if only a detail, is not.\n"
        "0: nothing of what the response states is found in the contexts or follows from them.\n"
        "Judge by the contexts alone, not by what you know."
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)

RATE_GROUNDEDNESS_AGAIN = Prompt(
    name="rate_groundedness_again",
    version="4",
    instructions=(
        "Check the response against its sources, the contexts, as an editor would. Which mark does it get?\n"
        "2: every claim can be traced to the contexts, word for word or by a direct conclusion; a response without claims gets "
        "this mark too.\n"
        "1: only a part of it can be traced; the rest is missing from the contexts or contradicts them.\n"
        "0: nothing in it can be traced, or its main point is the opposite of what the contexts say.\n"
        "Judge by the contexts alone, not by what you know."
    ),
    reply=WithReason(RatingReply((0, 1, 2))),
)


@dataclass(frozen=True)
class ResponseGroundedness(Metric):
    """Whether every claim of the response is found in the contexts or can be inferred from them, rated by two judges.

    Each rates 0, 1 or 2; mean of the valid ratings / 2. Fails if neither rating is valid.

    Source: NVIDIA's answer evaluation metrics, in the RAGAS documentation, "NVIDIA Metrics: Response Groundedness",
    https://docs.ragas.io.
    """

    calls: ClassVar[str] = "2"

    first: Prompt[tuple[int, str]] | Prompt[int] = RATE_GROUNDEDNESS
    second: Prompt[tuple[int, str]] | Prompt[int] = RATE_GROUNDEDNESS_AGAIN

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask both judges in one round."""
        contexts = list(retrieved_contexts)
        return (
            yield from mean_rating(
                self.first.ask(contexts=contexts, response=response),
                self.second.ask(contexts=contexts, response=response),
                highest=2,
            )
        )
