"""Where in a text its claims come from, so that a report can mark them there; by the words alone, without a model.

A claim is rarely word for word in its text: pronouns became names, sentences were taken apart. So the words of a claim are looked
for in each sentence, and count the more the fewer sentences have them. A claim whose sentence cannot be found has no place,
which costs nothing but the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ragmetrics_core.metrics.squad import CJK

__all__ = ["PlacedClaims", "Spans", "spans_of"]

FINAL_MARKS = ".!?。！？"
WORD = re.compile(r"\w+")
FOLDED = bytes(ord(chr(code).lower() if WORD.match(chr(code)) else " ") for code in range(128)) + bytes(128)
"""What becomes of a text in ASCII: small letters, and blanks for all that stands between words."""
WORD_OR_SIGN = re.compile(rf"{CJK.pattern}|(?:(?!{CJK.pattern})\w)+")

SENTENCE_END = re.compile(r"[.!?\n。！？](?:(?<=\n)\n*|(?<=[。！？])|\s+)")
"""It begins with one set of signs, so that all other characters are skipped fast."""

ARTICLES = frozenset({"a", "an", "the"})
ROUNDING = 1e-9
HALF = 0.5
"""Of the weight of a claim's words, its sentence has to hold more than this."""


Spans = tuple[tuple[int, int] | None, ...]
"""For each claim of a text the part that it comes from, as offsets of characters, the end exclusive; None if unknown."""


class PlacedClaims(tuple[str, ...]):  # noqa: SLOT001  it knows its text
    """The claims of a text, and where in it they stand, which is looked up once for all metrics that ask.

    Attributes:
        text: the text.
    """

    text: str

    @classmethod
    def of(cls, claims: Iterable[str], text: str) -> PlacedClaims:
        """The claims of this text; where they are that already, they themselves."""
        if isinstance(claims, PlacedClaims) and claims.text == text:
            return claims
        made = cls(claims)
        for claim in made:
            if not isinstance(claim, str):
                raise TypeError(f"a claim is a text, got {type(claim).__name__}")
        made.text = text
        return made

    @cached_property
    def spans(self) -> Spans:
        """Where the claims stand."""
        return tuple(spans_of(self, self.text))

    def places(self) -> list[dict[str, Any]]:
        """For each claim its ``span``, ``[start, end]``, or nothing where it is not known; as evidence shows it."""
        return [{"span": list(span)} if span else {} for span in self.spans]


def spans_of(claims: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """For each claim the part of the text that it comes from, as offsets of characters, the end exclusive; None if unknown.

    It is the claim itself where the text holds it, else the sentence that holds most of its words, and more than half of
    them; words that many sentences hold count less.
    """
    sentences = list(_sentences(text))
    where: dict[str, list[int]] = {}
    for index, (start, end) in enumerate(sentences):
        for word in _words(text[start:end]):
            if word in where:
                where[word].append(index)
            else:
                where[word] = [index]
    spans: list[tuple[int, int] | None] = []
    reached = 0
    ends: dict[str, int] = {}
    for claim in claims:
        # a claim that is made twice has two places, if there are two
        span = _verbatim(claim, text, max(reached, ends.get(claim, 0))) or _by_words(claim, sentences, where)
        spans.append(span)
        if span:
            ends[claim] = span[1]
        reached = span[0] if span else reached  # claims come in the order of their text
    return spans


def _verbatim(claim: str, text: str, reached: int) -> tuple[int, int] | None:
    """Where the claim itself stands: from here on, else before."""
    core = claim.strip().rstrip(FINAL_MARKS).strip()
    if not core:
        return None
    at = text.find(core, reached)
    if at < 0 < reached:
        at = text.find(core)
    return (at, at + len(core)) if at >= 0 else None


def _by_words(
    claim: str, sentences: Sequence[tuple[int, int]], where: Mapping[str, Sequence[int]]
) -> tuple[int, int] | None:
    """The sentence that holds the words of the claim; ``where`` has the sentences of each word."""
    words = _words(claim)
    known = words & where.keys()
    # a word that no sentence has weighs as much as one that a single sentence has
    whole = float(len(words) - len(known))
    shares = [0.0] * len(sentences)
    for word in known:
        found = where[word]
        weight = 1 / len(found)
        whole += weight
        for index in found:
            shares[index] += weight
    best = max(shares, default=0.0)
    if best <= HALF * whole + ROUNDING:
        return None
    return sentences[shares.index(best)]


def _words(text: str) -> set[str]:
    """The words of a text, without regard to case, English articles left out; in scripts without spaces, its characters."""
    if text.isascii():  # as most are, and then it takes a tenth of the time
        found = text.encode().translate(FOLDED).decode().split()
    else:
        folded = text.casefold()
        found = (WORD_OR_SIGN if CJK.search(folded) else WORD).findall(folded)
    words = set(found)
    words -= ARTICLES
    return words


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in SENTENCE_END.finditer(text):
        end = match.start() + (match[0][0] != "\n")  # the mark belongs to the sentence
        if text[start:end].strip():
            yield start, end
        start = match.end()
    if text[start:].strip():
        yield start, len(text.rstrip())
