"""Metrics and models by the names that a configuration or a command line has for them: ``faithfulness``, ``openai:gpt-4o-mini``."""

from __future__ import annotations

__all__: list[str] = []
