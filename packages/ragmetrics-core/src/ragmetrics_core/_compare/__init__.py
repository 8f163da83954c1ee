"""Two runs compared: pairs of rows, differences, verdicts, and what may explain a difference."""

from __future__ import annotations

__all__: list[str] = []
