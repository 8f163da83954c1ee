"""Decides whether contexts support a claim, by the words that they share.

Numbers, dates and names have the largest weight. If the contexts lack one of them, the claim is unsupported, and so are the
neighbouring pieces of the same sentence, since they are about it. A long claim may contain some ordinary words that the contexts
lack, because people paraphrase; a piece of one or two words may not. A longer claim must also keep some of the word order of the
contexts, or any words of a long text would support it. A word only counts if claim and contexts both affirm it or both negate it.

An index of the contexts (``Index``) is built once per list of contexts and kept in a small cache, since all claims of an answer
are compared with the same contexts.

This is a baseline: it knows no synonyms and no inference, and it accepts every false claim that is made of true pieces.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import groupby, pairwise
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ._claims import QUESTION_MARKS, yes_or_no
from ._words import guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._words import Word


_GAP = 1000  # gap between the positions of two contexts, so that no words of different contexts are neighbours
_STEM = 5  # smallest common prefix of two forms of a word, in letters
_SHARED = 0.6  # smallest common prefix, as a share of the longer form
NEGATION_REACH = 3  # number of words after a negation that it negates
_NEGATE_AFTER = frozenset({"de", "nl"})
_NEGATING = "不没沒無无未非않못없"
# "not only" is not a negation
_ONLY = frozenset({"only", "just", "nur", "seulement", "solo", "sólo", "apenas", "alleen", "только"})
_INITIALS = 6  # letters of the longest abbreviation


class Index:
    """A look-up of the words in a list of contexts, which are read in one language."""

    def __init__(self, contexts: Sequence[str], language: str) -> None:
        self.language = language
        self.positions: dict[str, list[int]] = {}
        self.neighbours: set[tuple[str, str]] = set()
        self._negations: list[int] = []
        self._stems: dict[str, list[str]] = {}
        self._initials: set[str] = set()
        self._names: set[str] = set()
        self._forms: dict[str, tuple[str, ...]] = {}
        self._stances: dict[str, tuple[bool, bool]] = {}
        start = 0
        for context in contexts:
            words = words_of(context, language)
            self._add(words, start)
            start += len(words) + _GAP
        for key in self.positions:
            if len(key) >= _STEM:
                self._stems.setdefault(key[:_STEM], []).append(key)

    def _add(self, words: Sequence[Word], start: int) -> None:
        self.neighbours.update(pairwise(["", *(word.key for word in words)]))
        run: list[str] = []
        for offset, word in enumerate(words):
            position = start + offset
            self.positions.setdefault(word.key, []).append(position)
            if is_negation(word) and not (offset + 1 < len(words) and words[offset + 1].key in _ONLY):
                self._negations.append(position)
            if word.kind == "name":
                self._names.add(word.key)
                run.append(word.key[0])
                self._initials.update("".join(run[-n:]) for n in range(2, min(len(run), _INITIALS) + 1))
            elif word.kind != "stop":
                run = [word.key[0]]

    def forms(self, word: Word) -> tuple[str, ...]:
        """Return the keys under which ``word`` is in the contexts: its own key and the keys of its other forms. Empty if the word
        is missing.
        """
        key = word.key
        if key not in self._forms:
            own = (key,) if key in self.positions else ()
            alike = self._stems.get(key[:_STEM], ()) if word.kind in {"plain", "name"} and len(key) >= _STEM else ()
            self._forms[key] = own + tuple(form for form in alike if form != key and _same_word(form, key))
        return self._forms[key]

    def abbreviates(self, words: Sequence[Word]) -> bool:
        """Whether ``words`` are a name whose initials are in the contexts, or the initials of a name in the contexts."""
        if len(words) == 1:
            return words[0].kind == "name" and words[0].key in self._initials
        return "".join(word.key[0] for word in words) in self._names

    def adjacent(self, left: Word, right: Word) -> bool:
        """Whether the two words are next to each other, in this order, anywhere in the contexts."""
        return any((a, b) in self.neighbours for a in self.forms(left) for b in self.forms(right))

    def stances(self, word: Word) -> tuple[bool, bool]:
        """Return whether the contexts affirm ``word`` anywhere, and whether they negate it anywhere."""
        if word.key not in self._stances:
            positions = [at for form in self.forms(word) for at in self.positions[form]]
            denials = sum(map(self._is_denied, positions)) if self._negations else 0
            self._stances[word.key] = (denials < len(positions), denials > 0)
        return self._stances[word.key]

    def _is_denied(self, position: int) -> bool:
        """Whether there is a negation shortly before ``position``; in German and Dutch also directly after it."""
        at = bisect_left(self._negations, position - NEGATION_REACH)
        end = position + (1 if self.language in _NEGATE_AFTER else -1)
        return at < len(self._negations) and self._negations[at] <= end


def is_negation(word: Word) -> bool:
    """Whether ``word`` is a negation, or a pair of characters that contains a negation."""
    return word.kind == "negation" or (word.kind == "pair" and any(c in _NEGATING for c in word.key))


def _same_word(one: str, other: str) -> bool:
    least = max(_STEM, ceil(_SHARED * max(len(one), len(other))))
    return one[:least] == other[:least]


@lru_cache(maxsize=8)
def index_of(contexts: tuple[str, ...], language: str) -> Index:
    """Return the index of ``contexts``; recent indexes are cached."""
    return Index(contexts, language)


_SHORT = 2  # a claim of at most this many content words may lack none of them
_SHARE = 0.75  # smallest share of content words found, for longer claims
_ORDER = 0.5  # smallest share of neighbouring words that are also neighbours in the contexts, for longer claims
_BESIDE = 3  # number of pieces on either side that a missing name or number makes unsupported


class Support(NamedTuple):
    """The verdict on one claim.

    ``supported`` is the verdict, ``reason`` explains it in a sentence, and ``share`` is the share of the claim's content words
    found in the contexts, 0 to 1. ``denied`` says whether the contexts contradict the claim, and ``decisive`` whether they lack a
    name or a number of the claim.
    """

    share: float
    supported: bool
    reason: str
    denied: bool = False
    decisive: bool = False


def verify(claims: Sequence[str], contexts: Sequence[str]) -> list[Support]:
    """Judge ``claims``, given in the order of the text that makes them. Return one verdict per claim.

    A claim that is part of the last claim judged as a whole is a piece of it. A piece is read as part of that sentence, and
    depends on the names and numbers of neighbouring pieces.
    """
    language = guess_language(*contexts, *claims)
    index = index_of(tuple(contexts), language)
    verdicts: list[Support] = []
    pieces: list[Support] = []
    sentence, at, first = "", 0, 0
    words: tuple[Word, ...] = ()
    denied: list[bool] = []
    for claim in claims:
        position = sentence.find(claim, at) if sentence else -1
        if position < 0:
            verdicts += _together(pieces)
            pieces, sentence, at, first = [], claim, 0, 0
            words = words_of(claim, language)
            denied = _find_denied(words)
            verdicts.append(_answer(claim, contexts, index) or _read(words, denied, index))
            continue
        at = position + len(claim)
        first = bisect_left(words, position, first, key=attrgetter("start"))
        last = bisect_right(words, at, first, key=attrgetter("end"))
        pieces.append(_read(words[first:last], denied[first:last], index))
        first = last
    return verdicts + _together(pieces)


def _together(pieces: list[Support]) -> list[Support]:
    """Return the verdicts on the pieces of one sentence. A missing name or number makes its neighbouring pieces unsupported."""
    decisive = [number for number, piece in enumerate(pieces) if piece.decisive]
    verdicts = list(pieces)
    for number in decisive:
        why = f"stands beside words that are not supported: {pieces[number].reason}"
        for beside in range(max(0, number - _BESIDE), min(len(pieces), number + _BESIDE + 1)):
            if verdicts[beside].supported:
                verdicts[beside] = Support(verdicts[beside].share, supported=False, reason=why)
    return verdicts


def _read(words: Sequence[Word], denied: Sequence[bool], index: Index) -> Support:
    """Judge a claim by its own words. ``denied`` says for each word whether the claim negates it."""
    content = [word for word in words if word.kind not in {"stop", "negation"}]
    if not content:
        return _read_small(words, index)
    missing = _missing(content, index)
    share = 1 - len(missing) / len(content)
    decisive = [word for word in missing if word.kind in {"number", "name"}]
    if decisive or (missing and (len(content) <= _SHORT or share < _SHARE)):
        names = ", ".join(dict.fromkeys(word.text for word in decisive or missing))
        return Support(share, supported=False, reason=f"the contexts do not mention {names}", decisive=bool(decisive))
    disorder = _disorder(words, content, index)
    against = disorder or _conflict(words, denied, index)
    if against:
        return Support(share, supported=False, reason=against, denied=not disorder)
    share_in_words = f"{len(content) - len(missing)} of {len(content)} content words"
    return Support(share, supported=True, reason=f"the contexts hold {share_in_words}")


def _read_small(words: Sequence[Word], index: Index) -> Support:
    """Judge a claim that consists of function words, such as a title. The contexts must contain it word for word."""
    literal = len(words) > 1 and all(index.adjacent(left, right) for left, right in pairwise(words))
    reason = "the contexts hold it word for word" if literal else "it has no content word to look for"
    return Support(float(literal), supported=literal, reason=reason)


def _disorder(words: Sequence[Word], content: Sequence[Word], index: Index) -> str:
    """Return a message if the contexts contain the words of a long claim in another order; else an empty text."""
    order = [index.adjacent(left, right) for left, right in pairwise(words)]
    if len(content) <= _SHORT or sum(order) >= _ORDER * len(order):
        return ""
    return f"the contexts hold the words but in another connection ({sum(order)} of {len(order)} pairs)"


def _missing(content: Sequence[Word], index: Index) -> list[Word]:
    """Return the words that the contexts lack. A name and its initials (*United Kingdom*, *UK*) count as the same."""
    missing: list[Word] = []
    for is_name, group in groupby(content, key=lambda word: word.kind == "name"):
        run = list(group)
        lacking = [word for word in run if not index.forms(word)]
        if is_name and lacking and (len(run) == 1 or not index.abbreviates(run)):
            lacking = [word for word in lacking if not index.abbreviates([word])]
        elif is_name:
            lacking = []
        missing += lacking
    return missing


def _find_denied(words: Sequence[Word]) -> list[bool]:
    """Return for each word whether there is a negation shortly before it."""
    denied: list[bool] = []
    since = NEGATION_REACH
    for word in words:
        denied.append(since < NEGATION_REACH)
        since = 0 if is_negation(word) else since + 1
    return denied


def _conflict(words: Sequence[Word], denied: Sequence[bool], index: Index) -> str:
    """Return a message if the claim negates what the contexts affirm, or the other way round; else an empty text."""
    negated: list[Word] = []
    for word, no in zip(words, denied, strict=True):
        affirms, denies = index.stances(word)
        if word.kind in {"stop", "negation"} or not (affirms or denies):
            continue
        if no and denies:
            return ""
        if no:
            negated.append(word)
        elif not affirms:
            return f"the contexts deny what it says of {word.text}"
    return f"it denies what the contexts say of {negated[0].text}" if negated else ""


def _answer(claim: str, contexts: Sequence[str], index: Index) -> Support | None:
    """Judge a bare *yes* or *no* to a question (``"No: is it open?"``). Return None for any other claim.

    If a context begins with a yes or no, this word decides. Otherwise the claim is supported if the contexts contain the words of
    the question: words alone cannot tell a yes from a no, so both get the same verdict.
    """
    yes_no, colon, question = claim.partition(": ")
    positive = yes_or_no(yes_no) if colon and question.endswith(QUESTION_MARKS) else None
    if positive is None:
        return None
    for context in contexts:
        word, *_ = context.split(maxsplit=1) or [""]
        said_there = yes_or_no(word)
        if said_there is not None:
            agrees = said_there is positive
            reason = f"the contexts say {word.strip(' .,!')}"
            return Support(float(agrees), supported=agrees, reason=reason, denied=not agrees)
    content = [word for word in words_of(question, index.language) if word.kind not in {"stop", "negation"}]
    missing = _missing(content, index)
    share = 1 - len(missing) / len(content) if content else 0.0
    reason = f"the contexts hold {len(content) - len(missing)} of {len(content)} content words of the question"
    return Support(share, supported=share >= _SHARE, reason=reason)
