"""Where in a text its claims come from, so that a report can mark them there; by the words alone, without a model.

A claim is rarely word for word in its text: pronouns became names, sentences were taken apart. So the words of a claim are looked
for in each sentence, and count the more the fewer sentences have them. A claim whose sentence cannot be told has no place,
which costs nothing but the mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragmetrics_core.metrics.squad import CJK
from ragmetrics_core.metrics.windows import SENTENCE_END

__all__ = ["located", "spans_of"]

FINAL_MARKS = ".!?。！？"
WORD = re.compile(rf"{CJK.pattern}|(?:(?!{CJK.pattern})\w)+")

ARTICLES = frozenset({"a", "an", "the"})
ROUNDING = 1e-9
HALF = 0.5
"""Of the weight of a claim's words, its sentence has to hold more than this."""


def located(rows: Sequence[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """The rows, each with the ``span`` of its ``claim`` in the text, ``[start, end]``, where that can be told."""
    spans = spans_of([row["claim"] for row in rows], text)
    return [{**row, "span": list(span)} if span else {**row} for row, span in zip(rows, spans, strict=True)]


def spans_of(claims: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """For each claim the part of the text that it comes from, as offsets of characters, the end exclusive; None if unknown.

    It is the claim itself where it stands in the text, else the sentence that holds most of its words, and more than half of
    them; words that many sentences hold count less.
    """
    return list(_spans(tuple(claims), text))


@lru_cache(maxsize=256)
def _spans(claims: tuple[str, ...], text: str) -> tuple[tuple[int, int] | None, ...]:
    """Kept, as the metrics of a sample ask for the same claims of the same text."""
    sentences = list(_sentences(text))
    held = [_words(text[start:end]) for start, end in sentences]
    spread = Counter(word for found in held for word in found)
    spans: list[tuple[int, int] | None] = []
    reached = 0
    for claim in claims:
        span = _verbatim(claim, text, reached) or _by_words(claim, sentences, held, spread)
        spans.append(span)
        reached = span[0] if span else reached  # claims come in the order of their text
    return tuple(spans)


def _verbatim(claim: str, text: str, reached: int) -> tuple[int, int] | None:
    """Where the claim itself stands: from here on, else before."""
    core = claim.strip().rstrip(FINAL_MARKS).strip()
    starts = (text.find(core, start) for start in (reached, 0) if core)
    return next(((at, at + len(core)) for at in starts if at >= 0), None)


def _by_words(
    claim: str, sentences: Sequence[tuple[int, int]], held: Sequence[frozenset[str]], spread: Mapping[str, int]
) -> tuple[int, int] | None:
    """The sentence that holds the words of the claim."""
    said = _words(claim)
    weight = {word: 1 / spread[word] if word in spread else 1.0 for word in said}
    shares = [sum(map(weight.__getitem__, found & said)) for found in held]
    best = max(shares, default=0.0)
    if best <= HALF * sum(weight.values()) + ROUNDING:
        return None
    return sentences[shares.index(best)]


def _words(text: str) -> frozenset[str]:
    """The words of a text, without regard to case, English articles left out; in scripts without spaces, its characters."""
    return frozenset(WORD.findall(text.casefold())) - ARTICLES


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in SENTENCE_END.finditer(text):
        if text[start : gap.start()].strip():
            yield start, gap.start()
        start = gap.end()
    if text[start:].strip():
        yield start, len(text.rstrip())
