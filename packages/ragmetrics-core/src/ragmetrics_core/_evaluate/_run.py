"""One run over many samples: joins its parts and keeps what is finished.

``_read`` delivers the rows, ``_engine`` scores many of them at a time, a ``Keeper`` keeps finished rows, and the result is an
``Evaluation``. Every mistake that can be known in advance is reported before the first row is read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

from .._engine._calls import ModelCaller
from .._engine._questions import Answers
from .._engine._schedule import AskedBy, Engine, Finished
from .._read._columns import Columns
from .._read._input_file import STDIN
from .._read._rows import OpenRows, open_rows, sampled
from .._show._progress import Bar, progress_bar, watching
from .._store._loaded_run import LoadedRun
from .._store._lock import only_writer
from .._store._prices import ModelUsage
from .._store._records import Records
from .._store._run_dir import InMemory, Keeper, RunAccount, RunDir
from .._store._run_settings import RunSettings
from .._support._blocking import run_blocking
from .._support._secrets import without_secrets
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._requests import Usage
from .._values._sample import Row
from .._values._score import Score
from ._batch_run import BatchRun, check_no_batches, ledger_of, targets_of
from ._estimate import Estimate
from ._evaluation import Evaluation
from ._looks import Looks
from ._options import RunOptions, ScorerOptions, options_of
from ._plan import Planner
from ._scoring import Scoring
from ._sinks import Outboxes

FIRST_ROWS = 1000
"""The number of rows that are read ahead if something is checked against them."""


class Run:
    """One run: its task, and what it has finished so far.

    Args:
        samples: the rows, in any form that ``evaluate`` takes.
        scoring: the metrics with their models.
        options: the arguments of ``evaluate`` about rows and files.
        check_first: called as ``check_first(rows, more=...)`` with the first rows before any call; raises if they show a mistake.
        write: the form in which the decision on gates names settings.

    Raises:
        InvalidInput: the source of the rows cannot be used.
    """

    def __init__(
        self,
        samples: Any,
        scoring: Scoring,
        options: RunOptions,
        check_first: Callable[..., None] | None = None,
        write: Callable[[Setting], str] = str,
    ) -> None:
        self._scoring = scoring
        self._options = options
        self._samples = samples
        if options.batches is not None:  # every pass reads the samples again
            if isinstance(samples, Iterator):
                self._samples = list(samples)
            elif str(samples) == STDIN:
                why = " reads the rows several times, but standard input can be read only once: write them into a file"
                raise InvalidInput(Setting("batch"), why)
        self._columns = Columns(options.columns, options.separator)
        opened = self._opened(self._columns)
        opened = replace(opened, rows=scoring.with_conditions(opened.rows))
        self._looks: Looks | None = None
        if options.stopping is not None:
            if isinstance(samples, Iterator):
                raise InvalidInput(
                    Setting("stop"), " draws an order of all rows: give a list or a file, not an iterator"
                )
            looks = Looks(list(opened.rows), options.parsed_gates, options.stopping, options.seed, write)
            self._looks, opened = looks, replace(opened, rows=iter(looks.rows))
            looks.check(self._settings)
        self._rows = opened if check_first is None else replace(opened, rows=_checked(opened.rows, check_first))
        self._keeper: Keeper = InMemory()
        self._answers: Answers | None = None
        self._batches: BatchRun | None = None
        self._partial: Evaluation | None = None
        self._waited: Mapping[str, float] = {}
        self._started = time.perf_counter()

    @classmethod
    def of(cls, arguments: Mapping[str, Any], **others: Callable[..., Any]) -> Run:
        """Return the run of a call of ``evaluate`` with these arguments, all by name; ``others`` are further arguments of
        ``Run``.
        """
        scoring = Scoring(arguments["metrics"], options_of(ScorerOptions, arguments))
        return cls(arguments["samples"], scoring, options_of(RunOptions, arguments), **others)

    def _opened(self, columns: Columns) -> OpenRows:
        options = self._options
        opened = open_rows(self._samples, options.limit, columns, options.file)
        return opened if options.sample is None else sampled(opened, options.sample, options.seed)

    async def execute(self) -> Evaluation:
        """Run to the end. An error that stops the run, or a cancellation, carries what was finished as its ``partial``."""
        with only_writer(self._options.directory):
            return await self._execute()

    async def _execute(self) -> Evaluation:
        keeper = self._opened_keeper()
        try:
            rows = keeper.start(self._rows, self._at_most)
            if self._looks is not None:
                self._looks.reach(keeper.stored)
            # not earlier, because the directory may hold another run, which is not part of this one
            self._keeper = keeper
            async with Outboxes(self._scoring.options.sinks) as sinks:
                try:
                    return await self._score(rows, sinks)
                except BaseException as error:
                    # what is paid for must survive a bug in a metric or a model, and a time limit
                    vars(error)["partial"] = self._partial = self._rescued(_why(error))
                    raise
        finally:
            keeper.close()

    def estimate(self) -> Estimate:
        """Estimate what ``execute`` will ask and cost. No model is asked, and no file is changed."""
        keeper, batches, run_dir = self._opened_keeper(), self._options.batches, self._options.directory
        try:
            rows = keeper.start(self._rows, self._at_most)
            ledger = None if run_dir is None else ledger_of(run_dir, batches)
            finishes = batches is not None and batches.finish_online  # open batches are cancelled
            left_out = () if ledger is None or finishes else chain.from_iterable(map(ledger.keys, ledger.open))
            planner = Planner(self._scoring.assignments, keeper, {key for key, _ in left_out})
            found = planner.estimate(rows, self._scoring.options.max_concurrency, self._rows.name)
            found = replace(found, may_stop=self._looks is not None)
            return found if batches is None or finishes else found.in_batches(self._scoring.assignments)
        finally:
            keeper.close()

    def _opened_keeper(self) -> Keeper:
        options = self._options
        if options.directory is None:
            return self._keeper
        return RunDir(options.directory, self._settings, replacing=options.replace)

    @cached_property
    def _settings(self) -> RunSettings:
        """The settings that decide about the scores."""
        scoring = self._scoring
        deciding = {"repeats": scoring.options.repeats, "empty": scoring.options.empty}
        drawn = self._looks.drawn if self._looks else {}
        chosen = {**(self._options.sampled or {}), **drawn} or None
        return RunSettings.of(scoring.assignments, deciding, chosen)

    def _at_most(self, enough: int) -> int | None:
        """The largest possible number of rows, if it is known. A source is counted only up to ``enough`` rows."""
        count = self._rows.count(enough)
        return self._options.most_rows if count is None else count

    def block(self) -> Evaluation:
        """Call ``execute`` from synchronous code."""
        try:
            return run_blocking(self.execute)
        except BaseException as error:
            # Ctrl-C and cancellation may be raised outside of ``execute``
            if getattr(error, "partial", None) is None:
                vars(error)["partial"] = self._partial or self._snapshot(_why(error))
            raise

    async def _score(self, rows: Iterator[Row], sinks: Outboxes) -> Evaluation:
        keeper, scoring, looks = self._keeper, self._scoring, self._looks
        if self._options.directory is not None and self._options.batches is None:
            check_no_batches(self._options.directory, scoring.assignments)
        self._started = time.perf_counter()
        with (
            scoring.answers(keeper.journal, keeper.note_outcome) as answers,
            progress_bar(self._options.progress, lambda: self._rows.count(None)) as bar,
        ):
            self._answers = answers
            engine = scoring.engine(answers)
            self._waited = engine.waited

            def finished(row: Row, scores: list[Score], asked_by: list[AskedBy]) -> None:
                record = scoring.record(row, scores)
                if keeper.journal is not None:
                    record.calls = scoring.calls(answers, asked_by)
                sinks.add(record, keeper.earlier_record)
                keeper.add(record)
                if looks is not None:
                    looks.add(record, self._settings)
                bar.advance(sum(score.error is not None for score in record.scores.values()), answers.usage)

            if self._options.batches is not None:
                return await self._score_in_batches(rows, answers, engine, finished, bar)
            async with watching(bar, answers.waiting):
                await engine.run(rows if looks is None else looks.pulled(rows), finished)
                while looks is not None and not (engine.is_cut or looks.is_over(self._settings)):
                    await engine.run(looks.pulled(rows), finished)
        return self._finished(scoring.budget.used_up if engine.is_cut else None)

    async def _score_in_batches(
        self, rows: Iterator[Row], answers: Answers, engine: Engine, finished: Finished, bar: Bar
    ) -> Evaluation:
        """Score the rows in passes over all of them, see ``_batch_run``."""
        options, keeper = self._options, self._keeper
        assert options.batches is not None
        assert options.directory is not None
        assert keeper.journal is not None
        targets = targets_of(self._scoring.assignments)

        def passes() -> Iterator[Iterator[Row]]:
            yield rows
            while True:
                again = self._opened(Columns(options.columns, options.separator)).rows
                yield self._scoring.with_conditions(again)

        with closing(ledger_of(options.directory, options.batches)) as ledger:
            batches = self._batches = BatchRun(
                options.batches, targets, ledger, answers=answers, journal=keeper.journal, heard=keeper.note_outcome
            )
            async with watching(bar, lambda: batches.waiting() or answers.waiting()):
                stopped = await batches.run(passes(), engine, finished)
            result = self._finished(stopped)
            if stopped is None:
                batches.finish()
            return result

    def _finished(self, stopped: str | None) -> Evaluation:
        account = self._account(stopped)
        records = self._keeper.finish(account)
        result = self._evaluation(records, replace(account, caveats=(*account.caveats, *self._keeper.notes)))
        return result if stopped or self._looks is None else replace(result, decision=self._looks.decision)

    def _rescued(self, stopped: str) -> Evaluation:
        try:
            return self._finished(stopped)
        except RagmetricsError:  # such as a full disk: what is already written can still be read
            return self._snapshot(stopped)

    def _snapshot(self, stopped: str) -> Evaluation:
        return self._evaluation(self._keeper.snapshot(), self._account(stopped))

    def _account(self, stopped: str | None) -> RunAccount:
        answers, looks = self._answers, self._looks
        callers = answers.callers if answers else ()
        stops = looks if looks and looks.left and stopped is None else None
        return RunAccount(
            source=self._rows.name,
            seconds=time.perf_counter() - self._started,
            models=tuple(self._usage_of(item) for item in callers),
            caveats=(*self._caveats(), *([stops.in_words] if stops else ())),
            waited=dict(self._waited),
            stopped=stopped,
            left=stops.left if stops else 0,
        )

    def _usage_of(self, caller: ModelCaller) -> ModelUsage:
        batched = Usage() if self._batches is None else self._batches.usage_of(caller.model)
        usage = ModelUsage.of(caller.model, caller.usage + batched, caller.repeated, caller.seconds)
        return replace(usage, batched=batched)

    def _caveats(self) -> tuple[str, ...]:
        """What users must know about the models, the budget and the input."""
        of_calls = [*self._answers.caveats, *self._scoring.budget.caveats] if self._answers else []
        return tuple(dict.fromkeys([*of_calls, *self._columns.doubts.sentences()]))

    def _evaluation(self, records: Records, account: RunAccount) -> Evaluation:
        settings = self._settings
        whole = replace(account, earlier=self._keeper.earlier)
        return Evaluation.of(LoadedRun(settings.metrics, whole, records, settings, self._options.directory))


def _checked(rows: Iterator[Row], check_first: Callable[..., None]) -> Iterator[Row]:
    """The rows. When the first row is pulled, the first rows are read and checked."""
    ahead = list(islice(rows, FIRST_ROWS + 1))
    check_first(ahead[:FIRST_ROWS], more=len(ahead) > FIRST_ROWS)
    yield from chain(ahead, rows)


def _why(error: BaseException) -> str:
    """Why a run ended, for its account. An error from outside of this library is named by its type only: its text may quote
    anything.
    """
    if isinstance(error, RagmetricsError):
        return without_secrets(str(error))
    interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    return "it was interrupted" if interrupted else f"an error, {type(error).__name__}"
