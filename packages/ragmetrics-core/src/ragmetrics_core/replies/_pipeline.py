"""The one way from the text of a reply to its answer.

The steps are the same for all forms of reply. A ``Reader`` fills in what differs: which of the JSON values in a text may be the
answer, what such a value says, what words say, and when two answers are the same. Each step gives way in form and never in
meaning. Most replies are JSON and nothing else, and take only the first step.

A reply may hold several values: an echoed schema, a draft, an object quoted from the text under judgement, the answer, the answer
again. A reader says of each what it is (an answer, a bad answer, or nothing of the kind). ``choose`` then decides. It strikes
what stands in the data that was sent; what is left must speak with one voice, and must not be announced as another's. It never
lets a word decide between two answers that disagree, for any word may belong to a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from .._kernel._repeated import SENT, holds_object
from .._kernel._wording import Asked, asked_of
from ._answer_part import answer_part
from ._json_text import Found, decode, scan, unfenced, views
from ._text import Unreadable, parse_or_bad_reply
from ._whose import QUOTED, announced_by_another, declines, is_quoted, own_words, speaks_of_another

T = TypeVar("T")


@dataclass(frozen=True)
class Fit(Generic[T]):
    """An answer."""

    value: T


class Bad(NamedTuple):
    """Something that was meant as an answer and is none."""

    reason: str


Reading: TypeAlias = Fit[T] | Bad | None
"""What a JSON value is to a reader: an answer, a bad one, or (None) nothing of the kind."""

TWO_ANSWERS = Bad("the reply gives two different answers; give one")


class Reader(Generic[T]):
    """What one form of reply looks for."""

    takes_scalars = True
    """Whether a number, true, false or null that is the whole reply is read as JSON, and not as words."""

    @property
    def missing(self) -> str:
        """What is wrong with JSON in which there is nothing of the kind."""
        raise NotImplementedError

    def in_value(self, data: Any, depth: int = 0) -> Reading[T]:
        """What a JSON value says; ``depth`` counts the values around it."""
        raise NotImplementedError

    def in_words(self, part: str) -> T:
        """What a text says in which no JSON value is the answer.

        Raises:
            Unreadable: nothing, or several things that disagree.
        """
        raise NotImplementedError

    def same(self, one: T, two: T) -> bool:
        """Whether two answers say the same."""
        return one == two

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        """Those of the JSON values in a text that may be the answer."""
        raise NotImplementedError

    def together(self, found: list[Found], view: str) -> Reading[T]:  # noqa: ARG002
        """What all the candidates are when they are parts of one answer (None: they are not)."""
        return None

    def rejected(self, found: list[Found]) -> Bad | None:  # noqa: ARG002
        """What is wrong when none of the candidates is meant as an answer (None: the answer may stand elsewhere)."""
        return None

    def confirmed(self, answer: T, before: str, after: str) -> T:  # noqa: ARG002
        """The answer of a JSON value, given the words before and after it.

        Raises:
            Unreadable: they say something else.
        """
        return answer

    def settled(self, reading: Reading[T]) -> T:
        """The answer that a reading is.

        Raises:
            Unreadable: it is none.
        """
        if isinstance(reading, Fit):
            value: T = reading.value
            return value
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
_AROUND = re.compile(r"\A(?:\w{1,20}\s?){1,2}[:：]\s?|\s(?:but|however|yet|although)\W{0,3}\Z", re.IGNORECASE)
_FOLLOWS = re.compile(r"[\s\"'`*_”»]*(?:,|;|–|—|-|\(|[^\W\d_])")
_CLOSED = frozenset({"whole", "closed", "open"})
_CUT = frozenset({"cut", "broken"})
_SHORT = 80
_MAX_FOUND = 64


class _Answer(NamedTuple):
    """An object that is an answer."""

    item: Found
    value: Any


class _BadAnswer(NamedTuple):
    """An object that was meant as an answer and is none."""

    item: Found
    why: Bad


def choose(text: str, found: list[Found], reader: Reader[T]) -> Reading[T]:
    """The one answer among ``found``, or why there is none (None: nothing here is meant as an answer)."""
    if len(found) > _MAX_FOUND:
        return Bad("the reply holds too many objects; give one")
    asked = asked_of(text)
    answers, bad = _read_each(found, reader, asked)
    if not answers:
        return bad[-1].why if bad else None
    if _is_alone(text, found) and not _sent(text, found[0], asked):
        return Fit(answers[0].value)
    return _decide(text, found, answers, bad, reader)


def _read_each(found: list[Found], reader: Reader[Any], asked: Asked) -> tuple[list[_Answer], list[_BadAnswer]]:
    answers: list[_Answer] = []
    bad: list[_BadAnswer] = []
    for item in found:
        reading = reader.in_value(item.value if item.state in _CLOSED else _beginning(item.value))
        if reading is None:
            continue
        if item.state in _CUT or (item.state == "open" and not _proven(item.value, asked)):
            bad.append(_BadAnswer(item, _unfinished(item)))
        elif isinstance(reading, Bad):
            bad.append(_BadAnswer(item, reading))
        else:
            answers.append(_Answer(item, reading.value))
    return answers, bad


def _is_alone(text: str, found: list[Found]) -> bool:
    """Whether a text is one object and nothing else but a label or a fence."""
    return len(found) == 1 and not _WORDS.search(_LABEL.sub(" ", text[: found[0].start] + text[found[0].end :]))


def _decide(
    text: str, found: list[Found], answers: list[_Answer], bad: list[_BadAnswer], reader: Reader[T]
) -> Fit[T] | Bad:
    asked = asked_of(text)
    own = [answer for answer in answers if not _sent(text, answer.item, asked)]
    if not own:
        return Bad(SENT)
    outside = _outside(text, found)
    before = _words_before(text, [*answers, *bad])
    wrong = [one.why for one in bad if not (_sent(text, one.item, asked) or _DRAFT.search(before[one.item.start]))]
    if wrong:
        return wrong[-1]
    if _TORN.search(outside):
        return Bad("the JSON in the reply is broken: it goes on behind its end")
    if not all(reader.same(own[0].value, answer.value) for answer in own[1:]):
        return _final(own, before, outside)
    clear = [answer for answer in own if not _anothers(text, answer.item, before[answer.item.start], outside)]
    if not clear or (len(own) == len(answers) and declines(outside)):
        return Bad(QUOTED)
    return Fit(clear[0].value)


def _words_before(text: str, meant: Sequence[_Answer | _BadAnswer]) -> dict[int, str]:
    """What stands between an object that is meant as an answer and the one before it, by where the object starts."""
    items = sorted((one.item for one in meant), key=lambda item: item.start)
    ends = [0, *(item.end for item in items)]
    return {item.start: text[end : item.start] for end, item in zip(ends, items, strict=False)}


def _final(own: list[_Answer], before: dict[int, str], outside: str) -> Fit[Any] | Bad:
    """A final answer after drafts of the judge's own, where nothing around them can be a quotation."""
    drafts = all(_DRAFT.search(before[fit.item.start]) for fit in own[:-1])
    intro = before[own[-1].item.start]
    final = _FINAL.search(intro)
    words = re.search(r"\w", intro[: final.start()]) if final else None
    if drafts and final and (words is None or _SELF.search(intro)) and not speaks_of_another(outside):
        return Fit(own[-1].value)
    return TWO_ANSWERS


