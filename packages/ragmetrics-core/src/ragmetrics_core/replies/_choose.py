"""Which of the objects found in a reply is the judge's answer.

A reply may hold several: an echoed schema, a draft, an object quoted from the text under judgement, the answer, the answer
again. A reader says of each what it is (an answer, a bad answer, or nothing of the kind). ``choose`` then decides, and what it
never does is to prefer one of two answers that disagree because of a word: any word may belong to the quotation. It strikes
what stands in the data that was sent; what is left must speak with one voice, and must not be announced as another's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .._kernel._asked import Asked, asked_of
from ._json_text._find import Bad, Fit, Reader
from ._json_text._scan import Found, scan
from ._prose._problem import Problem
from ._prose._whose import QUOTED, SENT, announced_by_another, declines, is_quoted, speaks_of_another

__all__ = ["choose", "unless_doubted"]

T = TypeVar("T")

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
_SHORT = 80
_MAX_FOUND = 64
# Data is searched for objects in another form only where that is quick; word for word it always is.
_MAX_SENT = 1000
_MAX_DATA = 200_000
TWO = Bad("the reply gives two different answers; give one")


class _Answer(NamedTuple):
    item: Found
    value: Any


def choose(text: str, found: list[Found], read: Reader[T], same: Callable[[T, T], bool]) -> Fit[T] | Bad | None:
    """The one answer among ``found``, or why there is none (None: nothing here is meant as an answer)."""
    if len(found) > _MAX_FOUND:
        return Bad("the reply holds too many objects; give one")
    asked = asked_of(text)
    fits: list[_Answer] = []
    bad: list[tuple[Found, Bad]] = []
    for item in found:
        reading = read(item.value if item.state in {"whole", "closed", "open"} else _beginning(item.value))
        if reading is None:
            continue
        if item.state in {"cut", "broken"} or (item.state == "open" and not _proven(item.value, asked)):
            bad.append((item, _unfinished(item)))
        elif isinstance(reading, Bad):
            bad.append((item, reading))
        else:
            fits.append(_Answer(item, reading.value))
    if not fits:
        return bad[-1][1] if bad else None
    alone = len(found) == 1 and not _WORDS.search(_LABEL.sub(" ", text[: found[0].start] + text[found[0].end :]))
    if alone and not _sent(text, found[0], asked):
        return Fit(fits[0].value)  # this part of the reply is the object and nothing else
    return _decide(text, _outside(text, found), fits, bad, same)


def _decide(
    text: str,
    outside: str,
    fits: list[_Answer],
    bad: list[tuple[Found, Bad]],
    same: Callable[[T, T], bool],
) -> Fit[T] | Bad:
    asked = asked_of(text)
    own = [fit for fit in fits if not _sent(text, fit.item, asked)]
    struck = len(own) < len(fits)
    if not own:
        return Bad(SENT)
    everything = sorted([fit.item for fit in fits] + [item for item, _ in bad], key=lambda item: item.start)
    before = {
        item.start: text[end : item.start]
        for end, item in zip([0, *(item.end for item in everything)], everything, strict=False)
    }
    bad = [pair for pair in bad if not _sent(text, pair[0], asked) and not _DRAFT.search(before[pair[0].start])]
    if bad:
        return bad[-1][1]
    if _TORN.search(outside):
        return Bad("the JSON in the reply is broken: it goes on behind its end")
    if not all(same(own[0].value, fit.value) for fit in own[1:]):
        return _final(own, before, outside)
    clear = [fit for fit in own if not _anothers(text, fit.item, before[fit.item.start], outside)]
    if not clear or (not struck and declines(outside)):
        return Bad(QUOTED)
    return Fit(clear[0].value)


def _final(own: list[_Answer], before: dict[int, str], outside: str) -> Fit[Any] | Bad:
    """A final answer after drafts of the judge's own, where nothing around them can be a quotation."""
    drafts = all(_DRAFT.search(before[fit.item.start]) for fit in own[:-1])
    intro = before[own[-1].item.start]
    final = _FINAL.search(intro)
    words = re.search(r"\w", intro[: final.start()]) if final else None
    if drafts and final and (words is None or _SELF.search(intro)) and not speaks_of_another(outside):
        return Fit(own[-1].value)
    return TWO


def _sent(text: str, item: Found, asked: Asked) -> bool:
    """Whether an object stands in the data that was sent, as it is written here or written in another way."""
    if not asked.known:
        return False
    if asked.values is None:
        asked.values = [
            found.value
            for sent in asked.data
            if len(sent) <= _MAX_DATA and sent.count("{") + sent.count("[") <= _MAX_SENT
            for found in scan(sent)
        ]
    return asked.holds(text[item.start : item.end]) or item.value in asked.values


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
    line = text[text.rfind("\n", 0, item.start) + 1 : item.start].strip(" \t`*_>\"'")
    end = text.find("\n", item.end)
    rest = text[item.end : end if end >= 0 else len(text)]
    follows = re.match(r"[\s\"'`*_”»]*(?:,|;|–|—|-|\(|[^\W\d_])", rest)
    if (
        line
        and _WORDS.search(line)
        and not line.endswith((":", "：", "=", ".", "!", ")", "]", ">", "}"))
        and follows
        and _WORDS.search(rest)
    ):
        return True  # in the middle of a sentence
    if follows and speaks_of_another(rest[:200]):
        return True
    return is_quoted(text, item.start, item.end) and speaks_of_another(outside)


def unless_doubted(value: T, doubted: tuple[str, ...], read: Callable[[str], T], same: Callable[[T, T], bool]) -> T:
    """The answer, unless what was left out in doubt holds another one, or says that this one is none.

    Raises:
        Problem: it does.
    """
    for other in doubted:
        try:
            said = _said(other, read)
        except Problem as problem:
            if problem.reason in {TWO.reason, QUOTED}:
                raise Problem(TWO.reason) from None
            said = value
        if not same(value, said):
            raise Problem(TWO.reason)
        if declines(other) or announced_by_another(other):
            raise Problem(QUOTED)
    return value


def _said(text: str, read: Callable[[str], T]) -> T:
    """What a text says; where a short one cannot be read, what it says without the words around its answer ("So: 1. But")."""
    try:
        return read(text)
    except Problem:
        line = text.strip().rpartition("\n")[2]
        bare = _AROUND.sub("", line) if len(line) <= _SHORT else ""
        if bare in {"", text}:
            raise
        try:
            return read(asked_of(text).on(bare))
        except Problem:
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
