"""Who runs when. Workers, at most as many as calls may be in flight, pull rows from one shared iterator and score them.

Each worker has one row, and every unfinished row has at least one call in flight or in line for it, so this many workers keep
all the models busy, and no more rows than that are ever pulled ahead. One worker starts, and each that finds a row starts the
next, so few rows never cost many tasks. A row whose metrics ask nothing (rankings), or only models that compute in place, is
scored without a single task switch; the worker then gives way to others by the clock.

Two kinds of trouble are kept apart by where they arise. What a *program* raises (a missing field, an impossible value, a model
that could not answer) concerns one score and is recorded there. What arises *outside* of a program (no model is set, an
optional package is missing, a refused key, a bug) concerns the whole run and stops it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .._errors import InvalidInput, MissingInput, ModelError, RagmetricsError
from .._metric import Metric
from .._read import Row
from .._requests import Request
from .._run import Models
from .._score import Score
from .._steps import Outcome, Steps, next_round
from .._tasks import all_of
from ._answers import Answers, Question, RowMemory
from ._crew import Crew

__all__ = ["Engine"]

BREATH = 0.02
"""Seconds of work without waiting after which a worker lets others run: progress bars, cancellation, Ctrl-C."""

Finished = Callable[[Row, list[Score]], None]


@dataclass
class Waiting:
    """A program that waits for its questions to be answered."""

    index: int
    program: Steps[Score]
    questions: list[Question]


class Engine:
    """Scores rows with several metrics; one engine serves one run.

    Args:
        judges: every metric with the models that answer it.
        max_concurrency: most calls to models in flight at any time.
        raising: raise what would be recorded in a failed score.
    """

    def __init__(self, judges: Sequence[tuple[Metric, Models]], *, max_concurrency: int, raising: bool) -> None:
        self._judges = judges
        self._most = max_concurrency
        self._workers = 0
        self._raising = raising
        self._answers = Answers(max_concurrency)
        self._breath = time.monotonic()
        self._resting = False
        self._open = True

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the models that were asked say must be known about their answers."""
        return self._answers.caveats

    async def run(self, rows: Iterator[Row], finished: Finished) -> None:
        """Score all rows; ``finished`` gets each one with its scores, in the order of the metrics, as soon as it is done.

        Raises:
            RagmetricsError: whatever stops the whole run; rows in flight are given up, finished ones have been handed over.
        """
        crew = Crew()

        def hire() -> None:
            self._workers += 1
            crew.add(self._work(rows, finished, hire))

        hire()
        await crew.join()

    async def _work(self, rows: Iterator[Row], finished: Finished, hire: Callable[[], None]) -> None:
        new = True
        try:
            while self._open:
                if time.monotonic() - self._breath > BREATH:
                    await self._rest()
                elif (row := next(rows, None)) is not None:
                    if new and self._workers < self._most:
                        hire()
                    new = False
                    finished(row, await self._score(row))
                else:
                    return
        finally:
            self._open = False  # the rows are at their end, or an error stops the run: nobody takes another one

    async def _rest(self) -> None:
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_soon(self._rested)
        await asyncio.sleep(0)

    def _rested(self) -> None:
        """Once around the loop: what all workers do in between counts together, or each would hold it up for its share."""
        self._breath = time.monotonic()
        self._resting = False

    async def _score(self, row: Row) -> list[Score]:
        if row.problem is not None:
            return [self._failed(metric, row.problem) for metric, _ in self._judges]
        memory: RowMemory = {}
        states = [self._start(index, row, memory) for index in range(len(self._judges))]
        waiting = [state for state in states if isinstance(state, Waiting)]
        if len(waiting) > 1:
            late = await all_of(self._finish(state, row, memory) for state in waiting)
        else:
            late = [await self._finish(state, row, memory) for state in waiting]
        scores = {state.index: score for state, score in zip(waiting, late, strict=True)}
        return [scores[index] if isinstance(state, Waiting) else state for index, state in enumerate(states)]

    def _start(self, index: int, row: Row, memory: RowMemory) -> Score | Waiting:
        """Run a metric as far as it goes without waiting for anybody."""
        metric, models = self._judges[index]
        try:
            program = metric.program(row.sample)
        except (MissingInput, InvalidInput) as error:
            return self._failed(metric, row.locate(error))
        state = self._advance(metric, row, program, None)
        while not isinstance(state, Score):
            questions = self._answers.resolve(models, state)
            outcomes = self._answers.now(questions, memory)
            if outcomes is None:
                return Waiting(index, program, questions)
            state = self._advance(metric, row, program, outcomes)
        return state

    async def _finish(self, waiting: Waiting, row: Row, memory: RowMemory) -> Score:
        metric, models = self._judges[waiting.index]
        questions = waiting.questions
        while True:
            outcomes = await self._answers.later(questions, memory)
            state = self._advance(metric, row, waiting.program, outcomes)
            if isinstance(state, Score):
                return state
            questions = self._answers.resolve(models, state)

    def _advance(
        self, metric: Metric, row: Row, program: Steps[Score], outcomes: Sequence[Outcome] | None
    ) -> Score | tuple[Request, ...]:
        """One step of a program: its score, or the next round of requests."""
        try:
            return next_round(program, outcomes)
        except StopIteration as done:
            score: Score = done.value
            return score
        except ModelError as error:
            return self._failed(metric, error)
        except (MissingInput, InvalidInput) as error:
            return self._failed(metric, row.locate(error))

    def _failed(self, metric: Metric, error: RagmetricsError) -> Score:
        if self._raising:
            raise error
        score = Score.failed(error)
        return score.made_by(metric.name, metric.scale, score.usage, {})