def _sent(text: str, item: Found, asked: Asked) -> bool:
    """Whether an object stands in the data that was sent, as it is written here or written in another way."""
    if not asked.known:
        return False
    return asked.holds(text[item.start : item.end]) or (asked.has_braces and holds_object(item.value, asked))


def _outside(text: str, items: list[Found]) -> str:
    parts = []
    start = 0
    for item in items:
        parts.append(text[start : item.start])
        start = max(start, item.end)
    return " … ".join([*parts, text[start:]])


def _anothers(text: str, item: Found, before: str, outside: str) -> bool:
    """Whether what stands around an answer shows that it may be another's."""
    if announced_by_another(before):
        return True
    end = text.find("\n", item.end)
    rest = text[item.end : end if end >= 0 else len(text)]
    if _FOLLOWS.match(rest) and (
        speaks_of_another(rest[:200]) or (_WORDS.search(rest) and _begins_sentence(text, item.start))
    ):
        return True
    return is_quoted(text, item.start, item.end) and speaks_of_another(outside)


def _begins_sentence(text: str, end: int) -> bool:
    """Whether the line up to ``end`` holds words that go on behind it."""
    line = text[text.rfind("\n", 0, end) + 1 : end].strip(" \t`*_>\"'")
    return bool(_WORDS.search(line)) and not line.endswith((":", "：", "=", ".", "!", ")", "]", ">", "}"))


