"""Runs single programs over the engine, for callers that have no rows: test sets, and the judging of a running application."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeVar

from .._kernel._drive import Models
from .._kernel._model_traits import blocking_twin, prepared
from .._kernel._steps import Outcome, Steps, next_round
from .._values._errors import BadReply, ModelError
from ._budget import Budget
from ._pending import PendingCall, RowMemory
from ._questions import Answers
from ._tasks import Tasks
from ._traffic import Traffic

T = TypeVar("T")

MOST_MODELS = 256
"""The number of models after which a ``SharedDriver`` begins anew, so that models made for one judgement do not fill the memory."""


class ReadyModels:
    """The models in the form in which the engine calls them. Each model is prepared once, so that metrics that share a model share
    its calls.

    Args:
        prepare: returns a model in this form.
    """

    def __init__(self, prepare: Callable[[Any], Any]) -> None:
        self._prepare = prepare
        self._known: dict[int, tuple[Any, Any]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __call__(self, models: Models) -> Models:
        """Return the models, each replaced by its ready form; members are ignored."""
        return replace(models, llm=self._once(models.llm), embeddings=self._once(models.embeddings))

    def _once(self, model: Any) -> Any:
        if id(model) not in self._known:
            self._known[id(model)] = (model, self._prepare(model))
        return self._known[id(model)][1]


async def run_program(program: Steps[T], models: Models, answers: Answers, run: Tasks) -> T | ModelError | None:
    """Return the result of a program, or the error that ended it. None if the budget was used up before the program was finished.

    Raises:
        RagmetricsError: an error that every further program would meet too.
    """
    memory: RowMemory = {}
    pending: list[PendingCall] = []
    outcomes: list[Outcome] | None = None
    with closing(program):
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                result: T = done.value
                return result
            except ModelError as error:
                if isinstance(error, BadReply):
                    answers.strike(error.raw, pending)
                return error
            calls = answers.resolve(models, requests, 0)
            outcomes = await answers.outcomes(calls, memory, run)
            if outcomes is None:
                return None
            pending += calls


class SharedDriver:
    """Runs programs as ``arun`` does, in one event loop. Programs that run at the same time share equal calls, and all share the
    limits of the servers. A model that computes in place is called in a thread, because it may take long.

    Args:
        max_concurrency: the largest number of calls in flight.
        max_retries: the largest number of retries of a lost call.
        budget: what the calls may cost, with ``take``, ``spend`` and ``used_up`` of a ``Budget``; None: there is no limit.
    """

    def __init__(self, max_concurrency: int, max_retries: int, budget: Any = None) -> None:
        self._settings = max_concurrency, max_retries, budget or Budget(None)
        self._begin_anew()

    def _begin_anew(self) -> None:
        max_concurrency, max_retries, budget = self._settings
        self._answers = Answers(Traffic(max_concurrency), max_retries, budget, None)
        self._ready = ReadyModels(lambda model: blocking_twin(prepared(model, 1)))

    async def run(self, program: Steps[T], models: Models) -> T:
        """Return the result of a program. If this is cancelled, the calls that no other program waits for are cancelled too.

        Raises:
            ModelError: a model could not answer and the program did not catch it, or the budget is used up.
        """
        if len(self._ready) > MOST_MODELS:
            self._begin_anew()
        ready, tasks = models.each(self._ready), Tasks()
        results: list[Any] = []

        async def work() -> None:
            results.append(await run_program(program, ready, self._answers, tasks))

        await tasks.run([work()])
        if (why := self._answers.budget.used_up) is not None and results == [None]:
            raise ModelError(f"{why}, so this judgement was not finished")
        if isinstance(results[0], ModelError):
            raise results[0]
        result: T = results[0]
        return result
