"""The summary of a run: numbers per metric and per slice, the reasons for missing scores, and their presentation."""

from __future__ import annotations

__all__: list[str] = []