def unless_doubted(value: T, doubted: tuple[str, ...], read: Callable[[str], T], same: Callable[[T, T], bool]) -> T:
    """The answer, unless what was left out in doubt holds another one, or says that this one is none.

    Raises:
        Unreadable: it does.
    """
    for other in doubted:
        try:
            said = _said(other, read)
        except Unreadable as unreadable:
            if unreadable.reason in {TWO_ANSWERS.reason, QUOTED}:
                raise Unreadable(TWO_ANSWERS.reason) from None
            said = value
        if not same(value, said):
            raise Unreadable(TWO_ANSWERS.reason)
        if declines(other) or announced_by_another(other):
            raise Unreadable(QUOTED)
    return value


def _said(text: str, read: Callable[[str], T]) -> T:
    """What a text says; where a short one cannot be read, what it says without the words around its answer ("So: 1. But")."""
    try:
        return read(text)
    except Unreadable:
        line = text.strip().rpartition("\n")[2]
        bare = _AROUND.sub("", line) if len(line) <= _SHORT else ""
        if bare in {"", text}:
            raise
        try:
            return read(asked_of(text).on(bare))
        except Unreadable:
            pass
        raise


def _proven(value: Any, asked: Asked) -> bool:
    """Whether a list that was still open at the end is known to be complete: it has as many items as were asked for."""
    while isinstance(value, dict) and value:
        value = list(value.values())[-1]
    return isinstance(value, list) and asked.count is not None and len(value) == asked.count


def _beginning(value: Any) -> Any:
    """Enough of an unfinished value to tell what it was meant to be."""
    if isinstance(value, dict):
        return {key: _beginning(inner) for key, inner in list(value.items())[:50]}
    return [_beginning(inner) for inner in value[:3]] if isinstance(value, list) else value


def _unfinished(item: Found) -> Bad:
    if item.state == "broken":
        return Bad("the JSON in the reply is broken or repeats a key with another value")
    if item.state == "open":
        return Bad("the reply ends inside a list; reply with the whole list, more briefly")
    return Bad("the reply ends in the middle of its JSON; reply with the whole object, more briefly")


_NO_COLON = re.compile(
    r"""\s*\{\s*(?P<key>"[A-Za-z_]{1,40}")\s{1,9}(?P<value>-?[\d.]{1,9}|"[^"\\]{1,40}"|true|false|yes|no)\s*\}\s*"""
)


def read_reply(text: str, reader: Reader[T]) -> T:
    """The answer in a reply.

    Raises:
        BadReply: there is none, or several that disagree, or it may be another's.
    """
    return parse_or_bad_reply(text, lambda reply: _read(reply, reader))


def _read(text: str, reader: Reader[T]) -> T:
    whole = decode(text)
    if whole is not None and isinstance(whole[0], str):
        text = asked_of(text).on(whole[0])  # the whole reply in quotes
    elif whole is not None and (reader.takes_scalars or isinstance(whole[0], (dict, list))):
        return reader.settled(reader.in_value(whole[0]))
    part, doubted = answer_part(text)
    return unless_doubted(_read_part(part, reader), doubted, lambda other: _read_part(other, reader), reader.same)


def _read_part(part: str, reader: Reader[T]) -> T:
    """The answer in the part of a reply that is neither thinking nor an invented turn."""
    part = _with_colon(part)
    for view in views(part):
        found = reader.candidates(scan(view), view)
        reading = reader.together(found, view) or choose(view, found, reader) or reader.rejected(found)
        if reading is not None:
            answer = reader.settled(reading)
            return reader.confirmed(answer, _part(view, 0, found[0].start), _part(view, found[-1].end, None))
    return reader.in_words(part)


def _part(view: str, start: int, end: int | None) -> str:
    return asked_of(view).on(view[start:end])


def _with_colon(part: str) -> str:
    """An object of one key that lost its colon, with it."""
    lost = _NO_COLON.fullmatch(part)
    return asked_of(part).on(f"{{{lost['key']}: {lost['value']}}}") if lost else part


def read_prose(
    text: str, read: Callable[[str], T | None], names: re.Pattern[str] | None = None
) -> tuple[T | None, str]:
    """What ``read`` finds in a reply without its thinking (None: nothing), and that part of the reply.

    ``names`` is how the prompt calls the texts under judgement, beyond "the response".

    Raises:
        BadReply: what it finds may be quoted from the text under judgement, or the judge declines, or something that was left out
            in doubt says something else.
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
            raise Unreadable("the reply gives two different answers; give one")
        return value, str(part)

    return parse_or_bad_reply(text, found)


def answer_text(text: str) -> str:
    """The part of a reply that is its answer: without thinking, chat template, invented turns, and a fence around all of it.

    Raises:
        BadReply: the reply is empty, or nothing but thinking.
    """
    return unfenced(parse_or_bad_reply(text, lambda reply: answer_part(reply).text))
