"""Which row is scored when. Workers pull rows from one shared iterator and score them.

There are at most as many workers as calls may be in flight, and each has one row. Every unfinished row has at least one call in
flight or about to be made, so this many workers keep all models busy, and no more rows are pulled ahead. (Rows that wait for a
batch of embeddings have no call in flight, so more rows may be pulled for them; otherwise the batches would stay small.) If there
is a budget, ``Allowance`` decides which rows may spend the rest of it. At first one worker starts, and each worker that finds a row
starts the next one, so a few rows never need many tasks. A row is scored without a task switch if its metrics ask nothing
(rankings), if all answers are in the journal, or if it only asks models that compute in place; the worker then yields to other
tasks after a fixed time.

Each metric begins its program for the row. A program goes on as soon as all requests of its round have an outcome. The worker waits
for the next call to finish, or the next turn to spend, until all programs have their scores. The metrics of a row often wait for
the same answers, so there is one task for each call, and none for each metric.

There are two kinds of errors, which differ in where they arise. An error that a *program* raises (a missing field, an impossible
value, a model that could not answer) concerns one score and is recorded in it. An error *outside* of a program (no model is set, an
optional package is missing, a refused key, a bug) concerns the whole run and stops it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._kernel._drive import Models
from .._kernel._inputs import Reading
from .._kernel._metric import Metric
from .._kernel._steps import Steps
from .._values._errors import BadReply, InvalidInput, MissingInput, ModelError, RagmetricsError
from .._values._sample import Row
from .._values._score import Score, not_asked
from ._batches import MOST_REQUESTS
from ._budget import Allowance, RowAccount
from ._pending import PendingCall, RowMemory
from ._questions import Answers, Collected
from ._tasks import Tasks, no_op, until_done

HOLDERS = ("jurors", "unreadable")
"""Keys of details whose value lists the details of several judges: the jurors of a jury, or the wordings of one question."""

SOME_HOLDER = frozenset(HOLDERS)


def unread_replies(details: Mapping[str, Any]) -> list[str]:
    """Return the texts of the unreadable replies in the details of a score."""
    found: list[str] = []
    if SOME_HOLDER.isdisjoint(details):  # the usual case
        return found
    for holder in HOLDERS:
        judges = details.get(holder)
        for judge in judges if isinstance(judges, list) else ():
            if isinstance(judge, Mapping):
                inner = judge.get("details") if "details" in judge else judge
                found += _raw(inner) if isinstance(inner, Mapping) else []
    return found


def _raw(details: Mapping[str, Any]) -> list[str]:
    raw = details.get("raw")
    return [
        *(text for text in (raw if isinstance(raw, list) else ()) if isinstance(text, str)),
        *unread_replies(details),
    ]


BREATH = 0.02
"""Seconds of work without waiting, after which a worker yields to other tasks: progress bars, cancellation, Ctrl-C."""

MOST_GATHERING = 2 * MOST_REQUESTS
"""The largest number of extra rows that may be pulled while rows wait for batches: enough for two batches."""


@dataclass(frozen=True)
class Assignment:
    """A metric, the models that answer its requests, and the number of the repeat, from 0."""

    metric: Metric
    models: Models
    repeat: int = 0


@dataclass(slots=True)
class ActiveProgram:
    """The program of one metric for one row, while it runs.

    Attributes:
        assignment, row: the metric with its models, and the row.
        steps: the program.
        memory, account: the replies to the row so far, and the amounts that the row has spent.
        started: the time at which the program began.
        calls: the calls of the current round.
        turn: a future that is done as soon as the row may make these calls; None if the program has not asked for its turn.
        answered: the calls of earlier rounds.
        waited: whether the program had to wait for any call.
        collected: whether the program ended because its next questions were collected for a batch.
        score: the score; None until the program has finished.
    """

    assignment: Assignment
    row: Row
    steps: Steps[Score]
    memory: RowMemory
    account: RowAccount
    started: float
    calls: list[PendingCall] = field(default_factory=list)
    turn: asyncio.Future[None] | None = None
    answered: list[PendingCall] = field(default_factory=list)
    waited: bool = False
    collected: bool = False
    score: Score | None = None


AskedBy = tuple[Assignment, list[PendingCall]]
Finished = Callable[[Row, list[Score], list[AskedBy]], None]


class BudgetUsedUp(Exception):
    """A row needs a call that the budget does not allow."""


class Engine:
    """Scores rows with several metrics; one run at a time.

    Args:
        assignments: the metrics with their models; each row gets one score for each assignment.
        answers: answers the requests of the metrics.
        max_rows: the largest number of rows in progress.
        raising: whether to raise errors instead of recording them in failed scores.

    Attributes:
        is_cut: whether rows were left out because the budget is used up.
        waited: by name of metric, the total seconds that its programs took, of programs that had to wait for a model.
    """

    def __init__(self, assignments: Sequence[Assignment], answers: Answers, *, max_rows: int, raising: bool) -> None:
        self._assignments = assignments
        self._answers = answers
        self._tasks = Tasks()
        self._allowance = Allowance(answers.budget)
        self._most = max_rows
        self.is_cut = False
        self.waited = {assignment.metric.name: 0.0 for assignment in assignments}
        self._workers = 1
        self._raising = raising
        self._breath = time.monotonic()
        self._resting = False
        self._open = True

    async def run(self, rows: Iterator[Row], finished: Finished) -> None:
        """Score all rows.

        ``finished`` gets each row as soon as it is scored, with its scores in the order of the assignments, and with the answered
        calls of each metric, including answers that were already known.

        When the budget is used up, no more rows are started, and rows that need another call are left out. So are rows with
        a collected question; the other metrics of such a row go on to their next questions. The engine can run again.

        Raises:
            RagmetricsError: an error that stops the whole run. Rows in progress are given up; ``finished`` has already got the
                others.
        """
        self._open, self._workers = True, 1
        self._tasks.on_gathering = lambda: self._grow(rows, finished)
        try:
            await self._tasks.run([self._work(rows, finished)])
        finally:  # otherwise a reference cycle would keep all scored rows in memory
            self._tasks.on_gathering = no_op

    def _grow(self, rows: Iterator[Row], finished: Finished) -> None:
        """Start another worker, if their number allows it."""
        if self._open and self._workers < self._most + min(self._tasks.gathering, MOST_GATHERING):
            self._workers += 1
            self._tasks.start(self._work(rows, finished))

    async def _work(self, rows: Iterator[Row], finished: Finished) -> None:
        new = True
        try:
            while self._open:
                if time.monotonic() - self._breath > BREATH:
                    await self._rest()
                    continue
                row = next(rows, None)
                if row is None:
                    return
                if new:
                    self._grow(rows, finished)
                new = False
                asked_by: list[AskedBy] = []
                scores = await self._score(row, asked_by)
                if scores is None:
                    self.is_cut = True
                    return
                if scores:
                    finished(row, scores, asked_by)
        finally:
            self._open = False  # there are no more rows, or the run stops: no worker takes another row

    async def _rest(self) -> None:
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_soon(self._restart_clock)
        await asyncio.sleep(0)

    def _restart_clock(self) -> None:
        """Restart the clock after one turn of the loop.

        All workers share the clock: with separate clocks, each would block the loop in turn.
        """
        self._breath = time.monotonic()
        self._resting = False

    async def _score(self, row: Row, asked_by: list[AskedBy]) -> list[Score] | None:
        """Return the scores of a row: none if a question was collected, None if the budget was used up."""
        if row.problem is not None:
            return [self._failed(assignment, row.problem) for assignment in self._assignments]
        account = self._allowance.open()
        memory: RowMemory = {}
        reading = Reading(row.sample)
        complete = False
        try:
            states = [self._begin(assignment, row, reading, memory, account) for assignment in self._assignments]
            active = [state for state in states if isinstance(state, ActiveProgram)]
            asked_by += [(program.assignment, program.answered) for program in active]
            while waits := {task for program in active for task in self._advance(program)}:
                if len(waits) == 1:
                    await until_done(waits.pop())
                else:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if any(program.collected for program in active):
                return []
            complete = True
        except BudgetUsedUp:
            return None
        finally:
            self._allowance.close(account, complete=complete)
        scores = (state if isinstance(state, Score) else state.score for state in states)
        return [score for score in scores if score is not None]

    def _begin(
        self, assignment: Assignment, row: Row, reading: Reading, memory: RowMemory, account: RowAccount
    ) -> Score | ActiveProgram:
        """Begin a metric on a row: return its program, or its score if it asks nothing or has already failed."""
        metric = assignment.metric
        if not row.is_asked(metric.name):
            return not_asked(metric.name, metric.scale)
        try:
            program = metric.begin(reading)
        except Exception as error:
            score = self._recorded(error, assignment, row)
            if score is None:
                raise
            return score
        if isinstance(program, Score):
            return program
        work = ActiveProgram(assignment, row, program, memory, account, time.monotonic())
        self._step(work, None)
        return work

    def _advance(self, work: ActiveProgram) -> list[asyncio.Future[Any]]:
        """Run a program as far as possible without waiting; return the futures that it waits for, none if it has finished."""
        while work.score is None and not work.collected:
            try:
                waits = self._waits(work)
            except Collected:
                work.collected = True
                work.steps.close()
                return []
            if waits:
                work.waited = True
                return waits
            if self._allowance.limited:
                self._allowance.book(work.account, work.calls, took_turn=work.turn is not None)
            work.answered += work.calls
            self._step(work, [call.outcome for call in work.calls])
        return []

    def _waits(self, work: ActiveProgram) -> list[asyncio.Future[Any]]:
        """Return the futures that a program must wait for before its next step.

        Raises:
            BudgetUsedUp: a call of the program was not made, because the budget is used up.
            Collected: a call of the program was collected.
        """
        missing = [call for call in work.calls if not self._answers.is_there(call, work.memory)]
        if missing and self._answers.collector is not None:
            missing, waits = self._answers.collector.collect(missing, self._tasks)
            if waits:
                return waits
        if missing and self._allowance.limited:
            if work.turn is None:
                work.turn = self._allowance.turn(work.account, work.calls)
            if not work.turn.done():
                return [work.turn]
        tasks: list[asyncio.Future[Any]] = [self._answers.task_of(call, work.memory, self._tasks) for call in missing]
        if any(task.done() for task in tasks):
            raise BudgetUsedUp
        return tasks

    def _step(self, work: ActiveProgram, outcomes: Any) -> None:
        """Run one step of a program, up to its score or the calls of its next round."""
        assignment = work.assignment
        try:
            requests = work.steps.send(outcomes)  # the metric itself validates what its program yields
        except StopIteration as done:
            score: Score = done.value
            if unread := unread_replies(score.unread):
                self._answers.strike(unread, work.answered)
            work.score = score
        except Exception as error:
            if isinstance(error, BadReply):
                self._answers.strike(error.raw, work.answered)
            work.score = self._recorded(error, assignment, work.row)
            if work.score is None:
                raise
        else:
            work.calls = self._answers.resolve(assignment.models, requests, assignment.repeat)
            work.turn = None
            return
        if work.waited:
            seconds = time.monotonic() - work.started
            self.waited[assignment.metric.name] += seconds
            usage = replace(work.score.usage, seconds=round(seconds, 3))
            work.score = work.score.made_by(assignment.metric.name, assignment.metric.scale, usage)

    def _recorded(self, error: Exception, assignment: Assignment, row: Row) -> Score | None:
        """Return the failed score for an error that concerns only this score; None if the error ends the run."""
        if isinstance(error, MissingInput | InvalidInput):
            return self._failed(assignment, row.locate(error))
        if isinstance(error, ModelError):
            return self._failed(assignment, error)
        add_note = getattr(error, "add_note", None)  # from Python 3.11
        if add_note is not None:
            add_note(f"while {assignment.metric.name} scored {row.place}")
        return None

    def _failed(self, assignment: Assignment, error: RagmetricsError) -> Score:
        if self._raising:
            raise error
        score = Score.failed(error)
        return score.made_by(assignment.metric.name, assignment.metric.scale, score.usage, {})
