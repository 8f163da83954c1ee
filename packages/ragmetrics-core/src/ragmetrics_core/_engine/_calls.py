"""Calls to one model: when a call is made, how long it may take, when it is made again, and when it is given up.

What goes wrong falls into three kinds. *Refused* (429): the server takes no more at the moment; the pace is lowered and the call
waits for its turn again, however often. *Lost* (5xx, a reset, no answer in time): the call is made again after a growing,
jittered pause, or after its ``Retry-After`` if that is longer, a few times. *Answered badly* (the request itself is at fault, the
reply is not of the protocol): asking once more would change nothing.

A server that has gone away must not cost a run all its rows: after many lost calls in a row the run stops, and can be continued.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any

from .._kernel._drive import Call
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._errors import ModelError
from .._values._requests import Reply, Usage
from ._budget import Budget
from ._deadline import Deadline
from ._gate import Gate, Pace
from ._window import NEVER, Permit

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 20.0
"""Seconds before a lost call is made again; doubled with each loss, and spread between half and one and a half times that."""

TRIES_IN_SILENCE = 4
"""Attempts that may end without any answer in time: with limits that double, that is minutes."""

TRIES_UNHEARD = 3
"""Attempts while a model has never answered at all: most likely no server is there."""

PATIENCE = 600.0
"""Seconds that a call waits for a server that refuses all calls, or that fails and says when it will be back."""

GONE = 50
"""Calls given up in a row, without a single answer in between, after which the run stops."""


@dataclass(frozen=True)
class Rules:
    """How calls are made.

    Attributes:
        timeout: seconds for one attempt; None: learnt.
        max_retries: how often a lost call is made again.
    """

    timeout: float | None = None
    max_retries: int = 5


@dataclass(slots=True)
class CallHistory:
    """What has become of one call so far: its attempts.

    Attributes:
        since: when it was first to be made.
        started: when the last attempt began.
        made: how many there were.
        lost: how many of them were lost.
        silent: how many of those had no answer in time.
    """

    since: float
    started: float = 0.0
    made: int = 0
    lost: int = 0
    silent: int = 0


class ModelCaller:
    """Makes the calls to one model.

    Attributes:
        model: the model.
        usage: what its calls have cost so far.
        repeated: calls that were refused or lost, and so had to be made again or were given up.
        seconds: what the calls that were answered have taken, all together.
    """

    def __init__(self, model: Any, traits: ModelTraits, gate: Gate, rules: Rules, budget: Budget) -> None:
        self.model = model
        self._name = traits.name
        self._traits = traits
        self.usage = Usage()
        self.repeated = 0
        self.seconds = 0.0
        self._rules = rules
        self._budget = budget
        self._pace = Pace(gate)
        self._deadline = Deadline(rules.timeout)
        self._jitter = random.Random()  # noqa: S311  spreads calls, hides nothing
        self._heard = float("-inf")  # when the model last answered
        self._given_up = 0
        self._resting: list[float] = []  # when calls that were lost are made again

    def perform_in_place(self, call: Call) -> Outcome | None:
        """The outcome of a call to a model that answers at once: one attempt, and no waiting; None: the budget is used up."""
        if not self._budget.take():
            return None
        outcome = call.perform()
        self._spend(outcome, call)
        return outcome

    async def perform(self, call: Call, size: int = 1) -> Outcome | None:
        """The outcome of the call; None: the budget is used up, and the call was not made.

        Args:
            call: the call.
            size: how many things it asks for at once.

        Raises:
            ModelError: so many calls were lost that the server is most likely gone, or it asks for too long a pause.
        """
        history = CallHistory(asyncio.get_running_loop().time())
        while True:
            outcome = await self._attempt(call, size, history)
            if outcome is None or isinstance(outcome, Reply) or not outcome.transient:
                return outcome
            if outcome.rate_limited:
                hopeless = self._refused(outcome, history)
            else:
                hopeless = await self._lost(outcome, history)
            if hopeless is not None:
                return self._give_up(hopeless)

    async def _attempt(self, call: Call, size: int, history: CallHistory) -> Outcome | None:
        """Make the call once, when the pace allows it; None: the budget is used up, and it was not made."""
        clock = asyncio.get_running_loop().time
        permit = await self._pace.enter(history.made > 0)
        started = history.started = clock()
        if not self._budget.take():
            self._pace.lost(permit)
            return None
        try:
            answer = await self._deadline.keep(call.aperform(), started, history.lost, size)
        except BaseException:
            self._pace.lost(permit)  # the run stops here
            raise
        outcome = self._too_late(clock() - started) if answer is None else answer
        history.made += 1
        history.silent += answer is None
        self._spend(outcome, call)
        self._book(outcome, permit, clock(), started, size)
        return outcome

    def _refused(self, error: ModelError, history: CallHistory) -> ModelError | None:
        """The error to give a refused call up with; None: it waits for its turn again.

        Raises:
            ModelError: the server wants to be left alone for so long that the run had better stop.
        """
        if (error.retry_after or 0.0) > PATIENCE:
            raise _later(error)
        return error if history.started - max(history.since, self._heard) > PATIENCE else None

    async def _lost(self, error: ModelError, history: CallHistory) -> ModelError | None:
        """The error to give a lost call up with; None: it has rested, and is to be made again."""
        history.lost += 1
        if history.lost > self._retries(history.silent):
            return error
        now = asyncio.get_running_loop().time()
        pause = max(self._pause(history.lost), error.retry_after or 0.0)
        if now - history.since + pause > PATIENCE and error.retry_after:
            return _too_long(error)
        await self._rest(now + pause)
        return None

    def _book(self, outcome: Outcome, permit: Permit, now: float, started: float, size: int) -> None:
        """Note how an attempt has ended, for the deadline and the pace."""
        if isinstance(outcome, Reply) or not outcome.transient:
            self._heard = now
            self.seconds += now - started
            self._given_up = 0
            self._deadline.learn(now - started, size if isinstance(outcome, Reply) else 1)
            self._pace.answered(permit)
            return
        self.repeated += 1
        if outcome.rate_limited:
            self._pace.refused(permit, outcome.retry_after)
        else:
            self._pace.lost(permit)

    async def _rest(self, until: float) -> None:
        self._resting.append(until)
        try:
            await asyncio.sleep(until - asyncio.get_running_loop().time())
        finally:
            self._resting.remove(until)

    @property
    def busy(self) -> bool:
        """Whether calls are in flight."""
        return self._pace.in_flight > 0

    def waiting(self, now: float) -> tuple[float, str] | None:
        """Seconds for which nothing happens here, and why; None while calls are in flight, or none waits."""
        if self.busy:
            return None
        refused = self._pace.next_at
        lost = min(self._resting, default=NEVER)
        if min(refused, lost) == NEVER:
            return None
        reason = "the server's limit (429)" if refused <= lost else "calls that failed are made again"
        return max(0.0, min(refused, lost) - now), reason

    def _retries(self, silent: int) -> int:
        """How often a lost call may be made again, after so many attempts without an answer in time."""
        if silent >= TRIES_IN_SILENCE:
            return 0
        unheard = self._heard < 0
        return min(self._rules.max_retries, TRIES_UNHEARD - 1) if unheard else self._rules.max_retries

    def close(self) -> None:
        """The run ends: its calls are cancelled, and none of them is made again."""
        self._deadline.close()

    def _spend(self, outcome: Outcome, call: Call) -> None:
        if outcome.usage is not None:
            self.usage += outcome.usage
            self._budget.spend(outcome, self._traits, call.argument, self.model)

    def _pause(self, lost: int) -> float:
        return min(FIRST_PAUSE * 2 ** (lost - 1), LONGEST_PAUSE) * self._jitter.uniform(0.5, 1.5)

    def _too_late(self, waited: float) -> ModelError:
        return ModelError(f"{self._name}: no answer within {waited:.3g} seconds", transient=True)

    def _give_up(self, error: ModelError) -> ModelError:
        self._given_up += 1
        if self._given_up < GONE:
            return error
        raise ModelError(
            f"{error} (The last {self._given_up} calls were all given up, so the run stops here; it can be continued when the "
            "server is back.)",
            fatal=True,
        )


def _later(error: ModelError) -> ModelError:
    """The error that stops the run: a server asks for more patience than any call has."""
    return ModelError(
        f"{error} (It asks to be called again in {error.retry_after:.0f} seconds, so the run stops here; it can be continued "
        "then.)",
        fatal=True,
    )


def _too_long(error: ModelError) -> ModelError:
    """The error of a call whose failing server asks for more patience than the call has left."""
    return ModelError(
        f"{error} (It asks to be called again in {error.retry_after:.0f} seconds, and a call waits for {PATIENCE:.0f} in all.)",
        transient=True,
    )
