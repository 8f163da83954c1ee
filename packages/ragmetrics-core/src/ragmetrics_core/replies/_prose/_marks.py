"""Scores in running text.

A number in prose is a score only where something says so. Four kinds of sign, strongest first: a final or overall
score ("Overall score: 4"); a label or marker of its own ("Score: 4", "[RESULT] 4", "[[4]]", a line that is nothing
but the number); a score named in a sentence ("the rating is 4"); a sentence that grants points ("I rate it 4 out of
5"). The strongest kind present decides, and it must speak with one voice: two values, or an unreadable one, are no
answer. Numbers that are quoted, hypothetical, or labelled as something else (confidence, maximum, word count) are
no signs at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ..._kernel._asked import asked_of
from ._around import without_emoji
from ._clean import tidy
from ._mark_patterns import (
    ALONE,
    ALSO_GRANTED,
    ANOTHER_NUMBER,
    ANOTHERS_GRANT,
    ANY,
    ASIDE,
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
from ._numbers import COMPARED, WORDS, Scale, bare_numbers, written_out
from ._unreadable import Unreadable
from ._whose import QUOTED, SENT, declines, own_words

__all__ = ["Mark", "disagrees", "read_marks"]

_MAX_MARKS = 500
_ALONE = 8
_GRANTED = ("number", "word", "points", "fen", "rated", "earned", "given", "put_number", "put_word")
_FINAL_RANK, _LABEL_RANK, _SENTENCE_RANK, _GRANT_RANK, _HINT_RANK = 4, 3, 2, 1, 0


_WHOLE = re.compile(r"\b(?:the|my|a|an|is|as|quoted|injected|demanded)\s*\Z")


class Mark(NamedTuple):
    """A sign of a score: its value (None: unreadable, with the reason), its rank, where it stands, whether it is a part's."""

    value: float | None
    rank: int
    start: int
    end: int
    reason: str = ""
    part: bool = False


def read_marks(text: str, scale: Scale) -> Mark:
    """The one score that a text gives.

    Raises:
        Unreadable: there is none, or the strongest signs disagree, or it may be quoted.
    """
    asked = asked_of(text)
    normal = _normal(text, scale)
    marks = list(islice(_marks(normal, scale), _MAX_MARKS + 1))
    if len(marks) > _MAX_MARKS:
        raise Unreadable(f"the reply gives very many scores; give one, {scale.wanted}")
    left = marks
    if asked.known and len(normal.split()) > 2:
        left = [mark for mark in marks if not asked.holds_saying(normal[mark.start : mark.end])]
        if marks and not left:
            raise Unreadable(SENT)
    mark = _decided(left, scale)
    own = own_words(text)
    if own != text and not any(mine.value == mark.value for mine in _marks(_normal(own, scale), scale)):
        raise Unreadable(QUOTED)
    if len(left) == len(marks) and declines(text):
        raise Unreadable(QUOTED)
    return mark


def disagrees(text: str, scale: Scale, value: float) -> bool:
    """Whether any sign in a text gives another score than ``value``."""
    if len(text) < _ALONE:
        return False
    return any(mark.value not in (None, value) for mark in _marks(_normal(text, scale), scale))


def _normal(text: str, scale: Scale) -> str:
    normal = bare_numbers(without_emoji(tidy(written_out(text))))
    return ASIDE.sub(" ", scale.mentions.sub(" ", normal))


