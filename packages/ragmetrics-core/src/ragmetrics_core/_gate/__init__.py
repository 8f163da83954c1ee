"""Gates: what a run or a comparison must show before it passes, and how that is decided."""

from __future__ import annotations

__all__: list[str] = []
