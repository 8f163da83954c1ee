"""Guidelines that the user writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, Field

from ragmetrics_core import InvalidInput, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.rules import judged_by
from ragmetrics_core.replies import JsonReply


class Critique(BaseModel):
    """What is good, what is missing, and the verdict."""

    feedback: str = Field(description="how the response follows or breaks the guidelines, and how to fix it")
    passing: bool = Field(description="true if the response follows all guidelines")


CRITIQUE_BY_GUIDELINES = Prompt(
    name="critique_by_guidelines",
    version="5",
    notice=judged_by("guidelines"),
    instructions=(
        "Judge the response to the query by the guidelines alone. Give constructive feedback: what follows the guidelines, what "
        "breaks them, and how to fix it. Then decide whether the response passes, that is, follows all of them."
    ),
    reply=JsonReply(Critique),
)


@dataclass(frozen=True)
class Guideline(Metric):
    """Whether the response follows the user's own guidelines: 1.0 or 0.0, with feedback as the reason.

    Attributes:
        guidelines: what a good response does, in plain words, such as "The response names its sources."

    Source: LlamaIndex, GuidelineEvaluator, https://docs.llamaindex.ai, "Guideline Evaluator".
    """

    calls: ClassVar[str] = "1"
    two_valued: ClassVar[bool] = True

    guidelines: str
    critique: Prompt[Critique] = CRITIQUE_BY_GUIDELINES

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.guidelines, str) or not self.guidelines.strip():
            raise InvalidInput(f"{self.name}: guidelines must be a text, got {self.guidelines!r}")

    def measure(self, user_input: str, response: str) -> Steps[Score]:
        """Ask once."""
        reply = yield from self.critique.ask(guidelines=self.guidelines, query=user_input, response=response)
        value = 1.0 if reply.passing else 0.0
        details = {**reply.model_dump(), "reasons": [reply.feedback]}
        return Score(value, passing=reply.passing, reason=reply.feedback or None, details=details)
