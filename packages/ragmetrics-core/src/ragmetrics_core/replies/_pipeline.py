"""The one way from the text of a reply to its answer.

Each step gives way in form and never in meaning. Most replies are JSON and nothing else, and take only the first step.
"""

from __future__ import annotations

import re
from typing import TypeVar

from .._kernel._wording import asked_of
from ._choose import choose, unless_doubted
from ._json_text._find import decode, views
from ._json_text._scan import scan
from ._prose._answer_part import answer_part
from ._prose._unreadable import parse_or_bad_reply
from ._reading import Reader

T = TypeVar("T")

_NO_COLON = re.compile(
    r"""\s*\{\s*(?P<key>"[A-Za-z_]{1,40}")\s{1,9}(?P<value>-?[\d.]{1,9}|"[^"\\]{1,40}"|true|false|yes|no)\s*\}\s*"""
)


def read_reply(text: str, reader: Reader[T]) -> T:
    """The answer in a reply.

    Raises:
        BadReply: there is none, or several that disagree, or it may be another's.
    """
    return parse_or_bad_reply(text, lambda reply: _read(reply, reader))


def _read(text: str, reader: Reader[T]) -> T:
    whole = decode(text)
    if whole is not None and isinstance(whole[0], str):
        text = asked_of(text).on(whole[0])  # the whole reply in quotes
    elif whole is not None and (reader.takes_scalars or isinstance(whole[0], (dict, list))):
        return reader.settled(reader.in_value(whole[0]))
    part, doubted = answer_part(text)
    return unless_doubted(_read_part(part, reader), doubted, lambda other: _read_part(other, reader), reader.same)


def _read_part(part: str, reader: Reader[T]) -> T:
    """The answer in the part of a reply that is neither thinking nor an invented turn."""
    part = _with_colon(part)
    for view in views(part):
        found = reader.candidates(scan(view), view)
        reading = reader.together(found, view) or choose(view, found, reader) or reader.rejected(found)
        if reading is not None:
            answer = reader.settled(reading)
            return reader.confirmed(answer, _part(view, 0, found[0].start), _part(view, found[-1].end, None))
    return reader.in_words(part)


def _part(view: str, start: int, end: int | None) -> str:
    return asked_of(view).on(view[start:end])


def _with_colon(part: str) -> str:
    """An object of one key that lost its colon, with it."""
    lost = _NO_COLON.fullmatch(part)
    return asked_of(part).on(f"{{{lost['key']}: {lost['value']}}}") if lost else part
