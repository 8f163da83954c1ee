"""One yes or no over several windows of context (LlamaIndex's refine mode): asked in order, and a YES ends it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ragmetrics_core import Score, Steps
from ragmetrics_core.replies import value_and_reason

__all__ = ["Refined", "ask_until_yes"]


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


def ask_until_yes(questions: Iterable[Steps[Any]], windows: int) -> Steps[Refined]:
    """Ask one question after the other until the answer is yes; their replies are bools, or bools with reasons."""
    answers, reasons = [], []
    for question in questions:
        answer, reason = value_and_reason((yield from question))
        answers.append(answer)
        reasons.append(reason)
        if answer:
            break
    return Refined(answers, reasons, windows)
