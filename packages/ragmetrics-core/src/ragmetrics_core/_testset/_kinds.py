"""The three kinds of questions, each as two programs: one writes questions about a passage, one checks one of them. No IO.

The writer is never trusted with the answer. A question that was written is answered by its own call, from its passage alone;
the answer comes with the words of the passage that give it, and these must literally stand there, which needs no model. Then
another call says whether the question stands alone and whether these words give the answer. A question over two passages is put to
each of them alone as well. A question that is to have no answer is put to its passage and to those that come nearest to it; nothing
beyond these is looked at, and the evidence says so.

A prompt that checks gives its reason first. The words that were quoted for an answer travel with the passage around them, since a
sentence such as "It was published in 1914" tells only there what it speaks of; whether a question stands alone is to be judged
without the passage all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from .._kernel._prompt import Prompt
from .._kernel._steps import Steps, together
from .._values._errors import BadReply, ModelError
from .._values._sample import Sample
from ..replies import JsonReply, LinesReply
from ._chunks import Chunk
from ._program import attempt, distinct, in_one_line, unread
from ._similar import Fact, plain_words
from ._testset import CAVEAT, Dropped, Why

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


NO_ANSWER = "The documents do not contain the answer to this question."
"""The reference of a question that has no answer, where no other is given: what a system that declines would say."""

SPARE = 1
"""Questions that a passage is asked for beyond those that are wanted: they replace the ones that fall through the first checks."""

GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
"""Where a quotation leaves something out."""


class Visit(NamedTuple):
    """A visit to a passage, or to two that belong together.

    Attributes:
        passages: the passages.
        wanted: how many questions are wanted.
        known: what was asked about them before.
    """

    passages: tuple[Chunk, ...]
    wanted: int
    known: tuple[str, ...] = ()


class Written(NamedTuple):
    """The questions that a model wrote; or why it wrote none."""

    questions: tuple[str, ...] = ()
    problem: str | None = None
    unread: tuple[BadReply, ...] = ()


class Checked(NamedTuple):
    """A question that has passed, as a sample without an id, and the fact that it is about; or why it was dropped."""

    sample: Sample | None = None
    fact: Fact | None = None
    dropped: Dropped | None = None
    unread: tuple[BadReply, ...] = ()


@dataclass(frozen=True)
class OnePassage:
    """Questions that one passage answers: one call to write those of a visit, and two for each of them."""

    writer: Prompt[Any]
    answer: Prompt[Any]
    caveat: str | None = None
    name: str = "one_passage"

    def write(self, visit: Visit) -> Steps[Written]:
        """Have questions written about a passage."""
        return (yield from _written(self.writer, visit, document=visit.passages[0].text))

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from its passage, look for the quotation there, and have both judged."""
        (passage,) = visit.passages
        reply = yield from attempt(self.answer.ask(document=passage.text, question=question))
        if isinstance(reply, ModelError):
            return failed(visit, question, reply)
        answer = reply.answer.strip()
        if not answer:
            return drop(Why.UNANSWERED, visit, question, "the passage does not answer it")
        quotation = quoted(reply.evidence, passage.text) or quoted(answer, passage.text)
        if quotation is None:
            return drop(Why.NOT_FOUND, visit, question, not_there(reply.evidence, answer))
        return (yield from judged(self, visit, question, answer, [quotation]))


