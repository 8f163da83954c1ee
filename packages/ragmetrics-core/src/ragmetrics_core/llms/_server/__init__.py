"""``OpenAIServerLLM``: the OpenAI protocol through a lean client, for servers that are called very often."""

from __future__ import annotations

__all__: list[str] = []
