"""One run over many samples: joins its parts and keeps what is finished.

``_read`` delivers the rows, ``_engine`` scores many of them at a time, a ``Keeper`` keeps finished rows, and the result is an
``Evaluation``. Every mistake that can be known in advance is reported before the first row is read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

from .._engine import Answers, AskedBy, Assignment, Budget, Engine, Rules
from .._kernel._drive import Models
from .._kernel._metric import Metric
from .._kernel._model_traits import prepared
from .._names._named import embeddings_named, llm_named
from .._read._columns import Columns
from .._read._rows import open_rows, sampled
from .._run._judgements import combined, with_worst_value
from .._show._progress import progress_bar, watching
from .._store._loaded_run import LoadedRun
from .._store._prices import ModelUsage, Prices
from .._store._records import Record, Records
from .._store._run_dir import InMemory, Keeper, RunAccount, RunDir
from .._store._run_settings import RunSettings
from .._support._blocking import run_blocking
from .._values._errors import RagmetricsError
from .._values._sample import Row
from .._values._score import Score
from ._estimate import Estimate
from ._evaluation import Evaluation
from ._options import RunOptions, checked_metrics, conditions_of, with_conditions
from ._plan import Planner

FIRST_ROWS = 1000
"""The number of rows that are read ahead if something is checked against them."""


class Run:
    """One run: its task, and what it has finished so far.

    Args:
        samples: the rows, in any form that ``evaluate`` takes.
        metrics: the metrics, or their names.
        options: the other arguments of ``evaluate``.
        check_first: called as ``check_first(rows, more=...)`` with the first rows before any call; raises if they show a mistake.

    Raises:
        InvalidInput: a metric, a model or the source of the rows cannot be used.
    """

    def __init__(
        self,
        samples: Any,
        metrics: Metric | str | Iterable[Metric | str],
        options: RunOptions,
        check_first: Callable[..., None] | None = None,
    ) -> None:
        self._options = options
        models = Models(llm_named(options.llm), embeddings_named(options.embeddings))
        self._metrics = tuple(metric.told_of(models) for metric in checked_metrics(metrics))
        self._names = [metric.name for metric in self._metrics]
        columns = Columns(options.columns, options.separator)
        self._doubts = columns.doubts
        opened = open_rows(samples, options.limit, columns, options.file)
        opened = opened if options.sample is None else sampled(opened, options.sample, options.seed)
        rows = opened.rows if check_first is None else _checked(opened.rows, check_first)
        self._rows = replace(opened, rows=with_conditions(rows, conditions_of(metrics), self._names))
        self._assignments = _assignments(self._metrics, models, options.repeats)
        self._budget = _budget(options.budget, self._assignments)
        self._keeper: Keeper = InMemory()
        self._answers: Answers | None = None
        self._partial: Evaluation | None = None
        self._waited: Mapping[str, float] = {}
        self._started = time.perf_counter()

    async def execute(self) -> Evaluation:
        """Run to the end. An error that stops the run, or a cancellation, carries what was finished as its ``partial``."""
        keeper = self._opened_keeper()
        try:
            rows = keeper.start(self._rows, self._at_most)
            self._keeper = (
                keeper  # not earlier, because the directory may hold another run, which is not part of this one
            )
            try:
                return await self._score(rows)
            except BaseException as error:
                # what is paid for must survive a bug in a metric or a model, and a time limit
                vars(error)["partial"] = self._partial = self._rescued(_why(error))
                raise
        finally:
            keeper.close()

    def estimate(self) -> Estimate:
        """Estimate what ``execute`` will ask and cost. No model is asked, and no file is changed."""
        keeper = self._opened_keeper()
        try:
            rows = keeper.start(self._rows, self._at_most)
            return Planner(self._assignments, keeper).estimate(rows, self._options.max_concurrency, self._rows.name)
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
        options = self._options
        deciding = {"repeats": options.repeats, "empty": options.empty}
        return RunSettings.of(self._assignments, deciding, options.sampled)

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
                vars(error)["partial"] = self._partial or self._evaluation(
                    self._keeper.snapshot(), self._account(_why(error))
                )
            raise

    async def _score(self, rows: Iterator[Row]) -> Evaluation:
        keeper, options = self._keeper, self._options
        most, rules = options.max_concurrency, Rules(options.timeout, options.max_retries)
        answers = Answers(most, rules, self._budget, keeper.journal, keeper.note_outcome)
        self._answers, self._started = answers, time.perf_counter()
        engine = Engine(self._assignments, answers, max_rows=most, raising=options.on_error == "raise")
        self._waited = engine.waited
        with progress_bar(options.progress, lambda: self._rows.count(None)) as bar:

            def finished(row: Row, scores: list[Score], asked_by: list[AskedBy]) -> None:
                record = self._record(row, scores)
                if keeper.journal is not None:
                    record.calls = self._calls(answers, asked_by)
                keeper.add(record)
                bar.advance(sum(score.error is not None for score in record.scores.values()), answers.usage)

            async with watching(bar, answers.waiting):
                await engine.run(rows, finished)
        return self._finished(self._budget.used_up)

    def _record(self, row: Row, scores: list[Score]) -> Record:
        several = self._options.repeats
        if self._options.empty == "zero":
            pairs = zip(self._assignments, scores, strict=True)
            scores = [with_worst_value(assignment.metric, score) for assignment, score in pairs]
        if several > 1:
            scores = [
                combined(metric, scores[index * several : (index + 1) * several])
                for index, metric in enumerate(self._metrics)
            ]
        return Record(row.index, row.place, row.sample, dict(zip(self._names, scores, strict=True)))

    def _calls(self, answers: Answers, asked_by: Iterable[AskedBy]) -> dict[str, list[str]]:
        """By metric, the questions that were asked for a row: the name of each prompt with the reply's key in the journal."""
        found: dict[str, list[str]] = {}
        for assignment, calls in asked_by:
            judgement = f", judgement {assignment.repeat + 1}" if self._options.repeats > 1 else ""
            for ask, key in answers.keys(calls):
                juror = "".join(f"juror {place + 1}, " for place in ask.to)
                found.setdefault(assignment.metric.name, []).append(f"{juror}{ask.prompt.name}{judgement} {key.hex()}")
        return found

    def _finished(self, stopped: str | None) -> Evaluation:
        account = self._account(stopped)
        records = self._keeper.finish(account, complete=stopped is None)
        return self._evaluation(records, replace(account, caveats=(*account.caveats, *self._keeper.notes)))

    def _rescued(self, stopped: str) -> Evaluation:
        try:
            return self._finished(stopped)
        except RagmetricsError:  # such as a full disk: what is already written can still be read
            return self._evaluation(self._keeper.snapshot(), self._account(stopped))

    def _account(self, stopped: str | None) -> RunAccount:
        answers = self._answers
        callers = answers.callers if answers else ()
        return RunAccount(
            source=self._rows.name,
            seconds=time.perf_counter() - self._started,
            models=tuple(ModelUsage.of(item.model, item.usage, item.repeated, item.seconds) for item in callers),
            caveats=self._caveats(),
            waited=dict(self._waited),
            stopped=stopped,
        )

    def _caveats(self) -> tuple[str, ...]:
        """What users must know about the models, the budget and the input."""
        of_calls = [*self._answers.caveats, *self._budget.caveats] if self._answers else []
        return tuple(dict.fromkeys([*of_calls, *self._doubts.sentences()]))

    def _evaluation(self, records: Records, account: RunAccount) -> Evaluation:
        settings = self._settings
        whole = replace(account, earlier=self._keeper.earlier)
        return Evaluation.of(LoadedRun(settings.metrics, whole, records, settings, self._options.directory))


