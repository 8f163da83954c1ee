"""One run over many samples: its arguments, checked; its parts, joined; what it has finished, kept.

``_read`` delivers the rows, ``_engine`` scores many at a time, a ``Keeper`` takes what is finished, and the ``Evaluation`` is what
comes of it. What can be known to be wrong is said before the first row is read.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from .._engine import Answers, Budget, Engine, Judge, Rules
from .._kernel._drive import Models
from .._kernel._errors import RagmetricsError
from .._kernel._metric import Metric
from .._kernel._protocols import AnyEmbeddings, AnyLLM
from .._kernel._row import Row
from .._kernel._score import Score
from .._names._models import embeddings_named, llm_named
from .._read import chosen, open_source
from .._report._evaluation import Evaluation, MetricColumn
from .._report._repeats import combined
from .._report._silence import with_worst_value
from .._store._account import judged_by
from .._store._memory import InMemory, Keeper
from .._store._prices import ModelUsage
from .._store._records import Record, Records
from .._store._run_dir import RunDir
from .._support._blocking import run_blocking
from ._options import (
    check_choice,
    check_positive,
    check_progress,
    check_replace,
    check_seconds,
    check_whole,
    checked_directory,
    checked_metrics,
)
from ._progress import Bar, Progress, progress_bar

__all__ = ["Run"]


class Run:
    """One run: its arguments, checked, and what it has finished so far. The arguments are those of ``evaluate``."""

    def __init__(
        self,
        samples: Any,
        metrics: Metric | str | Iterable[Metric | str],
        *,
        llm: AnyLLM | str | None,
        embeddings: AnyEmbeddings | str | None,
        run_dir: str | os.PathLike[str] | None,
        max_concurrency: int,
        on_error: str,
        progress: Progress,
        limit: int | None,
        sample: int | None,
        seed: int,
        repeats: int,
        budget: Mapping[str, int] | None,
        timeout: float | None,
        max_retries: int,
        empty: str,
        replace: bool,
    ) -> None:
        self._metrics = checked_metrics(metrics)
        self._names = [metric.name for metric in self._metrics]
        check_positive(max_concurrency=max_concurrency, repeats=repeats, limit=limit, sample=sample)
        check_whole("max_retries", max_retries, least=0)
        check_whole("seed", seed)
        check_seconds("timeout", timeout)
        check_choice("on_error", on_error, "record", "raise")
        check_choice("empty", empty, "skip", "zero")
        check_progress(progress)
        check_replace(replace, run_dir)
        self._empty = empty
        self._progress: Progress = progress
        self._run_dir = None if run_dir is None else checked_directory(run_dir)
        self._replacing = replace
        source = open_source(samples, limit)
        self._source = source if sample is None else chosen(source, sample, seed)
        self._most = sample if limit is None else min(limit, sample or limit)
        self._chosen = None if sample is None else {"sample": sample, "seed": seed, "limit": limit}
        self._judges = _judges(self._metrics, Models(llm_named(llm), embeddings_named(embeddings)), repeats)
        self._repeats = repeats
        self._max_concurrency = max_concurrency
        self._raising = on_error == "raise"
        self._rules = Rules(timeout, max_retries)
        self._budget = Budget(budget)
        self._keeper: Keeper = InMemory()
        self._answers: Answers | None = None
        self._partial: Evaluation | None = None
        self._waited: Mapping[str, float] = {}
        self._started = time.perf_counter()

    async def execute(self) -> Evaluation:
        """Run to the end; an error that stops the run, or a cancellation, carries what was finished as its ``partial``."""
        keeper = self._keeper
        if self._run_dir is not None:
            account = judged_by(self._judges, {"repeats": self._repeats, "empty": self._empty}, self._chosen)
            keeper = RunDir(self._run_dir, account, replacing=self._replacing)
        try:
            rows = keeper.start(self._source, self._at_most)
            self._keeper = keeper  # not before: what stands in the directory of another run is no part of this one
            try:
                return await self._score(rows)
            except BaseException as error:
                # neither a bug in a metric or a model nor a time limit must cost what is already paid for
                vars(error)["partial"] = self._partial = self._rescued(_why(error))
                raise
        finally:
            keeper.close()

    def _at_most(self, enough: int) -> int | None:
        """How many rows there are at most, where that is known; counted up to ``enough``."""
        count = self._source.count(enough)
        return self._most if count is None else count

    def block(self) -> Evaluation:
        """The same from synchronous code."""
        try:
            return run_blocking(self.execute)
        except BaseException as error:
            # Ctrl-C and cancellation may arrive as errors that ``execute`` has never seen
            if getattr(error, "partial", None) is None:
                vars(error)["partial"] = self._partial or self._evaluation(
                    self._keeper.snapshot(), self._account(_why(error))
                )
            raise

    async def _score(self, rows: Iterator[Row]) -> Evaluation:
        keeper = self._keeper
        answers = Answers(self._max_concurrency, self._rules, self._budget, keeper.journal, keeper.heard)
        self._answers, self._started = answers, time.perf_counter()
        engine = Engine(self._judges, answers, max_rows=self._max_concurrency, raising=self._raising)
        self._waited = engine.waited
        with progress_bar(self._progress, lambda: self._source.total) as bar:

            def finished(row: Row, scores: list[Score]) -> None:
                record = self._record(row, scores)
                keeper.add(record)
                bar.advance(record, answers.usage)

            async with _watching(bar, answers):
                await engine.run(rows, finished)
        return self._finished(self._budget.used_up)

    def _record(self, row: Row, scores: list[Score]) -> Record:
        several = self._repeats
        if self._empty == "zero":
            scores = [with_worst_value(judge.metric, score) for judge, score in zip(self._judges, scores, strict=True)]
        if several > 1:
            scores = [
                combined(metric, scores[index * several : (index + 1) * several])
                for index, metric in enumerate(self._metrics)
            ]
        return Record(row.index, row.place, row.sample, dict(zip(self._names, scores, strict=True)))

    def _finished(self, stopped: str | None) -> Evaluation:
        account = self._account(stopped)
        written = {**account, "models": [item.to_dict() for item in account["models"]]}
        records = self._keeper.finish(written, complete=stopped is None)
        return self._evaluation(records, {**account, "caveats": (*account["caveats"], *self._keeper.notes)})

    def _rescued(self, stopped: str) -> Evaluation:
        try:
            return self._finished(stopped)
        except RagmetricsError:  # a full disk, say: what stands there already can still be read
            return self._evaluation(self._keeper.snapshot(), self._account(stopped))

    def _account(self, stopped: str | None) -> dict[str, Any]:
        answers = self._answers
        return {
            "caveats": tuple(dict.fromkeys(answers.caveats)) if answers else (),
            "source": self._source.name,
            "seconds": time.perf_counter() - self._started,
            "models": tuple(ModelUsage.of(line.model, line.usage, line.repeated) for line in answers.lines)
            if answers
            else (),
            "stopped": stopped,
            "waited": dict(self._waited),
        }

    def _evaluation(self, records: Records, account: Mapping[str, Any]) -> Evaluation:
        columns = tuple(MetricColumn.of(metric) for metric in self._metrics)
        return Evaluation(records, columns, run_dir=self._run_dir, earlier=self._keeper.earlier, **account)


@asynccontextmanager
async def _watching(bar: Bar, answers: Answers) -> AsyncIterator[None]:
    """Tell those who watch, every second, while the run only waits."""
    if not bar.watched:
        yield
        return

    async def watch() -> None:
        while True:
            await asyncio.sleep(1.0)
            bar.wait(answers.waiting())

    watcher = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watcher.cancel()


def _why(error: BaseException) -> str:
    """Why a run ended, for its account; of errors outside of this library only the kind, as nobody knows what they quote."""
    if isinstance(error, RagmetricsError):
        return str(error)
    interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    return "it was interrupted" if interrupted else f"an error, {type(error).__name__}"


def _judges(metrics: Iterable[Metric], models: Models, repeats: int) -> list[Judge]:
    """Every metric with the models that answer it: its own where it has them, else those of the run."""
    prepared: dict[int, tuple[Any, Any]] = {}

    def once(model: Any) -> Any:
        """The model without retries of its own: who sees all failures can pace the calls."""
        if id(model) not in prepared:
            other = model.without_retries() if hasattr(model, "without_retries") else model
            # what a cache gives twice is not judged twice
            other = other.without_cache() if repeats > 1 and hasattr(other, "without_cache") else other
            prepared[id(model)] = (model, other)
        return prepared[id(model)][1]

    judges = []
    for metric in metrics:
        own = metric.models
        llm = models.llm if own.llm is None else own.llm
        embeddings = models.embeddings if own.embeddings is None else own.embeddings
        answering = replace(own, llm=once(llm), embeddings=once(embeddings))
        judges += [Judge(metric, answering, repeat) for repeat in range(repeats)]
    return judges
