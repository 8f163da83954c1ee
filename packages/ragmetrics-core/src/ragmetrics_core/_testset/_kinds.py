"""The kinds of questions: what is asked to write and to check them, and what is made of the replies. Nothing here performs IO.

The writer is never trusted with the answer: an answer that was written together with its question would be what the writer had in
mind, not what the document says. So each question is answered by its own call, from its passage alone. The answer comes with the
words of the passage that give it, and these must literally stand there, which needs no model. Then another call says whether the
question stands alone and whether these words give the answer. A question over two passages is put to each of them alone as well. A
question that is to have no answer is put to its passage and to those that come nearest to it; nothing beyond these is looked at,
and the evidence says so.

A prompt that checks gives its reason first. The words that were quoted for an answer travel with the passage around them, since a
sentence such as "It was published in 1914" tells only there what it speaks of; whether a question stands alone is to be judged
without the passage all the same.

Many models answer with a plain sentence where an object with answer and evidence is asked for. That is an answer too, only
without its evidence, so it is accepted, unless it is a refusal, the error of a server or broken JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from .._kernel._prompt import Prompt
from .._kernel._steps import Steps, together
from .._values._errors import BadReply, ModelError
from ..replies import JsonReply, LinesReply, answer_text, real_items
from ._chunks import Chunk
from ._similar import Fact, plain_words
from ._testset import Why

REFUSAL = re.compile(
    r"(?:i(?:'m| am) )?(?:(?:so |very )?sorry|unable|not able)\b|(?:i|we) (?:cannot|can't|can not|could not|couldn't|won't)\b|"
    r"as an ai\b|unfortunately\b|(?:http )?[45]\d\d (?:bad|internal|too|service|gateway|forbidden|unauthorized|not found|error)|"
    r"error\b|internal server|bad gateway|rate limit|too many requests|service unavailable|timeout\b|<",
    re.IGNORECASE,
)
DECLINES = re.compile(
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


class AnswerReply(JsonReply[DocumentAnswer]):
    """An object with ``evidence`` and ``answer``, or the answer in plain text."""

    def parse(self, text: str) -> DocumentAnswer:
        """The answer; empty where the reply says that the document does not answer.

        Raises:
            BadReply: the reply is empty, refuses, reports an error, or is broken JSON.
        """
        prose = LABEL.sub("", answer_text(text)).strip()
        try:
            return super().parse(text)
        except BadReply:
            if STRUCTURE.search(prose) or REFUSAL.match(prose) or not any(map(str.isalnum, prose)):
                raise
        return DocumentAnswer(evidence="", answer="" if DECLINES.match(prose) else prose)


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
    reply=AnswerReply(DocumentAnswer),
)

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
"""The prompts that ``generate_testset`` cannot be given others for."""


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

    @property
    def place(self) -> str:
        """The ids of the passages."""
        return "+".join(passage.id for passage in self.passages)

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [passage.text for passage in self.passages]


class Passed(NamedTuple):
    """A question that has passed its check.

    Attributes:
        reference: its answer.
        evidence: what the metadata of its sample say about it.
        fact: what it asks for; None where it has no answer.
    """

    reference: str
    evidence: dict[str, Any]
    fact: Fact | None = None


class Rejected(NamedTuple):
    """A question that has not passed its check: the kind of reason, and the reason in words."""

    why: Why
    message: str


Checked = Passed | Rejected


@dataclass(frozen=True)
class OnePassage:
    """Questions that one passage answers: one call to write those of a visit, and two for each of them."""

    writer: Prompt[Any]
    answer: Prompt[Any]
    name: str = "one_passage"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Have questions written about a passage."""
        return _written(self.writer, visit, "document")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from its passage, look for the quotation there, and have both judged."""
        (text,) = visit.texts
        reply = yield from self.answer.ask(document=text, question=question)
        answer = reply.answer.strip()
        if not answer:
            return Rejected(Why.UNANSWERED, "the passage does not answer it")
        quotes_itself = not is_quoted(reply.evidence, text) and is_quoted(answer, text)
        return (yield from judged(visit, question, answer, [answer if quotes_itself else reply.evidence]))


@dataclass(frozen=True)
class TwoPassages:
    """Questions that need two passages: one call to write those of a visit, and four for each of them."""

    alone: Prompt[Any]
    name: str = "two_passages"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Have questions written that need both passages."""
        return _written(WRITE_TWO_PASSAGE_QUESTIONS, visit, "first_passage", "second_passage")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from both passages, and from each alone, which must not be enough."""
        first, second = visit.texts
        both, *alone = yield from together(
            ANSWER_FROM_PASSAGES.ask(first_passage=first, second_passage=second, question=question),
            *(self.alone.ask(document=text, question=question) for text in visit.texts),
        )
        answer = both.answer.strip()
        if not answer:
            return Rejected(Why.UNANSWERED, "the passages do not answer it")
        for passage, reply in zip(visit.passages, alone, strict=True):
            if reply.answer.strip():
                return Rejected(Why.ONE_IS_ENOUGH, f"{passage.id} alone answers it: {_short(reply.answer)}")
        return (yield from judged(visit, question, answer, [both.first_evidence, both.second_evidence]))


@dataclass(frozen=True)
class Unanswerable:
    """Questions that no passage answers, as far as is looked: one call to write those of a visit, and one for each of them.

    Attributes:
        nearest: of a question and its own passage, the other passages in which an answer is looked for.
        refusal: the reference of each question.
    """

    nearest: Callable[[str, Chunk], Sequence[Chunk]]
    refusal: str
    name: str = "unanswerable"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Have questions written that a passage leaves open."""
        return _written(WRITE_UNANSWERABLE_QUESTIONS, visit, "passage")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Look for an answer in the passage and in those that are nearest to the question."""
        looked_at = [visit.passages[0], *self.nearest(question, visit.passages[0])]
        reply = yield from CHECK_UNANSWERED.ask(question=question, passages=[passage.text for passage in looked_at])
        if not reply.stands_alone:
            return Rejected(Why.LEANS, _reason(reply))
        if reply.answered_by:
            where = ", ".join(looked_at[number - 1].id for number in sorted(set(reply.answered_by)))
            return Rejected(Why.ANSWERED, f"answered in {where}: {_reason(reply)}")
        evidence = {"looked_at": [passage.id for passage in looked_at], "check": reply.reason}
        return Passed(self.refusal, {"answerable": False, **evidence})


Kind = OnePassage | TwoPassages | Unanswerable
"""One kind of questions: each has a name in metadata, and programs that write and check."""


def judged(visit: Visit, question: str, answer: str, evidence: Iterable[str]) -> Steps[Checked]:
    """Look for the evidence in the passages, one quotation in each, and have a model judge the question with its answer."""
    texts = visit.texts
    quotations = [words.strip() for words in evidence]
    for words, text in zip(quotations, texts, strict=True):
        if not words:
            return Rejected(Why.NOT_FOUND, f"no words of the passage were quoted for the answer {_short(answer)}")
        if not is_quoted(words, text):
            return Rejected(Why.NOT_FOUND, f"these words do not stand in the passage: {_short(words)}")
    check = yield from CHECK_QUESTION.ask(question=question, answer=answer, evidence=quotations, passages=texts)
    if not check.stands_alone:
        return Rejected(Why.LEANS, _reason(check))
    if not check.supported:
        return Rejected(Why.UNSUPPORTED, _reason(check))
    kept = quotations[0] if len(quotations) == 1 else quotations
    # an answer that only quotes itself may stand in many places
    facts = (text if words == answer else words for words, text in zip(quotations, texts, strict=True))
    return Passed(answer, {"answerable": True, "evidence": kept, "check": check.reason}, Fact.of(answer, facts))


def is_quoted(words: str, passage: str) -> bool:
    """Whether the words are in the passage: word for word, whatever their case, spaces and marks."""
    parts = [part for part in map(plain_words, GAP.split(words)) if part.strip()]
    text = plain_words(passage)
    return bool(parts) and all(part in text for part in parts)


def _written(prompt: Prompt[Any], visit: Visit, *fields: str) -> Steps[list[str]]:
    passages = dict(zip(fields, visit.texts, strict=True))
    before = {"already_asked": list(visit.known)} if visit.known else {}
    return distinct((yield from prompt.ask(**passages, number_of_questions=visit.wanted + SPARE, **before)))


def _reason(check: QuestionCheck | UnansweredCheck) -> str:
    return check.reason.strip() or "the model gave no reason"


def _short(text: str) -> str:
    return repr(text.strip()[:200])


def in_one_line(error: ModelError) -> str:
    """The error in one line, with what the model said last."""
    said = f" (it said: {error.raw[-1][:200]!r})" if isinstance(error, BadReply) and error.raw else ""
    return f"{type(error).__name__}: {error}{said}"


def distinct(questions: Iterable[str]) -> list[str]:
    """The questions without blanks and repetitions; case, spaces and the final mark make no difference."""
    known: dict[str, str] = {}
    for question in real_items(questions):
        key = " ".join(question.casefold().split()).rstrip(" ?.!？。")
        if key:
            known.setdefault(key, question.strip())
    return list(known.values())
