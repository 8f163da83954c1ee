"""From requests to calls: the limit on calls in flight, and equal questions of one row asked once.

Within a row, the same request to the same model is one call, whichever metrics ask it and whether it is still in flight
or already answered; those who share it book a cached call without tokens, so the totals stay true. A failed call is not
kept: who asks next tries again. A model that computes in place (``instant``) is answered right here: no task, no thread, no limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from .._errors import ModelError
from .._requests import Ask, Reply, Request, Usage
from .._run import Call, Models
from .._steps import Outcome
from .._tasks import all_of

__all__ = ["Answers", "Question", "RowMemory"]

SHARED = Usage(calls=1, cached_calls=1)

Key = tuple[int, Request]
RowMemory = dict[Key, "Reply[Any] | asyncio.Future[Outcome]"]
"""What one row has asked so far: by model and request, the reply or the promise of one."""

Question = tuple[Key, Call]


class Answers:
    """Answers the rounds of all programs of a run."""

    def __init__(self, max_concurrency: int) -> None:
        self._gate = asyncio.Semaphore(max_concurrency)
        self._seen: dict[int, Any] = {}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the models that were asked say must be known about their answers, each once."""
        stated = (getattr(model, "caveat", None) for model in self._seen.values())
        return tuple(dict.fromkeys(caveat for caveat in stated if isinstance(caveat, str)))

    def resolve(self, models: Models, requests: Sequence[Request]) -> list[Question]:
        """The calls that would answer a round.

        Raises:
            ModelError: no model is set that could answer.
        """
        questions = []
        for request in requests:
            call = models.call(request)
            model = models.llm if isinstance(request, Ask) else models.embeddings
            self._seen[id(model)] = model
            questions.append(((id(model), request), call))
        return questions

    def now(self, questions: Sequence[Question], memory: RowMemory) -> list[Outcome] | None:
        """The outcomes, if all models compute in place; else None, and nothing was asked."""
        if not all(call.instant and call.sync is not None for _, call in questions):
            return None
        return [_checked(self._in_place(question, memory)) for question in questions]

    async def later(self, questions: Sequence[Question], memory: RowMemory) -> list[Outcome]:
        """The outcomes, asked concurrently.

        Raises:
            ModelError: a model refuses in a way that all further calls would meet.
        """
        if len(questions) == 1:
            return [_checked(await self._one(questions[0], memory))]
        return [_checked(outcome) for outcome in await all_of(self._one(question, memory) for question in questions)]

    def _in_place(self, question: Question, memory: RowMemory) -> Outcome:
        key, call = question
        known = memory.get(key)
        if isinstance(known, Reply):
            return replace(known, usage=SHARED)
        outcome = call.perform()
        if isinstance(outcome, Reply):
            memory[key] = outcome
        return outcome

    async def _one(self, question: Question, memory: RowMemory) -> Outcome:
        key, call = question
        if call.instant and call.sync is not None:
            return self._in_place(question, memory)
        known = memory.get(key)
        if isinstance(known, asyncio.Future):
            outcome = await known
            return replace(outcome, usage=SHARED) if isinstance(outcome, Reply) else shared(outcome)
        promise: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        memory[key] = promise
        async with self._gate:
            outcome = await call.aperform()
        if isinstance(outcome, ModelError):
            del memory[key]
        if not promise.done():  # a sharer that was cancelled has cancelled it
            promise.set_result(outcome)
        return outcome


def shared(error: ModelError) -> ModelError:
    """The error for one who shared the call: what it cost is booked once, by the one who made it."""
    twin = copy(error)
    twin.usage = SHARED
    return twin


def _checked(outcome: Outcome) -> Outcome:
    if isinstance(outcome, ModelError) and outcome.fatal:
        raise outcome
    return outcome
