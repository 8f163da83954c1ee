"""A yes or a no in words.

The first explicit answer counts, and "explicit" is a matter of place: at the head of a sentence and closed off from
what follows ("Yes, because ..."), behind a label ("Answer: no"), or alone. The same word in running text is none
("there is no law", "one could say yes"). Labels of two-valued scales ("supported", "incorrect") count in the same
places, and in a plain sentence ("the figures are not correct") when nothing hedges it. A final answer or a
correction outranks what came before; any other contradiction is no answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from ..._kernel._asked import asked_of
from ._around import ANOTHERS, plain_labels, undress, without_colour
from ._clean import tidy
from ._unreadable import Unreadable
from ._verdict_patterns import (
    AFFIRMS,
    ANSWER,
    BREAK,
    CJK,
    CLOSING,
    COMMA_MENU,
    CONCLUSION_LABEL,
    CONTRAST,
    COPULA,
    CORRECTION,
    COUNTED,
    CRITERIA,
    DECORATION,
    DIGIT,
    FINAL_LABEL,
    FIRST,
    FULLY_NOT,
    HEAD,
    ITEM,
    LABEL,
    LABELLED,
    LEAD_IN,
    LETTER,
    LOOSE,
    MAX_SENTENCE,
    MENU,
    NEGATION,
    NUMBERED,
    OPENING,
    REASON_LABEL,
    SAYS,
    SELF,
    SUPPORTS,
    TAIL,
    WHETHER,
    WORD,
)
from ._whose import QUOTED, SENT, declines, own_words, speaks_of_another
from ._words import HEDGES, NEGATIVE, NO, YES

__all__ = ["read_verdict", "truth", "truth_of_text"]


class _Sign(NamedTuple):
    """One explicit answer: its truth (None: it takes no side), its rank, whether the text begins with it, and its words."""

    truth: bool | None
    rank: int
    leads: bool = False
    said: str = ""


_BRIEF = 4
_FINALLY, _CONCLUDED, _SAID, _TERM = 3, 2, 1, 0


def _menu(match: re.Match[str]) -> str:
    """Blank out a choice between yes and no; two words for the same are an answer."""
    around = (
        match.string[max(0, match.start() - 3) : match.start()].rstrip()[-1:],
        match.string[match.end() : match.end() + 3].strip()[:1],
    )
    if any(undress(f"{sign}x")[1] for sign in around):
        # A symbol at the choice must not be left standing as the answer.
        return " either "
    opposed = bool(AFFIRMS.match(match.group("one"))) != bool(AFFIRMS.match(match.group("two")))
    return " " if opposed else match.group()


def _side(match: re.Match[str]) -> bool:
    positive = match.group("yes") is not None
    return positive != bool(match.groupdict().get("not"))


def _answer_at(body: str, *, digits: bool = True) -> tuple[bool | None, bool] | None:
    """The answer at the head of ``body`` as (truth, explicit word); (None, True) for a hedge."""
    body = body[OPENING.match(body).end() :]  # type: ignore[union-attr]
    worn, sides = undress(body[:MAX_SENTENCE])
    if sides and (answer := _answer_at(worn, digits=digits)):
        return (None, True) if sides - {answer[0]} else answer
    for pattern in (ANSWER, CJK, LOOSE, LETTER):
        if match := pattern.match(body):
            return _side(match), True
    if digits and (match := DIGIT.match(body)):
        rest = _answer_at(body[match.end() :].lstrip(" -–—:=(.,"), digits=False)
        word = WORD.search(body, match.end())
        if rest is None and word and word.group() in (NO if _side(match) else YES):
            return None, True
        return (_side(match), True) if rest is None or rest[0] == _side(match) else (None, True)
    if match := LABEL.match(body):
        return _side(match), False
    first = WORD.match(body)
    if first and first.group() in HEDGES:
        return None, True
    return None


def _signs(text: str) -> list[_Sign]:
    signs: list[_Sign] = []
    digits = len(text) <= MAX_SENTENCE and "\n" not in text
    if (counted := COUNTED.match(text)) and counted["word"] in (HEDGES | NO):
        digits = False
    for number, sentence in enumerate(part.strip() for part in BREAK.split(text)):
        found = _sentence_signs(sentence, first=number == 0, digits=digits and number == 0)
        signs.extend(sign._replace(leads=number == 0, said=sign.said or sentence) for sign in found)
    if not signs and (last := [part.strip() for part in BREAK.split(text) if part.strip()][-1:]):
        signs.extend(_closing_sign(last[0]))
    return signs


def _closing_sign(sentence: str) -> list[_Sign]:
    """The answer at the end of the last sentence, where nothing else answers: "based on the context, yes"."""
    match = CLOSING.search(sentence[:MAX_SENTENCE])
    if match is None or set(WORD.findall(sentence)) & HEDGES or ANOTHERS.search(sentence):
        return []
    return [_Sign(_side(match), _SAID, said=sentence)]


def _sentence_signs(sentence: str, *, first: bool, digits: bool) -> list[_Sign]:
    sentence, sides = undress(sentence)
    signs = _bare_signs(sentence, first=first, digits=digits)
    return [sign._replace(truth=None) if sides - {sign.truth} else sign for sign in signs]


def _bare_signs(sentence: str, *, first: bool, digits: bool) -> list[_Sign]:
    corrected = bool(CORRECTION.match(sentence))
    body = sentence
    for _ in range(3):
        opening = LEAD_IN.match(body)
        if opening is None or opening.end() == len(body):
            break
        body = body[opening.end() :]
    answer = _answer_at(body, digits=digits)
    if answer is None or not answer[1]:
        for match in (LABELLED.match(body), SAYS.search(body[:MAX_SENTENCE])):
            if answer and match and match.re is LABELLED and body[match.end("label")] not in ":=：":
                # "not supported - the text ..." explains; "supported: no" answers.
                continue
            sign = match and _labelled_sign(match, corrected=corrected)
            if sign:
                return [sign]
    if answer is None or (not first and (answer[0] is None or (not corrected and not HEAD.match(body)))):
        return []
    return [_Sign(answer[0], _FINALLY if corrected else _SAID if answer[1] else _TERM)]


def _labelled_sign(match: re.Match[str], *, corrected: bool, nested: int = 0) -> _Sign | None:
    sign = _side_of_label(match["label"].strip(), match["body"], corrected=corrected, nested=nested)
    if sign is None or sign.said:
        return sign
    body = match.start("body") - match.start()
    return sign._replace(said=TAIL.sub(r"\1", match.group()[: body + FIRST.match(match["body"]).end()]))  # type: ignore[union-attr]


def _side_of_label(label: str, body: str, *, corrected: bool, nested: int) -> _Sign | None:
    words = set(WORD.findall(label))
    if (REASON_LABEL.search(label) and not SUPPORTS.search(label)) or ANOTHERS.search(label) or words & HEDGES:
        return None
    concluded = FINAL_LABEL.search(label) or CONCLUSION_LABEL.search(label)
    answer = _answer_at(body, digits=bool(concluded))
    negated = SUPPORTS.search(label) and NEGATION.search(label)
    if answer and ((answer[0] and negated) or (answer[1] and NEGATIVE.intersection(WORD.findall(label)[-1:]))):
        return _Sign(None, _SAID)  # "unsupported: yes" says no, "it is not supported: yes" may mean either
    if answer is None:
        inner = LABELLED.match(body) if nested < 3 else None
        if inner is None:
            return None
        return _labelled_sign(inner, corrected=corrected, nested=nested + 1)
    for part in CRITERIA.split(body[:MAX_SENTENCE])[1:]:
        other = LABELLED.match(part) if nested < 3 else None
        said = other and _labelled_sign(other, corrected=False, nested=3)
        if said and said.truth is not answer[0]:
            # "supported: yes, faithful: no" judges two things.
            return _Sign(None, _SAID)
    if corrected or FINAL_LABEL.search(label):
        return _Sign(answer[0], _FINALLY)
    if concluded:
        return _Sign(answer[0], _CONCLUDED)
    return _Sign(answer[0], _SAID if answer[1] else _TERM) if answer[0] is not None else None


def _copulas(text: str) -> set[bool | None]:
    """What plain sentences such as "the figures are not correct" say; None for a hedged one."""
    said: set[bool | None] = set()
    for sentence in BREAK.split(text):
        matches = list(COPULA.finditer(sentence[:MAX_SENTENCE]))
        if not matches:
            continue
        before = set(WORD.findall(sentence[: matches[0].end()]))
        negated = NEGATION.search(sentence, 0, matches[0].start())
        hedged = (
            before & HEDGES or negated or len(matches) > 1 or CONTRAST.search(sentence) or FULLY_NOT.search(sentence)
        )
        said.add(None if hedged or undress(sentence)[1] - {_side(matches[0])} else _side(matches[0]))
    return said


def read_verdict(text: str) -> bool:
    """The answer that a reply in words gives.

    Raises:
        Unreadable: there is none, or two that disagree, or it may be quoted.
    """
    asked = asked_of(text)
    normal = _normal(text)
    signs = _signs(normal)
    left = signs
    if asked.known and len(normal.split()) > 2:
        left = [sign for sign in signs if sign.said == normal or not asked.holds_saying(sign.said)]
        if signs and not left:
            raise Unreadable(SENT)
    answer = _decided(left, normal) if left else _agreed(_copulas(normal))
    if left and (not answer) in _copulas(normal):
        raise Unreadable("the reply says both yes and no")
    own = own_words(text)
    if own != text:
        mine = _normal(own)
        said = {sign.truth for sign in _signs(mine)} if left else _copulas(mine)
        if answer not in said:
            raise Unreadable(QUOTED)
    if len(left) == len(signs) and declines(text):
        raise Unreadable(QUOTED)
    return answer


def _normal(text: str) -> str:
    normal = WHETHER.sub(" ", DECORATION.sub(" ", without_colour(tidy(text)).casefold()))
    normal = plain_labels(normal.strip())
    normal = COMMA_MENU.sub(_menu, MENU.sub(_menu, normal))
    normal = NUMBERED.sub("number ", normal).strip()
    if len(normal) <= MAX_SENTENCE and (item := ITEM.match(normal)) and _is_item(normal, item["body"]):
        return item["body"]
    return normal


def _decided(signs: list[_Sign], text: str) -> bool:
    """What the signs of the highest rank say, unless another sign says the opposite."""
    rank = max(sign.rank for sign in signs)
    answer = _agreed({sign.truth for sign in signs if sign.rank == rank})
    if any(sign.truth is (not answer) for sign in signs):
        # "No. Correction: yes." has no room for a quotation; else the judge must say that it was wrong.
        brief = "\n" not in text and len(text.split()) <= _BRIEF
        corrected = rank == _FINALLY and signs[-1].rank == rank and (brief or SELF.search(text))
        if not corrected or speaks_of_another(text) or '"' in text:
            raise Unreadable("the reply says both yes and no")
    return answer


def _is_item(text: str, body: str) -> bool:
    """Whether what follows a list marker is an answer; behind a letter it has to stand alone."""
    answer = _answer_at(body, digits=False)
    return answer is not None and answer[0] is not None and ("1" in text[:2] or len(body.split()) == 1)


def _agreed(said: set[bool | None]) -> bool:
    if len(said) == 1 and (answer := next(iter(said))) is not None:
        return answer
    raise Unreadable("the reply says both yes and no" if {True, False} <= said else "the reply does not say yes or no")


@lru_cache(maxsize=512)
def truth_of_text(text: str) -> bool | None:
    """What a short text such as the value of a key says, or None."""
    try:
        return read_verdict(str(text))
    except Unreadable:
        return None


def truth(value: Any) -> bool | None:
    """True or False for a value that says so (true, 1, "yes", "Supported."), None for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return truth_of_text(value) if len(value) < 2000 else None
    if isinstance(value, list) and len(value) == 1:
        return truth(value[0]) if not isinstance(value[0], list) else None
    return None
