"""``OpenAILLM``: the OpenAI protocol through the ``openai`` package, with all kinds of its clients."""

from __future__ import annotations

__all__: list[str] = []
