"""The summary of a run: numbers per metric and per slice, why scores are missing, and what that looks like."""

from __future__ import annotations

__all__: list[str] = []
