"""Compares questions and passages without a model: near-duplicate questions, related passages, and questions that refer to a
text.

Texts are compared by their words, which the offline judge's tokenizer finds: scripts without spaces are split into pairs of
characters, and case, accents and plurals are ignored. Stop words have a weight of a quarter, not zero, because only they
distinguish *who built it* from *when was it built*. Two questions with different numbers, names or negations are never
near-duplicates, even if all other words are the same. Words reveal little about paraphrases. So the threshold is lower for two
questions that have the same answer from the same quotation.

Passages are compared by their common words, weighted by inverse document frequency (cosine), through an inverted index.

A question refers to a text that its reader does not see if a phrase names the text itself ("according to the passage", "im obigen
Text", "本文"). A word such as *text* or *author* that belongs to the subject of the question ("Who is the author of Dubliners?") is
not such a phrase. A model is asked about what no rule finds, such as a pronoun without a noun.
"""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .._lexical._words import guess_language, words_of

ALIKE = 0.85
"""The lowest similarity of near-duplicates."""

ALIKE_ABOUT_ONE_FACT = 0.4
"""The lowest similarity of near-duplicates that have the same answer from the same quotation."""

_PART = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_]+")
"""A word, or a character of a script without spaces. Punctuation and markup between words are ignored."""

FEW = 50
"""A word is used to find passages if at most this many passages contain it, or a tenth of all passages if that is more."""

SMALL = 0.25
"""The weight of a stop word, such as an article, a preposition or a question word."""


@dataclass(frozen=True)
class TextWords:
    """The words of a text.

    Attributes:
        weights: the weight of each word.
        deciding: numbers and negations, which near-duplicates must have in common.
        names: the words that are names.
    """

    weights: Mapping[str, float]
    deciding: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, text: str) -> TextWords:
        """Split a text into its words."""
        weights: dict[str, float] = {}
        deciding, names = set(), set()
        for word in words_of(text, guess_language(text)):
            weights[word.key] = SMALL if word.kind == "stop" else 1.0
            if word.kind in {"number", "negation"}:
                deciding.add(word.key)
            elif word.kind == "name":
                names.add(word.key)
        return cls(weights, frozenset(deciding), frozenset(names))

    @cached_property
    def content(self) -> frozenset[str]:
        """The words that are not stop words; all words if the text has only stop words."""
        return frozenset(key for key, weight in self.weights.items() if weight != SMALL) or frozenset(self.weights)


def alikeness(left: TextWords, right: TextWords) -> float:
    """Return the weight of the common words of two texts, divided by the weight of all their words: 0 to 1.

    0.0 if their numbers or negations differ, if each text has a name that the other lacks, or if a text has no words.
    """
    other_names = left.names - right.weights.keys() and right.names - left.weights.keys()
    if left.deciding != right.deciding or other_names:
        return 0.0
    # a stop word of one language may be another word of another language, so weights may differ
    keys = left.weights.keys() | right.weights.keys()
    pairs = [(left.weights.get(key, 0.0), right.weights.get(key, 0.0)) for key in keys]
    return math.fsum(map(min, pairs)) / math.fsum(map(max, pairs)) if pairs else 0.0


def plain_words(text: str) -> str:
    """Return the words of a text with one space around each, so that a text can be searched in another regardless of case and
    punctuation.

    Each character of a script without spaces counts as a word.
    """
    return f" {' '.join(_PART.findall(unicodedata.normalize('NFKC', text).casefold()))} "


class Fact(NamedTuple):
    """What a question asks for, represented by its answer and the words that were quoted for the answer."""

    answer: str
    quotation: str

    @classmethod
    def of(cls, answer: str, quotations: Iterable[str]) -> Fact:
        """Normalize the answer and the quotations, so that two facts can be compared."""
        return cls(plain_words(answer), plain_words(" ".join(quotations)))

    def same_as(self, other: Fact) -> bool:
        """Whether both facts have the same answer, and one quotation contains the other."""
        same_words = self.quotation in other.quotation or other.quotation in self.quotation
        return self.answer == other.answer and same_words


class KnownQuestions(dict[str, tuple[TextWords, Fact | None]]):
    """The questions of a test set, each with its words, and its fact if the fact is known."""

    def add(self, question: str, fact: Fact | None = None) -> None:
        """Note a question, or replace its fact."""
        self[question] = (TextWords.of(question), fact)

    def like(self, question: str, fact: Fact | None = None) -> str | None:
        """Return a known question that this question repeats, or None. The threshold is lower if both have the same fact."""
        own = TextWords.of(question)
        for other, (words, known) in self.items():
            if other == question or words.deciding != own.deciding or words.content.isdisjoint(own.content):
                continue
            about_one = fact is not None and known is not None and fact.same_as(known)
            if alikeness(own, words) >= (ALIKE_ABOUT_ONE_FACT if about_one else ALIKE):
                return other
        return None


