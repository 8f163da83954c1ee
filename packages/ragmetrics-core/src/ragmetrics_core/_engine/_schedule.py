"""Which row is scored when. Workers, at most as many as calls may be in flight, pull rows from one shared iterator and score them.

Each worker has one row, and every unfinished row has at least one call in flight or about to be made, so this many workers keep
all the models busy, and no more rows than that are ever pulled ahead. Where there is a budget, ``Allowance`` decides which of
them may spend what is left. (Rows that wait for a batch of embeddings hold no call, so more may do so: the batches would stay
small otherwise.) One worker starts, and each that finds a row starts the next, so few rows never cost many tasks. A row whose
metrics ask nothing (rankings), whose answers are all in the journal, or which asks only models that compute in place, is scored
without a single task switch; the worker then gives way to others by the clock.

The metrics of a row wait for the same few answers, so there is a task for each call and none for each metric (``RowCalls``).

Two kinds of trouble are kept apart by where they arise. What a *program* raises (a missing field, an impossible value, a model
that could not answer) concerns one score and is recorded there. What arises *outside* of a program (no model is set, an
optional package is missing, a refused key, a bug) concerns the whole run and stops it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._kernel._drive import Models
from .._kernel._inputs import Reading
from .._kernel._metric import Metric
from .._kernel._steps import Outcome, Steps
from .._support._blocking import all_of
from .._values._errors import BadReply, InvalidInput, MissingInput, ModelError, RagmetricsError
from .._values._requests import Request
from .._values._sample import Row
from .._values._score import Score, not_asked
from ._batches import MOST_REQUESTS
from ._budget import Allowance, RowAccount
from ._pending import Key, PendingCall, RowMemory, as_shared
from ._questions import Answers, no_op

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


class TaskGroup:
    """A group of tasks that ends when all of them have, or with the first error; none of them outlives it.

    Args:
        stopping: called before the tasks that are left are cancelled.
    """

    def __init__(self, stopping: Callable[[], None]) -> None:
        self._stopping = stopping
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, work: Coroutine[None, None, None]) -> None:
        """Start a task; tasks of the group may do so too."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def join(self) -> None:
        """Wait for all; the first error, or a cancellation, ends the others before it is raised."""
        try:
            await self._over
        finally:
            self._stopping()
            left = list(self._tasks)
            for task in left:
                task.cancel()
            if left:
                await asyncio.gather(*left, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._over.done():
            return
        if task.cancelled():
            self._over.cancel()
        elif error is not None:
            self._over.set_exception(error)
        elif not self._tasks:
            self._over.set_result(None)


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
        account: what the row has spent.
        requests: all that the program has asked so far.
        waiting_for: the calls of its last round.
        answered: those of the rounds before, so in the order of ``requests``.
    """

    assignment: Assignment
    row: Row
    memory: RowMemory
    account: RowAccount
    program: Steps[Score]
    started: float
    requests: list[Request] = field(default_factory=list)
    waiting_for: list[PendingCall] = field(default_factory=list)
    answered: list[PendingCall] = field(default_factory=list)


AskedBy = tuple[Assignment, list[Request], list[PendingCall]]
Finished = Callable[[Row, list[Score], list[AskedBy]], None]


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
        self._workers = 0
        self._raising = raising
        self._breath = time.monotonic()
        self._resting = False
        self._open = True
        self._hire: Callable[[], None] = no_op

    async def run(self, rows: Iterator[Row], finished: Finished) -> None:
        """Score all rows.

        ``finished`` gets each one as soon as it is done, with its scores in the order of the assignments, and what was asked for
        them (``RowMemory.asked_by``).

        When the budget is used up, no more rows are started, and those that would need another call are left out.

        Raises:
            RagmetricsError: whatever stops the whole run; rows in flight are given up, finished ones have been handed over.
        """
        group = TaskGroup(self._answers.close)
        self._hire = lambda: group.add(self._work(rows, finished))
        self._answers.on_gathering = self._grow
        try:
            self._grow()
            await group.join()
        finally:  # references in a circle would keep all that was scored in memory
            self._hire = self._answers.on_gathering = no_op

    def _grow(self) -> None:
        """Start another worker, if there may be more."""
        if self._open and self._workers < self._most + min(self._answers.gathering, MOST_GATHERING):
            self._workers += 1
            self._hire()

    async def _work(self, rows: Iterator[Row], finished: Finished) -> None:
        new = True
        try:
            while self._open:
                if time.monotonic() - self._breath > BREATH:
                    await self._rest()
                elif (row := next(rows, None)) is not None:
                    if new:
                        self._grow()
                    new = False
                    memory = RowMemory()
                    scores = await self._score_within_budget(row, memory)
                    if scores is None:
                        return
                    finished(row, scores, memory.asked_by)
                else:
                    return
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

    async def _score_within_budget(self, row: Row, memory: RowMemory) -> list[Score] | None:
        """The scores of a row; None: the budget was used up before they were complete."""
        account = self._allowance.open()
        scores = None
        try:
            scores = await self._score(row, memory, account)
        finally:
            self._allowance.close(account, complete=scores is not None)
        return scores

    async def _score(self, row: Row, memory: RowMemory, account: RowAccount) -> list[Score] | None:
        if row.problem is not None:
            return [self._failed(assignment, row.problem) for assignment in self._assignments]
        reading = Reading(row.sample)
        states = [self._start(assignment, row, reading, memory, account) for assignment in self._assignments]
        ready = [state for state in states if isinstance(state, Score)]
        if len(ready) == len(states):
            return ready
        waiting = [state for state in states if isinstance(state, ActiveProgram)]
        if len(waiting) == 1:
            late = iter([await self._finish(work) for work in waiting])
        elif self._allowance.limited:  # where every round of every program waits for its turn
            late = iter(await all_of(map(self._finish, waiting)))
        else:
            late = iter(await self._finish_together(waiting, memory))
        scores = [next(late) if isinstance(state, ActiveProgram) else state for state in states]
        complete = [score for score in scores if score is not None]
        return complete if len(complete) == len(scores) else None

    def _start(
        self, assignment: Assignment, row: Row, reading: Reading, memory: RowMemory, account: RowAccount
    ) -> Score | ActiveProgram:
        """Run a metric as far as it goes without waiting: to its score, or to requests that take time."""
        metric = assignment.metric
        if not row.is_asked(metric.name):
            return not_asked(metric.name, metric.scale)
        try:
            program = metric.begin(reading)
        except ModelError as error:
            return self._failed(assignment, error)
        except (MissingInput, InvalidInput) as error:
            return self._failed(assignment, row.locate(error))
        except Exception as bug:
            _note(bug, assignment, row)
            raise
        if isinstance(program, Score):
            return program
        work = ActiveProgram(assignment, row, memory, account, program, time.monotonic())
        memory.asked_by.append((assignment, work.requests, work.answered))
        state = self._advance(work, None)
        while not isinstance(state, Score):
            self._resolve(work, state)
            outcomes = self._answers.now(work.waiting_for, memory)
            if outcomes is None:
                return work
            self._book(work, outcomes, took_turn=False)
            state = self._advance(work, outcomes)
        return state

    async def _finish(self, work: ActiveProgram) -> Score | None:
        while True:
            if self._allowance.limited:
                await self._allowance.turn(work.account, work.waiting_for)
            outcomes = await self._answers.later(work.waiting_for, work.memory)
            if outcomes is None:
                work.program.close()
                return None
            state = self._proceed(work, outcomes)
            if isinstance(state, Score):
                return state

    async def _finish_together(self, works: Sequence[ActiveProgram], memory: RowMemory) -> list[Score]:
        """The scores of programs of one row; each goes on as soon as all that it has asked has landed."""
        calls = RowCalls(self._answers, memory)
        try:
            states: list[Score | Found] = [calls.ask(work.waiting_for) for work in works]
            while True:
                pairs = zip(works, states, strict=True)
                states = [
                    state if isinstance(state, Score) else self._go_on(work, state, calls) for work, state in pairs
                ]
                scores = [state for state in states if isinstance(state, Score)]
                if len(scores) == len(works):
                    return scores
                await calls.landing()
        finally:
            await calls.close()

    def _go_on(self, work: ActiveProgram, found: Found, calls: RowCalls) -> Score | Found:
        """Run a program as far as it goes with what has landed: to its score, or to a round of which something is missing."""
        while True:
            outcomes = [outcome for outcome in found if outcome is not None]
            if len(outcomes) < len(found):
                return found
            state = self._proceed(work, outcomes)
            if isinstance(state, Score):
                return state
            found = calls.ask(work.waiting_for)

    def _proceed(self, work: ActiveProgram, outcomes: list[Outcome]) -> Score | tuple[Request, ...]:
        """One step of a program that has waited: its score, or the next round, whose calls it then waits for."""
        self._book(work, outcomes, took_turn=True)
        state = self._advance(work, outcomes)
        if isinstance(state, Score):
            self.waited[work.assignment.metric.name] += time.monotonic() - work.started
        else:
            self._resolve(work, state)
        return state

    def _resolve(self, work: ActiveProgram, requests: tuple[Request, ...]) -> None:
        assignment = work.assignment
        work.requests += requests
        work.waiting_for = self._answers.resolve(assignment.models, requests, assignment.repeat, work.memory)

    def _book(self, work: ActiveProgram, outcomes: list[Outcome], *, took_turn: bool) -> None:
        work.answered += work.waiting_for
        if self._allowance.limited:
            self._allowance.book(work.account, work.waiting_for, outcomes, took_turn=took_turn)

    def _advance(self, work: ActiveProgram, outcomes: Any) -> Score | tuple[Request, ...]:
        """One step of a program: its score, or the next round of requests."""
        try:
            return work.program.send(outcomes)  # a metric looks itself at what its program yields
        except StopIteration as done:
            score: Score = done.value
            if unread := unread_replies(score.held):
                self._answers.strike(unread, work.answered, work.memory)
            return score
        except ModelError as error:
            if isinstance(error, BadReply):
                self._answers.strike(error.raw, work.answered, work.memory)
            return self._failed(work.assignment, error)
        except (MissingInput, InvalidInput) as error:
            return self._failed(work.assignment, work.row.locate(error))
        except Exception as bug:
            _note(bug, work.assignment, work.row)
            raise

    def _failed(self, assignment: Assignment, error: RagmetricsError) -> Score:
        if self._raising:
            raise error
        score = Score.failed(error)
        return score.made_by(assignment.metric.name, assignment.metric.scale, score.usage, {})


def _note(bug: Exception, assignment: Assignment, row: Row) -> None:
    """Say below the traceback of a bug where it was met (from Python 3.11): it ends the run, and must be found."""
    add_note = getattr(bug, "add_note", None)
    if add_note is not None:
        add_note(f"while {assignment.metric.name} scored {row.place}")
