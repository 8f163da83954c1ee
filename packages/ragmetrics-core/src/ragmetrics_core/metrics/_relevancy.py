"""Relevancy: are query, response and contexts in line?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.refining import ask_until_yes
from ragmetrics_core.metrics.windows import check_window, pack
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
class Relevancy(Metric):
    """Whether the response, together with the retrieved contexts, is in line with the query: 1.0 or 0.0.

    The contexts are packed in order into windows. The first window is judged YES or NO, every further one refines the answer; a
    YES ends it. Passing means YES; the reason names the window that decided.

    Attributes:
        window: most tokens of context per call (estimated).

    Source: LlamaIndex, RelevancyEvaluator (refine response mode), https://docs.llamaindex.ai, "Relevancy Evaluator".
    """

    calls: ClassVar[str] = "1 to number of windows"
    two_valued: ClassVar[bool] = True

    window: int = 3000
    first: Prompt[tuple[bool, str]] | Prompt[bool] = IN_LINE_WITH_CONTEXT
    refine: Prompt[tuple[bool, str]] | Prompt[bool] = REFINE_IN_LINE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_window(self.name, self.window)

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask window by window until one says YES."""
        windows = ["\n\n".join(texts) for texts in pack(retrieved_contexts, self.window)]
        refined = yield from ask_until_yes(self._questions(user_input, response, windows), len(windows))
        return refined.score("is in line with the query and the response")

    def _questions(self, query: str, response: str, windows: Sequence[str]) -> Iterator[Steps[Any]]:
        yield self.first.ask(query=query, response=response, context=windows[0])
        for context in windows[1:]:
            yield self.refine.ask(query=query, response=response, existing_answer="NO", context=context)
