"""Find the citation markers in a text, in the forms that models write, and the passages that each marker names.

A number names the passage with that rank, from 1. Ids, addresses and file names count if passages have such names. A marker that
has the form of such a name but names no passage is fabricated, and so is a link to a page that was not retrieved. No model
decides what a marker is. Every part of the regular expressions is bounded, so hostile texts do not take longer than others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core import InvalidInput

__all__ = ["Found", "Meanings", "compiled", "find", "find_by"]

OPEN, CLOSE = r"[\[［【]", r"[\]］】]"
WORDS = (
    "source|sources|doc|docs|document|documents|passage|passages|context|contexts|citation|ref|refs|reference|references|"
    "quelle|quellen|dokument|dokumente|来源|文档|资料|文献|段落"
)
NUMBERS = (
    rf"(?:(?:{WORDS})[ \t]?[:：#]?[ \t]?)?\^?(?P<numbers>\d{{1,5}}(?:[ \t]?[-–—,，、;][ \t]?\^?\d{{1,5}}){{0,20}})\^?"
)
ADDRESS = r"https?://[^\s<>\"'\[\]{}|\\^`“”»，。；）】]{1,2000}"
MARKER = re.compile(
    rf"\[(?=\[){OPEN}{NUMBERS}{CLOSE}{CLOSE}|{OPEN}{NUMBERS.replace('numbers', 'single')}(?:†[^\]］】\n]{{0,200}})?{CLOSE}"
    rf"|\[(?P<label>[^\[\]\n]{{1,300}})\]\((?P<target>[^()\s]{{1,2000}})\)"
    rf"|{OPEN}(?P<name>[^\[\]［］【】\n]{{1,300}}){CLOSE}"
    rf"|\((?P<aside>[^()\n]{{1,300}})\)"
    rf"|<?(?P<address>{ADDRESS})>?",
    re.IGNORECASE,
)
BRACKET = re.compile(r"[\[［【(]")
TARGET = re.compile(rf"\((?P<target>{ADDRESS})\)")
ITEM = re.compile(r"(\d+)(?:[ \t]?[-–—][ \t]?\^?(\d+))?")
SEPARATOR = re.compile(r"[,;，；、]")
YEARS = range(1000, 2101)
URL_START = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)
DIGITS = re.compile(r"\d+")
AFTER_ADDRESS = ".,;:!?)*_"

NOTHING = (0, 0)
Cited = list[tuple[str, tuple[int, ...]]]


class Found(NamedTuple):
    """A marker in a text: what it cites, its place, and the part that stays in the sentence (the text of a link)."""

    cited: Cited
    span: tuple[int, int]
    kept: tuple[int, int]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a user's pattern for markers.

    Raises:
        InvalidInput: the pattern is not a regular expression, or does not have exactly one group.
    """
    try:
        expression = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidInput(f"the pattern for citations {pattern!r} is not a regular expression: {error}") from None
    if expression.groups != 1:
        raise InvalidInput(
            f"the pattern for citations {pattern!r} has {expression.groups} groups: put exactly one around the number or id, "
            r"as in '\(ref (\d+)\)', and write other groups as (?:...)"
        )
    return expression


