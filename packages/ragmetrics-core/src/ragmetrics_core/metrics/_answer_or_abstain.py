"""Answer or abstain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.abstention import JUDGE_ABSTENTION, Abstention, judge_abstention

CELLS = {
    ("yes", False): "rightly_answered",
    ("no", True): "rightly_declined",
    ("yes", True): "needlessly_declined",
    ("no", False): "answered_without_ground",
}
"""The label by whether the contexts suffice and whether the response declines."""


@dataclass(frozen=True)
class AnswerOrAbstain(Metric):
    """Whether the system answers if its contexts suffice and declines if they do not: 1.0 or 0.0, with a label.

    ``rightly_answered`` and ``rightly_declined`` are 1.0; ``needlessly_declined`` and ``answered_without_ground`` are 0.0. The
    metric does not ask whether an answer is right. A response that declines in part counts as declining: that is right if the
    contexts lack the answer and needless if they have it. If the judge cannot tell whether the contexts suffice, the sample is
    unscored, with the label ``undecided``. Without retrieved contexts they do not suffice, and a blank response declines.

    Source: Chen et al. 2023, RGB, arXiv:2309.01431 ("negative rejection"); questions that a text does not answer as in Rajpurkar
    et al. 2018, SQuAD 2.0, arXiv:1806.03822.
    """

    calls: ClassVar[str] = "1"
    two_valued: ClassVar[bool] = True
    takes_empty: ClassVar[tuple[str, ...]] = ("response", "retrieved_contexts")

    judge: Prompt[Abstention] = JUDGE_ABSTENTION

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask once."""
        found = yield from judge_abstention(self.judge, user_input, retrieved_contexts, response)
        declines = found.response_declines != "no"
        details = {**found.model_dump(), "reasons": [found.reason]}
        if found.contexts_suffice == "unclear":
            reason = ": ".join(filter(None, ("it is unclear whether the contexts suffice to answer", found.reason)))
            return Score.unscored(reason, details=details, label="undecided")
        label = CELLS[found.contexts_suffice, declines]
        value = float(label.startswith("rightly"))
        return Score(value, passing=bool(value), reason=found.reason or None, details=details, label=label)
