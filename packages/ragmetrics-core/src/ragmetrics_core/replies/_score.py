"""Read a number on a continuous scale with a reason, or a rating from a short menu of integers.

Two forms of a score are common: an object with reason and score, as the schema asks for, and LlamaIndex's
plain form, a line with the score and the reason on the following lines. Both are read, and so are the usual ways of writing
a score in prose. A menu is strict: 1.5 is not rounded, and 3 is not read as 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .._kernel._wording import question_of
from .._values._errors import InvalidInput
from ._json_text import unfenced
from ._keys import ASIDES, REASONS, is_no_answer, words
from ._marks import disagrees, read_marks
from ._numbers import Scale, scale_of
from ._pipeline import read_reply
from ._scalar import ONE_OBJECT, Answer, ScalarReader, answer_schema
from ._text import Unreadable, tidy
from ._whose import declines, speaks_of_another
from ._words import word_set

_NAMES = word_set(
    "score rating grade mark points point stars rate bewertung note nota puntuación punteggio voto оценка "
    "评分 得分 分数 評価 スコア 점수 평점 평가"
)
_LOOSE = word_set(
    "value result answer verdict output number response evaluation judgement judgment assessment label level"
)
_OTHERS = word_set("max min maximum minimum confidence")
_WHOLE = word_set("final overall total")


def _rank(key: str) -> int:
    split = words(key)
    joined = "_".join(split)
    if not split or is_no_answer(key) or joined in REASONS or joined in ASIDES or not _OTHERS.isdisjoint(split):
        return 0
    if not _WHOLE.isdisjoint(split) and (len(split) == 1 or not (_NAMES | _LOOSE).isdisjoint(split)):
        return 1
    if joined in _NAMES:
        return 2
    if joined in _LOOSE:
        return 4
    return 3 if split[-1] in _NAMES or split[0] in _NAMES else 0


@lru_cache(maxsize=256)
def number_reader(key: str, low: float, high: float, choices: tuple[int, ...] = ()) -> ScalarReader[float]:
    """Return a reader for a number from ``low`` to ``high``, or one of ``choices``, that is asked for under ``key``."""
    scale = scale_of(low, high, choices)

    def read_text(text: str) -> Answer[float]:
        text = question_of(text).on(unfenced(text))
        try:
            value = scale.read_text(text)
            if not (speaks_of_another(text) or declines(text) or disagrees(text, scale, value)):
                return Answer(value, "")
        except Unreadable:
            pass  # the text is not only a number
        return Answer(read_marks(text, scale), _reason(text, scale))

    def read(value: Any) -> float:
        try:
            return scale.read_value(value)
        except Unreadable:
            if isinstance(value, str) and 6 < len(value) < 200:
                return read_marks(value, scale)
            raise

    return ScalarReader(key=key, rank=_rank, read=read, read_text=read_text, wanted=scale.wanted)


def _reason(text: str, scale: Scale) -> str:
    """Return the reason around a score: the text after the first line if that line gives the score, else the whole text."""
    first, _, rest = tidy(text).partition("\n")
    is_numbered = disagrees(rest, scale, None)  # the digit of the first line may be a list number
    if rest and len(first) <= 40 and any(character.isdigit() for character in first) and not is_numbered:
        first = rest
    elif rest:
        first = f"{first}\n{rest}"
    label, colon, body = first.partition(":")
    return (body if colon and "_".join(words(label)) in REASONS else first).strip()


@dataclass(frozen=True)
class ScoreReply:
    """A score from ``low`` to ``high`` with its reason. The value is ``(float, str)``.

    ``halves=True`` tells the model that half points are allowed; the reader accepts any number in the range. Other scales ("4/10"
    on 1 to 5, "80%"), ranges ("3-4"), numbers off the scale and several scores that disagree raise ``BadReply``.

    Raises:
        InvalidInput: the range is empty or not finite.
    """

    low: float
    high: float
    halves: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InvalidInput(f"ScoreReply: low={self.low!r} must be a finite number below high={self.high!r}")

    @property
    def schema(self) -> Mapping[str, Any]:
        """An object with the reason first and the score last."""
        return answer_schema("score", {"type": "number"})

    def instructions(self) -> str:
        """Return the shape of the reply, for the system message."""
        halves = ", halves allowed" if self.halves else ""
        score = f"<number from {self.low:g} to {self.high:g}{halves}>"
        return f'{ONE_OBJECT}{{"reason": "<why, in one or two sentences>", "score": {score}}}'

    def parse(self, text: str) -> tuple[float, str]:
        """Return the score and its reason (empty if the reply gives none).

        Raises:
            BadReply: the reply gives no score on this scale, or several that disagree.
        """
        answer = read_reply(text, number_reader("score", self.low, self.high))
        return answer.value, answer.reason


@dataclass(frozen=True, init=False)
class RatingReply:
    """One integer from a short menu, such as ``RatingReply([0, 1, 2])``. The value is an int.

    Raises:
        InvalidInput: the menu has fewer than two different integers.
    """

    choices: tuple[int, ...]

    def __init__(self, choices: Iterable[int]) -> None:
        menu = tuple(choices)
        if not all(isinstance(choice, int) and not isinstance(choice, bool) for choice in menu) or len(set(menu)) < 2:
            raise InvalidInput(f"RatingReply: choices={menu!r} must be at least two different integers")
        object.__setattr__(self, "choices", tuple(sorted(set(menu))))

    def __repr__(self) -> str:
        return f"RatingReply({list(self.choices)})"

    @property
    def schema(self) -> Mapping[str, Any]:
        """An object with the reason first and the rating, one of the choices, last."""
        return answer_schema("rating", {"type": "integer", "enum": list(self.choices)})

    def instructions(self) -> str:
        """Return the shape of the reply, for the system message."""
        menu = ", ".join(map(str, self.choices[:-1])) + f" or {self.choices[-1]}"
        return f'{ONE_OBJECT}{{"reason": "<why, in one sentence>", "rating": <{menu}>}}'

    def parse(self, text: str) -> int:
        """Return the rating.

        Raises:
            BadReply: the reply gives no rating of this menu, or several that disagree.
        """
        return self.parse_with_reason(text)[0]

    def parse_with_reason(self, text: str) -> tuple[int, str]:
        """Return the rating and its reason (empty if the reply gives none).

        Raises:
            BadReply: see ``parse``.
        """
        answer = read_reply(text, number_reader("rating", self.choices[0], self.choices[-1], self.choices))
        return int(answer.value), answer.reason
