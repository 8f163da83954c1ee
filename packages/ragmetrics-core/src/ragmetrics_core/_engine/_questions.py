"""Answer requests: a known answer is not asked for again, and equal requests share one call.

An answer is looked up in this order: among the replies to this row so far, from any of its metrics; in the journal, if there is
one; among the calls in flight, for any row of any run. Only then is a new call made, in a task. A program that shares an answer
gets the usage of one cached call without tokens, so the totals stay correct. A failed call is not kept: the next program with this
request makes the call again.

Requests to a model that computes in place (``instant``) are answered at once, without a task, a thread or a limit on concurrency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from .._kernel._drive import Models
from .._kernel._steps import Outcome
from .._values._errors import ModelError
from .._values._requests import Ask, Reply, Request, Usage
from ._budget import Budget
from ._calls import ModelCaller
from ._pending import CallOutcome, PendingCall, RowMemory, as_shared, to_share
from ._reply_keys import ReplyStore
from ._tasks import CallInFlight, Tasks, new_task, no_op
from ._traffic import Traffic
from ._transport import Route


class Collector(Protocol):
    """Collects questions that are not to be answered now, but later in a batch."""

    def collect(self, calls: Sequence[PendingCall], run: Tasks) -> tuple[list[PendingCall], list[asyncio.Future[Any]]]:
        """Collect what can be collected. Return the calls to make now, and the futures to wait for before anything else.

        Raises:
            Collected: a call was collected, so that its program cannot go on.
        """
        ...

    def strike(self, keys: Iterable[bytes]) -> None:
        """Remove replies from the journal that could not be parsed, once no program needs them any more."""
        ...


class Collected(Exception):
    """A program needs an answer that will come in a batch."""


class Answers:
    """Answers the requests of all programs of one or more runs.

    Args:
        traffic: limits the calls to each server.
        max_retries: the largest number of retries of a lost call.
        budget: the budget of the runs.
        journal: keeps the replies, and has the replies of earlier runs; None: no replies are kept.
        heard: a callback that gets the outcome of each call.

    Attributes:
        budget: the budget of the runs.
        traffic: limits the calls to each server.
        collector: collects questions; None: every question is answered at once.
    """

    collector: Collector | None = None

    def __init__(
        self,
        traffic: Traffic,
        max_retries: int,
        budget: Budget,
        journal: ReplyStore | None,
        heard: Callable[[Outcome], None] = no_op,
    ) -> None:
        self._traffic = traffic
        self._max_retries = max_retries
        self.budget = budget
        self._journal = journal
        self._heard = heard
        self._routes: dict[int, Route] = {}
        self._in_flight: dict[PendingCall, CallInFlight] = {}
        self._kept = 0

    @property
    def caveats(self) -> Iterator[str]:
        """Caveats about the answers: the caveats of the models, and one for each model whose answers the journal cannot keep."""
        for route in self._routes.values():
            if route.traits.caveat is not None:
                yield route.traits.caveat
            if self._journal is not None and route.keys is None:
                yield (
                    f"the answers of {route.traits.kind} are not in the journal, because it has no identity: give it an "
                    "attribute `identity`, a mapping of every setting that can change an answer"
                )

    def usage(self) -> Usage:
        """Return the usage of all calls so far."""
        return sum((route.caller.usage for route in self._routes.values()), Usage())

    @property
    def callers(self) -> Iterator[ModelCaller]:
        """The callers of all models, except those that compute in place."""
        return (route.caller for route in self._routes.values() if not route.traits.instant)

    def waiting(self) -> tuple[float, str] | None:
        """Return for how many seconds the run only waits for servers, and why; None if any model is busy or nothing waits."""
        waits = [caller.waiting(asyncio.get_running_loop().time()) for caller in self.callers if not caller.busy]
        return min(filter(None, waits), default=None) if len(waits) == len(list(self.callers)) else None

    def resolve(self, models: Models, requests: Sequence[Request], repeat: int) -> list[PendingCall]:
        """Return the pending calls for the requests of one round.

        Raises:
            ModelError: no model is set that could answer a request.
        """
        calls = []
        for request in requests:
            asked = models.asked_by(request) if request.to else models
            call = asked.call(request)
            model: Any = asked.llm if isinstance(request, Ask) else asked.embeddings
            route = self._routes.get(id(model))
            if route is None:  # the route holds the model, so that its id is not reused
                server = self._traffic.server_of(model)
                route = Route(model, server, self._max_retries, self.budget, stored=self._journal is not None)
                self._routes[id(model)] = route
            calls.append(PendingCall(model, route.traits, call, asked.call, request, repeat))
        return calls

    def is_there(self, pending: PendingCall, memory: RowMemory) -> bool:
        """Whether a call has its outcome. The outcome is looked up wherever it can be found without waiting.

        Raises:
            ModelError: the call failed with an error that every further call would meet too.
        """
        if pending.outcome is not None:
            return True
        outcome: Outcome | None = None
        if pending.task is None:
            outcome = self._find(pending, memory)
        elif pending.task.done() and (ended := pending.task.result()) is not None:
            outcome = as_shared(ended.shared) if pending.is_shared else ended.paid
        if isinstance(outcome, Reply):
            if pending not in memory:
                memory[pending] = as_shared(outcome)
        elif outcome is not None and outcome.fatal:
            raise outcome
        pending.outcome = outcome
        return outcome is not None

    def task_of(self, pending: PendingCall, memory: RowMemory, run: Tasks) -> asyncio.Future[CallOutcome | None]:
        """Return the task of an equal call in flight, or else a new task that makes the call. Its result is None without budget."""
        if pending.task is None:
            call = self._in_flight.get(pending)
            pending.is_shared = call is not None
            if call is None:
                call = self._in_flight[pending] = self._start(pending, run)
            call.join(run, memory)
            pending.task = call.task
        return pending.task

    async def outcomes(self, calls: Sequence[PendingCall], memory: RowMemory, run: Tasks) -> list[Outcome] | None:
        """Return the outcomes of a round, whose calls run concurrently; None: the budget was used up before all calls were made."""
        if tasks := [self.task_of(pending, memory, run) for pending in calls if not self.is_there(pending, memory)]:
            await asyncio.wait(tasks)
        found = [pending.outcome for pending in calls if self.is_there(pending, memory)]
        outcomes = [outcome for outcome in found if outcome is not None]
        return outcomes if len(outcomes) == len(calls) else None

    def strike(self, unread_texts: Sequence[str], asked: Iterable[PendingCall]) -> None:
        """Remove replies that could not be parsed from the journal, so that a later run asks again."""
        if self._journal is not None:
            (self.collector or self._journal).strike(
                pending.digest
                for pending in asked
                if pending.digest is not None
                and isinstance(pending.outcome, Reply)
                and pending.outcome.value in unread_texts
            )

    def keys(self, calls: Iterable[PendingCall]) -> Iterator[tuple[Ask, bytes]]:
        """Yield the questions to language models among these calls, each with the key of its reply in the journal."""
        for pending in calls:
            key = self.key(pending)
            if isinstance(pending.request, Ask) and key is not None:
                yield pending.request, key

    def key(self, pending: PendingCall) -> bytes | None:
        """Return the key of a reply in the journal; None if the reply cannot be kept."""
        keys = self._routes[id(pending.model)].keys
        if pending.digest is None and keys is not None:
            pending.digest = keys.key(pending.request, pending.repeat)
        return pending.digest

    def _find(self, pending: PendingCall, memory: RowMemory) -> Outcome | None:
        outcome: Outcome | None = memory.get(pending) or self._from_journal(pending)
        if outcome is None and pending.call.in_place and not pending.tried_in_place:
            outcome = self._routes[id(pending.model)].caller.perform_in_place(pending.call)
            pending.tried_in_place = isinstance(outcome, ModelError) and outcome.transient
            return None if outcome is None or pending.tried_in_place else self._journal_reply(pending, outcome)
        return outcome

    def _from_journal(self, pending: PendingCall) -> Outcome | None:
        if self._journal is None or pending.looked_up == self._kept:
            return None
        key = self.key(pending)
        if key is None:
            return None
        pending.looked_up = self._kept
        found = self._journal.find(key)
        return None if found is None else to_share(as_shared(found))

    def _journal_reply(self, pending: PendingCall, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Reply) and pending.digest is not None and self._journal is not None:
            self._kept += 1
            outcome = self._journal.keep(pending.digest, outcome, pending.request)
        self._heard(outcome)
        return to_share(outcome)

    def _start(self, pending: PendingCall, run: Tasks) -> CallInFlight:
        task = new_task(self._call(pending, run))

        def cancel() -> None:
            self._in_flight.pop(pending, None)  # an equal question of another run must not wait for it
            self._routes[id(pending.model)].caller.cancel(task)

        return CallInFlight(task, cancel)

    async def _call(self, pending: PendingCall, run: Tasks) -> CallOutcome | None:
        gathers = not isinstance(pending.request, Ask)
        call = self._in_flight.get(pending)
        try:
            if gathers:
                run.gathering += 1
                run.on_gathering()
            outcome = await self._routes[id(pending.model)].perform(pending)
            if outcome is None:
                return None
            outcome = self._journal_reply(pending, outcome)
            shared = as_shared(outcome)
            if call is not None and isinstance(shared, Reply):
                # a program that asks before the waiting ones go on must not parse the reply once more
                for memory in call.memories:
                    memory.setdefault(pending, shared)
            return CallOutcome(outcome, shared)
        finally:
            run.gathering -= gathers
            if call is not None and self._in_flight.get(pending) is call:
                del self._in_flight[pending]
