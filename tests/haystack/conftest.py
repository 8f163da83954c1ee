"""Chat generators that do what a test tells them to, and no settings from outside."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from loopback import OpenAIServer

# before Haystack is imported for the first time
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

# Absent where only the core is tested.
collect_ignore_glob: list[str] = []
if importlib.util.find_spec("ragmetrics_haystack") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]


KEY = "sk-secret-4711-abcdefghijklmnop"

# no code closes the clients of a model that goes through several event loops, so they keep no connections
NOT_KEPT: dict[str, Any] = {"http_client_kwargs": {"headers": {"Connection": "close"}}, "max_retries": 0}


class Judge:
    """A chat generator that says what a function makes of the text of the first message; exceptions are raised.

    Attributes:
        conversations: the messages of every call, in order of arrival.
        most_at_once: the highest number of calls that were in flight at the same time.
        warmed_up: how often ``warm_up`` was called.
    """

    def __init__(self, say: Callable[[str], Any] | Any, *, seconds: float = 0.0) -> None:
        self._say = say if callable(say) else lambda text: say
        self._seconds = seconds
        self._busy = 0
        self._lock = threading.Lock()
        self.conversations: list[list[Any]] = []
        self.most_at_once = 0
        self.warmed_up = 0

    def warm_up(self) -> None:
        self.warmed_up += 1

    def run(self, messages: list[Any]) -> dict[str, Any]:
        self._enter(messages)
        try:
            time.sleep(self._seconds)
            return self._reply(messages)
        finally:
            self._leave()

    def _enter(self, messages: list[Any]) -> None:
        with self._lock:
            self.conversations.append(messages)
            self._busy += 1
            self.most_at_once = max(self.most_at_once, self._busy)

    def _leave(self) -> None:
        with self._lock:
            self._busy -= 1

    def _reply(self, messages: list[Any]) -> dict[str, Any]:
        from haystack.dataclasses import ChatMessage

        said = self._say(messages[0].text)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, dict):
            return said
        return {"replies": [ChatMessage.from_assistant(said) if isinstance(said, str) else said]}


class AsyncJudge(Judge):
    """The same with an asynchronous method."""

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        self._enter(messages)
        try:
            await asyncio.sleep(self._seconds)
            return self._reply(messages)
        finally:
            self._leave()


@pytest.fixture
def judge() -> type[AsyncJudge]:
    """The class of a generator with both methods."""
    return AsyncJudge


@pytest.fixture
def sync_judge() -> type[Judge]:
    """The class of a generator that can only block."""
    return Judge


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_TIMEOUT",
        "OPENAI_MAX_RETRIES",
        "HF_TOKEN",
        "HF_API_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A server on this machine that knows one key."""
    with OpenAIServer(lambda body: "YES", api_key=KEY) as running:
        yield running


@pytest.fixture
def openai() -> Callable[..., Any]:
    """Makes OpenAI's chat generator, with that key, for a server."""
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils.auth import Secret

    def make(server: OpenAIServer, key: str = KEY, **settings: Any) -> OpenAIChatGenerator:
        defaults = {"model": "judge", "api_base_url": server.base_url, **NOT_KEPT}
        return OpenAIChatGenerator(Secret.from_token(key), **{**defaults, **settings})

    return make
