"""Which row is scored when. Workers, at most as many as calls may be in flight, pull rows from one shared iterator and score them.

Each worker has one row, and every unfinished row has at least one call in flight or about to be made, so this many workers keep
all the models busy, and no more rows than that are ever pulled ahead. Where there is a budget, ``Allowance`` decides which of
them may spend what is left. (Rows that wait for a batch of embeddings hold no call, so more may do so: the batches would stay
small otherwise.) One worker starts, and each that finds a row starts the next, so few rows never cost many tasks. A row whose
metrics ask nothing (rankings), whose answers are all in the journal, or which asks only models that compute in place, is scored
without a single task switch; the worker then gives way to others by the clock.

The life of a row: each metric begins its program; a program goes on as soon as all that it has asked has an outcome; the worker
waits until one more of the calls has landed, or one more turn has come, until each program has its score. The metrics of a row wait
for the same few answers, so there is a task for each call and none for each metric.

Two kinds of trouble are kept apart by where they arise. What a *program* raises (a missing field, an impossible value, a model
that could not answer) concerns one score and is recorded there. What arises *outside* of a program (no model is set, an
optional package is missing, a refused key, a bug) concerns the whole run and stops it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from ._questions import Answers, no_op

HOLDERS = ("jurors", "unreadable")
"""Details that hold those of several judges: of a jury, and of a metric that asks twice in different words."""

SOME_HOLDER = frozenset(HOLDERS)


def unread_replies(details: Mapping[str, Any]) -> list[str]:
    """Their texts, from the evidence of a score."""
    found: list[str] = []
    if SOME_HOLDER.isdisjoint(details):  # as nearly always
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
"""Seconds of work without waiting after which a worker lets others run: progress bars, cancellation, Ctrl-C."""

MOST_GATHERING = 2 * MOST_REQUESTS
"""Rows beyond the usual number that may be pulled while they wait for batches: one is at work, one gathers."""


@dataclass(frozen=True)
class Assignment:
    """A metric, the models that answer it, and which repeat of it this is (from 0)."""

    metric: Metric
    models: Models
    repeat: int = 0


@dataclass(slots=True)
class ActiveProgram:
    """A program at work on a row.

    Attributes:
        steps: the program itself.
        memory, account: the replies that the row has had so far, and what it has spent.
        started: when it began.
        calls: those of its current round.
        turn: done as soon as the row may make these calls; None: it has not asked for its turn.
        answered: the calls of earlier rounds.
        waited: whether it had to wait for any.
        score: None until it has come to its end.
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
    score: Score | None = None


AskedBy = tuple[Assignment, list[PendingCall]]
Finished = Callable[[Row, list[Score], list[AskedBy]], None]


class BudgetUsedUp(Exception):
    """A row needs a call that the budget does not allow."""


class Engine:
    """Scores rows with several metrics; one engine serves one run.

    Args:
        assignments: every metric with its models; each row gets one score from each.
        answers: answers the requests of the metrics.
        max_rows: most rows that are worked on at a time.
        raising: raise what would be recorded in a failed score.

    Attributes:
        waited: by metric, the seconds that its rows have waited for models, all together.
    """

    def __init__(self, assignments: Sequence[Assignment], answers: Answers, *, max_rows: int, raising: bool) -> None:
        self._assignments = assignments
        self._answers = answers
        self._allowance = Allowance(answers.budget)
        self._most = max_rows
        self.waited = {assignment.metric.name: 0.0 for assignment in assignments}
        self._workers = 1
        self._raising = raising
        self._breath = time.monotonic()
        self._resting = False
        self._open = True

    async def run(self, rows: Iterator[Row], finished: Finished) -> None:
        """Score all rows.

        ``finished`` gets each one as soon as it is done, with its scores in the order of the assignments, and the calls that each
        metric has waited for or found.

        When the budget is used up, no more rows are started, and those that would need another call are left out.

        Raises:
            RagmetricsError: whatever stops the whole run; rows in flight are given up, finished ones have been handed over.
        """
        self._answers.on_gathering = lambda: self._grow(rows, finished)
        try:
            await self._answers.run([self._work(rows, finished)])
        finally:  # references in a circle would keep all that was scored in memory
            self._answers.on_gathering = no_op

    def _grow(self, rows: Iterator[Row], finished: Finished) -> None:
        """Start another worker, if there may be more."""
        if self._open and self._workers < self._most + min(self._answers.gathering, MOST_GATHERING):
            self._workers += 1
            self._answers.start(self._work(rows, finished))

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
                    return
                finished(row, scores, asked_by)
        finally:
            self._open = False  # the rows are at their end, or the run stops: no worker takes another one

    async def _rest(self) -> None:
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_soon(self._rested)
        await asyncio.sleep(0)

    def _rested(self) -> None:
        """The loop has gone round. All workers share one clock: with a clock each, they would hold up the loop one by one."""
        self._breath = time.monotonic()
        self._resting = False

    async def _score(self, row: Row, asked_by: list[AskedBy]) -> list[Score] | None:
        """The scores of a row; None: the budget was used up before they were complete."""
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
                    await waits.pop()
                else:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
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
        """The score of a metric that asks nothing, or its program."""
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
        """Run a program as far as it goes without waiting; what it waits for then, of which nothing is left at its end."""
        while work.score is None:
            waits = self._waits(work)
            if waits:
                work.waited = True
                return waits
            if self._allowance.limited:
                self._allowance.book(work.account, work.calls, took_turn=work.turn is not None)
            work.answered += work.calls
            self._step(work, [call.outcome for call in work.calls])
        return []

    def _waits(self, work: ActiveProgram) -> list[asyncio.Future[Any]]:
        """What a program waits for before its next step.

        Raises:
            BudgetUsedUp: one of its calls was not made.
        """
        missing = [call for call in work.calls if not self._answers.is_there(call, work.memory)]
        if missing and self._allowance.limited:
            if work.turn is None:
                work.turn = self._allowance.turn(work.account, work.calls)
            if not work.turn.done():
                return [work.turn]
        tasks: list[asyncio.Future[Any]] = [self._answers.task_of(call) for call in missing]
        if any(task.done() for task in tasks):
            raise BudgetUsedUp
        return tasks

    def _step(self, work: ActiveProgram, outcomes: Any) -> None:
        """One step of a program: to its score, or to the calls of its next round."""
        assignment = work.assignment
        try:
            requests = work.steps.send(outcomes)  # a metric looks itself at what its program yields
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
            self.waited[assignment.metric.name] += time.monotonic() - work.started

    def _recorded(self, error: Exception, assignment: Assignment, row: Row) -> Score | None:
        """The failed score of an error that concerns this score alone; None: it ends the run."""
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
