"""A run whose questions are answered in batches: passes over all rows, with waves of batches in between.

A pass scores every row as usual, from the replies in the journal. A question that is not there is written into the input file of a
batch, and its row is left out; the other metrics of the row go on to their first unanswered question, so the first questions of all
metrics are in one wave. When all batches have ended and their replies are in the journal, the next pass goes further. Nothing but
the keys of the questions in open batches is kept in between, so memory is flat, and the process may end at any time. When a pass
writes no question, the run is finished.

The first question of each form of reply is asked online, to learn which form the server accepts; the questions after it are written
in that form. `_store._batch_ledger` has the order in which everything is written.

A batch that the provider does not know is *lost*: its questions may be paid for, so they are asked again only if the user says so
(``finish_online``). The run goes on without them, and ends with an error.

Errors and unreadable replies are kept until every row has its scores: otherwise each pass would pay for these questions again.
"""

from __future__ import annotations

import asyncio
import json
import operator
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from .._engine._pending import PendingCall, as_shared
from .._engine._questions import Answers, Collected
from .._engine._reply_keys import Keys
from .._engine._schedule import Assignment, Engine, Finished
from .._engine._tasks import Tasks
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._store._batch_ledger import BYTES_PER_TOKEN, Ledger, Submission
from .._store._journal import Journal
from .._store._prices import HALF
from .._support._threads import in_own_thread
from .._values._batches import FULL, TOO_MANY, BatchApi, BatchState, LostBatch
from .._values._counts import count_of
from .._values._errors import BadReply, InvalidInput, ModelError, RagmetricsError, Setting
from .._values._requests import Ask, Message, Reply, Request, Usage
from .._values._sample import Row
from ._options import Batch

MOST_LINES, MOST_BYTES = 50_000, 200_000_000
"""The largest input file that OpenAI and Azure accept."""

LONGEST_PAUSE = 600.0
"""Seconds between two attempts to create a batch, at most, while too many tokens of the account wait in batches."""

MOST_WAVES, MOST_SILENT = 12, 2
"""The number of waves after which a run stops, and the number of waves in a row without any answer."""

NOT_KNOWN: Any = SimpleNamespace(schema=None, name="", version="")
"""The format and the prompt of a question that is read from an input file; the journal keeps only its messages."""

SUBMITTED = "submitted"
"""The first word of the reason why a run ended that does not wait for its batches."""

FINISH = Setting("finish_online", python="batch=Batch(finish_online=True)")

BREATH = 500
"""Replies that are read before other tasks have a turn."""


@dataclass
class Target:
    """A model whose questions are asked in batches.

    Attributes:
        model, api, keys: the model, its batch API, and the keys of its replies.
        called: the name of the model.
        file: the submission whose input file is being written.
        room: the most tokens that wait in batches at a time; None as long as the provider has refused none.
        pause, not_before: seconds until the next attempt after a refusal, and its time.
        checked: whether the server is known to have batches.
        usage: the usage of all replies that came in batches.
    """

    model: Any
    api: BatchApi
    keys: Keys
    called: str
    file: Submission | None = None
    room: int | None = None
    pause: float = 0.0
    not_before: float = 0.0
    checked: bool = False
    usage: Usage = field(default_factory=Usage)


def _llms(assignments: Iterable[Assignment]) -> Iterator[Any]:
    return (one.llm for assignment in assignments for one in assignment.models.leaves())


def targets_of(assignments: Iterable[Assignment]) -> dict[int, Target]:
    """Return the models whose questions are asked in batches, by the ``id`` of the model; equal models have the same target.

    Raises:
        InvalidInput: a model has no batches.
    """
    found: dict[int, Target] = {}
    for llm in _llms(assignments):
        traits = ModelTraits.of(llm)
        if llm is None or traits.instant or id(llm) in found:
            continue
        make = getattr(llm, "batches", None)
        if make is None or traits.identity is None:
            why = f"{traits.kind} has no batches: give an OpenAILLM or an OpenAIServerLLM, or leave out "
            raise InvalidInput(why, Setting("batch"))
        keys = Keys(traits.identity)
        same = (target for target in found.values() if target.keys.model == keys.model)
        found[id(llm)] = next(same, None) or Target(llm, make(), keys, traits.called)
    return found


