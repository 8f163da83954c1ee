"""Which rows may spend what is left of a budget, so that it finishes rows instead of leaving all of them half done.

Strategy. A row that has made its first call should get the others too. So a row begins only where what is left covers what the
rows in progress are still expected to cost, and this one; and where less than that is left, the rows go on by age: a younger one
waits until what is left covers those before it. What a row costs is learnt from those that were finished. Until then it is
not known, so the rows in progress are one more than the finished ones at most: one, two, three, as many as may be.

The oldest row is never held back. Therefore nothing can lock up, all of a budget is used, and the last row of a run is begun even
if it is unlikely to be finished: it might be a cheap one. Let B calls be allowed and no row cost more than M. Then at least
(B - M + 1) / (2 M - 1) rows are finished, whatever the costs, as at the end no more than one row for each finished one, and one
more, has spent less than M without coming to its end. Where every row costs M, B // M are.

Without a limit, all of this is skipped. Rows that ask nothing, or whose answers are at hand, never wait here; nor do texts that are
gathered for one call of an embedding model, as they cost less the more of them there are.
"""

from __future__ import annotations

import asyncio

from .._kernel._requests import Ask
from .._kernel._steps import Outcome
from ._budget import Budget
from ._pending import PendingCall


class RowAccount:
    """What one row has spent, by kind.

    Attributes:
        spent: of every kind that is limited; calls that are under way count already.
        begun: whether it has asked anything that it had to wait for.
    """

    __slots__ = ("begun", "spent")

    def __init__(self, kinds: dict[str, float]) -> None:
        self.spent = dict.fromkeys(kinds, 0.0)
        self.begun = False


class Allowance:
    """Lets the rows of a run spend its budget.

    Args:
        budget: the budget; it counts for itself what calls have cost, those too that were lost.
    """

    def __init__(self, budget: Budget) -> None:
        self.limited = bool(budget.limits)
        self._budget = budget
        self._of_nobody = RowAccount({})
        self._begun: dict[RowAccount, None] = {}  # rows in progress, the oldest first
        self._waiting: dict[RowAccount, list[tuple[int, asyncio.Future[None]]]] = {}
        self._finished = 0
        self._cost = dict.fromkeys(budget.limits, 0.0)  # of the finished rows
        self._spent = dict.fromkeys(budget.limits, 0.0)  # by all rows

    def open(self) -> RowAccount:
        """A row is about to start."""
        return RowAccount(self._budget.used) if self.limited else self._of_nobody

    async def turn(self, row: RowAccount, calls: list[PendingCall]) -> None:
        """Wait until the row may make these calls, or until nothing is left for anybody."""
        asked = _questions(calls)
        if not asked:
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(row, []).append((asked, place))
        self._go()
        await place

    def book(self, row: RowAccount, calls: list[PendingCall], outcomes: list[Outcome], *, took_turn: bool) -> None:
        """The row has the outcomes of its calls."""
        if took_turn:
            self._add(row, "calls", -_questions(calls))
        for pending, outcome in zip(calls, outcomes, strict=True):
            if outcome.usage is not None:
                usage = self._budget.counted(outcome, pending.route.traits, pending.request)
                for kind, amount in self._budget.cost(usage, pending.route.model).items():
                    self._add(row, kind, amount)
        self._go()

    def close(self, row: RowAccount, *, complete: bool) -> None:
        """The row is over."""
        if not self.limited:
            return
        self._begun.pop(row, None)
        self._waiting.pop(row, None)
        if complete and row.begun:
            self._finished += 1
            for kind, amount in row.spent.items():
                self._cost[kind] += amount
        self._go()

    def _add(self, row: RowAccount, kind: str, amount: float) -> None:
        if kind in row.spent:
            row.spent[kind] += amount
            self._spent[kind] += amount

    def _go(self) -> None:
        """Let all go on who may."""
        if not self._waiting:
            return
        if self._budget.over is not None:
            for row in list(self._waiting):
                self._release(row)
            return
        needed = dict.fromkeys(self._budget.limits, 0.0)
        for age, row in enumerate(list(self._begun)):
            expected = self._expected(row)
            if row in self._waiting and (age == 0 or self._covered(needed, expected)):
                self._release(row)
                expected = self._expected(row)
            _add_to(needed, expected)
        for row in [row for row in self._waiting if not row.begun]:
            expected = self._expected(row)
            if self._begun and not (len(self._begun) <= self._finished and self._covered(needed, expected)):
                return
            row.begun = True
            self._begun[row] = None
            self._release(row)
            _add_to(needed, self._expected(row))

    def _release(self, row: RowAccount) -> None:
        for asked, place in self._waiting.pop(row):
            if not place.done():  # else it was cancelled
                place.set_result(None)
                self._add(row, "calls", asked)

    def _expected(self, row: RowAccount) -> dict[str, float]:
        """What the row will probably still spend: at least the calls that it waits for."""
        asked = sum(number for number, _ in self._waiting.get(row, ()))
        rows = max(1, self._finished)
        return {
            kind: max(cost / rows - row.spent[kind], asked if kind == "calls" else 0.0)
            for kind, cost in self._cost.items()
        }

    def _covered(self, needed: dict[str, float], expected: dict[str, float]) -> bool:
        """Whether what is left covers both."""
        return all(
            most - max(self._budget.used[kind], self._spent[kind]) >= needed[kind] + expected[kind] - TOLERANCE
            for kind, most in self._budget.limits.items()
        )


TOLERANCE = 1e-9
"""What sums of floating point dollars may be off."""


def _questions(calls: list[PendingCall]) -> int:
    return sum(isinstance(pending.request, Ask) for pending in calls)


def _add_to(total: dict[str, float], amounts: dict[str, float]) -> None:
    for kind, amount in amounts.items():
        total[kind] += amount
