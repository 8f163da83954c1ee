"""Relevancy: are query, response and contexts in line?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.windows import check_window, pack
from ragmetrics_core.replies import YesNoReply

__all__ = ["Relevancy"]

IN_LINE_WITH_CONTEXT = Prompt(
    name="in_line_with_context",
    version="1",
    instructions=(
        "Is the response to the query in line with the context? Answer YES if the response addresses the query and the context "
        "bears it out, even if most of the context is about other things; otherwise answer NO."
    ),
    reply=YesNoReply(),
)

REFINE_IN_LINE = Prompt(
    name="refine_in_line",
    version="1",
    instructions=(
        "Is the response to the query in line with the context? An earlier part of the context was already judged; its answer "
        "is in existing_answer. Now refine that answer with more context: if the existing answer is YES, stay with YES; "
        "otherwise answer YES if the response addresses the query and this context bears it out, and NO if not."
    ),
    reply=YesNoReply(),
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

    window: int = 3000
    first: Prompt[bool] = IN_LINE_WITH_CONTEXT
    refine: Prompt[bool] = REFINE_IN_LINE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_window(self.name, self.window)

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask window by window until one says YES."""
        windows = ["\n\n".join(texts) for texts in pack(retrieved_contexts, self.window)]
        in_line = yield from self.first.ask(query=user_input, response=response, context=windows[0])
        answers = [in_line]
        for context in windows[1:]:
            if in_line:
                break
            in_line = yield from self.refine.ask(
                query=user_input, response=response, existing_answer="NO", context=context
            )
            answers.append(in_line)
        where = f"window {len(answers)} of {len(windows)}" if in_line else f"none of the {len(windows)} windows"
        if len(windows) == 1:
            where = "the context" if in_line else "no part of the context"
        reason = f"{'YES' if in_line else 'NO'}: {where} is in line with the query and the response"
        details = {"windows": len(windows), "answers": ["YES" if answer else "NO" for answer in answers]}
        return Score(1.0 if in_line else 0.0, passing=in_line, reason=reason, details=details)
