"""What is called in the place of a user's model, so that nothing of the user's own object changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Change = Callable[[Any], Any]


class StandIn:
    """What is called in the place of a user's model: a copy with some changes, and the same one as long as it is that model.

    Args:
        changes: each makes a changed copy of a model; none: the model itself is called.
    """

    def __init__(self, *changes: Change) -> None:
        self._changes = changes
        self._others: dict[Change, StandIn] = {}
        self._known: tuple[tuple[object, ...], Any] | None = None

    def by(self, change: Change) -> StandIn:
        """With one more change; always the same one, so that the connections of its copy outlive a run."""
        return self if change in self._changes else self._others.setdefault(change, StandIn(*self._changes, change))

    def of(self, model: Any, *parts: object) -> Any:
        """The copy of this model, made anew where the model is another one, or one of these parts of it."""
        now, known = (model, *parts), self._known
        if known is None or len(known[0]) != len(now) or any(a is not b for a, b in zip(known[0], now, strict=True)):
            copied = model
            for change in self._changes:
                copied = change(copied)
            known = self._known = (now, copied)
        return known[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return (StandIn, self._changes)  # the copy is made anew where it is called
