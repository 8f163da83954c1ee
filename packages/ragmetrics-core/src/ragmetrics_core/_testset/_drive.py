"""Many programs at a time, over the engine of ``evaluate``: its pace, its retries, its budget, its journal.

As many programs are worked on side by side as calls may be in flight, each by one worker. What is finished is handed over in the
order of the programs, whichever ended first, so that nothing that follows from it depends on chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from .._engine import Answers, Budget, Rules
from .._engine._pending import PendingCall, RowMemory
from .._engine._reply_store import ReplyStore
from .._kernel._drive import Models
from .._kernel._model_traits import prepared
from .._kernel._requests import AnyLLM
from .._kernel._steps import Outcome, Steps, next_round
from .._support._tasks import all_of

T = TypeVar("T")


class Drive:
    """Runs programs whose results have ``unread``: the replies that could not be read.

    Args:
        llm: answers.
        most: most calls in flight.
        rules: how calls are made.
        budget: what they may cost.
        journal: keeps replies, and has those of earlier runs; None: nothing is kept.
    """

    def __init__(self, llm: AnyLLM, most: int, rules: Rules, budget: Budget, journal: ReplyStore | None) -> None:
        self._models = Models(prepared(llm, 1), metric="generate_testset")
        self._most = most
        self._budget = budget
        self._answers = Answers(most, rules, budget, journal)

    @property
    def answers(self) -> Answers:
        """The calls that were made, and what they cost."""
        return self._answers

    @property
    def stopped(self) -> str | None:
        """Why no more calls are made; None where that is not so."""
        return self._budget.used_up

    async def all(self, programs: Iterable[Steps[T]], finished: Callable[[int, T], None]) -> None:
        """Run all programs, and hand over each result with the number of its program, from 0, in this order.

        When the budget is used up, programs that would need another call are left out, with all that follow.

        Raises:
            RagmetricsError: whatever stops the whole run.
        """
        queue = enumerate(programs)
        waiting: dict[int, T] = {}
        handed_over = 0

        def note(index: int, result: T) -> None:
            nonlocal handed_over
            waiting[index] = result
            while handed_over in waiting:
                finished(handed_over, waiting.pop(handed_over))
                handed_over += 1

        try:
            await all_of(self._work(queue, note) for _ in range(self._most))
        finally:  # where one is missing, those behind it are finished all the same
            for index in sorted(waiting):
                finished(index, waiting[index])

    def close(self) -> None:
        """Give up what is under way."""
        self._answers.close()

    async def _work(self, queue: Iterator[tuple[int, Steps[T]]], note: Callable[[int, T], None]) -> None:
        for index, program in queue:
            await asyncio.sleep(0)  # a model that computes in place would never let others run
            result = await self._finish(program)
            if result is None:
                return
            note(index, result)

    async def _finish(self, program: Steps[Any]) -> Any:
        memory = RowMemory()
        asked: list[PendingCall] = []
        outcomes: list[Outcome] | None = None
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                for error in done.value.unread:
                    self._answers.strike(error.raw, asked, memory)
                return done.value
            calls = self._answers.resolve(self._models, requests, 0, memory)
            outcomes = self._answers.now(calls, memory)
            if outcomes is None:
                outcomes = await self._answers.later(calls, memory)
            if outcomes is None:
                program.close()
                return None
            asked += calls
