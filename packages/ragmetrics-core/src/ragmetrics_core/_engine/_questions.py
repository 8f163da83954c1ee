"""From requests to answers: what is known already is not asked again, and what is asked by several is asked once.

An answer is looked for nearest first: in what this row has asked so far, whichever of its metrics asked it; among the calls in
flight, whichever row made them; in the journal, if there is one; and only then is a call made. Those who share an answer book a
cached call without tokens, so the totals stay true. A failed call is not kept: who asks next tries again.

A model that computes in place (``instant``) is answered right here: no task, no thread, no limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from .._kernel._drive import Call, Models
from .._kernel._errors import BadReply, ModelError
from .._kernel._requests import Ask, Compare, Reply, Request, Usage
from .._kernel._steps import Outcome
from .._support._tasks import all_of
from ._batches import Batches
from ._budget import Budget
from ._calls import Line, Rules
from ._gate import Gate
from ._reply_keys import Keys
from ._reply_store import ReplyStore
from ._sharing import as_shared

__all__ = ["Answers", "Question", "RowMemory", "nobody"]

MOST_TEXTS = 2048
"""Texts or pairs in one call to a model that says nothing else by ``texts_per_call``."""


def nobody(*_: Any) -> None:
    """Who is called where there is nobody to call."""


class Key:
    """What makes two questions the same: model, request, repeat. Hashed once: a question is looked up many times."""

    __slots__ = ("_hash", "_parts", "repeat")

    def __init__(self, model: Any, request: Request, repeat: int) -> None:
        # a text has one vector, however often it is asked for
        self.repeat = repeat if isinstance(request, Ask) else 0
        self._parts = (id(model), self.repeat, request)
        self._hash = hash(self._parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._parts == other._parts


RowMemory = dict[Key, Reply[Any]]
"""What one row has been answered so far."""


class Question:
    """A request, resolved to the model that answers it."""

    __slots__ = ("call", "digest", "key", "looked_up", "make", "request", "tried", "way")

    def __init__(self, way: Way, call: Call, make: Callable[[Request], Call], request: Request, repeat: int) -> None:
        self.way = way
        self.call = call
        self.make = make
        self.request = request
        self.key = Key(way.model, request, repeat)
        self.digest: bytes | None = None
        self.looked_up = -1  # in the journal, when so many replies had been kept
        self.tried = False  # in place, and lost


class Way:
    """All that leads to one model: the line for calls, the batches, the keys of its replies in the journal."""

    def __init__(self, model: Any, gate: Gate, rules: Rules, budget: Budget, *, journalled: bool) -> None:
        self.model = model
        self.line = Line(model, gate, rules, budget)
        self.batches: dict[type[Request], Batches] = {}
        identity = getattr(model, "identity", None)
        self.keys = Keys(identity) if journalled and identity else None

    def perform(self, question: Question) -> Awaitable[Outcome | None]:
        """Make the call, alone or with others."""
        request = question.request
        if isinstance(request, Ask):
            return self.line.perform(question.call)
        kind = type(request)
        if kind not in self.batches:
            most = getattr(self.model, "texts_per_call", None) or MOST_TEXTS
            if isinstance(request, Compare) and not (hasattr(self.model, "compare") or hasattr(self.model, "acompare")):
                most = max(1, most // 2)  # its texts are embedded, and a pair has two
            overlapping = question.call.asynchronous is not None
            self.batches[kind] = Batches(self.line, question.make, most=most, overlapping=overlapping)
        return self.batches[kind].perform(request)


class Answers:
    """Answers the rounds of all programs of a run.

    Args:
        max_concurrency: most calls in flight.
        rules: how calls are made.
        budget: what they may cost.
        journal: the replies of earlier runs, and the place for those of this one.
        heard: called with the outcome of each call.

    Attributes:
        gathering: requests that wait for a batch, or for its answer.
        on_gathering: called when another one does.
    """

    def __init__(
        self,
        max_concurrency: int,
        rules: Rules,
        budget: Budget,
        journal: ReplyStore | None,
        heard: Callable[[Outcome], None] = nobody,
    ) -> None:
        self._gate = Gate(max_concurrency)
        self._rules = rules
        self._budget = budget
        self._journal = journal
        self._heard = heard
        self._ways: dict[int, Way] = {}
        self._flying: dict[Key, asyncio.Future[Outcome | None] | None] = {}  # a future where somebody else waits for it
        self._kept = 0
        self.gathering = 0
        self.on_gathering: Callable[[], None] = nobody

    @property
    def caveats(self) -> Iterator[str]:
        """What the models that were asked say must be known about their answers, and what the journal cannot hold."""
        for way in self._ways.values():
            caveat = getattr(way.model, "caveat", None)
            if isinstance(caveat, str):
                yield caveat
            if self._journal is not None and way.keys is None:
                yield (
                    f"the answers of {type(way.model).__name__} are not in the journal, because it does not say what it is: give "
                    "it an attribute `identity`, a mapping of every setting that can change an answer"
                )

    def usage(self) -> Usage:
        """What all calls have cost so far."""
        return sum((way.line.usage for way in self._ways.values()), Usage())

    @property
    def lines(self) -> Iterator[Line]:
        """The line to every model that is called somewhere else."""
        for way in self._ways.values():
            if not getattr(way.model, "instant", False):
                yield way.line

    def waiting(self) -> tuple[float, str] | None:
        """Seconds for which nothing happens but waiting for servers, and why."""
        waits = [line.waiting(asyncio.get_running_loop().time()) for line in self.lines if not line.busy]
        return min(filter(None, waits), default=None) if len(waits) == len(list(self.lines)) else None

    def resolve(self, models: Models, requests: Sequence[Request], repeat: int) -> list[Question]:
        """The questions of a round.

        Raises:
            ModelError: no model is set that could answer.
        """
        questions = []
        for request in requests:
            call = models.call(request)
            model = models.llm if isinstance(request, Ask) else models.embeddings
            way = self._ways.get(id(model))
            if way is None:  # the entry holds the model, so that its id stays its own
                way = Way(model, self._gate, self._rules, self._budget, journalled=self._journal is not None)
                self._ways[id(model)] = way
            questions.append(Question(way, call, models.call, request, repeat))
        return questions

    def now(self, questions: Sequence[Question], memory: RowMemory) -> list[Outcome] | None:
        """The outcomes, if no call has to be waited for; else None."""
        outcomes = []
        for question in questions:
            outcome = self._at_hand(question, memory)
            if outcome is None:
                return None
            outcomes.append(_checked(outcome))
        return outcomes

    async def later(self, questions: Sequence[Question], memory: RowMemory) -> list[Outcome] | None:
        """The outcomes, asked concurrently; None: the budget is used up before all could be asked.

        Raises:
            ModelError: a model refuses in a way that all further calls would meet.
        """
        if len(questions) == 1:
            found = [await self._one(questions[0], memory)]
        else:
            found = await all_of(self._one(question, memory) for question in questions)
        outcomes = [_checked(outcome) for outcome in found if outcome is not None]
        return outcomes if len(outcomes) == len(found) else None

    def strike(self, error: BadReply, asked: Sequence[Question], memory: RowMemory) -> None:
        """Take the replies that nobody could read out of the journal, so that a later run asks anew."""
        if self._journal is None:
            return
        unread = [memory.get(question.key) for question in asked]
        self._journal.strike(
            question.digest
            for question, reply in zip(asked, unread, strict=True)
            if question.digest is not None and reply is not None and reply.value in error.raw
        )

    def close(self) -> None:
        """Give up what is under way."""
        for way in self._ways.values():
            way.line.close()
            for batches in way.batches.values():
                batches.close()

    def _at_hand(self, question: Question, memory: RowMemory) -> Outcome | None:
        known = memory.get(question.key)
        if known is not None:
            return as_shared(known)
        outcome: Outcome | None = self._journalled(question)
        if outcome is None and not question.tried and question.call.in_place:
            outcome = question.way.line.perform_in_place(question.call)
            if outcome is not None:
                question.tried = isinstance(outcome, ModelError) and outcome.transient
                outcome = None if question.tried else self._paid(question, outcome)
        if isinstance(outcome, Reply):
            memory[question.key] = outcome
        return outcome

    def _journalled(self, question: Question) -> Outcome | None:
        keys = question.way.keys
        if keys is None or self._journal is None or question.looked_up == self._kept:
            return None
        question.looked_up = self._kept
        if question.digest is None:
            question.digest = keys.key(question.request, question.key.repeat)
        found = self._journal.find(question.digest)
        return None if found is None else as_shared(found)

    def _paid(self, question: Question, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Reply) and question.digest is not None and self._journal is not None:
            self._kept += 1
            outcome = self._journal.keep(question.digest, outcome)
        self._heard(outcome)
        return outcome

    async def _one(self, question: Question, memory: RowMemory) -> Outcome | None:
        outcome = self._at_hand(question, memory)
        if outcome is not None:
            return outcome
        while question.key in self._flying:
            landing = self._flying[question.key]
            if landing is None:
                landing = self._flying[question.key] = asyncio.get_running_loop().create_future()
            await asyncio.wait((landing,))  # not on itself, which would be cancelled with one who waits for it
            if not landing.cancelled():
                outcome = landing.result()
                outcome = None if outcome is None else as_shared(outcome)
                break
        else:
            outcome = await self._fly(question)
        if isinstance(outcome, Reply):
            memory[question.key] = outcome
        return outcome

    async def _fly(self, question: Question) -> Outcome | None:
        self._flying[question.key] = None
        gathers = not isinstance(question.request, Ask)
        landed = False
        outcome: Outcome | None = None
        try:
            if gathers:
                self.gathering += 1
                self.on_gathering()
            outcome = await question.way.perform(question)
            if outcome is not None:
                outcome = self._paid(question, outcome)
            landed = True
            return outcome
        finally:
            self.gathering -= gathers
            landing = self._flying.pop(question.key)
            if landing is not None and landed:
                # shared before the program that made the call writes on an error what it had spent
                landing.set_result(None if outcome is None else as_shared(outcome))
            elif landing is not None:
                landing.cancel()  # those who wait make the call themselves


def _checked(outcome: Outcome) -> Outcome:
    if isinstance(outcome, ModelError) and outcome.fatal:
        raise outcome
    return outcome
