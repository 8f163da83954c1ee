"""Read a yes or a no.

The schema puts the reason before the answer, so that a model thinks before it decides. The reader accepts that object, a bare
word, a label, an answer in another language and a label of a two-valued scale. It refuses a reply that says both or neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._keys import REASONS, WRITTEN, is_no_answer, words
from ._pipeline import read_reply
from ._scalar import ONE_OBJECT, Answer, ScalarReader, answer_schema
from ._text import Unreadable, shown
from ._verdict import read_verdict, truth
from ._with_reason import words_beside_verdict
from ._words import word_set

_SURE = frozenset({"verdict", "judgement", "judgment", "decision", "conclusion"})
# Keys that may also have other values. A value under them that is neither yes nor no is ignored.
_LOOSE = word_set(
    "answer response result status label evaluation assessment output value score rating grade support useful"
)
_WANTED = 'the answer "yes" or "no"'


def _rank(key: str) -> int:
    split = words(key)
    joined = "_".join(split)
    if joined in REASONS or is_no_answer(key):
        return 0
    if "final" in split or "overall" in split:
        return 1
    if joined in _SURE:
        return 2
    if joined in _LOOSE:
        return 4
    return 3 if joined in WRITTEN["verdict"] or (split and split[-1] in _SURE) else 0


def _read(value: Any) -> bool:
    said = truth(value)
    if said is None:
        raise Unreadable(f"{shown(value)} is neither yes nor no; give {_WANTED}")
    return said


def _read_text(text: str) -> Answer[bool]:
    return Answer(read_verdict(text), words_beside_verdict(text))


_READER = ScalarReader(key="answer", rank=_rank, read=_read, read_text=_read_text, wanted=_WANTED, single=True)


@dataclass(frozen=True)
class YesNoReply:
    """A yes/no answer. The value is a bool.

    The reader accepts ``{"reason": ..., "answer": "yes"}``, "YES", "No, because ...", "Verdict: PASS", "Ja.", "否", ``true``, 1
    and the like. Two answers that disagree, a hedge ("partially"), an echoed choice ("yes/no") and anything else
    raise ``BadReply``.
    """

    @property
    def schema(self) -> Mapping[str, Any]:
        """An object with the reason first and the answer, "yes" or "no", last."""
        return answer_schema("answer", {"type": "string", "enum": ["yes", "no"]})

    def instructions(self) -> str:
        """Return the shape of the reply, for the system message."""
        return ONE_OBJECT + '{"reason": "<why, in one sentence>", "answer": "<yes or no>"}'

    def parse(self, text: str) -> bool:
        """Return True for yes, False for no.

        Raises:
            BadReply: the reply gives no answer, or two that disagree.
        """
        return self.parse_with_reason(text)[0]

    def parse_with_reason(self, text: str) -> tuple[bool, str]:
        """Return the answer and its reason (empty if the reply gives none).

        Raises:
            BadReply: see ``parse``.
        """
        answer = read_reply(text, _READER)
        return answer.value, answer.reason
