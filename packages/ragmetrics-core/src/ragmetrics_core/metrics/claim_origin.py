"""Find the place in a text from which a claim comes, so that a report can mark it. Only words are compared, and no model is
asked.

A claim is rarely a literal quote: pronouns became names, and sentences were split. So each sentence is searched for the words of
the claim; a word counts more if few sentences have it. A claim whose sentence is not found has no place, and the report has no mark
for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ragmetrics_core.metrics.squad import CJK

__all__ = ["PlacedClaims", "Spans", "spans_of"]

FINAL_MARKS = ".!?。！？"
WORD = re.compile(r"\w+")
FOLDED = bytes(ord(chr(code).lower() if WORD.match(chr(code)) else " ") for code in range(128)) + bytes(128)
"""Translates ASCII text: capitals to small letters, and characters between words to blanks."""
WORD_OR_SIGN = re.compile(rf"{CJK.pattern}|(?:(?!{CJK.pattern})\w)+")

SENTENCE_END = re.compile(r"[.!?\n。！？](?:(?<=\n)\n*|(?<=[。！？])|\s+)")
"""It begins with a set of characters, so that a search skips all other characters fast."""

ARTICLES = frozenset({"a", "an", "the"})
ROUNDING = 1e-9
HALF = 0.5
"""The share of a claim's word weights that a sentence must exceed."""


Spans = tuple[tuple[int, int] | None, ...]
"""For each claim of a text its place: character offsets, end exclusive. None if the place is unknown."""


class PlacedClaims(tuple[str, ...]):  # noqa: SLOT001  it knows its text
    """The claims of a text and their places, which are looked up once for all metrics that use them.

    Attributes:
        text: the text.
    """

    text: str

    @classmethod
    def of(cls, claims: Iterable[str], text: str) -> PlacedClaims:
        """Return the claims of a text. ``claims`` itself is returned if it is already a ``PlacedClaims`` of this text."""
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
        """The places of the claims."""
        return tuple(spans_of(self, self.text))

    def places(self) -> list[dict[str, Any]]:
        """Return the additions to the evidence: for each claim ``{"span": [start, end]}``, or ``{}`` if its place is unknown."""
        return [{"span": list(span)} if span else {} for span in self.spans]


def spans_of(claims: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Find the place of each claim in the text: character offsets, end exclusive; None if unknown.

    It is the place of the claim itself if the text contains it. Otherwise it is the sentence with most of the claim's words, if
    it has more than half of them by weight. Words that many sentences have weigh less.
    """
    sentences = list(_sentences(text))
    where = defaultdict[str, list[int]](list)
    for index, (start, end) in enumerate(sentences):
        for word in _words(text[start:end]):
            where[word].append(index)
    spans: list[tuple[int, int] | None] = []
    reached = 0
    ends: dict[str, int] = {}
    for claim in claims:
        # a claim that occurs twice gets two places, if the text has two
        span = _verbatim(claim, text, max(reached, ends.get(claim, 0))) or _by_words(claim, sentences, where)
        spans.append(span)
        if span:
            ends[claim] = span[1]
        reached = span[0] if span else reached  # claims are in the order of the text
    return spans


def _verbatim(claim: str, text: str, reached: int) -> tuple[int, int] | None:
    """Return the place of the claim itself in the text: the first at or after ``reached``, else the first before it."""
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
    """Return the sentence that has the words of the claim. ``where`` maps each word to the sentences that have it."""
    words = _words(claim)
    known = words & where.keys()
    # a word that is in no sentence weighs as much as a word in one sentence
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
    """Return the words of a text in lower case, without English articles. In scripts without spaces, every character is a word."""
    if text.isascii():  # most texts are, and this takes a tenth of the time
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
