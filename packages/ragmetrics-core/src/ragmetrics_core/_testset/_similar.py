"""How alike two questions are, which passages speak of the same things, and which questions lean on a text, without a model.

Texts are compared by their words, as the offline judge reads them: scripts without spaces by pairs of characters, case, accents and
plurals set aside. Small words count a quarter, since they alone tell *who built it* from *when was it built*. Two questions with
different numbers, names or negations are never near-duplicates, however much else they share. Of paraphrases words alone tell
little; two questions that are answered alike by the same words of a text need less in common.

Passages are compared by the words they share, rare ones most (cosine of inverse document frequencies), through an inverted index.

A question leans on a text that its reader does not see if a phrase names the text itself ("according to the passage", "im obigen
Text", "本文"). A word such as *text* or *author* that is part of what is asked about ("Who is the author of Dubliners?") is no such
phrase. What no rule sees, such as a pronoun without a noun, the model is asked about.
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
"""Least alikeness of near-duplicates."""

ALIKE_ABOUT_ONE_FACT = 0.4
"""The same for questions with the same answer, one of which quotes the words that the other one quotes."""

_PART = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_]+")
"""A word, or a character of a script without spaces. Marks between them, of Markdown say, count for nothing."""

FEW = 50
"""Passages with a word in common that are looked at whatever their share; beyond that, a tenth of all passages."""

SMALL = 0.25
"""What a small word counts: an article, a preposition, a question word."""


@dataclass(frozen=True)
class Worded:
    """A text by its words.

    Attributes:
        weights: what each word counts.
        deciding: those that must be the same in a near-duplicate: numbers, negations.
        names: those that are names.
    """

    weights: Mapping[str, float]
    deciding: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Worded:
        """The words of a text."""
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
    def telling(self) -> frozenset[str]:
        """The words that are not small; all of them where there are no others."""
        return frozenset(key for key, weight in self.weights.items() if weight != SMALL) or frozenset(self.weights)


def alikeness(left: Worded, right: Worded) -> float:
    """The weight of the words that two texts share, as part of the weight of all their words: 0 to 1.

    0.0 where their numbers or negations differ, where each has a name that the other lacks, and where one of them has no words.
    """
    other_names = left.names - right.weights.keys() and right.names - left.weights.keys()
    if left.deciding != right.deciding or other_names:
        return 0.0
    # a small word of one language may be a word that counts in another
    keys = left.weights.keys() | right.weights.keys()
    pairs = [(left.weights.get(key, 0.0), right.weights.get(key, 0.0)) for key in keys]
    return math.fsum(map(min, pairs)) / math.fsum(map(max, pairs)) if pairs else 0.0


def plain_words(text: str) -> str:
    """The words of a text with a space around each, so that one text can be looked for in another whatever its case and marks.

    Characters of scripts without spaces count as words.
    """
    return f" {' '.join(_PART.findall(unicodedata.normalize('NFKC', text).casefold()))} "


class Fact(NamedTuple):
    """What a question asks for, as far as its answer tells: the answer, and the words that were quoted for it."""

    answer: str
    quotation: str

    @classmethod
    def of(cls, answer: str, quotations: Iterable[str]) -> Fact:
        """The fact, in a form in which two can be compared."""
        return cls(plain_words(answer), plain_words(" ".join(quotations)))

    def same_as(self, other: Fact) -> bool:
        """Whether both have the same answer from the same words."""
        same_words = self.quotation in other.quotation or other.quotation in self.quotation
        return self.answer == other.answer and same_words


class KnownQuestions(dict[str, tuple[Worded, Fact | None]]):
    """The questions of a test set, each by its words, and with the fact that it is about as far as that is known."""

    def add(self, question: str, fact: Fact | None = None) -> None:
        """Note a question, or the fact that one is about."""
        self[question] = (Worded.of(question), fact)

    def like(self, question: str, fact: Fact | None = None) -> str | None:
        """Another question that this one repeats, more easily if both ask for one fact; None: there is none."""
        worded = Worded.of(question)
        for other, (words, known) in self.items():
            if other == question or words.deciding != worded.deciding or words.telling.isdisjoint(worded.telling):
                continue
            about_one = fact is not None and known is not None and fact.same_as(known)
            if alikeness(worded, words) >= (ALIKE_ABOUT_ONE_FACT if about_one else ALIKE):
                return other
        return None


class PassageIndex:
    """Looks up which of many passages have most in common with a text.

    Args:
        passages: their texts.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        keys = [_telling(text) for text in passages]
        self._common = max(FEW, len(keys) // 10)
        self._holding: dict[str, list[int]] = {}
        for index, found in enumerate(keys):
            for key in found:
                self._holding.setdefault(key, []).append(index)
        self._weights = {key: math.log(1 + len(keys) / len(found)) ** 2 for key, found in self._holding.items()}
        self._lengths = [math.sqrt(math.fsum(self._weights[key] for key in found)) for found in keys]

    def nearest(self, text: str, most: int, allowed: Callable[[int], bool] = lambda _: True) -> list[int]:
        """The passages that share most with the text, the nearest first; none that shares only words that very many have.

        Args:
            text: what to compare with.
            most: how many at most.
            allowed: which passages may be among them.
        """
        shared: defaultdict[int, float] = defaultdict(float)
        for key in sorted(_telling(text) & self._holding.keys()):
            if len(self._holding[key]) <= self._common:
                for index in self._holding[key]:
                    shared[index] += self._weights[key]
        near = filter(allowed, shared)
        return heapq.nsmallest(most, near, key=lambda index: (-shared[index] / self._lengths[index], index))


def _telling(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    words = words_of(text, guess_language(text))
    return frozenset(word.key for word in words if word.kind not in {"stop", "negation"})


# Per language: what stands before the name of a text, the names of texts, and what may follow where some other text is meant.
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
    """The name of a text after one of these words, unless a number or one of those words follows, which tell what text it is."""
    openings = "|".join(f"{item}{'' if item.endswith(']') else ' '}" for item in before.split("|"))
    further = rf"(?! (?:{after})(?<=[ '’\w])(?!\w))" if after else ""
    return rf"\b(?:{openings})(?:{names})\b{further}(?! ?\d)"


_LEANS = re.compile("|".join([*(_phrase(*row) for row in _GRAMMAR), *_UNSPACED]), re.IGNORECASE)


def leans_on_a_text(question: str) -> str | None:
    """The words with which a question leans on a text that its reader does not see; None where no rule finds any."""
    found = _LEANS.search(" ".join(question.split()))
    return None if found is None else found[0]
