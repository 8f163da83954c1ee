"""Real models of langchain-openai that talk to the loopback server, and a question for them."""

from __future__ import annotations

from typing import Any

import httpx
from langchain_openai import ChatOpenAI

from loopback import OpenAIServer
from ragmetrics_core import Ask, Prompt
from ragmetrics_core.replies import LinesReply

KEY = "sk-secret-4711-abcdefghijklmnop"


def short_lived() -> httpx.AsyncClient:
    """Closes its connections before the test's event loop is gone."""
    return httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0))


def chat(server: OpenAIServer, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(
        **{
            "model": "judge",
            "base_url": server.base_url,
            "api_key": KEY,
            "max_retries": 0,
            "http_async_client": short_lived(),
            **settings,
        }
    )


def question() -> Ask:
    prompt = Prompt("Name a city.", LinesReply(), name="cities")
    return Ask(prompt.messages({"country": "Iceland"}), prompt.reply, prompt, {})
