"""A yes or a no in words.

An answer counts where it is explicit, and that depends on where it stands: at the head of a sentence and closed off from
what follows ("Yes, because ..."), behind a label ("Answer: no"), or alone. The same word in running text is none
("there is no law", "one could say yes"). Labels of two-valued scales ("supported", "incorrect") count there
too, and in a plain sentence ("the figures are not correct") when nothing hedges it. A final answer or a
correction outranks what came before; any other contradiction is no answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..._kernel._repeated import SENT
from ..._kernel._wording import asked_of
from ._around import plain_labels, undress, without_colour
from ._clean import tidy
from ._find_signs import CONCLUDED, FINALLY, HINT, Sign, answer_at, find_signs, side_of
from ._unreadable import Unreadable
from ._verdict_patterns import (
    AFFIRMS,
    BREAK,
    COMMA_MENU,
    CONTRAST,
    COPULA,
    DECORATION,
    FULLY_NOT,
    ITEM,
    MAX_SENTENCE,
    MENU,
    MENU_END,
    NEGATION,
    NUMBERED,
    SELF,
    SLOT,
    WHETHER,
    WORD,
)
from ._whose import QUOTED, declines, own_words, speaks_of_another
from ._words import HEDGES

_BOTH = "the reply says both yes and no"
_BRIEF = 4
_LONGEST_VALUE = 2000


def read_verdict(text: str) -> bool:
    """The answer that a reply in words gives.

    Raises:
        Unreadable: there is none, or two that disagree, or it may be quoted.
    """
    asked = asked_of(text)
    normal = _normal(text)
    signs = find_signs(normal)
    left = signs
    if asked.known and len(normal.split()) > 2:
        left = [sign for sign in signs if sign.said == normal or not asked.holds_saying(sign.said)]
        if signs and not left:
            raise Unreadable(SENT)
    plain = _copulas(normal)
    answer = _decided(left, normal) if left else _agreed(plain)
    if left and ((not answer) in plain or _answers_more(left, answer, text, normal)):
        raise Unreadable(_BOTH)
    if not _is_own(answer, text, plainly=not left) or (len(left) == len(signs) and declines(text)):
        raise Unreadable(QUOTED)
    return answer


def _answers_more(signs: list[Sign], answer: bool, text: str, normal: str) -> bool:
    """Whether the other answer stands in some other place for one, where no label says which of them is the verdict."""
    if max(sign.rank for sign in signs) >= CONCLUDED:
        return False
    if not _slots(normal, not answer):
        return False
    asked = asked_of(text)
    return any(not asked.holds_saying(said) for said in _slots(_normal(own_words(text)), not answer))


def _slots(normal: str, answer: bool) -> list[str]:
    """The places for an answer that hold this one, with the words before it."""
    found = (match for match in SLOT.finditer(normal) if (match["yes"] is not None) is answer)
    return [normal[max(0, match.start() - 20) : match.end()] for match in found]


def _is_own(answer: bool, text: str, *, plainly: bool) -> bool:
    """Whether an answer is still there without what the reply quotes; ``plainly``: it is said in a plain sentence."""
    own = own_words(text)
    if own == text:
        return True
    normal = _normal(own)
    return answer in (_copulas(normal) if plainly else {sign.truth for sign in find_signs(normal)})


def _normal(text: str) -> str:
    """A text as the patterns of the answers expect it: lower case, no decoration, no choice between yes and no."""
    normal = WHETHER.sub(" ", DECORATION.sub(" ", without_colour(tidy(text)).casefold()))
    normal = plain_labels(normal.strip())
    if MENU_END.search(normal):
        normal = MENU.sub(_menu, normal)
    normal = COMMA_MENU.sub(_menu, normal)
    normal = NUMBERED.sub("number ", normal).strip()
    if len(normal) <= MAX_SENTENCE and (item := ITEM.match(normal)) and _is_item(normal, item["body"]):
        return item["body"]
    return normal


def _menu(match: re.Match[str]) -> str:
    """Blank out a choice between yes and no; two words for the same are an answer."""
    around = (
        match.string[max(0, match.start() - 3) : match.start()].rstrip()[-1:],
        match.string[match.end() : match.end() + 3].strip()[:1],
    )
    if all(sign and sign in ":：=" for sign in around):
        return match.group()  # "Query: no / Faithful: yes" are two labels
    if any(undress(f"{sign}x")[1] for sign in around):
        # A symbol at the choice must not be left standing as the answer.
        return " either "
    opposed = bool(AFFIRMS.match(match.group("one"))) != bool(AFFIRMS.match(match.group("two")))
    return " " if opposed else match.group()


def _is_item(text: str, body: str) -> bool:
    """Whether what follows a list marker is an answer; behind a letter it has to stand alone."""
    answer = answer_at(body, digits=False)
    return answer is not None and answer.truth is not None and ("1" in text[:2] or len(body.split()) == 1)


def _decided(signs: list[Sign], text: str) -> bool:
    """What the signs of the highest rank say, unless another sign says the opposite."""
    rank = max(sign.rank for sign in signs)
    answer = _agreed({sign.truth for sign in signs if sign.rank == rank > HINT})
    against = [sign for sign in signs if sign.truth is (not answer)]
    if against:
        # "No. Correction: yes." has no room for a quotation; else the judge must say that it was wrong.
        brief = "\n" not in text and len(text.split()) <= _BRIEF
        parts = all(sign.part for sign in against)  # the answers to parts of the question, before the one to all of it
        corrected = rank == FINALLY and signs[-1].rank == rank and (brief or parts or SELF.search(text))
        if not corrected or speaks_of_another(text) or '"' in text:
            raise Unreadable(_BOTH)
    return answer


def _agreed(said: set[bool | None]) -> bool:
    if len(said) == 1 and (answer := next(iter(said))) is not None:
        return answer
    raise Unreadable(_BOTH if {True, False} <= said else "the reply does not say yes or no")


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
        said.add(None if hedged or undress(sentence)[1] - {side_of(matches[0])} else side_of(matches[0]))
    return said


@lru_cache(maxsize=512)
def _truth_of_text(text: str) -> bool | None:
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
        return _truth_of_text(value) if len(value) < _LONGEST_VALUE else None
    if isinstance(value, list) and len(value) == 1:
        return truth(value[0]) if not isinstance(value[0], list) else None
    return None
