"""What is asked about a question that is written already: whether it stands alone, and what the passages say to it.

A prompt that checks gives its reason first. The words that were quoted for an answer travel with the passage around them, since a
sentence such as "It was published in 1914" tells only there what it speaks of; whether a question stands alone is to be judged
without the passage all the same. Whether nothing answers a question is judged from the passages that come nearest to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from .._kernel._errors import BadReply
from .._kernel._prompt import Prompt
from ..replies import JsonReply, LinesReply

STANDS_ALONE = (
    "It stands alone if a reader who has seen no passage knows from the question what it is about: it names what it asks about, "
    "has no pronoun for something unnamed, and does not speak of 'the text', 'the passage' or 'the author'."
)


class QuestionCheck(BaseModel):
    """What a model says of a question with its answer; the reason comes first, so that it thinks before it decides."""

    reason: str = Field(default="", description="what speaks for and against it, in one short sentence")
    stands_alone: bool
    supported: bool


class UnansweredCheck(BaseModel):
    """What a model says of a question that is to have no answer."""

    reason: str = Field(default="", description="what the passages say about what is asked, in one short sentence")
    stands_alone: bool
    answered_by: list[int] = Field(
        description="numbers of the passages that answer it, in whole or in part; empty if none does"
    )


class TwoPassageAnswer(BaseModel):
    """An answer that two passages give together."""

    first_evidence: str = Field(
        "", description="the words of first_passage that the answer needs, copied letter for letter"
    )
    second_evidence: str = Field(
        "", description="the words of second_passage that the answer needs, copied letter for letter"
    )
    answer: str = Field(description="the answer, complete and to the point; empty if the passages do not answer")


def check_numbers(reply: UnansweredCheck, inputs: Mapping[str, Any]) -> None:
    """Only passages that were sent can answer."""
    unknown = [number for number in reply.answered_by if not 1 <= number <= len(inputs["passages"])]
    if unknown:
        raise BadReply(f"there are passages 1 to {len(inputs['passages'])}, and answered_by has {unknown}")


WRITE_TWO_PASSAGE_QUESTIONS: Prompt[list[str]] = Prompt(
    name="write_two_passage_questions",
    version="2",
    instructions=(
        "Write questions for an examination that need both passages: as many as number_of_questions says. A fact of first_passage "
        "and a fact of second_passage must be put together to answer, by comparing them or by following the one to the other; "
        "neither passage alone may be enough. Do not join two questions with 'and'. Every question must be clear to a reader "
        "who sees neither passage: name what it is about instead of writing 'the passage' or 'the text'. Do not ask again what "
        "already_asked asks, if it is there. Write in the language of the passages. If the passages have nothing to do with each "
        "other, reply with an empty JSON list: []."
    ),
    reply=LinesReply(),
)

WRITE_UNANSWERABLE_QUESTIONS: Prompt[list[str]] = Prompt(
    name="write_unanswerable_questions",
    version="2",
    instructions=(
        "Write questions that a reader of the passage could well ask next and that it leaves open: as many as number_of_questions "
        "says. Each is about what the passage is about and asks for one definite fact that is nowhere in it and does not "
        "follow from it. Do not ask for opinions or for the future, and do not ask what would be common knowledge. Every "
        "question must be clear to a reader who does not see the passage: name what it is about instead of writing 'the "
        "passage' or 'the text'. Do not ask again what already_asked asks, if it is there. Write in the language of the passage."
    ),
    reply=LinesReply(),
)

ANSWER_FROM_PASSAGES: Prompt[TwoPassageAnswer] = Prompt(
    name="answer_from_passages",
    version="3",
    instructions=(
        "Answer the question from the two passages alone, in the language of the question. Add nothing that they do not say. Copy "
        "from each passage the words that the answer needs. If the passages together do not answer the question, leave the answer "
        "empty."
    ),
    reply=JsonReply(TwoPassageAnswer),
)

CHECK_QUESTION: Prompt[QuestionCheck] = Prompt(
    name="check_question",
    version="3",
    instructions=(
        "Check an examination question and its answer, for which evidence quotes the passages.\n"
        f"- stands_alone: {STANDS_ALONE} Judge this from the question alone, as if you had not read the passages.\n"
        "- supported: the words in evidence, read where they stand in the passages, state what the question asks for, and the "
        "answer says the same, with every name, number, date and place. What you know from elsewhere does not count."
    ),
    reply=JsonReply(QuestionCheck),
)

CHECK_UNANSWERED: Prompt[UnansweredCheck] = Prompt(
    name="check_unanswered",
    version="3",
    instructions=(
        "Check an examination question that the numbered passages are meant not to answer.\n"
        f"- stands_alone: {STANDS_ALONE}\n"
        "- answered_by: the numbers of all passages that answer the question or part of it, in any words. A passage from which the "
        "answer follows counts. A passage that only shares the subject does not."
    ),
    reply=JsonReply(UnansweredCheck),
    numbered=("passages",),
    check=check_numbers,
)

PROMPTS: tuple[Prompt[Any], ...] = (
    WRITE_TWO_PASSAGE_QUESTIONS,
    WRITE_UNANSWERABLE_QUESTIONS,
    ANSWER_FROM_PASSAGES,
    CHECK_QUESTION,
    CHECK_UNANSWERED,
)
"""All prompts of this module."""
