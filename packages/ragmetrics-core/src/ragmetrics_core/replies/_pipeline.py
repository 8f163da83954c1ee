"""Turn the text of a reply into its answer.

The steps are the same for all formats. A ``Reader`` supplies what differs: which of the JSON values in a text may be the answer,
how a value is read, how words are read, and when two answers are the same. Each step is flexible about form and strict about
meaning. Most replies are JSON and nothing else, and need only the first step.

A reply may contain several JSON values: an echoed schema, a draft, an object quoted from the text under judgement, the answer,
the answer again. The reader classifies each value as an answer, a bad answer, or neither. Then ``choose`` decides. It drops the
values that are in the data that was sent. The remaining answers must agree, and must not be announced as another speaker's. If
two answers disagree, no single word decides between them, because any word may belong to a quotation. The exception is a final
answer after drafts that the judge calls drafts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from .._kernel._repeated import SENT, holds_object
from .._kernel._wording import Asked, question_of
from ._answer_part import answer_part
from ._json_text import Found, decode, scan, unfenced, views
from ._text import Unreadable, on_line, outside, parse_or_bad_reply
from ._whose import QUOTED, announced_by_another, declines, is_quoted, own_words, speaks_of_another

T = TypeVar("T")


@dataclass(frozen=True)
class Fit(Generic[T]):
    """An answer."""

    value: T


class Bad(NamedTuple):
    """A value that was meant as an answer but cannot be read as one."""

    reason: str


Reading: TypeAlias = Fit[T] | Bad | None
"""How a reader classifies a JSON value: an answer, a bad answer, or (None) neither."""

TWO_ANSWERS = Bad("the reply gives two different answers; give one")


class Reader(Generic[T]):
    """The part of reading that differs from format to format."""

    takes_scalars = True
    """Whether a reply that is only a number, true, false or null is read as JSON and not as words."""

    @property
    def missing(self) -> str:
        """The complaint about JSON that contains nothing like an answer."""
        raise NotImplementedError

    def in_value(self, data: Any, depth: int = 0) -> Reading[T]:
        """Read a JSON value. ``depth`` is the number of values around it."""
        raise NotImplementedError

    def in_words(self, part: str) -> T:
        """Read a text in which no JSON value is the answer.

        Raises:
            Unreadable: the text gives no answer, or several that disagree.
        """
        raise NotImplementedError

    def same(self, one: T, two: T) -> bool:
        """Whether two answers have the same meaning."""
        return one == two

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        """Return the JSON values in a text that may be the answer."""
        raise NotImplementedError

    def together(self, found: list[Found], view: str) -> Reading[T]:  # noqa: ARG002
        """Combine all candidates into one answer if they are parts of it; else return None."""
        return None

    def confirmed(self, answer: T, before: str, after: str) -> T:  # noqa: ARG002
        """Check the answer from a JSON value against the words before and after it, and return the answer.

        Raises:
            Unreadable: the words give a different answer.
        """
        return answer

    def settled(self, reading: Reading[T]) -> T:
        """Return the answer of a reading.

        Raises:
            Unreadable: the reading is not an answer.
        """
        if isinstance(reading, Fit):
            return reading.value
        raise Unreadable(reading.reason if reading else self.missing)


_DRAFT = re.compile(
    r"(?:^|[.!?:\n]\s*|\bmy )\W{0,4}(?:draft|first (?:guess|idea|attempt|try|version|impression|thought)|"
    r"initial(?:ly| answer| guess)?|at first|entwurf|brouillon|borrador|草稿|초안)\b[^{}\[\].!?\n]{0,30}\Z",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"(?:^|[.!?\n]\s*)\W{0,4}(?:my )?(?:final|corrected|revised|definitive|endgültige|finale|definitiva|最终|最終|최종)\W{0,3}"
    r"(?:answer|verdict|output|version|json|result|score|rating|judge?ment|antwort|réponse|respuesta|答案|回答|답변)?\W{0,12}\Z",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\b(?:draft|reflection|second thoughts?|wait|wrong|misread|reconsider\w*|mistake\w*|closer look|improv\w*|correct\w*)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]{2,}")
_LABEL = re.compile(r"(?:```|~~~)[\w+-]{0,20}|\b(?:json|output|answer|result|response|assistant)\b", re.IGNORECASE)
_TORN = re.compile(r"[\"'][\w ]{1,40}[\"']\s{0,9}:[^{}]{0,400}\}")
_AROUND = re.compile(r"\A\s*(?:\w{1,20}\s?){1,2}[:：]\s?|\s(?:but|however|yet|although)\W{0,3}\Z", re.IGNORECASE)
_FOLLOWS = re.compile(r"[\s\"'`*_”»]*(?:,|;|–|—|-|\(|[^\W\d_])")
_ENDS = (":", "：", "=", ".", "!", ")", "]", ">", "}")
"""Characters after which a new sentence, or an answer, begins."""
_SHORT = 80
_MAX_FOUND = 64


_UNFINISHED = {
    "broken": Bad("the JSON in the reply is broken or repeats a key with another value"),
    "open": Bad("the reply ends inside a list; reply with the whole list, more briefly"),
    "cut": Bad("the reply ends in the middle of its JSON; reply with the whole object, more briefly"),
}


def choose(text: str, found: list[Found], reader: Reader[T]) -> Reading[T]:
    """Return the one answer among ``found``, or the reason why there is none. None: no value was meant as an answer."""
    if len(found) > _MAX_FOUND:
        return Bad("the reply holds too many objects; give one")
    question = question_of(text)
    answers: list[tuple[Found, T]] = []
    bad: list[tuple[Found, Bad]] = []
    for item in found:
        reading = reader.in_value(item.value)
        is_complete = item.state == "open" and _is_complete(item.value, question)
        if reading is not None and not is_complete:
            reading = _UNFINISHED.get(item.state, reading)
        if isinstance(reading, Bad):
            bad.append((item, reading))
        elif reading is not None:
            answers.append((item, reading.value))
    if not answers:
        return bad[-1][1] if bad else None
    text_around = outside(text, [(item.start, item.end) for item in found])
    if len(found) == 1 and not (_WORDS.search(_LABEL.sub(" ", text_around)) or _is_sent(text, found[0])):
        return Fit(answers[0][1])  # no words around it except a label or a code fence
    return _decide(text, text_around, answers, bad, reader)


def _decide(
    text: str, around: str, answers: list[tuple[Found, T]], bad: list[tuple[Found, Bad]], reader: Reader[T]
) -> Fit[T] | Bad:
    own_answers = [(item, value) for item, value in answers if not _is_sent(text, item)]
    if not own_answers:
        return Bad(SENT)
    # The text between an answer (good or bad) and the answer before it, by the start of the later answer.
    items = sorted((item for item, _ in (*answers, *bad)), key=lambda item: item.start)
    ends = [0, *(item.end for item in items)]
    before = {item.start: text[end : item.start] for end, item in zip(ends, items, strict=False)}
    wrong = [why for item, why in bad if not (_is_sent(text, item) or _DRAFT.search(before[item.start]))]
    if wrong:
        return wrong[-1]
    if _TORN.search(around):
        return Bad("the JSON in the reply is broken: more of an object follows after its closing bracket")
    if not all(reader.same(own_answers[0][1], value) for _, value in own_answers[1:]):
        drafts = all(_DRAFT.search(before[item.start]) for item, _ in own_answers[:-1])
        final = drafts and _is_final(before[own_answers[-1][0].start], around)
        return Fit(own_answers[-1][1]) if final else TWO_ANSWERS
    clear = [value for item, value in own_answers if not _is_anothers(text, item, before[item.start], around)]
    if not clear or (len(own_answers) == len(answers) and declines(around)):
        return Bad(QUOTED)
    return Fit(clear[0])


def _is_final(intro: str, around: str) -> bool:
    """Whether an answer is announced as final after the judge's own drafts, and no words around it suggest a quotation."""
    final = _FINAL.search(intro)
    first = final is not None and not re.search(r"\w", intro[: final.start()])
    return final is not None and (first or bool(_SELF.search(intro))) and not speaks_of_another(around)


