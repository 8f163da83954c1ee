"""A run whose questions are answered in batches: passes over all rows, with waves of batches in between.

A pass scores every row as usual, from the replies in the journal. A question that is not there is collected for a batch, and its
row is left out; the other metrics of the row go on to their first unanswered question, so the first questions of all metrics are in
one wave. When all batches have ended and their replies are in the journal, the next pass goes further. Nothing but the keys of the
questions in open batches is kept in between, so memory is flat, and the process may end at any time. When a pass collects nothing,
the run is finished.

The first question of each form of reply is asked online, to learn which form the server accepts; the questions after it are written
in that form. `_store._batch_ledger` has the order in which everything is written.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from .._engine import Answers, Assignment, Collected, Keys, PendingCall, ReplyStore, Tasks, as_shared
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._store._batch_ledger import InputFile, Ledger, Submission
from .._store._prices import HALF
from .._support._threads import in_own_thread
from .._values._batches import FULL, BatchApi, BatchState
from .._values._errors import BadReply, InvalidInput, ModelError, RagmetricsError, Setting
from .._values._requests import Ask, Message, Reply, Request, Usage
from .._values._sample import Row
from ._options import Batch

MOST_LINES, MOST_BYTES = 50_000, 200_000_000
"""The largest input file that OpenAI and Azure accept."""

BYTES_PER_TOKEN = 4
LONGEST_PAUSE = 600.0
"""Seconds between two attempts to create a batch, at most, while too many tokens of the account wait in batches."""

MOST_ROUNDS, MOST_SILENT = 12, 2
"""The number of waves after which a run stops, and the number of waves in a row without any answer."""

NOT_KNOWN: Any = SimpleNamespace(schema=None, name="", version="")
"""The format and the prompt of a question that is read from an input file; the journal keeps only its messages."""

SUBMITTED = "submitted"
"""The first word of the reason why a run ended that does not wait for its batches."""

FINISH = Setting("finish_online", python="batch=Batch(finish_online=True)")

BREATH = 500
"""Replies that are read before other tasks have a turn."""


class HeldStrikes:
    """The journal of a run, in which unreadable replies are struck only when the run is finished.

    Otherwise a process that ends before that would pay for them again.
    """

    def __init__(self, journal: ReplyStore) -> None:
        self._journal = journal
        self.find, self.keep = journal.find, journal.keep
        self._struck: set[bytes] = set()

    def strike(self, keys: Iterable[bytes]) -> None:
        """Remember the keys."""
        self._struck.update(keys)

    def finish(self) -> None:
        """Strike the replies."""
        self._journal.strike(self._struck)

    def close(self) -> None:
        """Do nothing: the owner of the journal closes it."""


@dataclass
class Target:
    """A model whose questions are asked in batches.

    Attributes:
        model, api, keys: the model, its batch API, and the keys of its replies.
        called: the name of the model.
        file: the input file that is being written.
        charged: what the questions of this file were charged to the budget.
        room: the most tokens that wait in batches at a time; None as long as the provider has refused none.
        pause, not_before: seconds until the next attempt after a refusal, and its time.
        checked: whether the server is known to have batches.
        usage: the usage of all replies that were collected.
    """

    model: Any
    api: BatchApi
    keys: Keys
    called: str
    file: InputFile | None = None
    charged: dict[str, float] = field(default_factory=dict)
    room: int | None = None
    pause: float = 0.0
    not_before: float = 0.0
    checked: bool = False
    usage: Usage = field(default_factory=Usage)


def targets_of(assignments: Iterable[Assignment]) -> dict[int, Target]:
    """Return the models whose questions are asked in batches, by the ``id`` of the model.

    Raises:
        InvalidInput: a model has no batches.
    """
    found: dict[int, Target] = {}
    for llm in (one.llm for assignment in assignments for one in assignment.models.leaves()):
        traits = ModelTraits.of(llm)
        if llm is None or traits.instant or id(llm) in found:
            continue
        make = getattr(llm, "batches", None)
        if make is None or traits.identity is None:
            raise InvalidInput(
                f"{traits.kind} has no batches: give an OpenAILLM or an OpenAIServerLLM, or leave out ",
                Setting("batch"),
            )
        found[id(llm)] = Target(llm, make(), Keys(traits.identity), traits.called)
    return found


def check_no_batches(run_dir: Path) -> None:
    """Check that no batches of a run are open, because their questions would be paid for again online.

    Raises:
        InvalidInput: some are open.
    """
    if still_open := len(Ledger(run_dir).open):
        raise InvalidInput(
            f"{run_dir} has {still_open} open batch{'es' * (still_open != 1)}, whose questions would be paid for twice: give ",
            Setting("batch", True),
            " to go on with batches, or ",
            FINISH,
            " to cancel them",
        )


class BatchRun:
    """The batches of one run.

    Args:
        options: the settings of the user.
        targets: the models whose questions are asked in batches.
        ledger: what was sent to the providers.
        answers: answers what is asked online; its budget is charged.
        journal: keeps the replies.
        heard: a callback that gets the outcome of each question.

    Attributes:
        finished: for each row, whether its scores are kept, so that it is not scored again.
    """

    def __init__(
        self,
        options: Batch,
        targets: Mapping[int, Target],
        ledger: Ledger,
        *,
        answers: Answers,
        journal: ReplyStore,
        heard: Callable[[Outcome], None],
    ) -> None:
        self._options = options
        self._targets = targets
        self._by_digest = {target.keys.model: target for target in targets.values()}
        self._ledger = ledger
        self._answers = answers
        self._journal = journal
        self._heard = heard
        self.finished: set[int] = set()
        self._asked: set[bytes] = set()  # the keys of the questions that are in a batch, or will be
        self._known: set[tuple[int, bytes]] = set()  # the forms of reply of which the server is known to accept one
        self._learning: dict[tuple[int, bytes], asyncio.Future[None]] = {}
        self._sending: asyncio.Future[None] | None = None
        self._charged: dict[str, dict[str, float]] = {}
        self._uploaded_again: set[str] = set()
        self._collected = self._answered = 0
        self._was_full = False
        self._wave = 0
        self._problem = ""
        self._next = 0.0

    async def run(self, score: Callable[[], Awaitable[None]]) -> str | None:
        """Run to the end. ``score`` makes one pass. Returns why the run ended before its last row, or None.

        Raises:
            RagmetricsError: the run cannot go on, or the provider does not answer.
        """
        try:
            return await self._run(score)
        finally:
            if self._sending is not None:
                self._sending.cancel()
            for target in self._targets.values():
                if target.file is not None:  # it was not complete, so its questions will be collected again
                    target.file.close()

    async def _run(self, score: Callable[[], Awaitable[None]]) -> str | None:
        """Repeat until no question is left: make a pass, submit the questions that it collected, wait for their answers."""
        self._take_up()
        if self._options.finish_online:
            for submission in self._open:
                await self._withdraw(submission, self._by_digest[submission.model])
        await self._step()
        if self._options.finish_online:
            if self._open:
                await self._settle()
            await score()
            return self._answers.budget.used_up
        self._answers.collector = self
        rounds = silent = 0
        while True:
            self._collected = self._answered = 0
            self._was_full = False
            await score()
            for target in self._targets.values():
                self._seal(target)
            await self._sent()
            if not self._collected and not self._open:
                return self._answers.budget.used_up
            if not self._options.wait:
                return f"{SUBMITTED}: {self.status()}; the same command continues when they are answered"
            self._wave += 1
            await self._settle()
            rounds += not self._was_full
            silent = 0 if self._answered or self._was_full else silent + 1
            if rounds >= MOST_ROUNDS or silent >= MOST_SILENT:
                raise self._stopped(rounds, silent)

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of a pass that have no scores yet, and send what was collected after every window of rows."""
        number = 0
        for row in rows:
            if row.index in self.finished:
                continue
            yield row
            number += 1
            if number % self._options.window_rows == 0:
                for target in self._targets.values():
                    self._seal(target)

    def usage_of(self, model: Any) -> Usage:
        """Return the usage of all replies to a model's questions that came in batches."""
        target = self._targets.get(id(model))
        return Usage() if target is None else target.usage

    def waiting(self) -> tuple[float, str] | None:
        """Return for how many seconds the run only waits for batches, and for what; None during a pass."""
        seconds = self._next - time.monotonic()
        return (seconds, self.status()) if seconds > 0 else None

    def status(self) -> str:
        """The open batches in words."""
        lines = sum(item.lines for item in self._open)
        done = sum(item.seen.completed + item.seen.failed for item in self._open if item.seen)
        sent = [item.at for item in self._open if item.state == "created"]
        since = f", submitted {time.strftime('%H:%M', time.localtime(min(sent)))}" if sent else ""
        wave = f"wave {self._wave}, " if self._wave else ""
        return f"{wave}{len(sent)} of {len(self._open)} batches created, {done:,} of {lines:,} lines answered{since}"

    # --- what the engine asks

    def sort(self, calls: Sequence[PendingCall], run: Tasks) -> tuple[list[PendingCall], list[asyncio.Future[Any]]]:
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
            elif key in self._asked:
                collected = True
            elif self._answers.budget.over is not None:
                collected = True
                self._answers.budget.take()  # notes that the budget is used up
            elif (form := (id(call.model), target.keys.form(call.request.reply))) in self._known:
                collected = True
                self._collect(target, call.request, key)
            else:
                waits.append(self._learnt(form, call, run))
        if collected and not waits:
            raise Collected
        return now, waits

    def _learnt(self, form: tuple[int, bytes], call: PendingCall, run: Tasks) -> asyncio.Future[None]:
        """Return the task that asks the first question of a form online."""
        task = self._learning.get(form)
        if task is None or task.done():
            task = self._learning[form] = run.start(self._learn(form, call, run))
        return task

    async def _learn(self, form: tuple[int, bytes], call: PendingCall, run: Tasks) -> None:
        target = self._targets[form[0]]
        if not target.checked:
            await in_own_thread(target.api.check)
            target.checked = True
        task = self._answers.task_of(call, run)
        await asyncio.wait([task])
        landed = task.result()
        if landed is not None and isinstance(landed.paid, Reply | BadReply):
            self._known.add(form)

    def _collect(self, target: Target, ask: Ask, key: bytes) -> None:
        """Write a question into the input file, and charge it to the budget."""
        budget = self._answers.budget
        if not budget.take():
            return
        line = target.api.line(ask, key.hex())
        tokens = len(line) // BYTES_PER_TOKEN
        file = target.file
        if file is not None and _is_full(file.submission, len(line), target.room):
            self._seal(target)
        if target.file is None:
            target.file = self._ledger.begin(target.keys.model, target.called, target.api.base_url)
        target.file.add(line, tokens)
        written = target.usage.completion_tokens // max(1, target.usage.calls)
        charged = {**budget.charge(Usage(0, tokens, written), target.model, HALF), "calls": 1.0}
        for kind, amount in charged.items():
            target.charged[kind] = target.charged.get(kind, 0.0) + amount
        self._asked.add(key)
        self._collected += 1

    # --- what is sent

    @property
    def _open(self) -> list[Submission]:
        """The submissions to which replies may still come, of the models of this run."""
        return [item for item in self._ledger.open if item.model in self._by_digest]

    def _take_up(self) -> None:
        """Continue with the submissions of earlier processes."""
        for submission in self._open:
            self._asked.update(key for key, _ in self._ledger.keys(submission))

    def _seal(self, target: Target) -> None:
        """Complete the input file of a model, and start to send it."""
        if target.file is None:
            return
        submission = self._ledger.submit(target.file)
        self._charged[submission.name], target.charged = target.charged, {}
        target.file = None
        if self._sending is None or (self._sending.done() and not self._sending.exception()):
            self._sending = asyncio.ensure_future(self._send())

    async def _sent(self) -> None:
        if self._sending is not None:
            await self._sending
            self._sending = None
        await self._send()

    async def _send(self) -> None:
        for submission in self._open:
            target = self._by_digest[submission.model]
            waits = time.monotonic() < target.not_before or not self._fits(submission, target)
            if submission.state != "created" and not waits:
                try:
                    await self._advance(submission, target)
                except ModelError as error:
                    self._retry_later(target, error)

    async def _advance(self, submission: Submission, target: Target) -> None:
        """Bring a submission as far as possible towards a batch.

        Raises:
            ModelError: the server did not answer, or refuses the input.
        """
        note, api = self._ledger.note, target.api
        if submission.state == "creating":
            await self._look(submission, api)
            if self._options.finish_online:
                await self._withdraw(submission, target)
                return
        if submission.state == "intent":
            path = self._ledger.input(submission)
            note(submission, "uploaded", file=await in_own_thread(partial(api.upload, path)))
        if submission.state != "uploaded":
            return
        mark = secrets.token_hex(8)
        note(submission, "creating", mark=mark)
        try:
            state = await in_own_thread(partial(api.create, submission.file, mark))
        except ModelError as error:
            again = not error.transient and submission.name not in self._uploaded_again
            note(submission, "intent" if again else "uploaded")
            if again:  # perhaps the provider has the file no more
                self._uploaded_again.add(submission.name)
                return
            raise
        if state is not None and state.code == FULL:
            self._make_room(submission, target)
        elif state is not None:
            note(submission, "created", batch=state.id)

    async def _look(self, submission: Submission, api: BatchApi) -> None:
        """Look for a batch whose creation got no answer. After the grace it may be created again."""

        def found() -> BatchState | None:
            marks = {submission.mark, submission.file}
            same = (item for item in api.list() if marks & {item.mark, item.input_file})
            return next((item for item in same if item.status != "failed"), None)

        looked_at = time.time()
        try:
            state = await in_own_thread(found)
        except ModelError as error:
            if error.transient:
                raise
            raise RagmetricsError(
                f"it is not known whether a batch of {submission.lines:,} questions was created, for its creation got no answer "
                f"and the batches cannot be listed ({error}): look at them at the provider, or give ",
                FINISH,
            ) from None
        if state is not None:
            self._ledger.note(submission, "created", batch=state.id)
        elif looked_at - submission.at >= self._options.grace:
            self._ledger.note(submission, "uploaded")

    def _retry_later(self, target: Target, error: ModelError) -> None:
        """Note when a server is called again after an error.

        Raises:
            ModelError: the error is not transient.
        """
        if not error.transient:
            raise error
        self._problem = str(error)
        target.pause = min(max(self._options.poll, 2 * target.pause), LONGEST_PAUSE)
        target.not_before = time.monotonic() + target.pause

    def _others(self, submission: Submission) -> int:
        """The tokens of all other batches of the same model."""
        same = (item for item in self._open if item.model == submission.model and item is not submission)
        return sum(item.tokens for item in same if item.state in ("creating", "created"))

    def _fits(self, submission: Submission, target: Target) -> bool:
        others = self._others(submission)
        return target.room is None or not others or others + submission.tokens <= target.room

    def _make_room(self, submission: Submission, target: Target) -> None:
        """Try again later, because too many tokens wait in batches; with half as many questions if no other batch waits."""
        self._was_full = True
        self._retry_later(target, ModelError("too many tokens wait in batches", transient=True))
        others = self._others(submission)
        if others or submission.lines == 1:
            target.room = max(others, submission.tokens)
            self._ledger.note(submission, "uploaded", batch="")
            return
        target.room = submission.tokens // 2
        for item in self._open:
            sent = item.state in ("creating", "created") and item is not submission
            if item.model == submission.model and item.tokens > target.room and not sent:
                self._close(item, "failed", FULL)

    # --- what comes back

    async def _step(self) -> None:
        """Send what can be sent, and collect what is answered."""
        await self._send()
        for submission in self._open:
            if submission.state == "created":
                target = self._by_digest[submission.model]
                try:
                    await self._poll(submission, target)
                except ModelError as error:
                    if not error.transient:
                        raise
                    self._problem = str(error)

    async def _settle(self) -> None:
        """Wait until all batches have ended, and collect their replies."""
        while True:
            self._next = time.monotonic() + self._options.poll
            await asyncio.sleep(self._options.poll)
            self._next = 0.0
            await self._step()
            if not self._open:
                return

    async def _withdraw(self, submission: Submission, target: Target) -> None:
        """Cancel a batch, which keeps what it has answered. What was not sent is forgotten."""
        if submission.state == "created":
            await in_own_thread(partial(target.api.cancel, submission.batch))
        elif submission.state != "creating":
            self._close(submission, "cancelled", "")

    async def _poll(self, submission: Submission, target: Target) -> None:
        state = submission.seen = await in_own_thread(partial(target.api.retrieve, submission.batch))
        if state.status == "completed":
            target.pause = target.not_before = 0.0
        if state.code == FULL:
            self._make_room(submission, target)
        elif state.is_final:
            await self._collect_replies(submission, target, state)

    async def _collect_replies(self, submission: Submission, target: Target, state: BatchState) -> None:
        """Keep all replies of a batch that has ended."""
        starts = dict(self._ledger.keys(submission))
        output, usage, fatal = self._ledger.output(submission), Usage(), None
        answered = 0
        for file in state.files:
            await in_own_thread(partial(target.api.download, file, output))
            with output.open("rb") as lines, self._ledger.input(submission).open("rb") as questions:
                for number, (key, line) in enumerate(_lines(lines)):
                    if number % BREATH == 0:
                        await asyncio.sleep(0)
                    start = starts.get(key)
                    if start is None or start < 0:
                        continue
                    outcome = target.api.read(line)
                    if isinstance(outcome, ModelError) and outcome.transient:
                        continue
                    if isinstance(outcome, Reply):
                        self._journal.keep(key, outcome, _question(questions, start))
                    elif outcome.fatal:
                        fatal = outcome
                        continue
                    else:
                        self._ledger.note_error(key, outcome)
                    self._heard(outcome)
                    starts[key] = -1  # it may come twice
                    usage += outcome.usage or Usage()
                    answered += 1
            output.unlink()
        if state.status == "failed":
            self._problem = f"{state.code}: {state.message}"
        target.usage += usage
        self._answered += answered
        if submission.name in self._charged:  # other batches were charged to the budget of an earlier process
            self._answers.budget.charge(usage, target.model, HALF)
        self._close(
            submission,
            "collected" if state.status == "completed" else state.status,
            state.message,
            answered=answered,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
        )
        if fatal is not None:
            raise fatal

    def _close(self, submission: Submission, state: str, message: str, **changes: Any) -> None:
        """Note the end of a submission. Its questions without a reply are asked again."""
        self._asked.difference_update([key for key, _ in self._ledger.keys(submission)])
        self._answers.budget.add(self._charged.pop(submission.name, {}), -1)
        self._ledger.note(submission, state, message=message, **changes)

    def _stopped(self, rounds: int, silent: int) -> RagmetricsError:
        said = f" (the last problem: {self._problem})" if self._problem else ""
        why = (
            f"the last {silent} waves of batches answered nothing"
            if silent >= MOST_SILENT
            else f"{rounds} waves of batches"
        )
        return RagmetricsError(
            f"{why}, and questions are left{said}: run it again to go on with batches, or ask the rest online with ",
            FINISH,
        )


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