def _decided(marks: list[Mark], scale: Scale) -> Mark:
    """The strongest mark, when all of its rank agree with it and no weaker one says something else."""
    if not marks:
        raise Unreadable(f"the reply gives no score; give {scale.wanted}")
    rank = max(mark.rank for mark in marks)
    if rank == _HINT_RANK:
        raise Unreadable(f"the reply gives no plain score; give one, {scale.wanted}")
    ranked = [mark for mark in marks if mark.rank == rank]
    unreadable = next((mark for mark in ranked if mark.value is None), None)
    if unreadable:
        raise Unreadable(unreadable.reason)
    granted = {mark.value for mark in marks if mark.rank == _GRANT_RANK < rank}
    others = [
        mark
        for mark in marks
        # grants that disagree among themselves tell of several things, none of which is the whole
        if not (mark.part and rank == _FINAL_RANK) and not (mark.rank == _GRANT_RANK < rank and len(granted) > 1)
    ]
    if len({mark.value for mark in others if mark.value is not None}) > 1:
        raise Unreadable(f"the reply gives several scores; give one, {scale.wanted}")
    return ranked[0]


def _marks(text: str, scale: Scale) -> Iterator[Mark]:
    lowered = text.lower()
    yield from _labelled(lowered, scale)
    yield from _markers(lowered, scale)
    yield from _lines(lowered, scale)
    yield from _criterion(lowered, scale)
    yield from _grants(lowered, scale)


def _grants(text: str, scale: Scale) -> Iterator[Mark]:
    for match in GRANTS.finditer(text):
        before = BOUNDARY.split(text[max(0, match.start() - 300) : match.start()])[-1]
        if (
            _quoted(text, match.start())
            or OTHERS.search(before)
            or NO_GRANT.search(before)
            or ANOTHERS_GRANT.search(match.group())
            or TOLD.match(text, match.end())
        ):
            continue
        digits = next(match[name] for name in _GRANTED if match[name] or name == _GRANTED[-1])
        also = ALSO_GRANTED.match(text, match.end())
        abroad = match["given"] and NO_GRANT_ABROAD.search(before + match.group())
        more = (match["given"] or match["put_number"]) and ANOTHER_NUMBER.match(text, match.end())
        if abroad or more or (digits and also and also["also"] != digits):
            yield Mark(None, _GRANT_RANK, *match.span(), f"the reply gives no plain score; give one, {scale.wanted}")
        else:
            yield _mark(scale, match, _GRANT_RANK, digits, text)


def _labelled(text: str, scale: Scale) -> Iterator[Mark]:
    for match in LABELLED.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()]
        head = BOUNDARY.split(before)[-1] if BOUNDARY.search(before) or match.start() <= 80 else before
        separator = (match["separator"] or "").strip()
        gap = text[match.end("label") : match.start("number") if match["number"] else match.end()]
        at_head = len(head.split()) <= 4 and (not separator or separator[0] in ":=-–—→⇒" or separator[-1] == ":")
        marker = head.endswith("[") and "]" in gap
        announced = marker and match["label"] == "result"  # "[RESULT] 2" says what it is, whatever stands before it
        if (not announced and OTHERS.search(head.replace("_", " "))) or (
            text[match.end("label")] not in "\"'" and _quoted(text, match.start("label"))
        ):
            continue
        if "\n" in gap and not _fills_line(text, match):
            continue
        if match["weak"] and not marker and not (at_head and separator[:1] in {":", "="}):
            continue
        if not (at_head or announced) and UNREAL.search(head):
            continue
        if separator == "of" and set(head.split()) <= ANY and NOUN_AFTER.match(text, match.end()):
            continue
        bracketed = "]" in gap or "[" in gap
        if not separator and not bracketed and "\n" not in gap and NOUN_AFTER.match(text, match.end()):
            continue
        rank = (
            _FINAL_RANK
            if announced or FINAL.search(head + match["label"])
            else _LABEL_RANK
            if at_head
            else _SENTENCE_RANK
        )
        # "accuracy score: 3" is the score of a part, beside which there can be one of the whole.
        part = rank == _LABEL_RANK and bool(head.split()) and head.split()[-1].isalpha() and not _WHOLE.search(head)
        yield _mark(scale, match, rank, match["number"] or match["word"], text)._replace(part=part)


def _fills_line(text: str, match: re.Match[str]) -> bool:
    end = text.find("\n", match.end())
    return not text[match.end() : end if end >= 0 else len(text)].strip(" \t\"'*_`])}>.!|。分点점")


