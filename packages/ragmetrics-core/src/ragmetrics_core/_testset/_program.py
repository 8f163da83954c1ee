"""What is asked to write questions about a document, and what is made of the replies. Nothing here performs IO.

One call writes the questions. Then every question is answered by its own call, all side by side, from the document
alone: an answer that was written together with its question would be what the writer had in mind, not what the document says.

An object with the answer and its evidence is asked for. Many models answer with a plain sentence instead. That is an answer too,
only without its evidence, so it is accepted, unless it is a refusal, the error of a server or broken JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from .._kernel._prompt import Prompt
from .._kernel._steps import Steps, together
from .._values._errors import BadReply, ModelError
from .._values._sample import Sample
from ..replies import JsonReply, LinesReply, answer_text, real_items
from ._chunks import CHUNK_OVERLAP, Chunk, chunks_of
from ._documents import GivenDocument
from ._testset import CAVEAT, Problem

REFUSAL = re.compile(
    r"(?:i(?:'m| am) )?(?:(?:so |very )?sorry|unable|not able)\b|(?:i|we) (?:cannot|can't|can not|could not|couldn't|won't)\b|"
    r"as an ai\b|unfortunately\b|(?:http )?[45]\d\d (?:bad|internal|too|service|gateway|forbidden|unauthorized|not found|error)|"
    r"error\b|internal server|bad gateway|rate limit|too many requests|service unavailable|timeout\b|<",
    re.IGNORECASE,
)
NO_ANSWER = re.compile(
    r"(?:(?:the|this|given|provided) ){1,2}(?:document|text|passage|context)\b[^.\n]{0,30}\b(?:does not|doesn't|did not|is silent|"
    r"says nothing|contains no|provides no|gives no)\b|(?:there is )?no (?:answer|information)\b|"
    r"(?:it is )?not (?:mentioned|stated|specified|answered|given|available)\b|(?:none|n/?a|unknown|empty|null|nothing)\W*\Z",
    re.IGNORECASE,
)
LABEL = re.compile(r"\A[*_#\s]*answer[*_\s]*[:：][*_\s]*", re.IGNORECASE)
STRUCTURE = re.compile(r"[{}]|\A\s*\[")


class DocumentAnswer(BaseModel):
    """The answer that a document gives."""

    evidence: str = Field(
        "",
        description="the words of the document that answer the question, copied letter for letter; empty if there are none",
    )
    answer: str = Field(description="the answer, complete and to the point; empty if the document does not answer")


ANSWER = JsonReply(DocumentAnswer)


@dataclass(frozen=True)
class AnswerReply:
    """An object with ``evidence`` and ``answer``, or the answer in plain text."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """An object with the evidence first and the answer last."""
        return ANSWER.schema

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return ANSWER.instructions()

    def parse(self, text: str) -> DocumentAnswer:
        """The answer; empty where the reply says that the document does not answer.

        Raises:
            BadReply: the reply is empty, refuses, reports an error, or is broken JSON.
        """
        prose = LABEL.sub("", answer_text(text)).strip()
        try:
            return ANSWER.parse(text)
        except BadReply:
            if STRUCTURE.search(prose) or REFUSAL.match(prose) or not any(map(str.isalnum, prose)):
                raise
        return DocumentAnswer(evidence="", answer="" if NO_ANSWER.match(prose) else prose)


T = TypeVar("T")

WRITE_QUESTIONS: Prompt[list[str]] = Prompt(
    name="write_questions",
    version="4",
    instructions=(
        "Write questions for an examination on the document: as many as number_of_questions says. Every question must be "
        "answered by the document and need nothing else, must differ from the others in what it asks, and must be clear to a "
        "reader who does not see the document: name what it is about instead of writing 'the document' or 'the text'. Spread "
        "the questions over the whole document, and mix kinds: facts, reasons, comparisons. Do not ask again what "
        "already_asked asks, if it is there. Write in the language of the document."
    ),
    reply=LinesReply(),
)


ANSWER_FROM_DOCUMENT: Prompt[DocumentAnswer] = Prompt(
    name="answer_from_document",
    version="5",
    instructions=(
        "Answer the question from the document alone, in the language of the question. Add nothing that the document does not "
        "say. If it does not answer the question, leave the answer empty."
    ),
    reply=AnswerReply(),
)


@dataclass(frozen=True)
class Part:
    """What came of one document."""

    samples: tuple[Sample, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[BadReply, ...] = ()


@dataclass(frozen=True)
class Questioning:
    """How questions about a document are made: how many, with which prompts, and about passages of which size.

    A document is asked about as a whole where ``size`` is None.
    """

    number: int
    write: Prompt[Any] = WRITE_QUESTIONS
    answer: Prompt[Any] = ANSWER_FROM_DOCUMENT
    caveat: str | None = None
    size: int | None = None
    overlap: int = CHUNK_OVERLAP

    def program(self, document: GivenDocument) -> Steps[Part]:
        """The program that makes samples of one document; a failure that concerns only this document becomes a problem in the
        result.

        Raises:
            ModelError: a model refuses in a way that every further call would meet.
        """
        passages = chunks_of(document, self.size or len(document.text), self.overlap)
        if not passages:
            return Part(problems=(Problem(document.id, None, "the document has no text"),))
        parts = yield from together(*(self._about(*share) for share in shares(passages, self.number)))
        return Part(
            tuple(sample for part in parts for sample in part.samples),
            tuple(problem for part in parts for problem in part.problems),
            tuple(error for part in parts for error in part.unread),
        )

    def _about(self, passage: Chunk, number: int) -> Steps[Part]:
        written = yield from attempt(self.write.ask(document=passage.text, number_of_questions=number))
        if isinstance(written, ModelError):
            problem = Problem(passage.id, None, f"no questions were written: {in_one_line(written)}")
            return Part(problems=(problem,), unread=unread([written]))
        questions = distinct(written)[:number]
        answers = yield from together(
            *(attempt(self.answer.ask(document=passage.text, question=question)) for question in questions)
        )
        samples, problems = [], []
        if len(questions) < number:
            problems.append(Problem(passage.id, None, f"{number} questions were asked for, {len(questions)} written"))
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            if isinstance(answer, ModelError):
                problems.append(Problem(passage.id, question, f"no answer: {in_one_line(answer)}"))
            elif not answer.answer.strip():
                problems.append(Problem(passage.id, question, "the document does not answer it"))
            else:
                samples.append(self._sample(passage, place, question, answer))
        return Part(tuple(samples), tuple(problems), unread(answers))

    def _sample(self, passage: Chunk, place: int, question: str, answer: Any) -> Sample:
        metadata = {"document_id": passage.document, "evidence": answer.evidence.strip() or None, CAVEAT: self.caveat}
        return Sample(
            user_input=question,
            reference=answer.answer.strip(),
            reference_contexts=[passage.text],
            reference_documents=[passage.to_document()],  # what a retriever should find for this question
            id=f"{passage.id}-{place}",
            metadata={name: value for name, value in metadata.items() if value is not None},
        )


def shares(passages: Sequence[Chunk], number: int) -> list[tuple[Chunk, int]]:
    """How many of so many questions are written about which passages, spread over all of them."""
    if number < len(passages):
        return [(passages[turn * len(passages) // number], 1) for turn in range(number)]
    each, more = divmod(number, len(passages))
    return [(passage, each + (index < more)) for index, passage in enumerate(passages)]


def attempt(steps: Steps[T]) -> Steps[T | ModelError]:
    """The result of a program, or the error of the model where it concerns this call alone."""
    try:
        return (yield from steps)
    except ModelError as error:
        if error.fatal:
            raise
        return error


def unread(outcomes: Iterable[object]) -> tuple[BadReply, ...]:
    """Those of the outcomes that are replies without an honest reading; a later run asks for them again."""
    return tuple(outcome for outcome in outcomes if isinstance(outcome, BadReply))


def in_one_line(error: ModelError) -> str:
    """The error in one line, with what the model said last."""
    said = f" (it said: {error.raw[-1][:200]!r})" if isinstance(error, BadReply) and error.raw else ""
    return f"{type(error).__name__}: {error}{said}"


def distinct(questions: Iterable[str]) -> Sequence[str]:
    """The questions without blanks and repetitions; case, spaces and the final mark make no difference."""
    known: dict[str, str] = {}
    for question in real_items(questions):
        key = " ".join(question.casefold().split()).rstrip(" ?.!？。")
        if key:
            known.setdefault(key, question.strip())
    return list(known.values())
