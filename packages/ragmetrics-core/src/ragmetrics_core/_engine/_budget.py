"""What a run may spend (``Budget``), and which rows may spend what is left of it (``Allowance``).

A budget finishes rows instead of leaving all of them half done. A row that has made its first call should get the others too.
So a row begins only where what is left covers what the rows in progress are still expected to cost, and this one; and where
less than that is left, the rows go on by age: a younger one waits until what is left covers those before it. What a row costs
is learnt from those that were finished. Until then it is not known, so the rows in progress are one more than the finished ones
at most: one, two, three, as many as may be.

The oldest row is never held back. Therefore nothing can lock up, all of a budget is used, and the last row of a run is begun
even if it is unlikely to be finished: it might be a cheap one. Let B calls be allowed and no row cost more than M. Then at
least (B - M + 1) / (2 M - 1) rows are finished, whatever the costs, as at the end no more than one row for each finished one,
and one more, has spent less than M without coming to its end. Where every row costs M, B // M are.

Without a limit, all of this is skipped. Rows that ask nothing, or whose answers are at hand, never wait here; nor do texts that
are gathered for one call of an embedding model, as they cost less the more of them there are.
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
"""What this usage of a model costs, in US dollars."""


class Budget:
    """The most calls that a run may make, and the tokens or dollars after which it makes no more.

    A call is counted when it is made, so that there are never more than allowed; what it costs in tokens is known when it is
    answered, so the calls in flight at the end may cost more than was left. Where a server reports no tokens, they are estimated
    from the texts that were sent and answered.

    Args:
        limits: by ``calls``, ``tokens`` (prompt and completion) and ``dollars``; a kind that is not named has none.
        price: tells dollars; needed where they are limited.

    Attributes:
        limits: the same.
        used: by kind that is limited, what was spent so far.
        used_up: which limit was met by a call that was wanted, in words; None until then.
        estimated: by the name of each model that reports no tokens, how many were estimated for it.

    Raises:
        InvalidInput: a limit has another name, or is no positive number, of calls and tokens a whole one.
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
        """The kind of which nothing is left."""
        return next((kind for kind, most in self.limits.items() if self.used[kind] >= most), None)

    def take(self) -> bool:
        """Count one more call; False where it may not be made."""
        if not self.limits:
            return True
        kind = self.over
        if kind is not None:
            how = f" (estimated: {', '.join(self.estimated)} reports no tokens)" if self._is_estimated(kind) else ""
            self.used_up = f"the budget of {self.limits[kind]} {kind} is used up{how}"
            return False
        if "calls" in self.used:
            self.used["calls"] += 1
        return True

    def _is_estimated(self, kind: str) -> bool:
        return kind != "calls" and bool(self.estimated)

    @property
    def caveats(self) -> list[str]:
        """What must be known of a budget that rests on estimates."""
        return [
            f"{name} reports no tokens: for the budget {tokens:,} were estimated from the texts"
            for name, tokens in self.estimated.items()
        ]

    def spend(self, outcome: Outcome, traits: ModelTraits, asked: Any, model: Any = None) -> None:
        """Book the tokens and dollars of a call to a model; ``asked`` is what was sent."""
        if not self.limits:
            return
        usage = self.counted(outcome, traits, asked)
        if usage is not outcome.usage:
            tokens = usage.prompt_tokens + usage.completion_tokens
            self.estimated[traits.called] = self.estimated.get(traits.called, 0) + tokens
        for kind, amount in self.cost(usage, model).items():
            if kind != "calls":
                self.used[kind] += amount

    def counted(self, outcome: Outcome, traits: ModelTraits, asked: Any) -> Usage:
        """What a call has cost, with tokens estimated where a model that is paid for them reports none."""
        usage = outcome.usage or Usage()
        reported = usage.prompt_tokens or usage.calls <= usage.cached_calls
        if reported or self.limits.keys() <= {"calls"} or not _is_paid(traits, asked):
            return usage
        answer = getattr(outcome, "value", None)
        written = usage.completion_tokens or (tokens_in(answer) if isinstance(answer, str) else 0.0)
        return replace(usage, prompt_tokens=round(sum(map(tokens_in, _sent(asked)))), completion_tokens=round(written))

    def cost(self, usage: Usage, model: Any = None) -> dict[str, float]:
        """What this usage of a model costs, by kind that is limited."""
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
    """Whether tokens cost something: an embedding model that does not say where its server is may compute on this machine."""
    return not traits.instant and (isinstance(asked, Ask) or bool(traits.settings.get("base_url")))


def _sent(asked: Any) -> Iterator[str]:
    """The texts of a request, or of several that were sent as one."""
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
        self._unlimited = RowAccount({})
        self._begun: dict[RowAccount, None] = {}  # rows in progress, the oldest first
        self._waiting: dict[RowAccount, list[tuple[int, asyncio.Future[None]]]] = {}
        self._finished = 0
        self._cost = dict.fromkeys(budget.limits, 0.0)  # of the finished rows
        self._spent = dict.fromkeys(budget.limits, 0.0)  # by all rows

    def open(self) -> RowAccount:
        """A row is about to start."""
        return RowAccount(self._budget.used) if self.limited else self._unlimited

    def turn(self, row: RowAccount, calls: list[PendingCall]) -> asyncio.Future[None]:
        """A future that is done as soon as the row may make these calls, or nothing is left for any row."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asked = _questions(calls)
        if asked:
            self._waiting.setdefault(row, []).append((asked, place))
            self._go()
        else:
            place.set_result(None)
        return place

    def book(self, row: RowAccount, calls: list[PendingCall], *, took_turn: bool) -> None:
        """The row has the outcomes of its calls."""
        if took_turn:
            self._add(row, "calls", -_questions(calls))
        for pending in calls:
            if pending.outcome is not None and pending.outcome.usage is not None:
                usage = self._budget.counted(pending.outcome, pending.traits, pending.request)
                for kind, amount in self._budget.cost(usage, pending.model).items():
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
        """Let all rows go on that may."""
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
