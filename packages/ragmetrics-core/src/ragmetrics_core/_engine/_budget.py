"""What a run may spend (``Budget``), and which rows may spend the remaining budget (``Allowance``).

A budget should buy finished rows, not many rows that are half done: a row that has made its first call should get its other calls
too. So a row begins only if the remaining budget covers the expected cost of this row and of all rows in progress. If less remains,
older rows have priority: a row waits until the budget covers the rows that began before it. The expected cost of a row is the mean
cost of the finished rows. A few rows say little about this mean, so the number of rows in progress is at most one more than the
number of finished rows: it starts at one, and grows with every finished row.

The oldest row is never held back. So there can be no deadlock, and the whole budget is used; the last row of a run is begun even if
it is unlikely to be finished, because it might be a cheap one. Let B be the number of calls allowed, and M the most calls that any
row needs. Then at least (B - M + 1) / (2 M - 1) rows are finished: at the end, the unfinished rows number at most one more than the
finished ones, and each has made fewer than M calls. If every row needs exactly M calls, B // M rows are finished.

Without a limit, all of this is skipped. Rows that ask nothing, or whose answers are already known, never wait here. Texts for a
batch of an embedding model do not wait either, because the cost per text falls with the size of the batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._support._tokens import tokens_in
from .._values._errors import InvalidInput
from .._values._requests import Ask, Compare, Embed, Usage
from ._pending import PendingCall

KINDS = ("calls", "tokens", "dollars")

EXAMPLE = 'write budget={"calls": 1000}, budget={"tokens": 1_000_000} or budget={"dollars": 5}'

Price = Callable[[Any, Usage], float]
"""A function that returns what a usage of a model costs, in US dollars."""


class Budget:
    """The limits on what a run may spend, and what it has spent so far.

    A call is counted when it is made, so a run never makes more calls than allowed. The tokens and dollars of a call are known only
    when it is answered, so the calls in flight at the end may exceed these limits. If a server reports no tokens, they are
    estimated from the text sent and the text received.

    Args:
        limits: the limits, under ``calls``, ``tokens`` (prompt and completion) and ``dollars``; a kind that is left out has no
            limit.
        price: returns the cost of a usage in dollars; required for a limit in dollars.

    Attributes:
        limits: the limits, by kind.
        used: the amount spent so far, by limited kind.
        used_up: a sentence that names the limit that stopped a call; None as long as no call was stopped.
        estimated: the number of tokens that were estimated, by the name of each model that reports none.

    Raises:
        InvalidInput: the limits are not a mapping, or are empty; a limit has an unknown name, or is not positive; or a limit of
            calls or tokens is not a whole number.
    """

    def __init__(self, limits: Mapping[str, float] | None, price: Price | None = None) -> None:
        self.limits = dict(limits) if isinstance(limits, Mapping) else {}
        if limits is not None and not self.limits:
            raise InvalidInput(f"budget must be a mapping, got {limits!r}: {EXAMPLE}")
        for kind, most in self.limits.items():
            if kind not in KINDS:
                raise InvalidInput(f"budget has no limit of {kind!r}: {EXAMPLE}")
            _check(kind, most)
        self._price = price
        self.used: dict[str, float] = dict.fromkeys(self.limits, 0)
        self.used_up: str | None = None
        self.estimated: dict[str, int] = {}

    @property
    def over(self) -> str | None:
        """The first kind whose limit is reached; None if there is none."""
        return next((kind for kind, most in self.limits.items() if self.used[kind] >= most), None)

    def allows(self) -> bool:
        """Whether one more call may be made. If not, ``used_up`` says why."""
        if (kind := self.over) is not None:
            is_estimated = kind != "calls" and self.estimated
            how = f" (estimated: {', '.join(self.estimated)} reports no tokens)" if is_estimated else ""
            self.used_up = f"the budget of {self.limits[kind]} {kind} is used up{how}"
        return kind is None

    def take(self) -> bool:
        """Count one more call; return False if the budget does not allow it."""
        allowed = self.allows()
        if allowed and "calls" in self.used:
            self.used["calls"] += 1
        return allowed

    @property
    def caveats(self) -> list[str]:
        """One caveat for each model whose tokens were estimated for the budget."""
        return [
            f"{name} reports no tokens: for the budget, {tokens:,} tokens were estimated from the texts"
            for name, tokens in self.estimated.items()
        ]

    def spend(self, outcome: Outcome, traits: ModelTraits, asked: Any, model: Any = None) -> None:
        """Add the tokens and dollars of a call to the amounts used; ``asked`` is the request that was sent."""
        if not self.limits:
            return
        usage = self.counted(outcome, traits, asked)
        if usage is not outcome.usage:
            tokens = usage.prompt_tokens + usage.completion_tokens
            self.estimated[traits.called] = self.estimated.get(traits.called, 0) + tokens
        for kind, amount in self.cost(usage, model).items():
            if kind != "calls":
                self.used[kind] += amount

    def charge(self, usage: Usage, model: Any, *, share: float, sign: int = 1) -> None:
        """Add a usage to the amounts used, at a share of the price; with the sign -1 subtract it."""
        for kind, amount in self.cost(usage, model).items():
            self.used[kind] += sign * amount * (share if kind == "dollars" else 1)

    def counted(self, outcome: Outcome, traits: ModelTraits, asked: Any) -> Usage:
        """Return the usage of a call. The tokens are estimated if the model is paid by the token, but reports none."""
        usage = outcome.usage or Usage()
        reported = usage.prompt_tokens or usage.calls <= usage.cached_calls
        if reported or self.limits.keys() <= {"calls"} or not _is_paid(traits, asked):
            return usage
        answer = getattr(outcome, "value", None)
        written = usage.completion_tokens or (tokens_in(answer) if isinstance(answer, str) else 0.0)
        return replace(usage, prompt_tokens=round(sum(map(tokens_in, _sent(asked)))), completion_tokens=round(written))

    def cost(self, usage: Usage, model: Any = None) -> dict[str, float]:
        """Return the cost of a usage of a model, by limited kind."""
        costs: dict[str, float] = {}
        for kind in self.limits:
            if kind == "calls":
                costs[kind] = usage.calls - usage.cached_calls
            elif kind == "tokens":
                costs[kind] = usage.prompt_tokens + usage.completion_tokens
            else:
                paid = usage.prompt_tokens or usage.completion_tokens
                costs[kind] = self._price(model, usage) if paid and self._price is not None else 0.0
        return costs


def _is_paid(traits: ModelTraits, asked: Any) -> bool:
    """Whether tokens cost money. An embedding model without a server address (``base_url``) may compute on this machine."""
    return not traits.instant and (isinstance(asked, Ask) or bool(traits.settings.get("base_url")))


def _sent(asked: Any) -> Iterator[str]:
    """Yield the texts of a request, or of a merged request."""
    if isinstance(asked, str):
        yield asked
        return
    parts: Any = asked
    if isinstance(asked, Ask):
        parts = [message.content for message in asked.messages]
    elif isinstance(asked, Embed | Compare):
        parts = asked.texts if isinstance(asked, Embed) else asked.pairs
    for part in parts:
        yield from _sent(part)


def _check(kind: str, most: Any) -> None:
    if kind == "dollars":
        if isinstance(most, bool) or not isinstance(most, int | float) or not 0 < most < float("inf"):
            raise InvalidInput(f"budget: dollars must be a positive number, got {most!r}")
    elif isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(f"budget: {kind} must be a whole number from 1, got {most!r}")


class RowAccount:
    """The amounts that one row has spent.

    Attributes:
        spent: the amount spent, by limited kind; calls in flight are included.
        begun: whether the row was allowed to make its first call.
    """

    __slots__ = ("begun", "spent")

    def __init__(self, kinds: dict[str, float]) -> None:
        self.spent = dict.fromkeys(kinds, 0.0)
        self.begun = False


class Allowance:
    """Decide which rows of a run may spend its budget, and when.

    Args:
        budget: the budget; it keeps its own count of what all calls cost, including calls that failed.
    """

    def __init__(self, budget: Budget) -> None:
        self.limited = bool(budget.limits)
        self._budget = budget
        self._unlimited = RowAccount({})
        self._begun: dict[RowAccount, None] = {}  # rows in progress, oldest first
        self._waiting: dict[RowAccount, list[tuple[int, asyncio.Future[None]]]] = {}
        self._finished = 0
        self._cost = dict.fromkeys(budget.limits, 0.0)  # of the finished rows
        self._spent = dict.fromkeys(budget.limits, 0.0)  # by all rows

    def open(self) -> RowAccount:
        """Return the account of a row that is about to start."""
        return RowAccount(self._budget.used) if self.limited else self._unlimited

    def turn(self, row: RowAccount, calls: list[PendingCall]) -> asyncio.Future[None]:
        """Return a future that is done as soon as the row may make these calls, or the budget is used up."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if asked := _questions(calls):
            self._waiting.setdefault(row, []).append((asked, place))
            self._release_rows()
        else:
            place.set_result(None)
        return place

    def book(self, row: RowAccount, calls: list[PendingCall], *, took_turn: bool) -> None:
        """Charge a row for calls that have their outcomes.

        ``took_turn``: the calls were already counted when the row waited for its turn.
        """
        if took_turn:
            self._add(row, "calls", -_questions(calls))
        for pending in calls:
            if pending.outcome is not None and pending.outcome.usage is not None:
                usage = self._budget.counted(pending.outcome, pending.traits, pending.request)
                for kind, amount in self._budget.cost(usage, pending.model).items():
                    self._add(row, kind, amount)
        self._release_rows()

    def close(self, row: RowAccount, *, complete: bool) -> None:
        """Close the account of a row; ``complete``: the row has all its scores, so its cost counts towards the mean."""
        if not self.limited:
            return
        self._begun.pop(row, None)
        self._waiting.pop(row, None)
        if complete and row.begun:
            self._finished += 1
            for kind, amount in row.spent.items():
                self._cost[kind] += amount
        self._release_rows()

    def _add(self, row: RowAccount, kind: str, amount: float) -> None:
        if kind in row.spent:
            row.spent[kind] += amount
            self._spent[kind] += amount

    def _release_rows(self) -> None:
        """Release all waiting rows that the budget covers; all of them if it is used up (their calls are then refused)."""
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
            if not place.done():  # otherwise it was cancelled
                place.set_result(None)
                self._add(row, "calls", asked)

    def _expected(self, row: RowAccount) -> dict[str, float]:
        """Return what the row is still expected to spend, by kind: at least the calls that it waits for."""
        asked = sum(number for number, _ in self._waiting.get(row, ()))
        rows = max(1, self._finished)
        return {
            kind: max(cost / rows - row.spent[kind], asked if kind == "calls" else 0.0)
            for kind, cost in self._cost.items()
        }

    def _covered(self, needed: dict[str, float], expected: dict[str, float]) -> bool:
        """Whether the remaining budget covers both amounts together."""
        return all(
            most - max(self._budget.used[kind], self._spent[kind]) >= needed[kind] + expected[kind] - TOLERANCE
            for kind, most in self._budget.limits.items()
        )


TOLERANCE = 1e-9
"""The rounding error that sums of dollars may have."""


def _questions(calls: list[PendingCall]) -> int:
    return sum(isinstance(pending.request, Ask) for pending in calls)


def _add_to(total: dict[str, float], amounts: dict[str, float]) -> None:
    for kind, amount in amounts.items():
        total[kind] += amount
