"""Questions that need no understanding: a sentence with a part of it left blank. The part is the answer."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ._claims import is_question, pieces, sentences
from ._phrases import is_greeting
from ._words import guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Cloze", "cloze_questions", "clozes", "fill_in"]

_BLANK = "…"
_ENDS = " .!?…。！？؟।"
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
