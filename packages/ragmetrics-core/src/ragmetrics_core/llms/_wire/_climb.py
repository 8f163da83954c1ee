"""The forms of reply that one question is asked for, one after the other, and what the server's answers teach about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._refusals import is_about_one_schema
from ._structured import Ladder, Rung


class Climb:
    """One question on its way down the ladder: the next form is tried only where the server refused the one before.

    Attributes:
        rung: the form of the attempt at hand.
    """

    def __init__(self, ladder: Ladder, schema: Mapping[str, Any] | None) -> None:
        self.rung: Rung = "text"
        self._ladder = ladder
        self._schema = schema
        self._refusals: list[tuple[str, bool]] = []

    def __iter__(self) -> Iterator[Rung]:
        for number, rung in enumerate(self._ladder.rungs(self._schema)):
            if len(self._refusals) < number:
                return  # the last attempt failed for a reason that another form would not mend
            self.rung = rung
            yield rung

    def form(self, prompt: str) -> dict[str, Any]:
        """What a client of the OpenAI protocol is told for the form at hand: at most ``response_format``."""
        return dict(self._ladder.form(self.rung, prompt, self._schema or {}))

    def refused(self, words: str, *, certain: bool) -> None:
        """The server refused the form at hand, in these words; ``certain``: they point at it."""
        self._refusals.append((words, certain))

    def answered(self) -> None:
        """The server took the form at hand: remember it for the questions to come, if it had refused another one."""
        if self._refusals and self._schema is not None:
            words, certain = self._refusals[0]
            one = bool(self._schema) and is_about_one_schema(words)
            self._ladder.learn(self.rung, self._schema, this_schema_only=one, certain=certain)
