"""A score by the user's rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from ragmetrics_core import BadReply, InvalidInput, Metric, MissingInput, Prompt, Sample, Score, Steps
from ragmetrics_core.metrics.rules import judged_by
from ragmetrics_core.replies import JsonReply


class Grade(BaseModel):
    """A grade of the rubric."""

    reason: str = Field("", description="why this description of the rubric fits best")
    score: int = Field(description="one of the scores of the rubric")


def check_on_rubric(reply: Grade, inputs: Mapping[str, Any]) -> None:
    """Check that the rubric describes the score."""
    if str(reply.score) not in inputs["rubric"]:
        raise BadReply(f"the score must be one of {', '.join(inputs['rubric'])}, got {reply.score}")


GRADE_BY_RUBRIC = Prompt(
    name="grade_by_rubric",
    version="5",
    notice=judged_by("rubric"),
    instructions=(
        "Grade the response by the rubric, which describes what earns each score. Weigh the rest of the data (question, contexts, "
        "reference) as far as the rubric refers to it. Choose the score whose description fits best. Use only scores of the rubric."
    ),
    reply=JsonReply(Grade),
    check=check_on_rubric,
)


@dataclass(frozen=True)
class RubricScore(Metric):
    """An integer score by a rubric that describes each score. The scale is the range of these scores.

    Attributes:
        rubric: maps scores to descriptions, at least two. The keys of RAGAS, ``score1_description``, are accepted. None: every
            sample has a rubric in its ``rubric`` field.

    Source: Kim et al. 2023, Prometheus, arXiv:2310.08491 (grading by a customised score rubric).
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1"

    rubric: Mapping[int, str] | None = None
    grade: Prompt[Grade] = GRADE_BY_RUBRIC

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rubric is not None:
            object.__setattr__(self, "rubric", self._levels(self.rubric))

    def measure(  # noqa: PLR0917  the parameters are the sample fields
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: Sequence[str] | None = None,
        reference: str | None = None,
        reference_contexts: Sequence[str] | None = None,
        rubric: Mapping[int, str] | None = None,
    ) -> Steps[Score]:
        """Ask once, with all fields that the sample has."""
        names = ("question", "contexts", "reference", "reference_contexts", "response")
        values = (user_input, retrieved_contexts, reference, reference_contexts, response)
        data = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if not data:
            raise MissingInput(self.name, "response", "is missing, as is every other text field")
        if self.rubric is None and rubric is None:
            cure = (
                "give RubricScore(rubric=...) (on the command line \"rubric_score(rubric={1: 'poor', 2: 'good'})\"), "
                "or give every row a rubric in a column 'rubric'"
            )
            raise MissingInput(self.name, "rubric", cure=cure)
        levels = self.rubric if self.rubric is not None else self._levels(rubric)
        reply = yield from self.grade.ask(rubric={str(score): text for score, text in levels.items()}, **data)
        scale = float(min(levels)), float(max(levels))
        details = {**reply.model_dump(), "reasons": [reply.reason]}
        return Score(float(reply.score), reason=reply.reason or None, details=details, scale=scale)

    def _levels(self, rubric: Any) -> dict[int, str]:
        """Check a rubric, from the setting or from a sample; the result is in ascending order of scores.

        Raises:
            InvalidInput: fewer than two scores, a score that is not a whole number, or a score without a description.
        """
        rubric_input = next(item for item in self.inputs if item == "rubric")
        try:
            levels = rubric_input.read(self.name, Sample(rubric=rubric)) or {}
        except InvalidInput:
            levels = {}
        if len(levels) < 2 or not all(text.strip() for text in levels.values()):
            raise InvalidInput(f"{self.name}: rubric must map at least two whole numbers to texts, got {rubric!r}")
        return dict(levels)
