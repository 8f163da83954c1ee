"""``OpenAILLM``: the protocol of OpenAI by the ``openai`` package, with the clients that people have."""

from __future__ import annotations

__all__: list[str] = []
