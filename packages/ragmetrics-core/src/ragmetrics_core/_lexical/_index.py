"""What the contexts say, laid out for look-up: where each word stands, and which words stand side by side.

An index is built once per list of contexts and kept in a small cache, since all claims of an answer meet the same
contexts.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from ._words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._words import Word

_GAP = 1000  # words between two contexts: nothing in one is near anything in the other
_STEM = 5  # letters two forms of a word share at least
_SHARED = 0.6  # and the part of the longer form that they make up
NEGATION_REACH = 3  # words after a negation that it denies
_NEGATE_AFTER = frozenset({"de", "nl"})
_NEGATING = "不没沒無无未非않못없"
_ONLY = frozenset(
    {"only", "just", "nur", "seulement", "solo", "sólo", "apenas", "alleen", "только"}
)  # "not only" affirms
_INITIALS = 6  # letters of the longest abbreviation looked for


class Index:
    """Look-up over one list of contexts read in one language."""

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
        run: list[str] = []
        before = ""
        for offset, word in enumerate(words):
            position = start + offset
            self.positions.setdefault(word.key, []).append(position)
            self.neighbours.add((before, word.key))
            before = word.key
            if is_negation(word) and not (offset + 1 < len(words) and words[offset + 1].key in _ONLY):
                self._negations.append(position)
            if word.kind == "name":
                self._names.add(word.key)
                run.append(word.key[0])
                self._initials.update("".join(run[-n:]) for n in range(2, min(len(run), _INITIALS) + 1))
            elif word.kind != "stop":
                run = [word.key[0]]

    def forms(self, word: Word) -> tuple[str, ...]:
        """The keys under which ``word`` stands in the contexts: itself, or other forms of it; empty if it is missing."""
        found = self._forms.get(word.key)
        if found is None:
            found = self._forms[word.key] = self._look_up(word)
        return found

    def _look_up(self, word: Word) -> tuple[str, ...]:
        key = word.key
        own = (key,) if key in self.positions else ()
        if word.kind not in {"plain", "name"} or len(key) < _STEM:
            return own
        return own + tuple(form for form in self._stems.get(key[:_STEM], ()) if form != key and _same_word(form, key))

    def abbreviates(self, words: Sequence[Word]) -> bool:
        """Whether ``words`` are a name whose initials the contexts use, or initials of a name in the contexts."""
        if len(words) == 1:
            return words[0].kind == "name" and words[0].key in self._initials
        return "".join(word.key[0] for word in words) in self._names

    def adjacent(self, left: Word, right: Word) -> bool:
        """Whether the two words stand side by side, in this order, anywhere in the contexts."""
        return any((a, b) in self.neighbours for a in self.forms(left) for b in self.forms(right))

    def stances(self, word: Word) -> tuple[bool, bool]:
        """Whether the contexts affirm ``word`` anywhere, and whether they deny it anywhere."""
        found = self._stances.get(word.key)
        if found is None:
            positions = [at for form in self.forms(word) for at in self.positions[form]]
            denials = sum(map(self._denied, positions)) if self._negations else 0
            found = self._stances[word.key] = (denials < len(positions), denials > 0)
        return found

    def _denied(self, position: int) -> bool:
        """Whether a negation stands shortly before ``position``; in German and Dutch also right behind it."""
        at = bisect_left(self._negations, position - NEGATION_REACH)
        end = position + (1 if self.language in _NEGATE_AFTER else -1)
        return at < len(self._negations) and self._negations[at] <= end


def is_negation(word: Word) -> bool:
    """Whether ``word`` negates: a word of negation, or a pair of characters with one in it."""
    return word.kind == "negation" or (word.kind == "pair" and any(c in _NEGATING for c in word.key))


def _same_word(one: str, other: str) -> bool:
    shared = 0
    for a, b in zip(one, other):  # noqa: B905  # the shorter word ends the comparison
        if a != b:
            break
        shared += 1
    return shared >= max(_STEM, _SHARED * max(len(one), len(other)))


@lru_cache(maxsize=8)
def index_of(contexts: tuple[str, ...], language: str) -> Index:
    """The index of ``contexts``; the same contexts in a row are read once."""
    return Index(contexts, language)
