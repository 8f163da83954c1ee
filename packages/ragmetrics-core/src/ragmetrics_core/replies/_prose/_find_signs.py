"""Every explicit yes or no in a text: where it stands, and how much it counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from ._around import ANOTHERS, undress
from ._verdict_patterns import (
    ANSWER,
    BREAK,
    CJK,
    CLOSING,
    CONCLUDES,
    CONCLUSION_LABEL,
    CORRECTION,
    COUNTED,
    CRITERIA,
    DIGIT,
    FINAL_LABEL,
    FIRST,
    HEAD,
    LABEL,
    LABELLED,
    LEAD_IN,
    LETTER,
    LOOSE,
    MAX_SENTENCE,
    NEGATION,
    OPENING,
    REASON_LABEL,
    SAYS,
    SUPPORTS,
    TAIL,
    WORD,
)
from ._words import HEDGES, NEGATIVE, NO, YES

FINALLY, CONCLUDED, SAID, TERM, HINT = 3, 2, 1, 0, -1
_MOST_LEAD_INS = 3
_MOST_LABELS = 3
_ALONE = re.compile(r"\W*\w+\W*")
_OF_A_PART = re.compile(r"\W*(?:as )?(?:for|on|about|regarding)\b")  # "For the context, no."
# "Query: no / Faithful: yes": behind the answer comes another label.
_MORE = re.compile(
    rf"\W*(?P<word>{'|'.join(map(re.escape, sorted(YES | NO)))})\s?(?:[/|&]|(?:and|und|et|y|e|en)\s)[^:=：\n]{{1,80}}[:=：]"
)


class Sign(NamedTuple):
    """One explicit answer: its truth (None: it takes no side), its rank, its words, and whether a label names what it is about."""

    truth: bool | None
    rank: int
    said: str = ""
    part: bool = False


class _Answer(NamedTuple):
    """What stands at the head of some words: its truth (None: a hedge), and whether it is a word that can only be an answer."""

    truth: bool | None
    explicit: bool


_HEDGE = _Answer(None, explicit=True)


def side_of(match: re.Match[str]) -> bool:
    """Which side a match of a pattern with the groups ``yes`` and ``no`` takes; a group ``not`` reverses it."""
    positive = match.group("yes") is not None
    return positive != bool(match.groupdict().get("not"))


def answer_at(body: str, *, digits: bool = True) -> _Answer | None:
    """The answer at the head of ``body``; ``digits``: whether 1 and 0 are answers."""
    body = body[OPENING.match(body).end() :]  # type: ignore[union-attr]
    worn, sides = undress(body[:MAX_SENTENCE])
    if sides and (answer := answer_at(worn, digits=digits)):
        return _HEDGE if sides - {answer.truth} else answer
    for pattern in (ANSWER, CJK, LOOSE, LETTER):
        if match := pattern.match(body):
            return _Answer(side_of(match), explicit=True)
    if digits and (match := DIGIT.match(body)):
        return _Answer(_side_of_digit(match), explicit=True)
    if match := LABEL.match(body):
        return _Answer(side_of(match), explicit=False)
    first = WORD.match(body)
    return _HEDGE if first and first.group() in HEDGES else None


def _side_of_digit(match: re.Match[str]) -> bool | None:
    """What 1 or 0 says, if the words behind it do not say otherwise."""
    said = side_of(match)
    body, end = match.string, match.end()
    rest = answer_at(body[end:].lstrip(" -–—:=(.,"), digits=False)
    if rest is not None:
        return said if rest.truth == said else None
    word = WORD.search(body, end)
    return None if word and word.group() in (NO if said else YES) else said


def find_signs(text: str) -> list[Sign]:
    """The answers in a text in normal form (see ``_verdict``)."""
    signs: list[Sign] = []
    digits = len(text) <= MAX_SENTENCE and "\n" not in text
    if (counted := COUNTED.match(text)) and counted["word"] in (HEDGES | NO):
        digits = False
    sentences = [part.strip() for part in BREAK.split(text)]
    for number, sentence in enumerate(sentences):
        found = _sign_in(sentence, first=number == 0, digits=digits and number == 0)
        if found:
            signs.append(found if found.said else found._replace(said=sentence))
    last = next((sentence for sentence in reversed(sentences) if sentence), "")
    closing = _closing_sign(last) if not signs or _OF_A_PART.match(last) else None
    return [*signs, closing] if closing else signs


def _closing_sign(sentence: str) -> Sign | None:
    """The answer at the end of the last sentence, where nothing else answers: "based on the context, yes"."""
    match = CLOSING.search(sentence[:MAX_SENTENCE])
    if match is None or set(WORD.findall(sentence)) & HEDGES or ANOTHERS.search(sentence):
        return None
    return Sign(side_of(match), SAID, sentence)


def _sign_in(sentence: str, *, first: bool, digits: bool) -> Sign | None:
    sentence, sides = undress(sentence)
    sign = _bare_sign(sentence, first=first, digits=digits)
    return sign._replace(truth=None) if sign and sides - {sign.truth} else sign


def _bare_sign(sentence: str, *, first: bool, digits: bool) -> Sign | None:
    """The answer that a sentence without symbols gives."""
    corrected = bool(CORRECTION.match(sentence))
    body = _without_lead_in(sentence)
    answer = answer_at(body, digits=digits)
    if answer is None or not answer.explicit:
        sign = _said_of_label(body, answer, corrected=corrected)
        if sign:
            return sign
    if answer is None:
        return None
    if not first and (answer.truth is None or not (corrected or HEAD.match(body))):
        return None
    return Sign(answer.truth, FINALLY if corrected else SAID if answer.explicit else TERM)


def _said_of_label(body: str, answer: _Answer | None, *, corrected: bool) -> Sign | None:
    """The answer behind a label at the head of a sentence, or behind "the answer is"."""
    label = LABELLED.match(body)
    sign = _labelled_sign(label, corrected=corrected) if label and not (answer and _explains(label)) else None
    if sign is None and CONCLUDES.search(body, 0, MAX_SENTENCE):
        says = SAYS.search(body[:MAX_SENTENCE])
        sign = _labelled_sign(says, corrected=corrected) if says else None
    return sign


def _without_lead_in(sentence: str) -> str:
    """A sentence without "so", "therefore", "it's a" and the like before its answer."""
    for _ in range(_MOST_LEAD_INS):
        opening = LEAD_IN.match(sentence)
        if opening is None or opening.end() == len(sentence):
            break
        sentence = sentence[opening.end() :]
    return sentence


def _explains(match: re.Match[str]) -> bool:
    """Whether what looks like a label is an answer with its reason: "not supported - the text ...", but "supported: no"."""
    return match.string[match.end("label")] not in ":=："


def _labelled_sign(match: re.Match[str], *, corrected: bool, nested: int = 0) -> Sign | None:
    """The answer behind a label, which may stand behind another label."""
    sign = _side_of_label(match["label"].strip(), match["body"], corrected=corrected, nested=nested)
    if sign is None or sign.said:
        return sign
    body = match.start("body") - match.start()
    return sign._replace(said=TAIL.sub(r"\1", match.group()[: body + FIRST.match(match["body"]).end()]))  # type: ignore[union-attr]


def _side_of_label(label: str, body: str, *, corrected: bool, nested: int) -> Sign | None:
    if _is_no_label(label):
        return _sign_of_a_part(label, body)
    final = FINAL_LABEL.search(label)
    concluded = final or CONCLUSION_LABEL.search(label)
    answer = answer_at(body, digits=bool(concluded))
    if answer is None:
        return _inner_sign(body, corrected=corrected, nested=nested) if nested < _MOST_LABELS else None
    if _reverses(label, answer) or (nested < _MOST_LABELS and _judges_more(body, answer)):
        return Sign(None, SAID)
    if corrected or final:
        return Sign(answer.truth, FINALLY)
    if concluded:
        return Sign(answer.truth, CONCLUDED)
    return Sign(answer.truth, SAID if answer.explicit else TERM, part=True) if answer.truth is not None else None


def _sign_of_a_part(label: str, body: str) -> Sign | None:
    """The answer in "Query: yes. Context: no": it can contradict another one, and is none by itself."""
    anothers = ANOTHERS.search(label)
    named = len(WORD.findall(label)) == 1 if anothers else REASON_LABEL.search(label)
    answer = answer_at(body, digits=False) if named and (anothers or _ALONE.fullmatch(body)) else None
    return Sign(answer.truth, HINT, part=True) if answer and answer.explicit else None


def _inner_sign(body: str, *, corrected: bool, nested: int) -> Sign | None:
    """The answer behind a second label; none where the first label has another one: "Query: no / Faithful: yes"."""
    inner = LABELLED.match(body)
    sign = _labelled_sign(inner, corrected=corrected, nested=nested + 1) if inner else None
    first = _MORE.match(body) if sign else None
    return Sign(None, SAID) if sign and first and (first["word"] in YES) is not sign.truth else sign


def _is_no_label(label: str) -> bool:
    """Whether words before a colon introduce a reason, another's answer, or one that is hedged."""
    if REASON_LABEL.search(label) and not SUPPORTS.search(label):
        return True
    return bool(ANOTHERS.search(label)) or not HEDGES.isdisjoint(WORD.findall(label))


def _reverses(label: str, answer: _Answer) -> bool:
    """Whether a label may reverse its answer: "unsupported: yes" says no, "it is not supported: yes" may mean either."""
    if answer.truth and SUPPORTS.search(label) and NEGATION.search(label):
        return True
    return answer.explicit and not NEGATIVE.isdisjoint(WORD.findall(label)[-1:])


def _judges_more(body: str, answer: _Answer) -> bool:
    """Whether another label follows with another answer: "supported: yes, faithful: no" judges two things."""
    for part in CRITERIA.split(body[:MAX_SENTENCE])[1:]:
        other = LABELLED.match(part)
        said = _labelled_sign(other, corrected=False, nested=_MOST_LABELS) if other else None
        if said and said.truth is not answer.truth:
            return True
    return False
