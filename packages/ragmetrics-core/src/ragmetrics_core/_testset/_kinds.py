"""The three kinds of questions, each as two programs: one writes questions about a passage, one checks one of them. No IO.

The writer is never trusted with the answer. A question that was written is answered by a call of its own, from its passage alone;
the answer comes with the words of the passage that give it, and these must literally stand there, which needs no model. Then
another call says whether the question stands alone and whether these words give the answer. A question over two passages is put to
each of them alone as well. A question that is to have no answer is put to its passage and to those that come nearest to it; nothing
beyond these is looked at, and the evidence says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from .._kernel._errors import BadReply, ModelError
from .._kernel._prompt import Prompt
from .._kernel._sample import Sample
from .._kernel._steps import Steps, together
from ._checks import (
    ANSWER_FROM_PASSAGES,
    CHECK_QUESTION,
    CHECK_UNANSWERED,
    WRITE_TWO_PASSAGE_QUESTIONS,
    WRITE_UNANSWERABLE_QUESTIONS,
)
from ._chunks import Chunk
from ._program import attempt, distinct, in_one_line, unread
from ._similar import Fact, plain_words
from ._values import CAVEAT, Dropped, Why

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


class Kind(Protocol):
    """One kind of questions."""

    @property
    def name(self) -> str:
        """What it is called in metadata."""
        ...

    @property
    def caveat(self) -> str | None:
        """What must be known about its questions."""
        ...

    def write(self, visit: Visit) -> Steps[Written]:
        """Have questions written about the passages of a visit."""
        ...

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Find the answer of a question, and whether it may stay."""
        ...


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
        first, second = visit.passages
        return (
            yield from _written(
                WRITE_TWO_PASSAGE_QUESTIONS, visit, first_passage=first.text, second_passage=second.text
            )
        )

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
                said = f"{passage.id} alone answers it: {_short(reply.answer)}"
                return drop(Why.ONE_IS_ENOUGH, visit, question, said)
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
        reply = yield from attempt(
            CHECK_UNANSWERED.ask(question=question, passages=[passage.text for passage in looked_at])
        )
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
    dropped = drop(Why.FAILED, visit, question, in_one_line(error))
    return dropped._replace(unread=unread([error]))


def quoted(words: str, passage: str) -> str | None:
    """The quotation, if it stands in the passage: word for word, whatever its case, spaces and marks; None if it does not."""
    parts = [plain_words(part) for part in GAP.split(words)]
    told = [part for part in parts if part.strip()]
    there = plain_words(passage)
    return words.strip() if told and all(part in there for part in told) else None


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
