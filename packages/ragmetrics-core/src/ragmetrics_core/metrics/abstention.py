"""Whether a response declines to answer, and whether it had to. One question, asked once for all metrics that need the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragmetrics_core import BadReply, Example, Prompt, Steps
from ragmetrics_core.replies import JsonReply

__all__ = ["JUDGE_ABSTENTION", "Abstention", "check_abstention", "judge_abstention"]


class Abstention(BaseModel, frozen=True):
    """Two verdicts: on the contexts, and on the response."""

    reason: str = Field(default="", description="what is there or missing, and what the response does, in one sentence")
    contexts_suffice: Literal["yes", "no", "unclear"]
    response_declines: Literal["no", "partly", "wholly"]


def check_abstention(reply: Abstention, inputs: Mapping[str, Any]) -> None:
    """Check that empty contexts do not suffice, and that a blank response declines.

    Raises:
        BadReply: the reply says otherwise.
    """
    if not inputs["contexts"] and reply.contexts_suffice != "no":
        raise BadReply("there are no contexts, so contexts_suffice must be no")
    if not inputs["response"].strip() and reply.response_declines != "wholly":
        raise BadReply("the response is blank, so response_declines must be wholly")


JUDGE_ABSTENTION = Prompt(
    name="judge_abstention",
    version="4",
    instructions=(
        "A system answered a question from contexts. Decide two things, each by itself.\n"
        "1. contexts_suffice: could a reader who knows only the contexts answer the question?\n"
        "yes: all that the question asks for is stated there or follows from it in one step, even if the response got it wrong. "
        "It is also yes if they show that the question rests on a mistake.\n"
        "no: something that it asks for is not there.\n"
        "unclear: the contexts contradict each other on it, or the question can be read in ways that make a difference.\n"
        "2. response_declines: does the response decline to answer?\n"
        "no: it gives an answer: right or wrong, short, hedged, yes or no, or that something does not exist.\n"
        "partly: it answers one part and says that it cannot answer another.\n"
        "wholly: it answers nothing: it does not know, finds nothing in the contexts, declines, asks back, or is empty."
    ),
    reply=JsonReply(Abstention),
    check=check_abstention,
    examples=(
        Example(
            {
                "question": "When does the castle open, and what does it cost?",
                "contexts": ["The castle is open from 9 to 17 o'clock."],
                "response": "It opens at 9. I have no information on prices.",
            },
            {
                "reason": "The price is in no context; the response gives the hours and declines on the price.",
                "contexts_suffice": "no",
                "response_declines": "partly",
            },
        ),
        Example(
            {
                "question": "Is the castle open on Mondays?",
                "contexts": ["The castle is closed on Mondays."],
                "response": "The documents do not say.",
            },
            {
                "reason": "The context answers it, and the response says that nothing does.",
                "contexts_suffice": "yes",
                "response_declines": "wholly",
            },
        ),
    ),
)


def judge_abstention(
    prompt: Prompt[Abstention], question: str, contexts: Sequence[str], response: str
) -> Steps[Abstention]:
    """Ask for both verdicts. Metrics that ask about the same row share the call."""
    texts = contexts.copy() if isinstance(contexts, list) else list(contexts)
    return prompt.ask_for(_itself, question=question, contexts=texts, response=response)


def _itself(found: Abstention, _inputs: Mapping[str, Any]) -> Abstention:
    return found
