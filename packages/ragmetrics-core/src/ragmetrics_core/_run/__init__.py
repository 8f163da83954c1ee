"""The rows of one run: slices, repeats, jurors, the summary, the worst rows, exports."""

from __future__ import annotations

__all__: list[str] = []
