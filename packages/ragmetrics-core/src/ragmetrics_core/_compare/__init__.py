"""The comparison of two runs: pairs of rows, differences, verdicts, and possible explanations of a difference."""

from __future__ import annotations

__all__: list[str] = []
