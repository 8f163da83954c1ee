"""Test doubles for models that give scripted replies and record what they were asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from .._values._errors import ModelError
from .._values._requests import Ask, Message, Reply

ScriptedReply = str | Reply[str] | ModelError
Script = ScriptedReply | Iterable[ScriptedReply]


class ScriptedLLM:
    """An LLM that gives scripted replies.

    Args:
        replies: one of three forms. (Several replies may also be given as several arguments.) A list: its replies are given in
            order, one per question. Each is the text of a reply, a whole ``Reply``, or a ``ModelError`` (such as a ``BadReply``),
            which is raised. A mapping from prompt names to lists: each prompt has its own script, so that concurrent questions
            get the same replies in any order. A single reply instead of a list answers every question. A function from the
            ``Ask`` to a reply.

    Attributes:
        asks: every question so far, in order of arrival.

    Raises:
        AssertionError: (when asked) the script has no reply left, or none for the prompt. It is not a ``ModelError``, so it fails
            the test instead of becoming a failed score.
    """

    instant = True

    def __init__(
        self, replies: Script | Mapping[str, Script] | Callable[[Ask], ScriptedReply], *more: ScriptedReply
    ) -> None:
        self.asks: list[Ask] = []
        self._lock = threading.Lock()
        self._write: Callable[[Ask], ScriptedReply] | None = None
        self._scripts: dict[str, Iterator[ScriptedReply]] = {}
        self._script: Iterator[ScriptedReply] | None = None
        if callable(replies):
            self._write = replies
        elif isinstance(replies, Mapping):
            self._scripts = {name: _replies(script) for name, script in cast("Mapping[str, Script]", replies).items()}
        else:
            first = [replies] if isinstance(replies, str | Reply | ModelError) else replies
            self._script = iter([*first, *more])

    identity = None
    """None, because a scripted reply depends on the earlier replies."""

    @property
    def calls(self) -> int:
        """The number of questions so far."""
        return len(self.asks)

    @property
    def messages(self) -> list[tuple[Message, ...]]:
        """The messages of every question so far."""
        return [ask.messages for ask in self.asks]

    def generate(self, ask: Ask) -> Reply[str]:
        """Return the next reply of the script."""
        with self._lock:
            self.asks.append(ask)
            reply = None if self._write else next(self._script_of(ask), None)
        if self._write:
            reply = self._write(ask)  # without the lock, because functions may be slow
        if reply is None:
            where = f" for the prompt {ask.prompt.name!r}" if self._scripts else ""
            raise AssertionError(f"ScriptedLLM has no reply left{where}; question {len(self.asks)} was: {_shown(ask)}")
        if isinstance(reply, ModelError):
            raise reply
        if isinstance(reply, str):
            return Reply(reply)
        if isinstance(reply, Reply):
            return reply
        raise AssertionError(f"ScriptedLLM: a reply must be a str, a Reply or a ModelError, got {type(reply).__name__}")

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Return the next reply of the script."""
        return self.generate(ask)

    def _script_of(self, ask: Ask) -> Iterator[ScriptedReply]:
        if self._script is not None:
            return self._script
        if ask.prompt.name not in self._scripts:
            known = ", ".join(sorted(self._scripts)) or "none"
            raise AssertionError(f"ScriptedLLM has no script for the prompt {ask.prompt.name!r}; it has: {known}")
        return self._scripts[ask.prompt.name]

    def __deepcopy__(self, memo: Any) -> ScriptedLLM:
        return self  # a copy would be asked without the test seeing it

    def __repr__(self) -> str:
        return f"<ScriptedLLM, asked {len(self.asks)} times>"


class ScriptedEmbeddings:
    """An embedding model that only knows the vectors it was given.

    Args:
        vectors: a mapping from texts to vectors, or a function from a text to its vector.

    Attributes:
        requests: the texts of every request so far.

    Raises:
        AssertionError: (when asked) a text has no vector.
    """

    instant = True

    def __init__(self, vectors: Mapping[str, Sequence[float]] | Callable[[str], Sequence[float]]) -> None:
        self.requests: list[tuple[str, ...]] = []
        self._vectors = vectors

    identity = None
    """None, because a script does not describe itself."""

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return the vectors of the texts."""
        if isinstance(texts, str):
            raise TypeError("an embedding model takes a list of texts, got one str")
        items = tuple(texts)
        self.requests.append(items)
        return Reply([list(self._vector(text)) for text in items])

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return the vectors of the texts."""
        return self.embed(texts)

    def _vector(self, text: str) -> Sequence[float]:
        if not isinstance(self._vectors, Mapping):
            return self._vectors(text)
        if text not in self._vectors:
            known = ", ".join(map(repr, self._vectors))
            raise AssertionError(f"ScriptedEmbeddings has no vector for {text!r}; it has: {known}")
        return self._vectors[text]

    def __deepcopy__(self, memo: Any) -> ScriptedEmbeddings:
        return self  # a copy would be asked without the test seeing it

    def __repr__(self) -> str:
        return f"<ScriptedEmbeddings, asked {len(self.requests)} times>"


def _replies(script: Script) -> Iterator[ScriptedReply]:
    if isinstance(script, str | Reply | ModelError):
        return iter(lambda: script, None)  # for ever
    return iter(list(script))


def _shown(ask: Ask) -> str:
    text = ask.messages[-1].content
    return text if len(text) <= 300 else f"{text[:300]} ..."
