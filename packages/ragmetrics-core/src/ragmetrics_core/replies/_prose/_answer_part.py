"""From raw text to the part of it that is the answer.

Three things surround an answer without being one: thinking (tags, channels), the machinery of chat templates
(headers, end-of-turn tokens), and turns of a conversation that the model invents after its own. All of them can be quoted as
well: a text under judgement may hold ``</think>`` and a verdict behind it. So a tag or token counts only where it cannot be a
quotation (not inside a complete JSON value, not in quotes, not where the data that was sent holds it too). What is left out
although it might be the answer is kept as ``doubted``: an answer in there that says something else makes the reply unreadable.
"""

from __future__ import annotations

from typing import NamedTuple

from ..._kernel._wording import asked_of
from ._chat_turns import before_new_turn, own_turn
from ._thinking import last_channel, without_thinking
from ._unreadable import Unreadable


class AnswerPart(NamedTuple):
    """The part of a reply that holds the answer, and what was left out in doubt."""

    text: str
    doubted: tuple[str, ...] = ()


def answer_part(text: str) -> AnswerPart:
    """What is left of a reply without thinking, chat template and invented turns.

    Raises:
        Unreadable: the reply is empty, or nothing but thinking.
    """
    asked = asked_of(text)
    if not text.strip("\ufeff\u200b\u2060 \t\r\n\f\v\u00a0"):
        raise Unreadable("the reply is empty")
    doubted: list[str] = []
    kept = str(text)
    if "<" in text or "[/" in text or "◁" in text:
        kept = last_channel(kept, doubted)
        kept = without_thinking(kept, asked, doubted)
        kept = own_turn(kept, asked, doubted)
    kept = before_new_turn(kept, doubted)
    if not kept.strip():
        raise Unreadable("the reply holds no answer outside its thinking")
    return AnswerPart(asked.on(kept), tuple(asked.on(other) for other in doubted if other.strip()))
