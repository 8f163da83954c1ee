"""The kinds of questions: the prompts that write and check them, and how the replies are interpreted. No IO.

An answer written together with its question might come from the writer's knowledge instead of the document. So a separate call
answers each question, with only its passage. The answer must quote the words of the passage that support it. Whether the
quotation is in the passage is checked without a model. Another call then judges whether the question can be understood alone and
whether the quotation gives the answer. A question over two passages is also put to each passage alone. A question that must not
have an answer is put to its passage and to the passages nearest to the question; no other passages are searched, and the evidence
says so.

A prompt that checks asks for the reason first. The judge sees the quotation together with its passage, because only the passage
shows what "It" means in "It was published in 1914". The judge must still decide without the passage whether the question can be
understood alone.

Many models answer with a plain sentence where an object with answer and evidence is requested. The sentence is accepted as an
answer without evidence, unless it is a refusal, a server error or broken JSON.
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
        """Return the answer. It is empty if the reply says that the document does not answer.

        Raises:
            BadReply: the reply is empty, is a refusal, reports an error, or is broken JSON.
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
    """A model's verdict on a question with its answer. The reason comes first, so that the model thinks before it decides."""

    reason: str = Field(default="", description="what speaks for and against it, in one short sentence")
    stands_alone: bool
    supported: bool


class UnansweredCheck(BaseModel):
    """A model's verdict on a question that must have no answer."""

    reason: str = Field(default="", description="what the passages say about what is asked, in one short sentence")
    stands_alone: bool
    answered_by: list[int] = Field(
        description="numbers of the passages that answer it, in whole or in part; empty if none does"
    )


QUOTED = "the words of {} that the answer needs, copied letter for letter"


class TwoPassageAnswer(BaseModel):
    """An answer that two passages give together."""

    first_evidence: str = Field("", description=QUOTED.format("first_passage"))
    second_evidence: str = Field("", description=QUOTED.format("second_passage"))
    answer: str = Field(description="the answer, complete and to the point; empty if the passages do not answer")


def check_numbers(reply: UnansweredCheck, inputs: Mapping[str, Any]) -> None:
    """Check that all passages named as answers were sent."""
    if unknown := [number for number in reply.answered_by if not 1 <= number <= len(inputs["passages"])]:
        raise BadReply(f"answered_by may only contain 1 to {len(inputs['passages'])}, but it contains {unknown}")


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

NO_ANSWER = "The documents do not contain the answer to this question."
"""The default reference of a question without an answer: what a system says when it declines to answer."""

SPARE = 1
"""The number of additional questions requested from a passage, which replace those that fail the first checks."""

GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
"""An ellipsis, with which a quotation leaves words out."""


