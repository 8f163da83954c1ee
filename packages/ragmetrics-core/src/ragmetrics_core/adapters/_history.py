"""The messages of a conversation as the history of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import dropwhile
from typing import Any

SPEAKERS = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "chatbot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}
"""The names of roles in frameworks. Tools are not among them: what they return is no turn."""


def turns_of(messages: Iterable[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """Return messages as turns with ``role`` and ``content``.

    Messages without a text, messages of tools, and system messages before the first turn, which instruct the model, are left out.

    Args:
        messages: the role and the text of each message, the oldest first.
    """
    turns = [
        {"role": SPEAKERS[role], "content": text}
        for role, text in messages
        if role in SPEAKERS and text and not text.isspace()
    ]
    return list(dropwhile(lambda turn: turn["role"] == "system", turns))


def before_question(turns: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the turns before the last one of the user; None if there are none."""
    asked = max((at for at, turn in enumerate(turns) if turn["role"] == "user"), default=0)
    return list(turns[:asked]) or None
