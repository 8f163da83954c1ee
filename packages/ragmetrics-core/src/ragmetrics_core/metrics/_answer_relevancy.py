"""Answer relevancy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel

from ragmetrics_core import Metric, Prompt, Score, Steps, compare
from ragmetrics_core.metrics.settings import check_whole
from ragmetrics_core.replies import JsonReply, real_items


class Questions(BaseModel):
    """The questions that an answer answers."""

    questions: list[str]
    noncommittal: bool


QUESTIONS_OF_ANSWER = Prompt(
    name="questions_of_answer",
    version="5",
    instructions=(
        "Write questions that the whole answer most likely replies to, number_of_questions in all, in its language, each worded "
        'differently. noncommittal: true if the whole answer only says "I don\'t know", declines, evades or greets; false if it is '
        "hedged, partial or wrong."
    ),
    reply=JsonReply(Questions),
)


@dataclass(frozen=True)
class AnswerRelevancy(Metric):
    """How close the questions that the response answers are to the question that was asked.

    One call writes ``strictness`` questions for the response, each in other words. The score is the mean cosine between these
    questions and the question that was asked, from -1 to 1; a noncommittal response gets 0.0. Without a usable question the
    sample is unscored. If only some of the questions are usable, the reason says so.

    Attributes:
        strictness: the number of questions to write.

    Source: Es et al. 2023, RAGAS, arXiv:2309.15217, section 3, "Answer relevance".
    """

    scale: ClassVar[tuple[float, float] | None] = (-1.0, 1.0)
    calls: ClassVar[str] = "1 + 1 embedding request"

    strictness: int = 3
    ask_back: Prompt[Questions] = QUESTIONS_OF_ANSWER

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "strictness", self.strictness)

    def measure(self, user_input: str, response: str) -> Steps[Score]:
        """Write the questions, then compare them with the question that was asked."""
        reply = yield from self.ask_back.ask(answer=response, number_of_questions=self.strictness)
        questions = list(dict.fromkeys(question.strip() for question in real_items(reply.questions)))
        questions = questions[: self.strictness]
        details = {"questions": questions, "noncommittal": reply.noncommittal}
        if reply.noncommittal:
            return Score(0.0, reason="the response is noncommittal", details=details)
        if not questions:
            return Score.unscored("the judge wrote no question that the response answers", details=details)
        similarities = yield from compare([(user_input, question) for question in questions])
        mean = sum(similarities) / len(similarities)
        missing = len(questions) < self.strictness
        reason = f"mean of {len(questions)} of the {self.strictness} questions that were asked for" if missing else None
        return Score(max(-1.0, min(1.0, mean)), reason=reason, details={**details, "similarities": similarities})
