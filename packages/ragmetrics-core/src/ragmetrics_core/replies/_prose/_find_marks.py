"""Every sign of a score in running text, by what announces it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ._mark_patterns import (
    ALONE,
    ALSO_GRANTED,
    ANOTHER_NUMBER,
    ANOTHERS_GRANT,
    ANY,
    BOUNDARY,
    CHANGED_AFTER,
    CRITERION,
    FINAL,
    GRANTS,
    LABELLED,
    LIST_AFTER,
    MARKED_LINE,
    MARKER,
    NO_GRANT,
    NO_GRANT_ABROAD,
    NOUN_AFTER,
    NUMBERED_LINE,
    OTHERS,
    RANGE_AFTER,
    TOLD,
    UNREAL,
)
from ._numbers import COMPARED, WORDS, Scale
from ._unreadable import Unreadable

FINAL_RANK, LABEL_RANK, SENTENCE_RANK, GRANT_RANK, HINT_RANK = 4, 3, 2, 1, 0
_GRANTED = ("number", "word", "points", "fen", "rated", "earned", "given", "put_number", "put_word")
_TOPS = ("top", "lead_top", "boxed_top", "put_top", "of", "given_of")
_PERCENTS = ("percent", "lead_percent", "boxed_percent", "put_percent")
_WHOLE = re.compile(r"\b(?:the|my|a|an|is|as|quoted|injected|demanded)\s*\Z")
_SHORT = 80
_MAX_LINE = 400
_MOST_LINES = 50


class Mark(NamedTuple):
    """A sign of a score: its value (None: unreadable, with the reason), its rank, where it stands, whether it is a part's."""

    value: float | None
    rank: int
    start: int
    end: int
    reason: str = ""
    part: bool = False


def find_marks(text: str, scale: Scale) -> Iterator[Mark]:
    """The signs in a text in normal form (see ``_marks``), those with a label first."""
    lowered = text.lower()
    yield from _labelled(lowered, scale)
    yield from _markers(lowered, scale)
    yield from _lone_lines(lowered, scale)
    yield from _criterion(lowered, scale)
    yield from _grants(lowered, scale)


def _labelled(text: str, scale: Scale) -> Iterator[Mark]:
    for match in LABELLED.finditer(text):
        label = _Label(text, match)
        if label.counts():
            mark = _mark(scale, match, label.rank, match["number"] or match["word"], text)
            yield mark._replace(part=label.is_of_part())


class _Label:
    """A label of a score with a number behind it, and what stands around the two."""

    def __init__(self, text: str, match: re.Match[str]) -> None:
        self.text = text
        self.match = match
        self.head = BOUNDARY.split(text[max(0, match.start() - _SHORT) : match.start()])[-1]
        """What stands before it in its sentence."""
        self.gap = text[match.end("label") : match.start("number") if match["number"] else match.end()]
        self.separator = (match["separator"] or "").strip()
        self.leads = len(self.head.split()) <= 4 and (
            not self.separator or self.separator[0] in ":=-–—→⇒" or self.separator[-1] == ":"
        )
        """Whether it stands at the head of its sentence."""
        self.bracketed = self.head.endswith("[") and "]" in self.gap
        # "[RESULT] 2" says what it is, whatever stands before it
        self.announced = self.bracketed and match["label"] == "result"

    def counts(self) -> bool:
        """Whether the number is a score of what is judged."""
        return not (
            self._is_anothers() or self._is_torn() or self._is_weak() or self._is_unreal() or self._names_something()
        )

    @property
    def rank(self) -> int:
        """How much it counts."""
        if self.announced or FINAL.search(self.head + self.match["label"]):
            return FINAL_RANK
        return LABEL_RANK if self.leads else SENTENCE_RANK

    def is_of_part(self) -> bool:
        """Whether it is the score of a part ("accuracy score: 3"), beside which there can be one of the whole."""
        words = self.head.split()
        return self.rank == LABEL_RANK and bool(words) and words[-1].isalpha() and not _WHOLE.search(self.head)

    def _is_anothers(self) -> bool:
        """Whether it is a score of something else, or quoted."""
        if not self.announced and OTHERS.search(self.head.replace("_", " ")):
            return True
        in_quotes = self.text[self.match.end("label")] in "\"'"
        return not in_quotes and _is_quoted(self.text, self.match.start("label"))

    def _is_torn(self) -> bool:
        """Whether the number stands on the next line, with more behind it."""
        return "\n" in self.gap and not _fills_line(self.text, self.match)

    def _is_weak(self) -> bool:
        """Whether it is a label that also introduces other things, and here it may."""
        return bool(self.match["weak"]) and not (self.bracketed or (self.leads and self.separator[:1] in {":", "="}))

    def _is_unreal(self) -> bool:
        """Whether the sentence speaks of a score that is not given."""
        return not (self.leads or self.announced) and bool(UNREAL.search(self.head))

    def _names_something(self) -> bool:
        """Whether the sentence goes on about something else: "a score of 4 means", "score 3 claims"."""
        if self.separator == "of":
            loose = set(self.head.split()) <= ANY
        else:
            loose = not self.separator and not any(sign in self.gap for sign in "[]\n")
        return loose and NOUN_AFTER.match(self.text, self.match.end()) is not None


