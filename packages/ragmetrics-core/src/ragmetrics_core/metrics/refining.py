"""One yes-or-no question over several windows of context (LlamaIndex's refine mode). The windows are asked in order until one
answer is yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.settings import check_whole
from ragmetrics_core.metrics.windows import pack
from ragmetrics_core.replies import value_and_reason

__all__ = ["RefiningMetric"]


@dataclass(frozen=True)
class RefiningMetric(Metric):
    """Base of metrics that ask about one window of context after the other.

    Attributes:
        window: most tokens of context per call (estimated).
    """

    calls: ClassVar[str] = "1 to number of windows"
    two_valued: ClassVar[bool] = True

    window: int = 3000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "window", self.window)

    def _ask_until_yes(
        self, first: Prompt[Any], refine: Prompt[Any], finding: str, contexts: Sequence[str], **inputs: Any
    ) -> Steps[Score]:
        """Ask about one window after the other until the answer is yes, and return the score: 1.0 and passing after a yes, else
        0.0.

        Replies are bools, or bools with reasons. The reason of the score names the window that decided, the finding, and the
        judge's reason.
        """
        windows = ["\n\n".join(texts) for texts in pack(contexts, self.window)]
        yes = False
        answers: list[str] = []
        reasons: list[str] = []
        for context in windows:
            earlier = {"existing_answer": "NO"} if answers else {}
            reply = yield from (refine if answers else first).ask(**inputs, **earlier, context=context)
            yes, reason = value_and_reason(reply)
            answers.append("YES" if yes else "NO")
            reasons.append(reason)
            if yes:
                break
        where = f"window {len(answers)} of {len(windows)}" if yes else f"none of the {len(windows)} windows"
        if len(windows) == 1:
            where = "the context" if yes else "no part of the context"
        why = reasons[-1] if yes else " / ".join(filter(None, reasons))
        reason = f"{answers[-1]}: {where} {finding}" + (f": {why}" if why else "")
        details = {"windows": len(windows), "answers": answers, "reasons": reasons}
        return Score(float(yes), passing=yes, reason=reason, details=details)