def _is_sent(text: str, item: Found) -> bool:
    """Whether an object is in the data that was sent, written in the same way or differently."""
    asked = question_of(text)
    return asked.holds(text[item.start : item.end]) or (asked.has_braces and holds_object(item.value, asked))


def _is_anothers(text: str, item: Found, before: str, around: str) -> bool:
    """Whether the text around an answer shows that the answer may be another speaker's."""
    if announced_by_another(before):
        return True
    line, rest = on_line(text, item.start, item.end)
    line = line.strip(" \t`*_>\"'")
    goes_on = _WORDS.search(rest) and _WORDS.search(line) and not line.endswith(_ENDS)
    if _FOLLOWS.match(rest) and (goes_on or speaks_of_another(rest[:200])):
        return True
    return is_quoted(text, item.start, item.end) and speaks_of_another(around)


def _unless_doubted(value: T, doubted: tuple[str, ...], reader: Reader[T]) -> T:
    """Return the answer if the doubtful parts do not contradict or reject it.

    Raises:
        Unreadable: a doubtful part contains a different answer, or shows that this answer may be quoted.
    """
    for other in doubted:
        try:
            answer = _read_part(
                question_of(other).on(_AROUND.sub("", other)) if len(other) <= _SHORT else other, reader
            )
        except Unreadable as unreadable:
            if unreadable.reason in {TWO_ANSWERS.reason, QUOTED}:
                raise Unreadable(TWO_ANSWERS.reason) from None
            answer = value
        if not reader.same(value, answer):
            raise Unreadable(TWO_ANSWERS.reason)
        if declines(other) or announced_by_another(other):
            raise Unreadable(QUOTED)
    return value


