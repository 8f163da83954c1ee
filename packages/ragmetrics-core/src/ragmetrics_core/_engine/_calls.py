"""Calls to one model: when a call is made, how long it may take, when it is retried, and when it is given up.

Failed calls are of three kinds:

* *Refused* (429): the server accepts no more calls at the moment. The pace is lowered, and the call is queued again, as often as
  necessary.
* *Lost* (5xx, a connection reset, a timeout): the call is retried a few times, each time after a longer pause with jitter, or after
  its ``Retry-After`` if that is longer.
* *Answered with an error* (the request is invalid, or the reply does not follow the protocol): a retry would change nothing.

If the server is gone, not every row of the run should fail: after many calls given up in a row the run stops, and can be continued.
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
from ._traffic import Server
from ._window import NEVER, Permit

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 20.0
"""Seconds before a lost call is retried: the pause doubles with each loss up to the second value, and is then multiplied by a
random factor from 0.5 to 1.5."""

TRIES_IN_SILENCE = 4
"""The number of timeouts after which a call is given up. The timeout doubles each time, so this takes minutes."""

TRIES_UNHEARD = 3
"""The largest number of attempts while a model has never answered: most likely there is no server."""

PATIENCE = 600.0
"""The most seconds that a call waits for a server that refuses all calls, or that fails and sends a ``Retry-After``."""

GONE = 50
"""The number of calls given up in a row, without any answer in between, after which the run stops."""


@dataclass(slots=True)
class CallHistory:
    """The attempts at one call so far.

    Attributes:
        since: the time at which the call was requested.
        started: the time at which the last attempt began.
        made: the number of attempts.
        lost: the number of attempts that were lost.
        silent: the number of lost attempts that timed out.
    """

    since: float
    started: float = 0.0
    made: int = 0
    lost: int = 0
    silent: int = 0


class ModelCaller:
    """Makes the calls to one model.

    Args:
        model, traits: the model and its traits.
        server: limits the calls.
        max_retries: the largest number of retries of a lost call.
        budget: counts what the calls cost.

    Attributes:
        model: the model.
        usage: the usage of all calls so far.
        repeated: the number of attempts that were refused or lost.
        seconds: the total time of all answered calls.
    """

    def __init__(self, model: Any, traits: ModelTraits, server: Server, max_retries: int, budget: Budget) -> None:
        self.model = model
        self._name = traits.name
        self._traits = traits
        self.usage = Usage()
        self.repeated = 0
        self.seconds = 0.0
        self._max_retries = max_retries
        self._budget = budget
        self._server = server
        self._pace = server.pace
        self._deadline = server.deadline
        self._jitter = random.Random()  # noqa: S311  it spreads calls, no secret depends on it
        self._given_up = 0
        self._resting: list[float] = []  # times at which lost calls are retried

    def perform_in_place(self, call: Call) -> Outcome | None:
        """Call a model that answers at once: one attempt, without waiting. None: the budget is used up."""
        if not self._budget.take():
            return None
        outcome = call.perform()
        self._spend(outcome, call)
        return outcome

    async def perform(self, call: Call, size: int = 1) -> Outcome | None:
        """Make a call, with retries, and return its outcome; None: the budget was used up before the call was made.

        Args:
            call: the call.
            size: the number of requests that the call answers.

        Raises:
            ModelError: so many calls were given up in a row that the server is most likely gone, or it asks for too long a pause.
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
        """Make the call once, as soon as the pace allows it; None: the budget is used up, and the call was not made."""
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
        too_late = f"{self._name}: no answer within {clock() - started:.3g} seconds"
        outcome = ModelError(too_late, transient=True) if answer is None else answer
        history.made += 1
        history.silent += answer is None
        self._spend(outcome, call)
        self._book(outcome, permit, clock(), started, size)
        return outcome

    def _refused(self, error: ModelError, history: CallHistory) -> ModelError | None:
        """Return the error with which a refused call is given up; None if the call is to be queued again.

        Raises:
            ModelError: the server asks for a pause longer than any call waits; this stops the run.
        """
        if (error.retry_after or 0.0) > PATIENCE:
            raise _long_pause(error, "so a run stops here; it can be continued after that", fatal=True)
        return error if history.started - max(history.since, self._server.heard_at) > PATIENCE else None

    async def _lost(self, error: ModelError, history: CallHistory) -> ModelError | None:
        """Pause before the retry of a lost call and return None; return an error if the call is to be given up."""
        history.lost += 1
        if history.lost > self._retries(history.silent):
            return error
        now = asyncio.get_running_loop().time()
        pause = min(FIRST_PAUSE * 2 ** (history.lost - 1), LONGEST_PAUSE) * self._jitter.uniform(0.5, 1.5)
        pause = max(pause, error.retry_after or 0.0)
        if now - history.since + pause > PATIENCE and error.retry_after:
            return _long_pause(error, f"but a call waits {PATIENCE:.0f} at most", transient=True)
        await self._rest(now + pause)
        return None

    def _book(self, outcome: Outcome, permit: Permit, now: float, started: float, size: int) -> None:
        """Report how an attempt ended to the deadline and the pace."""
        if isinstance(outcome, Reply) or not outcome.transient:
            self._server.heard_at = now
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
        """Return for how many seconds no call will be made, and why; None while calls are in flight, or if none is waiting."""
        if self.busy:
            return None
        refused = self._pace.next_at
        lost = min(self._resting, default=NEVER)
        if min(refused, lost) == NEVER:
            return None
        reason = "the server's limit (429)" if refused <= lost else "retries of failed calls"
        return max(0.0, min(refused, lost) - now), reason

    def _retries(self, silent: int) -> int:
        """The number of retries that a lost call may have, after ``silent`` timeouts."""
        if silent >= TRIES_IN_SILENCE:
            return 0
        unheard = self._server.heard_at < 0
        return min(self._max_retries, TRIES_UNHEARD - 1) if unheard else self._max_retries

    def cancel(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task that makes a call: the call is not retried."""
        self._deadline.cancel(task)

    def _spend(self, outcome: Outcome, call: Call) -> None:
        if outcome.usage is not None:
            self.usage += outcome.usage
            self._budget.spend(outcome, self._traits, call.argument, self.model)

    def _give_up(self, error: ModelError) -> ModelError:
        self._given_up += 1
        if self._given_up < GONE:
            return error
        raise ModelError(
            f"{error} (The last {self._given_up} calls all failed, so a run stops here; it can be continued when the "
            "server is back.)",
            fatal=True,
        )


def _long_pause(error: ModelError, end: str, **marks: bool) -> ModelError:
    """Return the error about a server that asks for a pause longer than a call waits; ``end`` names the consequence."""
    return ModelError(f"{error} (The server asks for a pause of {error.retry_after:.0f} seconds, {end}.)", **marks)
