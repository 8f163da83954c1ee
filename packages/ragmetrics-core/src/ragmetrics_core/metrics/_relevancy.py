"""Relevancy: are the query, the response and the contexts consistent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics.refining import RefiningMetric
from ragmetrics_core.replies import WithReason, YesNoReply

IN_LINE_WITH_CONTEXT = Prompt(
    name="in_line_with_context",
    version="5",
    instructions=(
        "Does the response answer the query in line with the context? Answer YES if the response addresses the query and the "
        "context supports what it says, even if most of the context is about other things, else NO. A response that only says "
        "that something is unknown or not stated does not address the query."
    ),
    reply=WithReason(YesNoReply()),
)

REFINE_IN_LINE = Prompt(
    name="refine_in_line",
    version="5",
    instructions=(
        "Does the response answer the query in line with the context? An earlier part of the context was judged; existing_answer "
        "is the answer to it. Judge what this part adds: answer YES if the response addresses the query and this part supports "
        "what it says, else repeat existing_answer."
    ),
    reply=WithReason(YesNoReply()),
)


@dataclass(frozen=True)
class Relevancy(RefiningMetric):
    """Whether the response, together with the retrieved contexts, is in line with the query: 1.0 or 0.0.

    The contexts are packed into windows, in order. The first window is judged YES or NO, and each further window refines the
    answer until one is YES. YES passes. The reason names the window that decided.

    Attributes:
        window: most tokens of context per call (estimated).

    Source: LlamaIndex, RelevancyEvaluator (refine response mode), https://docs.llamaindex.ai, "Relevancy Evaluator".
    """

    first: Prompt[tuple[bool, str]] | Prompt[bool] = IN_LINE_WITH_CONTEXT
    refine: Prompt[tuple[bool, str]] | Prompt[bool] = REFINE_IN_LINE

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask about one window after the other until one answer is YES."""
        finding, inputs = "is in line with the query and the response", {"query": user_input, "response": response}
        return self._ask_until_yes(self.first, self.refine, finding, retrieved_contexts, **inputs)