def check_no_batches(run_dir: Path, assignments: Iterable[Assignment]) -> None:
    """Check that no batches of the models of a run are open, because their questions would be paid for again online.

    Raises:
        InvalidInput: some are open.
    """
    submissions = Ledger(run_dir).open
    identities = (ModelTraits.of(llm).identity for llm in _llms(assignments)) if submissions else ()
    digests = {Keys(identity).model for identity in identities if identity is not None}
    if still_open := sum(item.model in digests for item in submissions):
        why = f"{run_dir} has {still_open} open batch{'es' * (still_open != 1)}, whose questions would be paid for twice: give "
        raise InvalidInput(why, Setting("batch", True), " to go on with batches, or ", FINISH, " to cancel them")


def ledger_of(run_dir: Path, options: Batch | None) -> Ledger:
    """Return the ledger of a run directory.

    Raises:
        InvalidInput: the batches are to be cancelled, but there are none.
    """
    ledger = Ledger(run_dir)
    if options is not None and options.finish_online and not ledger.submissions:
        raise InvalidInput(f"{run_dir} has no batches to cancel: leave out ", FINISH, " to ask all questions online")
    return ledger


class BatchRun:
    """The batches of one run.

    Args:
        options: the settings of the user.
        targets: the models whose questions are asked in batches.
        ledger: what was sent to the providers.
        answers: answers what is asked online; its budget is charged.
        journal: keeps the replies.
        heard: a callback that gets the outcome of each question.
    """

    def __init__(
        self,
        options: Batch,
        targets: Mapping[int, Target],
        ledger: Ledger,
        *,
        answers: Answers,
        journal: Journal,
        heard: Callable[[Outcome], None],
    ) -> None:
        self._options = options
        self._targets = targets
        self._by_digest = {target.keys.model: target for target in targets.values()}
        self._ledger = ledger
        self._answers = answers
        self._journal = journal
        self._heard = heard
        self._left_out: set[int] | None = None  # the indexes of the rows that the last pass has left out
        self._asked: set[bytes] = set()  # the keys of the questions that are in a batch, or will be
        self._first_questions: dict[tuple[int, bytes], asyncio.Task[bool]] = {}  # by model and form of reply
        self._states: dict[str, BatchState] = {}  # by name of submission, as the provider last described the batch
        self._lost: set[str] = set()  # the names of the submissions whose batch the provider does not know
        self._unreadable: set[bytes] = set()  # the keys of the replies to strike
        self._has_written = self._has_ended = False  # since this pass began: a question was written, a batch has ended
        self._wave = 0
        self._problem = ""
        self._next_look = 0.0

    async def run(self, passes: Iterator[Iterator[Row]], engine: Engine, finished: Finished) -> str | None:
        """Run to the end: make a pass, send the questions that it has written, wait for their answers, and so on.

        Args:
            passes: yields all rows for each pass.
            engine: scores rows whose questions are answered.
            finished: see ``Engine.run``.

        Returns:
            Why the run ended before its last row; None if it did not.

        Raises:
            RagmetricsError: the run cannot go on, the provider does not answer, or batches are lost.
        """
        self._ledger.remove_leftovers()
        for submission, target in self._open:
            self._asked.update(key for key, _ in self._ledger.keys(submission))
            self._charge(target, _estimate(submission))
        await self._advance()
        if self._options.finish_online:
            await self._wait()
        else:
            self._answers.collector = self
        while True:
            self._begin_wave()
            self._has_written = self._has_ended = False
            self._answers.budget.used_up = None
            await self._score(next(passes), engine, finished)
            if not self._has_written and not self._has_ended and not self._open:
                if self._lost and not self._options.finish_online:
                    raise self._unfinished()
                if self._answers.budget.used_up:
                    self._ledger.forget_waves()
                return self._answers.budget.used_up
            if self._open and not self._options.wait:
                return f"{SUBMITTED}: {self.status()}; the same command continues when they are answered"
            await self._wait()

    def finish(self) -> None:
        """Forget errors and unreadable replies, now that every row has its scores: a later run asks these questions again."""
        self._journal.strike(self._unreadable)
        self._ledger.finish()

    def _begin_wave(self) -> None:
        """Count a new wave, unless batches of the last one are still open.

        Raises:
            RagmetricsError: there were too many waves, or too many without an answer.
        """
        answers = self._ledger.answers(self._by_digest)
        if self._open:
            self._wave = max(1, len(answers))
            return
        too_many = len(answers) >= MOST_WAVES or _silent(answers) >= MOST_SILENT
        if too_many and not self._options.finish_online:
            raise self._unfinished()
        self._wave = len(answers) + 1

    async def _score(self, rows: Iterator[Row], engine: Engine, finished: Finished) -> None:
        """Make one pass. What a window of rows has asked is sent before the next one is scored."""
        before, left = self._left_out, set[int]()
        self._left_out, gone = left, set(before or ())

        def once(row: Row, *results: Any) -> None:
            finished(row, *results)
            left.discard(row.index)

        def unfinished() -> Iterator[Row]:
            for row in rows:
                if before is None or row.index in before:
                    left.add(row.index)
                    yield row
                    gone.discard(row.index)

        pulled = unfinished()
        for row in pulled:
            await engine.run(chain([row], islice(pulled, self._options.window_rows - 1)), once)
            for target in self._targets.values():
                self._complete(target)
            await self._advance()
        if gone:
            raise InvalidInput(
                f"{count_of(len(gone), 'row')} left the samples during the run, row {min(gone) + 1} first: give the same "
                "samples again"
            )

    async def _wait(self) -> None:
        """Wait until all batches have ended, and keep their replies."""
        while self._open:
            self._next_look = time.monotonic() + self._options.poll
            await asyncio.sleep(self._options.poll)
            self._next_look = 0.0
            await self._advance()

    def usage_of(self, model: Any) -> Usage:
        """Return the usage of all replies to a model's questions that came in batches; of equal models, the first has all."""
        target = self._targets.get(id(model))
        return Usage() if target is None or target.model is not model else target.usage

    def waiting(self) -> tuple[float, str] | None:
        """Return for how many seconds the run only waits for batches, and for what; None during a pass."""
        seconds = self._next_look - time.monotonic()
        return (seconds, self.status()) if seconds > 0 else None

    def status(self) -> str:
        """The open batches in words, with the counts of the provider."""
        items = [item for item, _ in self._open]
        states = [self._states[item.name] for item in items if item.name in self._states]
        done, failed = sum(state.completed for state in states), sum(state.failed for state in states)
        sent = [item.at for item in items if item.state == "created"]
        return "".join((
            f"wave {self._wave}, " * bool(self._wave),
            f"{len(sent)} of {len(items)} batches created, ",
            f"{done + failed:,} of {sum(item.lines for item in items):,} lines answered",
            f", {failed:,} failed" * bool(failed),
            f", submitted {time.strftime('%H:%M %Z', time.localtime(min(sent)))}" if sent else "",
        ))  # fmt: skip

    # --- what the engine asks

    def strike(self, keys: Iterable[bytes]) -> None:
        """Remember unreadable replies; see ``Collector``."""
        self._unreadable.update(keys)

    def collect(self, calls: Sequence[PendingCall], run: Tasks) -> tuple[list[PendingCall], list[asyncio.Future[Any]]]:
        """Collect questions; see ``Collector``."""
        now: list[PendingCall] = []
        waits: list[asyncio.Future[Any]] = []
        collected = False
        for call in calls:
            target = self._targets.get(id(call.model))
            key = self._answers.key(call)
            if target is None or key is None or not isinstance(call.request, Ask) or call.task is not None:
                now.append(call)
            elif key in self._ledger.errors:
                call.outcome = as_shared(self._ledger.errors[key])
            elif key in self._asked or not self._answers.budget.allows():
                collected = True
            elif (first := self._first_question(target, call, run)).done() and first.result():
                collected = True
                self._write(target, call.request, key)
            else:
                waits.append(first)
        if collected and not waits:
            raise Collected
        return now, waits

    def _first_question(self, target: Target, call: PendingCall, run: Tasks) -> asyncio.Task[bool]:
        """Return the task that asks the first question of a form; a new one if there is none, or if it got no reply."""
        form = (id(target.model), target.keys.form(call.request.reply))  # type: ignore[union-attr]
        task = self._first_questions.get(form)
        if task is None or (task.done() and not task.result()):
            task = self._first_questions[form] = run.start(self._ask_online(target, call, run))
        return task

    async def _ask_online(self, target: Target, call: PendingCall, run: Tasks) -> bool:
        """Ask a question online; return whether there is a reply, so that the form is known."""
        if not target.checked:
            await in_own_thread(target.api.check)
            target.checked = True
        task = self._answers.task_of(call, {}, run)
        await asyncio.wait([task])
        landed = task.result()
        return landed is not None and isinstance(landed.paid, Reply | BadReply)

    def _write(self, target: Target, ask: Ask, key: bytes) -> None:
        """Write a question into the input file, and charge it to the budget."""
        line = target.api.line(ask, key.hex())
        if target.file is not None and _is_full(target.file, len(line), target.room):
            self._complete(target)
        if target.file is None:
            target.file = self._ledger.begin(target.keys.model, target.called, target.api.base_url, self._wave)
        self._ledger.add(target.file, line)
        written = target.usage.completion_tokens // max(1, target.usage.calls)
        target.file.written += written
        self._charge(target, Usage(1, len(line) // BYTES_PER_TOKEN, written))
        self._asked.add(key)
        self._has_written = True

    def _complete(self, target: Target) -> None:
        """Complete the input file of a model."""
        if target.file is not None:
            self._ledger.complete(target.file)
            target.file = None

    def _charge(self, target: Target, usage: Usage, sign: int = 1) -> None:
        self._answers.budget.charge(usage, target.model, share=HALF, sign=sign)

    # --- what is sent

    @property
    def _open(self) -> list[tuple[Submission, Target]]:
        """The submissions to which replies may still come, each with its model, if the model belongs to this run."""
        return [
            (item, self._by_digest[item.model])
            for item in self._ledger.open
            if item.model in self._by_digest and item.name not in self._lost
        ]

    async def _advance(self) -> None:
        """Bring all submissions as far as possible without waiting.

        Raises:
            RagmetricsError: a server refuses what it is sent, so that the run cannot go on.
        """
        for submission, target in self._open:
            await self._advance_one(submission, target)

    async def _advance_one(self, submission: Submission, target: Target) -> None:
        try:
            if submission.state == "created":
                await self._retrieve(submission, target)
            elif submission.state == "creating":
                await self._look_for(submission, target)
            if submission.state == "waiting":
                await self._create(submission, target)
        except LostBatch as error:
            self._problem = str(error)
            self._lost.add(submission.name)
            if self._options.finish_online:
                self._close(submission, target, "lost", message=self._problem)
        except ModelError as error:
            if not error.transient:
                raise
            self._problem = str(error)

    async def _create(self, submission: Submission, target: Target) -> None:
        """Create the batch of an input file, if there is room for it.

        Raises:
            ModelError: the batch was not created.
        """
        if self._options.finish_online:
            self._close(submission, target, "cancelled")
            return
        if target.room is not None and submission.tokens > target.room and submission.lines > 1:
            self._split(submission)
            return
        others = self._other_tokens(submission)
        is_full = target.room is not None and others and others + submission.tokens > target.room
        if is_full or time.monotonic() < target.not_before:
            return
        if not submission.file:
            submission.file = await in_own_thread(partial(target.api.upload, self._ledger.input(submission)))
        self._ledger.note(submission, "creating", mark=secrets.token_hex(8))
        try:
            state = await in_own_thread(partial(target.api.create, submission.file, submission.mark))
        except ModelError as error:  # perhaps the provider has the file no more
            self._ledger.note(submission, "waiting", file=submission.file if error.transient else "")
            raise
        if state is not None and state.code == FULL:
            self._make_room(submission, target)
        elif state is not None:
            self._ledger.note(submission, "created", batch=state.id)

    async def _look_for(self, submission: Submission, target: Target) -> None:
        """Look for a batch whose creation got no answer. After the grace it may be created again."""

        def found() -> BatchState | None:
            marks = {submission.mark, submission.file}
            same = (item for item in target.api.list() if marks & {item.mark, item.input_file})
            return next((item for item in same if item.status != "failed"), None)

        looked_at = time.time()
        try:
            state = await in_own_thread(found)
        except ModelError as error:
            if error.transient:
                raise
            if self._options.finish_online:
                self._close(submission, target, "lost", message=str(error))
                return
            raise RagmetricsError(
                f"it is not known whether a batch of {submission.lines:,} questions was created, for its creation got no answer "
                f"and the batches cannot be listed ({error}): look at them at the provider, or give ",
                FINISH,
            ) from None
        if state is not None:
            self._ledger.note(submission, "created", batch=state.id)
        elif looked_at - submission.at >= self._options.grace:
            self._ledger.note(submission, "waiting")

    def _other_tokens(self, submission: Submission) -> int:
        """The tokens of all other batches of the same model that have not ended."""
        same = (item for item, _ in self._open if item.model == submission.model and item is not submission)
        return sum(item.tokens for item in same if item.state in ("creating", "created"))

    def _make_room(self, submission: Submission, target: Target) -> None:
        """Try again later, because too many tokens wait in batches; with half as many questions if no other batch waits."""
        target.pause = min(max(self._options.poll, 2 * target.pause), LONGEST_PAUSE)
        target.not_before = time.monotonic() + target.pause
        others = self._other_tokens(submission)
        alone = not others and submission.lines > 1
        target.room = submission.tokens // 2 if alone else max(others, submission.tokens)
        self._ledger.note(submission, "waiting", batch="")

    def _split(self, submission: Submission) -> None:
        """Make two submissions of one, each with half of its questions."""
        halves: list[Submission] = []
        with self._ledger.input(submission).open("rb") as lines:
            for count in (submission.lines // 2, submission.lines):
                half = self._ledger.begin(submission.model, submission.called, submission.base_url, submission.wave)
                for line in islice(lines, count):
                    self._ledger.add(half, line)
                halves.append(half)
        halves[0].written = submission.written // 2
        halves[1].written = submission.written - halves[0].written
        self._ledger.complete(*halves, instead_of=submission)

    # --- what comes back

    async def _retrieve(self, submission: Submission, target: Target) -> None:
        """Look at a batch, and keep its replies if it has ended."""
        api = target.api
        state = self._states[submission.name] = await in_own_thread(partial(api.retrieve, submission.batch))
        if not state.is_final:
            if self._options.finish_online and state.status != "cancelling":
                await in_own_thread(partial(api.cancel, submission.batch))
        elif state.code == FULL:
            self._make_room(submission, target)
        elif state.code == TOO_MANY and submission.lines > 1:
            self._split(submission)
        else:
            if state.status == "completed":
                target.pause = target.not_before = 0.0
            await self._keep_replies(submission, target, state)

    async def _keep_replies(self, submission: Submission, target: Target, state: BatchState) -> None:
        """Keep all replies of a batch that has ended."""
        starts = dict(self._ledger.keys(submission))  # of the questions without an answer
        output, usage, fatal = self._ledger.output(submission), Usage(), None
        for file in state.files:
            await in_own_thread(partial(target.api.download, file, output))
            with output.open("rb") as lines, self._ledger.input(submission).open("rb") as questions:
                for number, (key, line) in enumerate(_lines(lines)):
                    if number % BREATH == 0:
                        await asyncio.sleep(0)
                    if key not in starts:  # it is unknown, or comes twice
                        continue
                    outcome = target.api.read(line)
                    if isinstance(outcome, Reply):
                        self._journal.keep(key, outcome, _question(questions, starts[key]))
                    elif outcome.transient or outcome.fatal:
                        fatal = outcome if outcome.fatal else fatal
                        continue
                    else:
                        self._ledger.errors[key] = outcome
                    self._heard(outcome)
                    del starts[key]
                    usage += outcome.usage or Usage()
            output.unlink()
        self._journal.sync()  # before the ledger says on the disk that the batch is done
        if state.status == "failed":
            self._problem = f"{state.code}: {state.message}"
        answered = submission.lines - len(starts)
        self._charge(target, usage)
        target.usage += usage
        paid = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        self._close(submission, target, state.status, message=state.message, answered=answered, **paid)
        if fatal is not None:
            raise fatal

    def _close(self, submission: Submission, target: Target, state: str, **changes: Any) -> None:
        """Note the end of a submission. Its questions without an answer are asked again."""
        self._has_ended = True
        self._asked.difference_update(key for key, _ in self._ledger.keys(submission))
        self._charge(target, _estimate(submission), -1)
        self._ledger.note(submission, state, **changes)

    def _unfinished(self) -> RagmetricsError:
        """Return the error of a run that does not go on. The user may run it again, and waves are then counted anew."""
        answers = self._ledger.answers(self._by_digest)
        self._ledger.forget_waves()
        silent = _silent(answers)
        waves = f" after {count_of(len(answers), 'wave')} of batches" if answers else ""
        unanswered = f", the last {silent} of them without any answer" if silent > 1 else ""
        problem = f" (the last problem: {self._problem})" if self._problem else ""
        again = "" if self._lost else "run it again to go on with batches, or "
        return RagmetricsError(
            f"questions are left{waves}{unanswered}{problem}: {again}ask the rest online with ", FINISH
        )


def _silent(answers: Sequence[int]) -> int:
    """Return how many of the last waves have no answer."""
    return len(list(takewhile(operator.not_, reversed(answers))))


def _estimate(submission: Submission) -> Usage:
    """Return the estimated usage of all questions of a submission."""
    return Usage(submission.lines, submission.tokens, submission.written)


def _is_full(submission: Submission, size: int, room: int | None) -> bool:
    """Whether a line of this size belongs into another file."""
    tokens = submission.tokens + size // BYTES_PER_TOKEN
    too_large = submission.size + size > MOST_BYTES or (room is not None and tokens > room)
    return submission.lines >= MOST_LINES or too_large


def _lines(file: IO[bytes]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the readable lines of a file of the provider, each with the key of its question."""
    for text in file:
        try:
            line = json.loads(text)
            key = bytes.fromhex(line["custom_id"])
        except (ValueError, TypeError, LookupError, RecursionError):
            continue  # the question is asked again
        yield key, line


def _question(file: IO[bytes], start: int) -> Request:
    """Return a question of an input file, with its messages only."""
    file.seek(start)
    messages = json.loads(file.readline())["body"]["messages"]
    sent = tuple(Message(message["role"], message["content"]) for message in messages)
    return Ask(sent, NOT_KNOWN, NOT_KNOWN, {})
