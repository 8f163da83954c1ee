"""Measures how much two texts have in common, for judgements that are degrees, and makes questions from sentences with a blank."""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ._claims import is_greeting, is_question, is_refusal, pieces, sentences, split_claims
from ._support import index_of, verify
from ._words import guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ._words import Word


_BLANK = "…"
_ENDS = " .!?…。！？؟।"
_OPENING = re.compile(r"\w+")
_PRONOUN_LINES = (
    "it its he his him she her they their them this that these those there here er sie es ihr sein seine dies diese dieser dieses",
    "elle ils elles ce cela ceci ces leur él ella ello ellos ellas esto eso esso essa lui lei questo questa egli ele ela eles elas",
    "isto isso zij hij het dit deze он она оно они это этот эта его её",
)
_PRONOUNS = frozenset(word for line in _PRONOUN_LINES for word in line.split())
"""Words that refer to something that an earlier sentence named."""
_WRAPPING = " *_`\"'“”"  # removed by parsers of lists from the ends of an item


class Cloze(NamedTuple):
    """A sentence turned into a question.

    The fields are the question, the part that was left out (the whole sentence if nothing was left out), and the sentence.
    """

    question: str
    answer: str
    sentence: str


def clozes(sentence: str, language: str) -> Iterator[Cloze]:
    """Yield the whole sentence as a question, without a blank. If the sentence has several pieces, then yield one question for
    each piece, in which that piece is replaced by a blank.
    """
    bare = sentence.rstrip(_ENDS)
    yield Cloze(f"{bare}?", bare, sentence)
    parts = pieces(bare, words_of(bare, language))
    at = 0
    for part in parts if len(parts) > 1 else ():
        start = bare.index(part, at)
        at = start + len(part)
        yield Cloze(f"{bare[:start]}{_BLANK}{bare[at:]}?", part, sentence)


def cloze_questions(document: str, n: int) -> list[str]:
    """Return at most ``n`` different questions with a blank. The sentences of ``document`` take turns."""
    return _taking_turns(_blanks(document), n)


def _taking_turns(asked: list[list[Cloze]], n: int) -> list[str]:
    """Return at most ``n`` different questions: first the first question of every list, then the second, and so on."""
    turns = chain.from_iterable(zip_longest(*asked))
    return list(dict.fromkeys(cloze.question for cloze in turns if cloze is not None))[: max(n, 0)]


def fill_in(question: str, document: str) -> Cloze | None:
    """Return the cloze of ``document`` whose question is ``question``, or None if there is no such cloze."""
    wanted = question.strip(_WRAPPING)
    found = chain.from_iterable(_blanks(document))
    return next((cloze for cloze in found if cloze.question.strip(_WRAPPING) == wanted), None)


def _blanks(document: str) -> list[list[Cloze]]:
    language = guess_language(document)
    said = [s for s in sentences(document) if not is_greeting(s) and not is_question(s)]
    return [list(clozes(s, language))[1:] for s in said]


def check_question(question: str, answer: str, evidence: Sequence[str]) -> dict[str, str | bool]:
    """Check whether a question with a blank can be understood alone and whether the evidence contains its answer; say why."""
    opening = _OPENING.match(question.casefold().lstrip(_BLANK + " "))
    alone = opening is None or opening[0] not in _PRONOUNS
    given = any(answer.casefold() in words.casefold() for words in evidence)
    reason = (
        f"it {'does not begin' if alone else 'begins'} with a pronoun, and the evidence {'holds' if given else 'lacks'} the words "
        "of the answer"
    )
    return {"reason": reason, "stands_alone": alone, "supported": given}


_WEIGHTS = {"number": 2.0, "name": 2.0, "stop": 0.0}
"""The weight of a kind of word in the share of words found; other kinds weigh 1."""

_RELEVANT = 0.4  # smallest share of the question that a relevant sentence contains


def relevance(question: str, text: str) -> float:
    """Return the share of the question's content words that ``text`` contains, 0 to 1. Numbers and names have double weight."""
    language = guess_language(question, text)
    return _share_found(words_of(question, language), text, language)


def relevant_sentences(question: str, contexts: Sequence[str]) -> list[str]:
    """Return the sentences of ``contexts`` that contain at least the share ``_RELEVANT`` of the question's words, unchanged and
    in order.
    """
    found = (sentence for context in contexts for sentence in sentences(context))
    return list(dict.fromkeys(s for s in found if relevance(question, s) >= _RELEVANT))


def agreement(response: str, reference: str) -> float:
    """Return how far two answers say the same, 0 to 1: the share of each answer that the other contains and supports, averaged."""
    language = guess_language(response, reference)
    ours, theirs = words_of(response, language), words_of(reference, language)
    if [word.key for word in ours] == [word.key for word in theirs]:
        return 1.0
    return (_share_held(response, ours, reference, language) + _share_held(reference, theirs, response, language)) / 2


def noncommittal(answer: str) -> bool:
    """Whether ``answer`` only says that it has no answer."""
    said = [s for s in sentences(answer) if not is_greeting(s) and not is_question(s)]
    return bool(said) and all(is_refusal(s, guess_language(answer)) for s in said)


def questions_from(answer: str, n: int) -> list[str]:
    """Return at most ``n`` different questions that ``answer`` answers, in its own words.

    Each sentence becomes a question without a blank, and then questions with one of its pieces left blank. The sentences take
    turns. A very short answer may give fewer than ``n`` questions.
    """
    language = guess_language(answer)
    said = [s for s in sentences(answer) if not is_greeting(s)]
    return _taking_turns([list(clozes(s, language)) for s in said[: max(n, 0)]], n)


def _share_held(text: str, words: Sequence[Word], other: str, language: str) -> float:
    found = _share_found(words, other, language)
    claims = split_claims(None, text)
    if not claims:
        return found
    return (found + sum(verdict.supported for verdict in verify(claims, [other])) / len(claims)) / 2


def _share_found(words: Sequence[Word], text: str, language: str) -> float:
    index = index_of((text,), language)
    weights = [(word, _WEIGHTS.get(word.kind, 1.0)) for word in words]
    total = sum(weight for _, weight in weights)
    return sum(weight for word, weight in weights if weight and index.forms(word)) / total if total else 0.0
