"""From requests to answers: what is known already is not asked again, and what is asked by several is asked once.

An answer is looked for nearest first: in what this row has asked so far, whichever of its metrics asked it; among the calls in
flight, whichever row made them; in the journal, if there is one; and only then is a call made. A program that shares an answer
books a cached call without tokens, so the totals stay true. A failed call is not kept: the next program that asks makes it again.

Requests to a model that computes in place (``instant``) are answered right here: no task, no thread, no limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._kernel._drive import Models
from .._kernel._steps import Outcome
from .._support._blocking import all_of
from .._values._errors import ModelError
from .._values._requests import Ask, Reply, Request, Usage
from ._budget import Budget
from ._calls import ModelCaller, Rules
from ._gate import Gate
from ._pending import Forms, Key, PendingCall, RowMemory, as_shared, to_share
from ._reply_keys import ReplyStore
from ._transport import Route


def no_op(*_: Any) -> None:
    """Do nothing: the default of a callback."""


class Answers:
    """Answers the rounds of all programs of a run.

    Args:
        max_concurrency: most calls in flight.
        rules: how calls are made.
        budget: what they may cost.
        journal: keeps replies, and has those of earlier runs; None: nothing is kept.
        heard: called with the outcome of each call.

    Attributes:
        budget: the same.
        gathering: requests that wait for a batch, or for its answer.
        on_gathering: called when another request does.
    """

    def __init__(
        self,
        max_concurrency: int,
        rules: Rules,
        budget: Budget,
        journal: ReplyStore | None,
        heard: Callable[[Outcome], None] = no_op,
    ) -> None:
        self._gate = Gate(max_concurrency)
        self._rules = rules
        self.budget = budget
        self._journal = journal
        self._heard = heard
        self._routes: dict[int, Route] = {}
        self._forms = Forms()
        # what further rows that ask the same wait for; None until there is one
        self._in_flight: dict[Key, asyncio.Future[Outcome | None] | None] = {}
        self._kept = 0
        self.gathering = 0
        self.on_gathering: Callable[[], None] = no_op

    @property
    def caveats(self) -> Iterator[str]:
        """What must be known about the answers: what their models say, and which of them the journal cannot hold."""
        for route in self._routes.values():
            if route.traits.caveat is not None:
                yield route.traits.caveat
            if self._journal is not None and route.keys is None:
                yield (
                    f"the answers of {route.traits.kind} are not in the journal, because it does not say what it is: give "
                    "it an attribute `identity`, a mapping of every setting that can change an answer"
                )

    def usage(self) -> Usage:
        """What all calls have cost so far."""
        return sum((route.caller.usage for route in self._routes.values()), Usage())

    @property
    def callers(self) -> Iterator[ModelCaller]:
        """The callers of all models but those that compute in place."""
        return (route.caller for route in self._routes.values() if not route.traits.instant)

    def waiting(self) -> tuple[float, str] | None:
        """Seconds for which nothing happens but waiting for servers, and why."""
        waits = [caller.waiting(asyncio.get_running_loop().time()) for caller in self.callers if not caller.busy]
        return min(filter(None, waits), default=None) if len(waits) == len(list(self.callers)) else None

    def resolve(self, models: Models, requests: Sequence[Request], repeat: int, memory: RowMemory) -> list[PendingCall]:
        """The calls of a round of a row with this memory.

        Raises:
            ModelError: no model is set that could answer.
        """
        calls = []
        for request in requests:
            asked = models.asked_by(request) if request.to else models
            model: Any = asked.llm if isinstance(request, Ask) else asked.embeddings
            known_as = None
            if isinstance(request, Ask) and request.known_by is not None:
                known_as = (id(model), repeat, self._forms.number(request.prompt), request.known_by)
                same = memory.asked_before(known_as)
                if same is not None:
                    calls.append(same)
                    continue
            call = asked.call(request)
            route = self._routes.get(id(model))
            if route is None:  # the entry holds the model, so that its id stays its own
                route = Route(model, self._gate, self._rules, self.budget, stored=self._journal is not None)
                self._routes[id(model)] = route
            # what is never sent, or looked up, need not be written out
            unsent = call.in_place and route.keys is None
            key = memory.key(model, request, repeat, known_as) if unsent else Key(model, request, repeat)
            pending = PendingCall(model, route.traits, call, asked.call, request, key)
            if known_as is not None:
                memory.asked[known_as] = pending
            calls.append(pending)
        return calls

    def now(self, calls: Sequence[PendingCall], memory: RowMemory) -> list[Outcome] | None:
        """The outcomes, if no call has to be waited for; else None."""
        outcomes: list[Any] = [pending.known for pending in calls]
        if all(outcomes):  # as nearly always: another metric has asked
            return outcomes
        # nothing is computed in place for a round that waits: it would be found again as a shared answer without a payer
        for in_place in (False, True):
            for place, pending in enumerate(calls):
                if outcomes[place] is None and pending.call.in_place is in_place:
                    outcome = self._at_hand(pending, memory)
                    if outcome is None:
                        return None
                    outcomes[place] = _checked(outcome)
        return outcomes

    def at_hand(self, calls: Sequence[PendingCall], memory: RowMemory) -> list[Outcome | None]:
        """The outcomes of those calls that need not be waited for; None for the others."""
        found = [pending.known or self._at_hand(pending, memory) for pending in calls]
        return [None if outcome is None else _checked(outcome) for outcome in found]

    async def one(self, pending: PendingCall, memory: RowMemory) -> Outcome | None:
        """The outcome of one call; None: the budget is used up.

        Raises:
            ModelError: a model refuses in a way that all further calls would meet.
        """
        outcome = await self._one(pending, memory)
        return None if outcome is None else _checked(outcome)

    async def later(self, calls: Sequence[PendingCall], memory: RowMemory) -> list[Outcome] | None:
        """The outcomes, asked concurrently; None: the budget is used up before all could be asked.

        Raises:
            ModelError: a model refuses in a way that all further calls would meet.
        """
        if len(calls) == 1:
            found = [await self._one(calls[0], memory)]
        else:
            found = await self._several(calls, memory)
        outcomes = [_checked(outcome) for outcome in found if outcome is not None]
        return outcomes if len(outcomes) == len(found) else None

    def strike(self, unread_texts: Sequence[str], asked: Sequence[PendingCall], memory: RowMemory) -> None:
        """Strike replies that proved unreadable out of the journal, so that a later run asks again."""
        if self._journal is None:
            return
        unread = [memory.get(pending.key) for pending in asked]
        self._journal.strike(
            pending.key.digest
            for pending, reply in zip(asked, unread, strict=True)
            if pending.key.digest is not None and reply is not None and reply.value in unread_texts
        )

    def keys(self, requests: Sequence[Request], calls: Sequence[PendingCall]) -> Iterator[tuple[Ask, bytes]]:
        """The questions to language models among these requests, with the keys that their replies have in the journal."""
        for request, pending in zip(requests, calls, strict=False):
            keys, key = self._routes[id(pending.model)].keys, pending.key
            if isinstance(request, Ask) and keys is not None:
                if key.digest is None:
                    key.digest = keys.key(pending.request, key.repeat)
                yield request, key.digest

    def close(self) -> None:
        """Give up what is under way."""
        for route in self._routes.values():
            route.close()

    def _at_hand(self, pending: PendingCall, memory: RowMemory) -> Outcome | None:
        known = memory.get(pending.key)
        if known is not None:
            return known
        outcome: Outcome | None = self._from_journal(pending)
        if outcome is None and not pending.tried_in_place and pending.call.in_place:
            outcome = self._routes[id(pending.model)].caller.perform_in_place(pending.call)
            if outcome is not None:
                pending.tried_in_place = isinstance(outcome, ModelError) and outcome.transient
                outcome = None if pending.tried_in_place else self._journal_reply(pending, outcome)
        if isinstance(outcome, Reply):
            memory[pending.key] = as_shared(outcome)
        return outcome

    def _from_journal(self, pending: PendingCall) -> Outcome | None:
        keys, key = self._routes[id(pending.model)].keys, pending.key
        if keys is None or self._journal is None or key.looked_up == self._kept:
            return None
        key.looked_up = self._kept
        if key.digest is None:
            key.digest = keys.key(pending.request, key.repeat)
        found = self._journal.find(key.digest)
        return None if found is None else to_share(as_shared(found))

    def _journal_reply(self, pending: PendingCall, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Reply) and pending.key.digest is not None and self._journal is not None:
            self._kept += 1
            outcome = self._journal.keep(pending.key.digest, outcome, pending.request)
        self._heard(outcome)
        return to_share(outcome)

    async def _several(self, calls: Sequence[PendingCall], memory: RowMemory) -> list[Outcome | None]:
        """The outcomes, in order. Calls in flight are only waited for; only a new call takes a task."""
        asked = [self._in_flight_for(pending.key) for pending in calls]
        new = [place for place, answer in enumerate(asked) if answer is None]
        found: dict[int, Outcome | None] = {}
        if len(new) == 1:
            found[new[0]] = await self._one(calls[new[0]], memory)
        elif new:
            found.update(zip(new, await all_of(self._one(calls[place], memory) for place in new), strict=True))
        for place, answer in enumerate(asked):
            if answer is not None:
                found[place] = await self._answered(answer, calls[place], memory)
        return [found[place] for place in range(len(calls))]

    async def _one(self, pending: PendingCall, memory: RowMemory) -> Outcome | None:
        outcome = self._at_hand(pending, memory)
        if outcome is not None:
            return outcome
        answer = self._in_flight_for(pending.key)
        if answer is not None:
            return await self._answered(answer, pending, memory)
        outcome = await self._call(pending)
        if isinstance(outcome, Reply):
            memory[pending.key] = as_shared(outcome)
        return outcome

    def _in_flight_for(self, key: Key) -> asyncio.Future[Outcome | None] | None:
        """The future of a call in flight; None: there is no such call."""
        if key not in self._in_flight:
            return None
        answer = self._in_flight[key]
        if answer is None:
            answer = self._in_flight[key] = asyncio.get_running_loop().create_future()
        return answer

    async def _answered(
        self, answer: asyncio.Future[Outcome | None], pending: PendingCall, memory: RowMemory
    ) -> Outcome | None:
        """The outcome of a call that another program makes; one that is cancelled is made here."""
        if not answer.done():
            await asyncio.wait((answer,))  # `await answer` would cancel it with any program that waits
        if answer.cancelled():
            return await self._one(pending, memory)
        outcome = answer.result()
        if outcome is None:
            return None
        outcome = as_shared(outcome)
        if isinstance(outcome, Reply):
            memory[pending.key] = outcome
        return outcome

    async def _call(self, pending: PendingCall) -> Outcome | None:
        self._in_flight[pending.key] = None
        gathers = not isinstance(pending.request, Ask)
        answered = False
        outcome: Outcome | None = None
        try:
            if gathers:
                self.gathering += 1
                self.on_gathering()
            outcome = await self._routes[id(pending.model)].perform(pending)
            if outcome is not None:
                outcome = self._journal_reply(pending, outcome)
            answered = True
            return outcome
        finally:
            self.gathering -= gathers
            shared = self._in_flight.pop(pending.key)
            if shared is not None and answered:
                # copied now, before the program that made the call writes on an error what it had spent
                shared.set_result(None if outcome is None else as_shared(outcome))
            elif shared is not None:
                shared.cancel()  # the programs that wait make the call themselves


def _checked(outcome: Outcome) -> Outcome:
    if isinstance(outcome, ModelError) and outcome.fatal:
        raise outcome
    return outcome
