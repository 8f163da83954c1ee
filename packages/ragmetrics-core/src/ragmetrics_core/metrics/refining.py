"""One yes or no over several windows of context (LlamaIndex's refine mode): asked in order, and a YES ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.settings import check_whole
from ragmetrics_core.metrics.windows import pack
from ragmetrics_core.replies import value_and_reason

__all__ = ["Refined", "RefiningMetric"]


class Refined(NamedTuple):
    """What the windows said.

    Attributes:
        answers: the answer for each window that was asked about; only the last one can be a yes.
        reasons: the judge's reason for each answer, empty where it gave none.
        windows: number of windows there are.
    """

    answers: list[bool]
    reasons: list[str]
    windows: int

    def score(self, finding: str) -> Score:
        """1.0 and passing for a YES, else 0.0; the reason names the window that decided, says the finding, and why."""
        yes = self.answers[-1]
        where = f"window {len(self.answers)} of {self.windows}" if yes else f"none of the {self.windows} windows"
        if self.windows == 1:
            where = "the context" if yes else "no part of the context"
        why = self.reasons[-1] if yes else " / ".join(filter(None, self.reasons))
        reason = f"{'YES' if yes else 'NO'}: {where} {finding}" + (f": {why}" if why else "")
        answers = ["YES" if answer else "NO" for answer in self.answers]
        details = {"windows": self.windows, "answers": answers, "reasons": self.reasons}
        return Score(float(yes), passing=yes, reason=reason, details=details)


@dataclass(frozen=True)
class RefiningMetric(Metric):
    """Base of metrics that ask about windows of context one after the other.

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
        self, first: Prompt[Any], refine: Prompt[Any], contexts: Sequence[str], **inputs: Any
    ) -> Steps[Refined]:
        """Ask about one window after the other until the answer is yes; replies are bools, or bools with reasons."""
        windows = ["\n\n".join(texts) for texts in pack(contexts, self.window)]
        answers: list[bool] = []
        reasons: list[str] = []
        for context in windows:
            if answers:
                question = refine.ask(**inputs, existing_answer="NO", context=context)
            else:
                question = first.ask(**inputs, context=context)
            answer, reason = value_and_reason((yield from question))
            answers.append(answer)
            reasons.append(reason)
            if answer:
                break
        return Refined(answers, reasons, len(windows))
