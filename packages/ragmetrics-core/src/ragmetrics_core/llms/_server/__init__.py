"""``OpenAIServerLLM``: the same protocol by a lean client of our own, for servers that are asked very often."""

from __future__ import annotations

__all__: list[str] = []
