"""Which prompts ask the same, given the same texts: found out once for each prompt of a run."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import Any

MOST = 1000
"""Prompts that are held at a time: a metric may make one for each row, and they would fill the memory."""


class Forms:
    """The forms of the prompts of a run, by number, as a number is compared faster than all of a prompt's words."""

    def __init__(self) -> None:
        self._prompts: dict[int, tuple[int, Any]] = {}
        self._forms: dict[Hashable, int] = {}
        self._numbers = count()

    def number(self, prompt: Any) -> int:
        """The number of the form of a ``Prompt`` that writes out late; no other form has it, now or later."""
        known = self._prompts.get(id(prompt))
        if known is None:
            if len(self._prompts) >= MOST:
                self._prompts.clear()
                self._forms.clear()
            form = (prompt.system, prompt.reply, frozenset(prompt.numbered))
            number = self._forms.get(form)
            if number is None:
                number = self._forms[form] = next(self._numbers)
            # the entry holds the prompt, so that its id stays its own
            known = self._prompts[id(prompt)] = (number, prompt)
        return known[0]
