"""Context relevance, rated by two criteria and refined window by window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics.checks import check_halves
from ragmetrics_core.metrics.ratings import RatingMetric
from ragmetrics_core.metrics.settings import check_whole
from ragmetrics_core.metrics.windows import pack
from ragmetrics_core.replies import ScoreReply

FULL = 4.0

CRITERIA = (
    "1. Is the context about the subject that the query is about?\n"
    "2. Can the query be answered in full from the context alone?\n"
    "Each is worth up to 2 points, in steps of half a point. The score is their sum, from 0 to 4."
)


RATE_CONTEXT_RELEVANCE = Prompt(
    name="rate_context_relevance",
    version="5",
    instructions=f"Rate how relevant the context is to the query, by two criteria, and give a reason:\n{CRITERIA}",
    reply=ScoreReply(0, FULL, halves=True),
    check=check_halves,
)

REFINE_CONTEXT_RELEVANCE = Prompt(
    name="refine_context_relevance",
    version="5",
    instructions=(
        f"Rate how relevant the context is to the query, by two criteria, and give a reason:\n{CRITERIA}\n"
        "existing_score is the score of an earlier part of the context. Judge what this part adds: raise existing_score as far as "
        "this part meets the criteria further. If it adds nothing, repeat existing_score. Never go below it."
    ),
    reply=ScoreReply(0, FULL, halves=True),
    check=check_halves,
)


@dataclass(frozen=True)
class ContextRelevanceRating(RatingMetric):
    """How far the contexts meet two criteria: they are about the query's subject, and they answer it in full. 0 to 1.

    The contexts are packed into windows, in order. The first window is rated from 0 to 4 in steps of 0.5. Each further window
    refines the rating, which can only rise: useless contexts do not cancel useful ones. A 4 ends the questions. The value is the
    rating / 4. The reason is the judge's reason for the window that earned the rating.

    Attributes:
        threshold: the lowest passing value; 1.0: both criteria are fully met.
        window: most tokens of context per call (estimated).

    Source: LlamaIndex, ContextRelevancyEvaluator, https://docs.llamaindex.ai, "Answer Relevancy and Context Relevancy
    Evaluations".
    """

    calls: ClassVar[str] = "1 to number of windows"

    window: int = 3000
    first: Prompt[tuple[float, str]] = RATE_CONTEXT_RELEVANCE
    refine: Prompt[tuple[float, str]] = REFINE_CONTEXT_RELEVANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "window", self.window)

    def measure(self, user_input: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask about one window after the other until one earns full points."""
        windows = ["\n\n".join(texts) for texts in pack(retrieved_contexts, self.window)]
        best, reason = yield from self.first.ask(query=user_input, context=windows[0])
        ratings = [{"score": best, "reason": reason}]
        for context in windows[1:]:
            if best == FULL:
                break
            score, why = yield from self.refine.ask(query=user_input, existing_score=best, context=context)
            ratings.append({"score": score, "reason": why})
            if score > best:
                best, reason = score, why
        reasons = [item["reason"] for item in ratings]
        return self._rated(best / FULL, reason, windows=len(windows), ratings=ratings, reasons=reasons)
