"""The messages of any framework as the history of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import dropwhile
from typing import Any

SPEAKERS = {
    **dict.fromkeys(("user", "human", "HumanMessageChunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "AIMessageChunk", "chatbot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer", "SystemMessageChunk"), "system"),
}
"""The names of roles in frameworks. Tools are not among them: what they return is no turn."""


def turns_of(messages: Any) -> list[dict[str, Any]]:
    """Return a list of messages as turns with ``role`` and ``content``, and with ``retrieved_contexts`` where a message has them.

    A message is an object or a mapping with ``role`` or ``type``, or a pair of role and text. Messages without a text, messages of
    tools and calls of them, and system messages before the first turn, which instruct the model, are left out. Any other value has
    no turns.
    """
    turns = filter(None, map(_turn, messages)) if isinstance(messages, list | tuple) else ()
    return list(dropwhile(lambda turn: turn["role"] == "system", turns))


def _turn(message: Any) -> dict[str, Any] | None:
    if isinstance(message, list | tuple) and len(message) == 2:
        message = {"role": message[0], "content": message[1]}
    is_mapping = isinstance(message, Mapping)
    get: Callable[[str], Any] = message.get if is_mapping else lambda name: getattr(message, name, None)
    role, content, more = get("role") or get("type"), get("content"), get("additional_kwargs")
    role = getattr(role, "value", role)
    if get("tool_calls") or (isinstance(more, Mapping) and more.get("tool_calls")) or not isinstance(role, str):
        return None
    if isinstance(content, list | tuple):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        content = "".join(part for part in parts if isinstance(part, str))
    text = content if is_mapping else get("text") or content
    if role not in SPEAKERS or not isinstance(text, str) or not text.strip():
        return None
    contexts = get("retrieved_contexts")
    return {"role": SPEAKERS[role], "content": str(text), **({"retrieved_contexts": contexts} if contexts else {})}


def earlier_turns(
    earlier: Iterable[Any], talks: Iterable[Any] = (), question: str | None = None
) -> list[dict[str, Any]] | None:
    """Return the turns before the question; None if there are none. The first list that has any counts.

    Args:
        earlier: lists of earlier messages; if the last one is the question, it is left out.
        talks: lists of messages that contain the question: turns count up to the last message of the user that contains it.
        question: the text of the question; None: the last message of the user in ``talks``.
    """
    asked = {"role": "user", "content": question}
    lists = (turns[:-1] if turns[-1:] == [asked] else turns for turns in map(turns_of, earlier))
    found = next(filter(None, lists), None)
    return found or next(filter(None, map(partial(_before, question or ""), map(turns_of, talks))), None)


def _before(question: str, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = (at for at, turn in enumerate(turns) if turn["role"] == "user" and question in turn["content"])
    return turns[: max(asked, default=0)]
