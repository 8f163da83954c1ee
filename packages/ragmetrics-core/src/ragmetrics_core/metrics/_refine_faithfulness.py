"""Faithfulness by refining one verdict over the contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.refining import ask_until_yes
from ragmetrics_core.metrics.rules import SUPPORT
from ragmetrics_core.metrics.windows import check_window, pack
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
class RefineFaithfulness(Metric):
    """Whether the retrieved contexts support the response as a whole: 1.0 or 0.0.

    The contexts are packed in order into windows. The first window is judged YES or NO, every further one refines the answer; a
    YES ends it. Passing means YES; the reason names the window that decided.

    Attributes:
        window: most tokens of context per call (estimated).

    Source: LlamaIndex, FaithfulnessEvaluator (refine response mode), https://docs.llamaindex.ai, "Faithfulness Evaluator".
    """

    calls: ClassVar[str] = "1 to number of windows"
    two_valued: ClassVar[bool] = True

    window: int = 3000
    first: Prompt[tuple[bool, str]] | Prompt[bool] = SUPPORTED_BY_CONTEXT
    refine: Prompt[tuple[bool, str]] | Prompt[bool] = REFINE_SUPPORTED

    def __post_init__(self) -> None:
        super().__post_init__()
        check_window(self.name, self.window)

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask window by window until one says YES."""
        windows = ["\n\n".join(texts) for texts in pack(retrieved_contexts, self.window)]
        refined = yield from ask_until_yes(self._questions(response, windows), len(windows))
        return refined.score("supports the response")

    def _questions(self, response: str, windows: Sequence[str]) -> Iterator[Steps[Any]]:
        yield self.first.ask(information=response, context=windows[0])
        for context in windows[1:]:
            yield self.refine.ask(information=response, existing_answer="NO", context=context)
