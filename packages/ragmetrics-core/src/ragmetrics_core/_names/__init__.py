"""Metrics and models by name, as text stands in a configuration or on a command line: ``faithfulness``, ``openai:gpt-4o-mini``."""

from __future__ import annotations

__all__: list[str] = []