class Meanings:
    """The passages that numbers, addresses and names stand for.

    Args:
        passages: the number of passages.
        names: ids, addresses and file names, each with the numbers of the passages that have it.
    """

    def __init__(self, passages: int, names: Mapping[str, Sequence[int]]) -> None:
        self.passages = passages
        known: dict[str, tuple[int, ...]] = {}
        for name, numbers in names.items():
            known[_key(name)] = tuple(sorted({*known.get(_key(name), ()), *numbers}))
        # ids that are numbers count only if none of them is also the rank of another passage
        self.ranks = {str(number): (number,) for number in range(1, passages + 1)}
        clash = any(self.ranks.get(key, to) != to for key, to in known.items())
        self.names = {key: to for key, to in known.items() if not (clash and key.isdecimal())}
        self.forms = {DIGITS.sub("0", key) for key in self.names if DIGITS.search(key) and not key.isdecimal()}
        self.addresses = any(URL_START.match(name) for name in names)

    def listed(self, part: str) -> Cited:
        """Return the passages cited by a number, a range or a name that a user's pattern has found."""
        to, item = self.names.get(_key(part), ()), ITEM.fullmatch(part)
        return self._range(item) if item and not to else [(part, to)]

    def numbers(self, text: str) -> Cited:
        """Return the passages cited by numbers; none if the number is a year."""
        if text in self.ranks:  # the usual case: the rank of one passage
            return [(text, self.ranks[text])]
        cited = [one for item in ITEM.finditer(text) for one in self._range(item)]
        years = [int(marker) in YEARS and not to for marker, to in cited if marker.isdecimal()]
        return [] if years and all(years) else cited

    def _range(self, item: re.Match[str]) -> Cited:
        """Return the numbers of a range that are ranks of passages. An end of the range that is not a rank is returned too,
        without passages.
        """
        first, last = sorted((int(item[1]), int(item[2] or item[1])))
        cited: Cited = [(str(number), (number,)) for number in range(max(first, 1), min(last, self.passages) + 1)]
        outside = [number for number in dict.fromkeys((first, last)) if not 1 <= number <= self.passages]
        return cited + [(str(number), self.names.get(str(number), ())) for number in outside]

    def address(self, address: str) -> Cited:
        """Return the passages cited by a link or an address; none if no passage has an address."""
        if not (self.addresses and URL_START.match(address)):
            return []
        return [(address, self.names.get(_key(address), ()))]

    def named(self, text: str, *, strict: bool) -> Cited:
        """Return the passages cited by one name, or by several names separated by commas. Unless ``strict``, texts in the form of a
        name count too.
        """
        for parts in ([text], SEPARATOR.split(text)) if self.names else ():
            cited = [(part.strip(), self.names.get(_key(part), ())) for part in parts]
            if all(to or (not strict and self._is_alike(part)) for part, to in cited):
                return cited
        return []

    def _is_alike(self, name: str) -> bool:
        """Whether a name differs from a known name only in its digits, or is an address and some passages have addresses."""
        alike = DIGITS.sub("0", _key(name)) in self.forms
        return alike or (self.addresses and bool(re.fullmatch(ADDRESS, name)))


def find(text: str, meanings: Meanings) -> Iterator[Found]:
    """Find the markers in a text, in order.

    The built-in forms are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1][2]``, ``[[1]]``, ``[^1]``, ``[^1^]``, ``【1】``, ``【1†source】``,
    ``[Source 1]``, ``[citation:1]`` and ``[1](address)``. If passages have names: ``[id]``, ``[id, id]`` and ``(id)``. If they
    have addresses: ``[text](address)`` and the address alone.
    """
    at = 0
    search = MARKER.search if "://" in text else _bracketed
    while (marker := search(text, at)) is not None:
        marker_found = _found(marker, text, meanings)
        at = marker_found.span[1] if marker_found else marker.start() + 1
        if marker_found:
            yield marker_found


def find_by(pattern: str, text: str, meanings: Meanings) -> Iterator[Found]:
    """Find the markers that match a user's regular expression, in order. Its one capture group holds numbers or names, separated
    by commas.

    Raises:
        InvalidInput: see ``compiled``.
    """
    for match in compiled(pattern).finditer(text):
        if match[1] and match[1].strip():
            parts = filter(None, map(str.strip, SEPARATOR.split(match[1])))
            yield Found([cited for part in parts for cited in meanings.listed(part)], match.span(), NOTHING)


def _found(match: re.Match[str], text: str, meanings: Meanings) -> Found | None:
    """Return what a match cites; None if the match is not a marker."""
    (start, end), label = match.span(), NOTHING
    if numbers := match["numbers"] or match["single"]:
        link = TARGET.match(text, end)
        end = link.end() if link else end
        cited = meanings.address(link["target"]) if link else []
        cited = cited or meanings.named(match[0].strip("[]［］【】"), strict=True) or meanings.numbers(numbers)
    elif match["target"]:
        label = match.span("label")
        cited = meanings.address(match["target"]) or meanings.named(match["target"], strict=True)
    elif match["address"]:
        address = match["address"].rstrip(AFTER_ADDRESS)
        end = match.start("address") + len(address)
        end += text[end : end + 1] == ">"
        cited = meanings.address(address)
    else:
        cited = meanings.named(match["name"] or match["aside"], strict=match["name"] is None)
    return Found(cited, (start, end), label) if cited else None


def _bracketed(text: str, at: int) -> re.Match[str] | None:
    """Return the next marker in a text without addresses. There, every marker begins with a bracket."""
    while (bracket := BRACKET.search(text, at)) is not None:
        marker = MARKER.match(text, bracket.start())
        if marker is not None:
            return marker
        at = bracket.end()
    return None


def _key(name: str) -> str:
    """Return a name in lower case; of an address, without the scheme, ``www.``, the fragment and a final slash."""
    name = name.strip().casefold()
    start = URL_START.match(name)
    return name[start.end() :].partition("#")[0].rstrip("/") if start else name