def _markers(text: str, scale: Scale) -> Iterator[Mark]:
    for match in MARKER.finditer(text):
        if _quoted(text, match.start()):
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[max(line, match.start() - 200) : match.start()]
        alone = not before.strip(" \t\"'*_`#>$-|:")
        if not alone and UNREAL.search(before):
            continue
        if not alone and before.rstrip(" *_`\"'").endswith((":", "：", "=")) and not FINAL.search(before):
            # Behind a label that is not a score's: one of several criteria, or nothing of ours.
            continue
        digits = match["number"] or match["word"] or match["boxed_number"] or match["boxed_word"]
        yield _mark(scale, match, _LABEL_RANK if alone or match["boxed_number"] else _SENTENCE_RANK, digits, text)


def _criterion(text: str, scale: Scale) -> Iterator[Mark]:
    """A reply that is nothing but a criterion and its number, such as "Relevance: 2"."""
    match = CRITERION.fullmatch(text) if len(text) < 80 else None
    if match:
        yield _mark(scale, match, _GRANT_RANK, match["number"] or match["word"], text)


def _lines(text: str, scale: Scale) -> Iterator[Mark]:
    """The first or last line of the text when it is nothing but a number (the first may go on with words)."""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for index in dict.fromkeys((0, len(lines) - 1)) if lines else ():
        start, line = lines[index]
        match = ALONE.match(line[:400]) if not COMPARED.search(line) else None
        legend = any(NUMBERED_LINE.match(other) for _, other in lines[1:50])
        item = MARKED_LINE.match(line[:400])
        leads = match and index == 0 and not legend and (match["lead_number"] or match["lead_word"])
        if match and (match["number"] or match["word"] or leads):
            digits = match["number"] or match["word"] or match["lead_number"] or match["lead_word"]
            yield _mark(scale, match, _LABEL_RANK, digits, line, shift=start)
        elif item and not any(_counts_on(item, MARKED_LINE.match(other)) for _, other in lines[:50]):
            # "1. The text demands ...": a list of one item, or the judge's score. It is no answer, but it can contradict one.
            yield _mark(scale, item, _HINT_RANK, item["number"], line, shift=start)


def _counts_on(one: re.Match[str], two: re.Match[str] | None) -> bool:
    return two is not None and abs(int(one["number"]) - int(two["number"])) == 1


def _mark(scale: Scale, match: re.Match[str], rank: int, digits: str | None, text: str, *, shift: int = 0) -> Mark:
    groups = match.groupdict()
    where = (match.start() + shift, match.end() + shift)
    end = match.end()
    if digits is None or CHANGED_AFTER.match(text, end) or RANGE_AFTER.match(text, end) or LIST_AFTER.match(text, end):
        return Mark(None, rank, *where, f"the reply gives a range or a list, not one score; give {scale.wanted}")
    top = next(
        (groups[name] for name in ("top", "lead_top", "boxed_top", "put_top", "of", "given_of") if groups.get(name)),
        None,
    )
    percent = next(
        (groups[name] for name in ("percent", "lead_percent", "boxed_percent", "put_percent") if groups.get(name)), None
    )
    try:
        value = scale.over(str(WORDS.get(digits, digits)), top, percent)
    except Unreadable as unreadable:
        return Mark(None, rank, *where, unreadable.reason)
    return Mark(value, rank, *where)


def _quoted(text: str, position: int) -> bool:
    """Whether a quotation that began on the same line is still open at ``position``; quotes around a whole line are none."""
    start = max(text.rfind("\n", 0, position) + 1, position - 400)
    before = text[start:position]
    if before.count('"') % 2 == 0 or before.rstrip().endswith((':"', '="', ': "')):
        return False
    end = text.find("\n", position, position + 400)
    return not (
        before.lstrip(" *_`>").startswith('"')
        and text[position : end if end >= 0 else position + 400].rstrip(" *_`.").endswith('"')
    )