@dataclass(frozen=True)
class TwoPassages:
    """Questions that need two passages: one call to write those of a visit, and four for each of them."""

    alone: Prompt[Any]
    caveat: str | None = None
    name: str = "two_passages"

    def write(self, visit: Visit) -> Steps[Written]:
        """Have questions written that need both passages."""
        first, second = (passage.text for passage in visit.passages)
        return (yield from _written(WRITE_TWO_PASSAGE_QUESTIONS, visit, first_passage=first, second_passage=second))

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from both passages, and from each alone, which must not be enough."""
        first, second = (passage.text for passage in visit.passages)
        both, *alone = yield from together(
            attempt(ANSWER_FROM_PASSAGES.ask(first_passage=first, second_passage=second, question=question)),
            *(attempt(self.alone.ask(document=text, question=question)) for text in (first, second)),
        )
        for reply in (both, *alone):
            if isinstance(reply, ModelError):
                return failed(visit, question, reply)
        answer = both.answer.strip()
        if not answer:
            return drop(Why.UNANSWERED, visit, question, "the passages do not answer it")
        for passage, reply in zip(visit.passages, alone, strict=True):
            if reply.answer.strip():
                message = f"{passage.id} alone answers it: {_short(reply.answer)}"
                return drop(Why.ONE_IS_ENOUGH, visit, question, message)
        evidence = (both.first_evidence, both.second_evidence)
        quotations = [quoted(words, text) for words, text in zip(evidence, (first, second), strict=True)]
        for words, quotation in zip(evidence, quotations, strict=True):
            if quotation is None:
                return drop(Why.NOT_FOUND, visit, question, not_there(words, answer))
        return (yield from judged(self, visit, question, answer, [item for item in quotations if item]))


@dataclass(frozen=True)
class Unanswerable:
    """Questions that no passage answers, as far as is looked: one call to write those of a visit, and one for each of them.

    Attributes:
        nearest: of a question and its own passage, the other passages in which an answer is looked for.
        refusal: the reference of each question.
    """

    nearest: Callable[[str, Chunk], Sequence[Chunk]]
    refusal: str = NO_ANSWER
    caveat: str | None = None
    name: str = "unanswerable"

    def write(self, visit: Visit) -> Steps[Written]:
        """Have questions written that a passage leaves open."""
        return (yield from _written(WRITE_UNANSWERABLE_QUESTIONS, visit, passage=visit.passages[0].text))

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Look for an answer in the passage and in those that are nearest to the question."""
        looked_at = [visit.passages[0], *self.nearest(question, visit.passages[0])]
        texts = [passage.text for passage in looked_at]
        reply = yield from attempt(CHECK_UNANSWERED.ask(question=question, passages=texts))
        if isinstance(reply, ModelError):
            return failed(visit, question, reply)
        if not reply.stands_alone:
            return drop(Why.LEANS, visit, question, _judged(reply.reason))
        if reply.answered_by:
            where = ", ".join(looked_at[number - 1].id for number in sorted(set(reply.answered_by)))
            return drop(Why.ANSWERED, visit, question, f"answered in {where}: {_judged(reply.reason)}")
        metadata: dict[str, Any] = {
            "document_id": visit.passages[0].document,
            "kind": self.name,
            "answerable": False,
            "looked_at": [passage.id for passage in looked_at],
            "check": reply.reason,
        }
        if self.caveat is not None:
            metadata[CAVEAT] = self.caveat
        return Checked(Sample(user_input=question, reference=self.refusal, metadata=metadata))


Kind = OnePassage | TwoPassages | Unanswerable
"""One kind of questions: each has a name in metadata, a caveat, and programs that write and check."""


def judged(kind: Kind, visit: Visit, question: str, answer: str, quotations: Sequence[str]) -> Steps[Checked]:
    """The sample of a question, if a model finds that it stands alone and that the quotations give the answer."""
    passages = [passage.text for passage in visit.passages]
    check = yield from attempt(
        CHECK_QUESTION.ask(question=question, answer=answer, evidence=list(quotations), passages=passages)
    )
    if isinstance(check, ModelError):
        return failed(visit, question, check)
    if not check.stands_alone:
        return drop(Why.LEANS, visit, question, _judged(check.reason))
    if not check.supported:
        return drop(Why.UNSUPPORTED, visit, question, _judged(check.reason))
    documents = list(dict.fromkeys(passage.document for passage in visit.passages))
    metadata: dict[str, Any] = {
        "document_id": documents[0],
        "kind": kind.name,
        "answerable": True,
        "evidence": quotations[0] if len(quotations) == 1 else list(quotations),
        "check": check.reason,
    }
    if len(documents) > 1:
        metadata["document_ids"] = documents
    if kind.caveat is not None:
        metadata[CAVEAT] = kind.caveat
    return Checked(
        Sample(
            user_input=question,
            reference=answer,
            reference_contexts=passages,
            reference_documents=[passage.to_document() for passage in visit.passages],
            metadata=metadata,
        ),
        # an answer that only quotes itself may stand in many places
        Fact.of(answer, (text if words == answer else words for words, text in zip(quotations, passages, strict=True))),
    )


def drop(why: Why, visit: Visit, question: str | None, message: str) -> Checked:
    """A question that falls through a check."""
    return Checked(dropped=Dropped(" + ".join(passage.id for passage in visit.passages), question, message, why))


def failed(visit: Visit, question: str, error: ModelError) -> Checked:
    """A question about which a model could not be asked."""
    return drop(Why.FAILED, visit, question, in_one_line(error))._replace(unread=unread([error]))


def quoted(words: str, passage: str) -> str | None:
    """The quotation, if it is in the passage: word for word, whatever its case, spaces and marks; None if it is not."""
    parts = [plain_words(part) for part in GAP.split(words)]
    parts = [part for part in parts if part.strip()]
    text = plain_words(passage)
    return words.strip() if parts and all(part in text for part in parts) else None


def not_there(evidence: str, answer: str) -> str:
    """What to say of an answer whose words are not found."""
    if not evidence.strip():
        return f"no words of the passage were quoted for the answer {_short(answer)}"
    return f"these words do not stand in the passage: {_short(evidence)}"


def _written(prompt: Prompt[Any], visit: Visit, **passages: str) -> Steps[Written]:
    before = {"already_asked": list(visit.known)} if visit.known else {}
    reply = yield from attempt(prompt.ask(**passages, number_of_questions=visit.wanted + SPARE, **before))
    if isinstance(reply, ModelError):
        return Written(problem=f"no questions were written: {in_one_line(reply)}", unread=unread([reply]))
    return Written(tuple(distinct(reply)))


def _judged(reason: str) -> str:
    return reason.strip() or "the model gave no reason"


def _short(text: str) -> str:
    return repr(text.strip()[:200])
