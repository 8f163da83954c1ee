"""Scores in running text.

A number in prose is a score only where something says so. Four kinds of sign, strongest first: a final or overall
score ("Overall score: 4"); a label or marker of its own ("Score: 4", "[RESULT] 4", "[[4]]", a line that is nothing
but the number); a score named in a sentence ("the rating is 4"); a sentence that grants points ("I rate it 4 out of
5"). The strongest kind present decides, and it must speak with one voice: two values, or an unreadable one, are no
answer. Numbers that are quoted, hypothetical, or labelled as something else (confidence, maximum, word count) are
no signs at all.
"""

from __future__ import annotations

from itertools import islice

from ..._kernel._repeated import SENT
from ..._kernel._wording import asked_of
from ._around import without_emoji
from ._clean import tidy
from ._find_marks import FINAL_RANK, GRANT_RANK, HINT_RANK, Mark, find_marks
from ._mark_patterns import ASIDE
from ._numbers import Scale, bare_numbers, written_out
from ._unreadable import Unreadable
from ._whose import QUOTED, declines, own_words

_MAX_MARKS = 500
_SHORTEST = 8
"""Characters in which a second score can stand."""


def read_marks(text: str, scale: Scale) -> float:
    """The one score that a text gives.

    Raises:
        Unreadable: there is none, or the strongest signs disagree, or it may be quoted.
    """
    asked = asked_of(text)
    normal = _normal(text, scale)
    marks = list(islice(find_marks(normal, scale), _MAX_MARKS + 1))
    if len(marks) > _MAX_MARKS:
        raise Unreadable(f"the reply gives very many scores; give one, {scale.wanted}")
    left = marks
    if asked.known and len(normal.split()) > 2:
        left = [mark for mark in marks if not asked.holds_saying(normal[mark.start : mark.end])]
        if marks and not left:
            raise Unreadable(SENT)
    value = _decided(left, scale)
    own = own_words(text)
    if own != text and not any(mine.value == value for mine in find_marks(_normal(own, scale), scale)):
        raise Unreadable(QUOTED)
    if len(left) == len(marks) and declines(text):
        raise Unreadable(QUOTED)
    return value


def disagrees(text: str, scale: Scale, value: float | None) -> bool:
    """Whether any sign in a text gives another score than ``value`` (None: any score at all)."""
    if len(text) < _SHORTEST:
        return False
    return any(mark.value not in (None, value) for mark in find_marks(_normal(text, scale), scale))


def _normal(text: str, scale: Scale) -> str:
    """A text as the patterns of the signs expect it: plain numbers, no mention of the scale itself."""
    normal = bare_numbers(without_emoji(tidy(written_out(text))))
    return ASIDE.sub(" ", scale.mentions.sub(" ", normal))


def _decided(marks: list[Mark], scale: Scale) -> float:
    """The value of the strongest mark, when all of its rank agree with it and no weaker one says something else."""
    if not marks:
        raise Unreadable(f"the reply gives no score; give {scale.wanted}")
    rank = max(mark.rank for mark in marks)
    if rank == HINT_RANK:
        raise Unreadable(f"the reply gives no plain score; give one, {scale.wanted}")
    for mark in marks:
        if mark.rank == rank and mark.value is None:
            raise Unreadable(mark.reason)
    values = {mark.value for mark in _comparable(marks, rank) if mark.value is not None}
    if len(values) > 1:
        raise Unreadable(f"the reply gives several scores; give one, {scale.wanted}")
    return next(mark.value for mark in marks if mark.rank == rank and mark.value is not None)


def _comparable(marks: list[Mark], rank: int) -> list[Mark]:
    """The marks that must agree with those of the highest rank: all but the scores of parts."""
    kept = [mark for mark in marks if not (mark.part and rank == FINAL_RANK)]
    granted = {mark.value for mark in marks if mark.rank == GRANT_RANK < rank}
    if len(granted) > 1:
        # They tell of several things, none of which is the whole.
        kept = [mark for mark in kept if mark.rank != GRANT_RANK]
    return kept
