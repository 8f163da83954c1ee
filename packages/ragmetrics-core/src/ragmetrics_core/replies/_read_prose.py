"""A sign of a metric's own in a reply in prose, such as ``[[A]]``, with the guards that all forms of reply have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from ._json_text._find import unfenced
from ._prose._answer_part import answer_part
from ._prose._unreadable import Unreadable, parse_or_bad_reply
from ._prose._whose import QUOTED, declines, own_words

T = TypeVar("T")


def read_prose(
    text: str, read: Callable[[str], T | None], names: re.Pattern[str] | None = None
) -> tuple[T | None, str]:
    """What ``read`` finds in a reply without its thinking (None: nothing), and that part of the reply.

    ``names`` is how the prompt calls the texts under judgement, beyond "the response".

    Raises:
        BadReply: what it finds may be quoted from the text under judgement, or the judge declines, or something that was left out
            in doubt says something else.
    """

    def own(part: str) -> str:
        return own_words(names.sub("the response", part) if names else part)

    def found(reply: str) -> tuple[T | None, str]:
        part, doubted = answer_part(reply)
        value = read(part)
        if value is not None and (read(own(part)) != value or declines(part)):
            raise Unreadable(QUOTED)
        others = {read(own(other)) for other in doubted} - {None, value}
        if value is not None and others:
            raise Unreadable("the reply gives two different answers; give one")
        return value, str(part)

    return parse_or_bad_reply(text, found)


def answer_text(text: str) -> str:
    """The part of a reply that is its answer: without thinking, chat template, invented turns, and a fence around all of it.

    Raises:
        BadReply: the reply is empty, or nothing but thinking.
    """
    return unfenced(parse_or_bad_reply(text, lambda reply: answer_part(reply).text))
