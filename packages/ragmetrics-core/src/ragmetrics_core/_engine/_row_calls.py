"""The calls that the programs of one row wait for: a task for each call, and none for each program.

A dozen metrics wait for the same few answers. A task for every metric, and one for each of its questions, would take longer than
all that is done with the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .._kernel._steps import Outcome
from ._pending import Key, PendingCall, RowMemory
from ._questions import Answers
from ._sharing import as_shared

Found = list[Outcome | None]
"""The outcomes of a round, in order; None where one has not landed."""


class RowCalls:
    """Asks what several programs of a row want to know.

    Args:
        answers: answers all questions of the run.
        memory: what the row has asked so far.
    """

    def __init__(self, answers: Answers, memory: RowMemory) -> None:
        self._answers = answers
        self._memory = memory
        self._waiting: dict[Key, list[tuple[Found, int]]] = {}
        self._tasks: dict[asyncio.Future[Outcome | None], Key] = {}

    def ask(self, calls: Sequence[PendingCall]) -> Found:
        """The outcomes of a round, which are filled in as they land."""
        found: Found = self._answers.at_hand(calls, self._memory)
        for place, pending in enumerate(calls):
            if found[place] is not None:
                continue
            if pending.key not in self._waiting:
                self._waiting[pending.key] = []
                self._tasks[asyncio.ensure_future(self._answers.one(pending, self._memory))] = pending.key
            self._waiting[pending.key].append((found, place))
        return found

    async def landing(self) -> None:
        """Wait until a call has landed; the program that asked first has paid for it.

        Raises:
            ModelError: a model refuses in a way that all further calls would meet.
        """
        await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in [task for task in self._tasks if task.done()]:
            outcome = task.result()
            assert outcome is not None  # without a budget every call is made
            (first, at), *others = self._waiting.pop(self._tasks.pop(task))
            first[at] = outcome
            for found, place in others:
                found[place] = as_shared(outcome)

    async def close(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
