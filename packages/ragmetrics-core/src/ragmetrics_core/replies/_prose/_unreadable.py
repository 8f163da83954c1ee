"""The one internal signal of this package: a reading that stopped, and why.

Readers deep inside the package do not hold the whole reply, so they raise ``Unreadable``; the public ``parse`` methods
turn it into a ``BadReply`` that carries the raw text. Nothing else is ever raised for a ``str`` input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..._kernel._errors import BadReply

T = TypeVar("T")

MAX_REPLY = 1_000_000
"""Characters of a reply that is read at all: far beyond any answer, and read within a second or two."""
MAX_BRACKETS = 100_000
"""Opening brackets in it, which cost most."""


class Unreadable(Exception):
    """No honest reading; ``args[0]`` is one short sentence that a model can act upon."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misfit(Unreadable):
    """A value inside some data that cannot be read, and where it stands (``statements[2].verdict``)."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path} {what}" if path else what)
        self.what = what
        self.path = path

    def under(self, parent: str) -> Misfit:
        """The same misfit, seen from one level further out."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return Misfit(self.what, f"{parent}{joint}{self.path}")


def parse_or_bad_reply(text: str, read: Callable[[str], T]) -> T:
    """The value that ``read`` finds in ``text``.

    Raises:
        BadReply: there is no honest reading; the reason comes from the reader that stopped.
    """
    if len(text) > MAX_REPLY or text.count("{") + text.count("[") > MAX_BRACKETS:
        raise BadReply(
            f"the reply is too long to be an answer ({len(text):,} characters); give the answer and nothing else",
            str(text[:1000]),
        )
    try:
        return read(text)
    except Unreadable as unreadable:
        raise BadReply(unreadable.reason, str(text)) from None


def shown(value: object, limit: int = 40) -> str:
    """A value as an error message shows it: quoted, on one line, cut when long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