def _is_complete(value: Any, asked: Asked) -> bool:
    """Whether a list that the end of the text left open is complete, because it has as many items as were asked for."""
    while isinstance(value, dict) and value:
        value = list(value.values())[-1]
    return isinstance(value, list) and asked.count is not None and len(value) == asked.count


def read_reply(text: str, reader: Reader[T]) -> T:
    """Return the answer in a reply.

    Raises:
        BadReply: the reply gives no answer, or several that disagree, or the answer may be another speaker's.
    """
    return parse_or_bad_reply(text, lambda reply: _read(reply, reader))


def _read(text: str, reader: Reader[T]) -> T:
    whole = decode(text)
    if whole is not None and isinstance(whole[0], str):
        text = question_of(text).on(whole[0])  # the whole reply is one JSON string
    elif whole is not None and (reader.takes_scalars or isinstance(whole[0], (dict, list))):
        return reader.settled(reader.in_value(whole[0]))
    part, doubted = answer_part(text)
    return _unless_doubted(_read_part(part, reader), doubted, reader)


def _read_part(part: str, reader: Reader[T]) -> T:
    """Read the answer in the part of a reply that is neither thinking nor an invented turn."""
    asked = question_of(part)
    for view in views(part):
        found = reader.candidates(scan(view), view)
        reading = reader.together(found, view) or choose(view, found, reader)
        if reading is not None:
            before, after = view[: found[0].start], view[found[-1].end :]
            return reader.confirmed(reader.settled(reading), asked.on(before), asked.on(after))
    return reader.in_words(part)


def read_prose(
    text: str, read: Callable[[str], T | None], names: re.Pattern[str] | None = None
) -> tuple[T | None, str]:
    """Call ``read`` on a reply without its thinking. Return what it finds (None: nothing), and that part of the reply.

    ``names`` matches the words that the prompt uses for the texts under judgement, beyond "the response".

    Raises:
        BadReply: the value may be quoted from the text under judgement, the judge declines, or a doubtful part that was left out
            gives a different value.
    """

    def own(part: str) -> str:
        return own_words(names.sub("the response", part) if names else part)

    def found(reply: str) -> tuple[T | None, str]:
        part, doubted = answer_part(reply)
        value = read(part)
        if value is not None and (read(own(part)) != value or declines(part)):
            raise Unreadable(QUOTED)
        others = {read(own(other)) for other in doubted} - {None, value}
        if value is not None and others:
            raise Unreadable(TWO_ANSWERS.reason)
        return value, str(part)

    return parse_or_bad_reply(text, found)


def answer_text(text: str) -> str:
    """Return the part of a reply that is its answer: without thinking, chat template, invented turns, and a code fence around
    all of it.

    Raises:
        BadReply: the reply is empty, or contains nothing but thinking.
    """
    return unfenced(parse_or_bad_reply(text, lambda reply: answer_part(reply)[0]))
