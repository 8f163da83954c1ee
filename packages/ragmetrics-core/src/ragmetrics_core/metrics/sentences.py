"""Split the texts that models write into sentences: prose with abbreviations and initials, lists, tables, Chinese without
spaces.

A line end always ends a sentence, because list items and table rows have no full stop. Inside a line, a full stop ends a sentence
unless it belongs to an abbreviation, an initial or a German ordinal, or a small letter follows. These are rules and short lists,
not a trained model. Where they fail, one sentence becomes two or two become one, in the same way for every metric and every run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentences"]

# begins with a set of characters, so that a search skips all other characters fast
STOP = re.compile(
    r"[.!?…。！？](?:(?<=[.!?…])[.!?…]{0,8}[\"'“”’»)\]*_]{0,9}(?:[ \u00a0\u202f]»)?(?:[ \t]+|$)"
    r"|(?<=[。！？])[。！？]*[”’」』）*_]*[ \t]*)"
)
LINE = re.compile(r"[^\n\r]+")
BULLET = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))[ \t]+)?")
ABBREVIATION = re.compile(
    r"(?<!\w)(?:[^\W\d_]|(?:[^\W\d_]\.[ ]?)+[^\W\d_]|"
    r"al|approx|art|bzw|ca|cf|chap|dr|dipl|ebd|ed|etc|evtl|ex|fig|figs|geb|ggf|hrsg|inc|inkl|jh|jr|kap|lt|ltd|max|min|mio|mlle|mme|mr|mrd|"
    r"mrs|ms|no|nr|op|pp|prof|sec|sog|sr|st|str|tab|u\.a|usw|vgl|vol|vs|zzgl)\.$",
    re.IGNORECASE,
)
ENDING = re.compile(r"(?<!\w)(?:etc|inc|ltd|usw|jr|sr)\.$", re.IGNORECASE)
"""Abbreviations that often end a sentence. They do so if a capital letter follows."""

ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\.$")
AFTER_ORDINAL = re.compile(
    r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jh|Jahrestag|Lebensjahr|Stock|Etage|Auflage|Platz|Mal)"
)
LONGEST = 12
"""The number of characters before a full stop that are examined for an abbreviation."""


def sentences(text: str, ends: frozenset[int] = frozenset()) -> list[tuple[int, int]]:
    """Find the places of the sentences in a text, in order: character offsets, end exclusive.

    List bullets and quote marks of mails in front of a sentence, and blanks around it, are left out.

    Args:
        text: the text to split.
        ends: places of full stops that end a sentence even if a small letter follows, because a marker was removed there.
    """
    return [place for line in LINE.finditer(text) for place in _in_line(text, line.start(), line.end(), ends)]


def _in_line(text: str, start: int, end: int, ends: frozenset[int]) -> Iterator[tuple[int, int]]:
    bullet = BULLET.match(text, start, end)
    start = bullet.end() if bullet else start
    for stop in STOP.finditer(text, start, end):
        if stop.end() < end and _ends(text, stop, ends):
            yield from _stripped(text, start, stop.end())
            start = stop.end()
    yield from _stripped(text, start, end)


def _ends(text: str, stop: re.Match[str], ends: frozenset[int]) -> bool:
    """Whether a full stop inside a line ends a sentence."""
    if not stop[0].startswith("."):
        return not text[stop.end()].islower() or "。" in stop[0]
    following = text[stop.end()]
    if following.islower():
        return not ends.isdisjoint(range(stop.start(), stop.end() + 1))
    before = text[max(0, stop.start() - LONGEST) : stop.start() + 1]
    if not before[-2:-1].isalnum():
        return True  # an abbreviation ends in a letter, and an ordinal in a digit
    if ORDINAL.search(before) and AFTER_ORDINAL.match(text, stop.end()):
        return False
    return not ABBREVIATION.search(before) or (following.isupper() and bool(ENDING.search(before)))


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the place without surrounding blanks; nothing if only blanks are there."""
    said = text[start:end]
    if said.strip():
        yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())
