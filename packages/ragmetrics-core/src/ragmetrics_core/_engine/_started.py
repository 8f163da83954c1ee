"""What is noted of a call when it is let go, and of the window before it was cut."""

from __future__ import annotations


class Started:
    """One call that was let go.

    Attributes:
        index: its number.
        time: when that was.
        busy: the same less what was idle until then, as nobody wanted what the pace allowed.
        depth: calls in flight with it.
        paced: whether it had waited for the pace.
        refusals: refusals until then.
    """

    __slots__ = ("busy", "depth", "index", "paced", "refusals", "time")

    def __init__(self, index: int, time: float, depth: int, *, paced: bool, refusals: int, busy: float) -> None:
        self.index = index
        self.time = time
        self.busy = busy
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