class PassageIndex:
    """An inverted index that finds the passages most similar to a text.

    Args:
        passages: the texts of the passages.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        keys = [_subject_words(text) for text in passages]
        self._common = max(FEW, len(keys) // 10)
        self._holding: dict[str, list[int]] = {}
        for index, found in enumerate(keys):
            for key in found:
                self._holding.setdefault(key, []).append(index)
        self._weights = {key: math.log(1 + len(keys) / len(found)) ** 2 for key, found in self._holding.items()}
        self._lengths = [math.sqrt(math.fsum(self._weights[key] for key in found)) for found in keys]

    def nearest(self, text: str, most: int, allowed: Callable[[int], bool] = lambda _: True) -> list[int]:
        """Return the indices of the passages most similar to the text, the most similar first.

        Passages that share only very frequent words with the text are left out.

        Args:
            text: the text to compare with.
            most: the largest number of passages to return.
            allowed: whether a passage, given its index, may be returned.
        """
        shared: defaultdict[int, float] = defaultdict(float)
        for key in sorted(_subject_words(text) & self._holding.keys()):
            if len(self._holding[key]) <= self._common:
                for index in self._holding[key]:
                    shared[index] += self._weights[key]
        near = filter(allowed, shared)
        return heapq.nsmallest(most, near, key=lambda index: (-shared[index] / self._lengths[index], index))


def _subject_words(text: str) -> frozenset[str]:
    """Return the words of a text other than stop words and negations."""
    words = words_of(text, guess_language(text))
    return frozenset(word.key for word in words if word.kind not in {"stop", "negation"})


# Per language: words before a noun for a text, nouns for texts, and words after it that show that some other text is meant.
_GRAMMAR = [
    (
        "according to the|in the|from the|within the|by the|of the|does the|do the|did the|is the|was the",
        "passages?|texts?|documents?|excerpts?|paragraphs?|sections?|articles?|contexts?|snippets?|extracts?|authors?|writer|narrator",
        "of|by|that|who|which|on|about|in|for|to|from|with",
    ),
    (
        "this|these|the above|the given|the provided|the following|the present|the preceding",
        "passages?|texts?|documents?|excerpts?|paragraphs?|sections?|articles?|contexts?|snippets?|extracts?",
        "",
    ),
    (
        "laut dem|laut|gemäß dem|gemäß|nach dem|in dem|in der|im|aus dem|aus der|vom|im obigen|in diesem|in dieser|im vorliegenden",
        "text|abschnitt|dokument|passage|auszug|artikel|absatz|kontext|autor|verfasser",
        "von|vom|des|der|über|zu|zur|zum",
    ),
    (
        "selon le|selon la|selon l['’]|selon ce|selon cet|dans le|dans la|dans l['’]|dans ce|dans cet|dans cette|d['’]après le",
        "texte|passage|document|extrait|article|paragraphe|section|contexte|auteur",
        "de|du|des|d['’]|sur|qui",
    ),
    (
        "según el|según la|en el|en la|en este|en esta|del presente|en dicho",
        "texto|pasaje|documento|fragmento|artículo|párrafo|sección|contexto|autor|autora",
        "de|del|sobre|que",
    ),
    (
        "secondo il|secondo l['’]|nel|nella|nell['’]|in questo|in questa",
        "testo|brano|documento|estratto|articolo|paragrafo|sezione|contesto|autore|autrice",
        "di|del|della|dell['’]|su|che",
    ),
    (
        "segundo o|segundo a|de acordo com o|de acordo com a|conforme o|no|na|neste|nesta",
        "texto|passagem|documento|trecho|artigo|parágrafo|seção|secção|contexto|autor|autora",
        "de|do|da|sobre|que",
    ),
    (
        "volgens de|volgens het|in de|in het|in dit|in deze|uit de|uit het",
        "tekst|passage|document|fragment|artikel|alinea|paragraaf|context|auteur|schrijver",
        "van|over|dat|die",
    ),
    (
        "согласно|в этом|в данном|в приведённом|в приведенном|в|из|по",
        "тексте?|тексту|текста|отрывке|отрывку|документе|документу|фрагменте|абзаце|автор[уа]",
        "о|об|про|из",
    ),
]

_UNSPACED = (
    "本文|文中|上文|该文|這段|这段|该段|該段|此段|根据(?:文本|文章|段落|文档|上述)|文章中|文档中|该文档|上述(?:文本|文章|内容)",
    "(?:この|上記の|前述の)(?:文章|文書|テキスト|段落|記事|文|節|資料)|(?:文章|文書|テキスト|資料)(?:によると|によれば|では)",
    "(?:이|위|해당) ?(?:글|문서|텍스트|단락|문단|기사|지문)(?:에|의|은|을)|본문",
    "(?:هذا|هذه|في|وفق|بحسب|حسب) ?(?:النص|المستند|المقطع|الوثيقة|الفقرة)|(?:وفقا|وفقًا) للنص",
)


def _phrase(before: str, names: str, after: str) -> str:
    """Return a pattern for a noun for a text after an opening. A number or one of the words ``after`` behind the noun would name
    another text.
    """
    openings = "|".join(f"{item}{'' if item.endswith(']') else ' '}" for item in before.split("|"))
    further = rf"(?! (?:{after})(?<=[ '’\w])(?!\w))" if after else ""
    return rf"\b(?:{openings})(?:{names})\b{further}(?! ?\d)"


_LEANS = re.compile("|".join([*(_phrase(*row) for row in _GRAMMAR), *_UNSPACED]), re.IGNORECASE)


def leans_on_a_text(question: str) -> str | None:
    """Return the words with which a question refers to a text that its reader does not see; None if no rule finds such words."""
    found = _LEANS.search(" ".join(question.split()))
    return None if found is None else found[0]
