"""The appearance of results: tables, Markdown, progress."""

from __future__ import annotations

__all__: list[str] = []
