"""How much two texts have in common, for judgements that are degrees; and questions made of sentences with a part left blank."""

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
    return _taking_turns(_blanks(document), n)


def _taking_turns(asked: list[list[Cloze]], n: int) -> list[str]:
    """At most ``n`` different questions, the first of each list before the second of any."""
    turns = chain.from_iterable(zip_longest(*asked))
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


def check_question(question: str, answer: str, evidence: Sequence[str]) -> dict[str, str | bool]:
    """Whether a question with a blank can be understood alone, whether the evidence gives its answer, and why."""
    opening = _OPENING.match(question.casefold().lstrip(_BLANK + " "))
    alone = opening is None or opening[0] not in _PRONOUNS
    given = any(answer.casefold() in words.casefold() for words in evidence)
    reason = (
        f"it {'does not begin' if alone else 'begins'} with a pronoun, and the evidence {'holds' if given else 'lacks'} the words "
        "of the answer"
    )
    return {"reason": reason, "stands_alone": alone, "supported": given}


_WEIGHTS = {"number": 2.0, "name": 2.0, "stop": 0.0}  # of a word in the share of words found; others weigh 1
_RELEVANT = 0.4  # least part of the question that a relevant sentence holds


def relevance(question: str, text: str) -> float:
    """The part of the question's content words that ``text`` holds, 0 to 1; numbers and names weigh double."""
    language = guess_language(question, text)
    return _share_found(words_of(question, language), text, language)


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
    return (_share_held(response, ours, reference, language) + _share_held(reference, theirs, response, language)) / 2


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
