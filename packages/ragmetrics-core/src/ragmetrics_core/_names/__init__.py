"""Metrics and models by name, as configurations and the command line write them: ``faithfulness``, ``openai:gpt-4o-mini``."""

from __future__ import annotations

__all__: list[str] = []
