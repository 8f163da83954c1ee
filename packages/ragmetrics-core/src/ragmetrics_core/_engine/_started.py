"""What is noted of a call when it is let go, and of the window before it was cut."""

from __future__ import annotations

__all__ = ["Started", "Uncut"]


class Started:
    """One call that was let go: its number, its time, calls in flight with it, whether it had waited for the pace."""

    __slots__ = ("depth", "index", "paced", "refusals", "time")

    def __init__(self, index: int, time: float, depth: int, paced: bool, refusals: int) -> None:
        self.index = index
        self.time = time
        self.depth = depth
        self.paced = paced
        self.refusals = refusals


class Uncut:
    """The window before it was cut, and the refused call that was the cause."""

    __slots__ = ("depth", "index", "opening", "patience", "refusals", "step", "window")

    def __init__(
        self, cause: Started, window: int, step: int, *, patience: float, opening: bool, refusals: int
    ) -> None:
        self.depth, self.index = cause.depth, cause.index
        self.window, self.step, self.patience, self.opening = window, step, patience, opening
        self.refusals = refusals