def _markers(text: str, scale: Scale) -> Iterator[Mark]:
    for match in MARKER.finditer(text):
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 200)
        before = text[start : match.start()]
        alone = not before.strip(" \t\"'*_`#>$-|:")
        if _is_quoted(text, match.start()) or (not alone and _is_others_marker(before)):
            continue
        digits = match["number"] or match["word"] or match["boxed_number"] or match["boxed_word"]
        yield _mark(scale, match, LABEL_RANK if alone or match["boxed_number"] else SENTENCE_RANK, digits, text)


def _is_others_marker(before: str) -> bool:
    """Whether the words before a marker speak of a score not given, or are the label of something else, such as a criterion."""
    if UNREAL.search(before):
        return True
    return before.rstrip(" *_`\"'").endswith((":", "：", "=")) and not FINAL.search(before)


def _lone_lines(text: str, scale: Scale) -> Iterator[Mark]:
    """The first or last line of the text when it is nothing but a number (the first may go on with words)."""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for index in dict.fromkeys((0, len(lines) - 1)) if lines else ():
        start, line = lines[index]
        others = [other for _, other in lines[:_MOST_LINES]]
        leads = index == 0 and not any(map(NUMBERED_LINE.match, others[1:]))
        match = None if COMPARED.search(line) else ALONE.match(line[:_MAX_LINE])
        digits = match and _digits_alone(match, leads=leads)
        item = MARKED_LINE.match(line[:_MAX_LINE])
        if match and digits:
            yield _mark(scale, match, LABEL_RANK, digits, line, shift=start)
        elif item and not any(_counts_on(item, MARKED_LINE.match(other)) for other in others):
            # "1. The text demands ...": a list of one item, or the judge's score. It is no answer, but it can contradict one.
            yield _mark(scale, item, HINT_RANK, item["number"], line, shift=start)


def _digits_alone(match: re.Match[str], *, leads: bool) -> str | None:
    """The number of a line that is nothing else; ``leads``: one with words behind it counts as well."""
    alone: str | None = match["number"] or match["word"]
    return alone or (match["lead_number"] or match["lead_word"] if leads else None)


def _counts_on(one: re.Match[str], two: re.Match[str] | None) -> bool:
    return two is not None and abs(int(one["number"]) - int(two["number"])) == 1


def _criterion(text: str, scale: Scale) -> Iterator[Mark]:
    """A reply that is nothing but a criterion and its number, such as "Relevance: 2"."""
    match = CRITERION.fullmatch(text) if len(text) < _SHORT else None
    if match:
        yield _mark(scale, match, GRANT_RANK, match["number"] or match["word"], text)


def _grants(text: str, scale: Scale) -> Iterator[Mark]:
    for match in GRANTS.finditer(text):
        before = BOUNDARY.split(text[max(0, match.start() - 300) : match.start()])[-1]
        if _is_no_grant(text, match, before):
            continue
        digits = next((match[name] for name in _GRANTED if match[name]), None)
        if digits and _grants_more(text, match, before, digits):
            yield Mark(None, GRANT_RANK, *match.span(), f"the reply gives no plain score; give one, {scale.wanted}")
        else:
            yield _mark(scale, match, GRANT_RANK, digits, text)


def _is_no_grant(text: str, match: re.Match[str], before: str) -> bool:
    """Whether a sentence that grants points is quoted, supposed, denied, or another's."""
    return bool(
        _is_quoted(text, match.start())
        or OTHERS.search(before)
        or NO_GRANT.search(before)
        or ANOTHERS_GRANT.search(match.group())
        or TOLD.match(text, match.end())
    )


def _grants_more(text: str, match: re.Match[str], before: str, digits: str) -> bool:
    """Whether a sentence grants other points as well, or may do so in a language of which few words are known here."""
    end = match.end()
    if match["given"] and NO_GRANT_ABROAD.search(before + match.group()):
        return True
    if (match["given"] or match["put_number"]) and ANOTHER_NUMBER.match(text, end):
        return True
    also = ALSO_GRANTED.match(text, end)
    return also is not None and also["also"] != digits


def _fills_line(text: str, match: re.Match[str]) -> bool:
    end = text.find("\n", match.end())
    return not text[match.end() : end if end >= 0 else len(text)].strip(" \t\"'*_`])}>.!|。分点점")


def _mark(scale: Scale, match: re.Match[str], rank: int, digits: str | None, text: str, *, shift: int = 0) -> Mark:
    groups = match.groupdict()
    where = (match.start() + shift, match.end() + shift)
    end = match.end()
    if digits is None or CHANGED_AFTER.match(text, end) or RANGE_AFTER.match(text, end) or LIST_AFTER.match(text, end):
        return Mark(None, rank, *where, f"the reply gives a range or a list, not one score; give {scale.wanted}")
    top = next((groups[name] for name in _TOPS if groups.get(name)), None)
    percent = next((groups[name] for name in _PERCENTS if groups.get(name)), None)
    try:
        value = scale.over(str(WORDS.get(digits, digits)), top, percent)
    except Unreadable as unreadable:
        return Mark(None, rank, *where, unreadable.reason)
    return Mark(value, rank, *where)


def _is_quoted(text: str, position: int) -> bool:
    """Whether a quotation that began on the same line is still open at ``position``; quotes around a whole line are none."""
    start = max(text.rfind("\n", 0, position) + 1, position - _MAX_LINE)
    before = text[start:position]
    if before.count('"') % 2 == 0 or before.rstrip().endswith((':"', '="', ': "')):
        return False
    end = text.find("\n", position, position + _MAX_LINE)
    return not (
        before.lstrip(" *_`>").startswith('"')
        and text[position : end if end >= 0 else position + _MAX_LINE].rstrip(" *_`.").endswith('"')
    )
