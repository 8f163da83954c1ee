"""How much two texts have in common, for judgements that are degrees and not verdicts on claims."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ._claims import is_question, is_refusal, sentences, split_claims
from ._cloze import clozes
from ._index import index_of
from ._phrases import is_greeting
from ._support import verify
from ._words import guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._words import Word

_WEIGHTS = {"number": 2.0, "name": 2.0, "stop": 0.0}  # of a word in the share of words found; others weigh 1
_RELEVANT = 0.4  # least part of the question that a relevant sentence holds


def relevance(question: str, text: str) -> float:
    """The part of the question's content words that ``text`` holds, 0 to 1; numbers and names weigh double."""
    language = guess_language(question, text)
    return _found(words_of(question, language), text, language)


def relevant_sentences(question: str, contexts: Sequence[str]) -> list[str]:
    """The sentences of ``contexts`` that hold a good part of the question, in order and word for word."""
    found = (sentence for context in contexts for sentence in sentences(context))
    return list(dict.fromkeys(s for s in found if relevance(question, s) >= _RELEVANT))


def agreement(response: str, reference: str) -> float:
    """How far two answers say the same, 0 to 1: the part of each that the other holds and supports, averaged."""
    language = guess_language(response, reference)
    ours, theirs = words_of(response, language), words_of(reference, language)
    if [word.key for word in ours] == [word.key for word in theirs]:
        return 1.0
    return (_held(response, ours, reference, language) + _held(reference, theirs, response, language)) / 2


def noncommittal(answer: str) -> bool:
    """Whether ``answer`` says that it has no answer, and says nothing else."""
    said = [s for s in sentences(answer) if not is_greeting(s) and not is_question(s)]
    return bool(said) and all(is_refusal(s, guess_language(answer)) for s in said)


def questions_from(answer: str, n: int) -> list[str]:
    """At most ``n`` different questions that ``answer`` answers, in its own words.

    Each sentence is asked as it stands, and then with one of its pieces left blank; the sentences take turns. A very
    short answer has fewer than ``n`` pieces and gives fewer questions.
    """
    language = guess_language(answer)
    said = [s for s in sentences(answer) if not is_greeting(s)]
    turns = chain.from_iterable(zip_longest(*((c.question for c in clozes(s, language)) for s in said[: max(n, 0)])))
    questions: dict[str, None] = {}
    for question in turns:
        if len(questions) >= n:
            break
        if question is not None:
            questions[question] = None
    return list(questions)


def _held(text: str, words: Sequence[Word], other: str, language: str) -> float:
    found = _found(words, other, language)
    claims = split_claims(None, text)
    if not claims:
        return found
    return (found + sum(verdict.supported for verdict in verify(claims, [other])) / len(claims)) / 2


def _found(words: Sequence[Word], text: str, language: str) -> float:
    index = index_of((text,), language)
    weights = [(word, _WEIGHTS.get(word.kind, 1.0)) for word in words]
    total = sum(weight for _, weight in weights)
    return sum(weight for word, weight in weights if weight and index.forms(word)) / total if total else 0.0