def _checked(rows: Iterator[Row], check_first: Callable[..., None]) -> Iterator[Row]:
    """The rows. When the first row is pulled, the first rows are read and checked."""
    ahead = list(islice(rows, FIRST_ROWS + 1))
    check_first(ahead[:FIRST_ROWS], more=len(ahead) > FIRST_ROWS)
    yield from chain(ahead, rows)


def _budget(limits: Mapping[str, float] | None, assignments: Iterable[Assignment]) -> Budget:
    """The budget. If it is one of dollars, with the price of every model."""
    prices = Prices()
    budget = Budget(limits, prices)
    if "dollars" in budget.limits:
        for models in (one for assignment in assignments for one in assignment.models.leaves()):
            prices.check(models.llm, local=False)
            prices.check(models.embeddings, local=True)
    return budget


def _why(error: BaseException) -> str:
    """Why a run ended, for its account. An error from outside of this library is named by its type only: its text may quote
    anything.
    """
    if isinstance(error, RagmetricsError):
        return str(error)
    interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    return "it was interrupted" if interrupted else f"an error, {type(error).__name__}"


def _assignments(metrics: Iterable[Metric], models: Models, repeats: int) -> list[Assignment]:
    """Every metric with its models: its own models, or those of the run for kinds that it lacks."""
    known: dict[int, tuple[Any, Any]] = {}

    def once(model: Any) -> Any:
        """Prepare each model once, so that metrics that share a model share its calls."""
        if id(model) not in known:
            known[id(model)] = (model, prepared(model, repeats))
        return known[id(model)][1]

    def answering(own: Models) -> Models:
        return replace(own, llm=once(own.llm), embeddings=once(own.embeddings))

    assignments = []
    for metric in metrics:
        own = metric.models
        llm = models.llm if own.llm is None else own.llm
        embeddings = models.embeddings if own.embeddings is None else own.embeddings
        whole = replace(own, llm=llm, embeddings=embeddings).each(answering)
        assignments += [Assignment(metric, whole, repeat) for repeat in range(repeats)]
    return assignments
