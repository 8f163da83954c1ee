"""What a reply answers: the data that was sent, and how many items were asked for.

A judge may quote what it judges. The words of a reply alone seldom tell whether a verdict in it is quoted, but the data does: a
verdict that stands in the data was there before the judge spoke. A prompt knows its data and hands it on with the text of the
reply, a ``ReplyText``, which is an ordinary str to everybody else. So a format that knows nothing of this, or that passes the
text on to another one, needs no change.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

# What a quotation may lose or gain on its way: blanks, quotes, escapes, emphasis.
_LOOSE = re.compile(r"[\s\"'`\\*_>#~|“”‘’„‟‚«»‹›「」『』\u200b-\u200f\u2060\ufeff]+")
_MAX_DEPTH = 12


def _squeezed(text: str) -> str:
    plain = html.unescape(text) if "&" in text else text
    return _LOOSE.sub("", unicodedata.normalize("NFKC", plain).casefold())


def _texts(data: Any, depth: int = 0) -> Iterator[str]:
    """Every text in the inputs of a prompt."""
    if isinstance(data, str):
        yield data
    elif depth < _MAX_DEPTH:
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else ()
        for item in inner:
            yield from _texts(item, depth + 1)


class Asked:
    """What is known of the question: the inputs of the prompt, and the number of items that the reply must list (None: any).

    Nothing is worked out before it is needed: most replies are clean JSON, and need none of it.
    """

    def __init__(self, inputs: Mapping[str, Any] | None = None, count: int | None = None) -> None:
        self._inputs = inputs or {}
        self.count = count

    @cached_property
    def data(self) -> list[str]:
        """Every text that was sent."""
        return [text for text in _texts(self._inputs) if text]

    @property
    def has_braces(self) -> bool:
        """Whether an object may stand in a text that was sent."""
        for value in self._inputs.values():
            if type(value) is str:
                if "{" in value:
                    return True
            elif isinstance(value, (list, tuple)):
                for item in value:
                    if type(item) is not str or "{" in item:
                        return True
            elif isinstance(value, Mapping):
                return True
        return False

    @cached_property
    def _sent(self) -> str:
        return "\n".join(map(_squeezed, self.data))

    @cached_property
    def _joined(self) -> str:
        return "\n".join(self.data)

    @cached_property
    def _plain(self) -> str:
        return self._joined.casefold()

    @property
    def known(self) -> bool:
        """Whether the data is known at all."""
        return bool(self._inputs)

    def holds_mark(self, mark: str) -> bool:
        """Whether a mark such as ``</think>`` stands in the data."""
        return bool(self._inputs) and mark.casefold() in self._plain

    def holds(self, text: str) -> bool:
        """Whether ``text`` stands in the data, blanks, quotes and emphasis aside."""
        wanted = _squeezed(text)
        return bool(wanted and self._inputs) and wanted in self._sent

    def holds_saying(self, text: str) -> bool:
        """Whether a saying of at least two words stands in the data; one word stands there by chance."""
        return bool(self._inputs) and len(re.findall(r"\w+", text)) > 1 and self.holds(text)

    def on(self, text: str) -> str:
        """A part of the reply, with what is known of the question."""
        return ReplyText(text, self)


NOTHING = Asked()


class ReplyText(str):
    """The text of a reply, with what is known of the question."""

    __slots__ = ("asked",)
    asked: Asked

    def __new__(cls, text: str, asked: Asked) -> ReplyText:  # noqa: PYI034  Self is not in Python 3.10
        self = super().__new__(cls, text)
        self.asked = asked
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy or a pickled reply is a plain str: what was asked is needed only where the reply is read
        return (str, (str(self),))


def asked_of(text: str) -> Asked:
    """What is known of the question that ``text`` answers."""
    return text.asked if isinstance(text, ReplyText) else NOTHING
