"""A server on 127.0.0.1 that speaks the OpenAI protocol, so that tests run the real clients without the network.

    with OpenAIServer() as server:
        server.responder = lambda body: "yes"
        client = openai.OpenAI(base_url=server.base_url, api_key="sk-test")
        ...
        assert server.chats[0]["messages"][0]["role"] == "system"

It answers ``POST /v1/chat/completions`` (streamed or not), ``POST /v1/embeddings`` and ``GET /v1/models``, Anthropic's
``POST /v1/messages`` and Google's ``POST /v1beta/models/MODEL:generateContent``, records every
request, counts how many were in flight at once, and can fail in every way that real servers do. Standard
library only.
"""

from __future__ import annotations

from . import _dialects as dialects
from . import _gemini as gemini
from ._judging import Faults, judge
from ._odd_answers import ODD_ANSWERS, ODD_CHATS, ODD_VECTORS
from ._protocol import Response, error, hashed_vector, rate_limited, server_error
from ._server import OpenAIServer, Received

__all__ = [
    "ODD_ANSWERS",
    "ODD_CHATS",
    "ODD_VECTORS",
    "Faults",
    "OpenAIServer",
    "Received",
    "Response",
    "dialects",
    "error",
    "gemini",
    "hashed_vector",
    "judge",
    "rate_limited",
    "server_error",
]
