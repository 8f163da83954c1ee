"""Sentences, with their places, in what models write: prose with abbreviations and initials, lists, tables, Chinese without spaces.

A line ends a sentence always, as items of lists and rows of tables have no full stop. Inside a line a full stop ends one unless
it belongs to an abbreviation, an initial or a German ordinal, or a small letter follows. That is a matter of rules and short lists,
not of a trained model: what they miss is a sentence more or less, in the same way for every metric and every run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentences"]

# begins with one set of signs, so that all other characters are skipped fast
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
"""Abbreviations that often end a sentence; a capital letter that follows decides."""

ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\.$")
AFTER_ORDINAL = re.compile(
    r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jh|Jahrestag|Lebensjahr|Stock|Etage|Auflage|Platz|Mal)"
)
LONGEST = 12
"""Characters before a full stop that can be an abbreviation."""


def sentences(text: str, ends: frozenset[int] = frozenset()) -> list[tuple[int, int]]:
    """The places of the sentences in a text, in order, as offsets of characters, the end exclusive.

    Signs before a sentence (of a list, of a quoted mail) and blanks around it are no part of it.

    Args:
        text: what is split.
        ends: places after a full stop at which a small letter may begin a sentence, as something was taken out there.
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
        return True  # what ends in no letter is no abbreviation, and what ends in no digit no ordinal
    if ORDINAL.search(before) and AFTER_ORDINAL.match(text, stop.end()):
        return False
    return not ABBREVIATION.search(before) or (following.isupper() and bool(ENDING.search(before)))


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The place without the blanks around it, if anything is left."""
    said = text[start:end]
    if said.strip():
        yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())
