"""Answer accuracy, rated by two judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.ratings import mean_rating
from ragmetrics_core.metrics.rules import ALTERNATIVES
from ragmetrics_core.replies import RatingReply, WithReason

RATE_ANSWER = Prompt(
    name="rate_answer",
    version="5",
    instructions=(
        "Rate how far the answer agrees with the reference answer to the same question.\n"
        "4: it says the same as the reference, as completely and as precisely. Other words, politeness and repeating the question "
        "do not matter.\n"
        "2: it agrees in part: something that the reference says is missing, or a fact is added that goes beyond it.\n"
        "0: it says something else, contradicts the reference, or does not answer.\n"
        f"Names, numbers, dates and places must agree. {ALTERNATIVES} Take the reference as right, whatever you know."
    ),
    reply=WithReason(RatingReply((0, 2, 4))),
)

COMPARE_ANSWERS = Prompt(
    name="compare_answers",
    version="5",
    instructions=(
        "Two people answered the same question. Take the first answer as right, whatever you know. Which mark does the second "
        "one get?\n"
        "0: the two do not match, or one of them does not answer the question.\n"
        "2: the second one covers only part of the first, or more than the first.\n"
        "4: the two are equivalent: they state the same facts.\n"
        'Other words are fine, other facts are not. If an answer lists alternatives ("1983; June 1983"), one of them is enough.'
    ),
    reply=WithReason(RatingReply((0, 2, 4))),
)


@dataclass(frozen=True)
class AnswerAccuracy(Metric):
    """Agreement of the response with the reference, rated by two judges who see the two texts in exchanged roles.

    Each judge rates 0, 2 or 4. The value is the mean of the valid ratings / 4. Exchanging the roles balances a judge's preference
    for the text that comes first. The score fails if neither rating is valid.

    Source: NVIDIA's answer evaluation metrics, in the RAGAS documentation, "NVIDIA Metrics: Answer Accuracy",
    https://docs.ragas.io.
    """

    calls: ClassVar[str] = "2"

    first: Prompt[tuple[int, str]] | Prompt[int] = RATE_ANSWER
    second: Prompt[tuple[int, str]] | Prompt[int] = COMPARE_ANSWERS

    def measure(self, user_input: str, response: str, reference: str) -> Steps[Score]:
        """Ask both judges in one round. The second judge gets the response as the known answer."""
        first = self.first.ask(question=user_input, reference=reference, answer=response)
        second = self.second.ask(question=user_input, first_answer=response, second_answer=reference)
        return mean_rating(first, second, highest=4)