class Visit(NamedTuple):
    """A visit to one passage, or to a pair of passages.

    Attributes:
        passages: the passages.
        wanted: the number of questions that are wanted.
        known: questions that earlier visits asked about these passages.
    """

    passages: tuple[Chunk, ...]
    wanted: int
    known: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The ids of the passages, joined with ``+``."""
        return "+".join(passage.id for passage in self.passages)

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [passage.text for passage in self.passages]


class Passed(NamedTuple):
    """The result for a question that passed its check.

    Attributes:
        reference: the reference answer.
        evidence: how the question was checked, for the metadata of its sample.
        fact: what the question asks for; None if the question has no answer.
    """

    reference: str
    evidence: dict[str, Any]
    fact: Fact | None = None


class Rejected(NamedTuple):
    """The result for a question that failed its check: the kind of reason, and the reason in words."""

    why: Why
    message: str


Checked = Passed | Rejected


@dataclass(frozen=True)
class OnePassage:
    """Questions that one passage answers. One call writes the questions of a visit, and two calls check each of them."""

    writer: Prompt[Any]
    answer: Prompt[Any]
    name: str = "one_passage"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Ask a model to write questions about a passage."""
        return _write(self.writer, visit, "document")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from its passage, find the quotation in the passage, and let a model judge both."""
        (text,) = visit.texts
        reply = yield from self.answer.ask(document=text, question=question)
        answer = reply.answer.strip()
        if not answer:
            return Rejected(Why.UNANSWERED, "the passage does not answer it")
        quotes_itself = not is_quoted(reply.evidence, text) and is_quoted(answer, text)
        return (yield from check_evidence(visit, question, answer, [answer if quotes_itself else reply.evidence]))


@dataclass(frozen=True)
class TwoPassages:
    """Questions that need two passages. One call writes the questions of a visit, and four calls check each of them."""

    alone: Prompt[Any]
    name: str = "two_passages"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Ask a model to write questions that need both passages."""
        return _write(WRITE_TWO_PASSAGE_QUESTIONS, visit, "first_passage", "second_passage")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Answer a question from both passages, and from each passage alone. One passage alone must not be enough."""
        first, second = visit.texts
        both, *single_answers = yield from together(
            ANSWER_FROM_PASSAGES.ask(first_passage=first, second_passage=second, question=question),
            *(self.alone.ask(document=text, question=question) for text in visit.texts),
        )
        answer = both.answer.strip()
        if not answer:
            return Rejected(Why.UNANSWERED, "the passages do not answer it")
        for passage, reply in zip(visit.passages, single_answers, strict=True):
            if reply.answer.strip():
                return Rejected(Why.ONE_IS_ENOUGH, f"{passage.id} alone answers it: {_short(reply.answer)}")
        return (yield from check_evidence(visit, question, answer, [both.first_evidence, both.second_evidence]))


@dataclass(frozen=True)
class Unanswerable:
    """Questions that none of the searched passages answers. One call writes the questions of a visit, and one call checks each.

    Attributes:
        nearest: takes a question and its own passage, and returns the other passages to search for an answer.
        refusal: the reference of each question.
    """

    nearest: Callable[[str, Chunk], Sequence[Chunk]]
    refusal: str
    name: str = "unanswerable"

    def write(self, visit: Visit) -> Steps[list[str]]:
        """Ask a model to write questions that the passage leaves open."""
        return _write(WRITE_UNANSWERABLE_QUESTIONS, visit, "passage")

    def check(self, visit: Visit, question: str) -> Steps[Checked]:
        """Search for an answer in the passage and in the passages nearest to the question."""
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
"""A kind of questions: its name in the metadata, and the programs that write and check questions."""


def check_evidence(visit: Visit, question: str, answer: str, evidence: Iterable[str]) -> Steps[Checked]:
    """Check that each quotation is in its passage, then let a model judge the question with its answer."""
    texts = visit.texts
    quotations = [words.strip() for words in evidence]
    for words, text in zip(quotations, texts, strict=True):
        if not words:
            return Rejected(Why.NOT_FOUND, f"no words of the passage were quoted for the answer {_short(answer)}")
        if not is_quoted(words, text):
            return Rejected(Why.NOT_FOUND, f"these words are not in the passage: {_short(words)}")
    check = yield from CHECK_QUESTION.ask(question=question, answer=answer, evidence=quotations, passages=texts)
    if not check.stands_alone:
        return Rejected(Why.LEANS, _reason(check))
    if not check.supported:
        return Rejected(Why.UNSUPPORTED, _reason(check))
    quotation = quotations[0] if len(quotations) == 1 else quotations
    # an answer that is its own quotation may occur in many places, so the whole passage is the quotation
    facts = (text if words == answer else words for words, text in zip(quotations, texts, strict=True))
    return Passed(answer, {"answerable": True, "evidence": quotation, "check": check.reason}, Fact.of(answer, facts))


def is_quoted(words: str, passage: str) -> bool:
    """Whether the words are in the passage, ignoring case, spaces and punctuation. An ellipsis matches any words."""
    parts = [part for part in map(plain_words, GAP.split(words)) if part.strip()]
    text = plain_words(passage)
    return bool(parts) and all(part in text for part in parts)


def _write(prompt: Prompt[Any], visit: Visit, *fields: str) -> Steps[list[str]]:
    passages = dict(zip(fields, visit.texts, strict=True))
    before = {"already_asked": list(visit.known)} if visit.known else {}
    return distinct((yield from prompt.ask(**passages, number_of_questions=visit.wanted + SPARE, **before)))


def _reason(check: QuestionCheck | UnansweredCheck) -> str:
    return check.reason.strip() or "the model gave no reason"


def _short(text: str) -> str:
    return repr(text.strip()[:200])


def in_one_line(error: ModelError) -> str:
    """Return the error in one line. If a reply was bad, the last reply of the model is quoted."""
    said = f" (the model said: {error.raw[-1][:200]!r})" if isinstance(error, BadReply) and error.raw else ""
    return f"{type(error).__name__}: {error}{said}"


def distinct(questions: Iterable[str]) -> list[str]:
    """Return the questions without blank and repeated ones. Case, spaces and final punctuation are ignored."""
    known: dict[str, str] = {}
    for question in real_items(questions):
        if key := " ".join(question.casefold().split()).rstrip(" ?.!？。"):
            known.setdefault(key, question.strip())
    return list(known.values())
