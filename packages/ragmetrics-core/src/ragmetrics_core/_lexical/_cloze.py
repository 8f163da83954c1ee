"""Questions that need no understanding: a sentence with a part of it left blank. The part is the answer."""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ._claims import is_question, pieces, sentences
from ._phrases import is_greeting
from ._words import guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BLANK = "…"
_ENDS = " .!?…。！？؟।"
_OPENING = re.compile(r"\w+")
_PRONOUN_LINES = (
    "it its he his him she her they their them this that these those there here er sie es ihr sein seine dies diese dieser dieses",
    "elle ils elles ce cela ceci ces leur él ella ello ellos ellas esto eso esso essa lui lei questo questa egli ele ela eles elas",
    "isto isso zij hij het dit deze он она оно они это этот эта его её",
)
_PRONOUNS = frozenset(word for line in _PRONOUN_LINES for word in line.split())
"""Words with which a sentence goes on about what the one before it named."""
_WRAPPING = " *_`\"'“”"  # which readers of lists strip from the ends of an item


class Cloze(NamedTuple):
    """A sentence as a question: the question, the part left out (the whole sentence if no part was), and the sentence."""

    question: str
    answer: str
    sentence: str


def clozes(sentence: str, language: str) -> Iterator[Cloze]:
    """The sentence asked as it stands, and then with each of its pieces left blank."""
    bare = sentence.rstrip(_ENDS)
    yield Cloze(f"{bare}?", bare, sentence)
    parts = pieces(bare, words_of(bare, language))
    at = 0
    for part in parts if len(parts) > 1 else ():
        start = bare.index(part, at)
        at = start + len(part)
        yield Cloze(f"{bare[:start]}{_BLANK}{bare[at:]}?", part, sentence)


def cloze_questions(document: str, n: int) -> list[str]:
    """At most ``n`` different questions with a blank, the sentences of ``document`` taking turns."""
    turns = chain.from_iterable(zip_longest(*_blanks(document)))
    return list(dict.fromkeys(cloze.question for cloze in turns if cloze is not None))[: max(n, 0)]


def fill_in(question: str, document: str) -> Cloze | None:
    """The cloze of ``document`` that asks ``question``, or None where it has none."""
    wanted = question.strip(_WRAPPING)
    found = chain.from_iterable(_blanks(document))
    return next((cloze for cloze in found if cloze.question.strip(_WRAPPING) == wanted), None)


def _blanks(document: str) -> list[list[Cloze]]:
    language = guess_language(document)
    said = [s for s in sentences(document) if not is_greeting(s) and not is_question(s)]
    return [list(clozes(s, language))[1:] for s in said]


def check_cloze(question: str, answer: str, evidence: Sequence[str]) -> dict[str, str | bool]:
    """Whether a question with a blank can be understood alone, whether the evidence gives its answer, and why."""
    opening = _OPENING.match(question.casefold().lstrip(_BLANK + " "))
    alone = opening is None or opening[0] not in _PRONOUNS
    given = any(answer.casefold() in words.casefold() for words in evidence)
    reason = (
        f"it {'does not begin' if alone else 'begins'} with a pronoun, and the evidence {'holds' if given else 'lacks'} the words "
        "of the answer"
    )
    return {"reason": reason, "stands_alone": alone, "supported": given}
