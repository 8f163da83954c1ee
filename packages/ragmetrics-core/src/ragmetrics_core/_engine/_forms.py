"""Which prompts ask the same, given the same texts: found out once for each prompt of a run."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["Forms"]


class Forms:
    """The forms of the prompts of a run, by number, as a number is compared faster than all of a prompt's words."""

    def __init__(self) -> None:
        self._prompts: dict[int, tuple[int, Any]] = {}
        self._forms: dict[Hashable, int] = {}

    def number(self, prompt: Any) -> int:
        """The number of the form of a ``WritingPrompt``."""
        known = self._prompts.get(id(prompt))
        if known is None:  # the entry holds the prompt, so that its id stays its own
            known = self._prompts[id(prompt)] = (self._forms.setdefault(prompt.form, len(self._forms)), prompt)
        return known[0]
