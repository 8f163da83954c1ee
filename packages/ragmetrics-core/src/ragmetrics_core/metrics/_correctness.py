"""Correctness, from 1 to 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics.checks import check_halves
from ragmetrics_core.metrics.ratings import RatingMetric
from ragmetrics_core.metrics.rules import ALTERNATIVES
from ragmetrics_core.replies import ScoreReply

GRADE_CORRECTNESS = Prompt(
    name="grade_correctness",
    version="5",
    instructions=(
        "Grade the generated answer to the query by the reference answer. Without a reference, grade by what you know.\n"
        '1: the answer is not relevant to the query, or does not answer it ("I don\'t know").\n'
        "2: it is relevant, but the main point is wrong.\n"
        "3: it is relevant, but a detail is wrong.\n"
        "4: it is relevant and correct, but leaves something out.\n"
        "5: it is relevant and correct, and gives all that the query asks for.\n"
        "Half points such as 4.5 are allowed. Other words do not matter. Additions do not matter unless they contradict the "
        f"reference. {ALTERNATIVES}"
    ),
    reply=ScoreReply(1, 5),
    check=check_halves,
)


@dataclass(frozen=True)
class Correctness(RatingMetric):
    """Grade of the response from 1 (not relevant) to 5 (fully correct), in steps of 0.5. It passes from ``threshold`` on.

    1: not relevant, or no answer. 2 to 3: relevant, with mistakes. 4 to 5: relevant and fully correct. A grade off the scale is a
    bad reply and is never clipped.

    Attributes:
        threshold: the lowest passing grade.

    Source: LlamaIndex, CorrectnessEvaluator, https://docs.llamaindex.ai, "Correctness Evaluator" and "Building Evaluation from
    Scratch".
    """

    scale: ClassVar[tuple[float, float] | None] = (1.0, 5.0)
    calls: ClassVar[str] = "1"

    threshold: float = 4.0
    grade: Prompt[tuple[float, str]] = GRADE_CORRECTNESS

    def measure(self, user_input: str, response: str, reference: str | None = None) -> Steps[Score]:
        """Ask once."""
        grade, why = yield from self.grade.ask(query=user_input, reference_answer=reference, generated_answer=response)
        return self._rated(grade, why, grade=grade, reason=why, reasons=[why])
