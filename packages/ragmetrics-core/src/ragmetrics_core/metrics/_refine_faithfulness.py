"""Faithfulness as one verdict that is refined window by window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics.refining import RefiningMetric
from ragmetrics_core.metrics.rules import SUPPORT
from ragmetrics_core.replies import WithReason, YesNoReply

SUPPORTED_BY_CONTEXT = Prompt(
    name="supported_by_context",
    version="5",
    instructions=(
        "Does the context support the information? Answer YES if it supports every claim that the information makes, else NO. "
        f"{SUPPORT} Information that only says that something is unknown or not stated makes no claims: answer YES."
    ),
    reply=WithReason(YesNoReply()),
)

REFINE_SUPPORTED = Prompt(
    name="refine_supported",
    version="5",
    instructions=(
        "Does the context support the information? An earlier part of the context was judged; existing_answer is the answer to it. "
        "Judge what this part adds: answer YES if it supports every claim that the information makes, else repeat existing_answer. "
        f"{SUPPORT}"
    ),
    reply=WithReason(YesNoReply()),
)


@dataclass(frozen=True)
class RefineFaithfulness(RefiningMetric):
    """Whether the retrieved contexts support the response as a whole: 1.0 or 0.0.

    The contexts are packed into windows, in order. The first window is judged YES or NO, and each further window refines the
    answer until one is YES. YES passes. The reason names the window that decided.

    Attributes:
        window: most tokens of context per call (estimated).

    Source: LlamaIndex, FaithfulnessEvaluator (refine response mode), https://docs.llamaindex.ai, "Faithfulness Evaluator".
    """

    first: Prompt[tuple[bool, str]] | Prompt[bool] = SUPPORTED_BY_CONTEXT
    refine: Prompt[tuple[bool, str]] | Prompt[bool] = REFINE_SUPPORTED

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask about one window after the other until one answer is YES."""
        finding = "supports the response"
        return self._ask_until_yes(self.first, self.refine, finding, retrieved_contexts, information=response)
