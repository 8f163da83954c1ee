"""``evaluate`` and ``aevaluate``: rows in, an ``Evaluation`` out.

This module checks the arguments and joins the parts: ``_read`` delivers the rows, ``_engine`` scores many at a time,
and the ``Evaluation`` keeps what came of it, in input order. What can be known to be wrong is said before the first row
is read. Sync and async are the same run: ``evaluate`` starts an event loop for it, on a thread of its own where one is
already running, as in Jupyter.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ._engine import Engine, run_blocking
from ._errors import InvalidInput
from ._evaluation import Evaluation, Scores
from ._metric import Metric
from ._progress import Progress, progress_bar
from ._protocols import AnyEmbeddings, AnyLLM
from ._read import Row, Source, open_source
from ._run import Models
from ._score import Score

if TYPE_CHECKING:
    import os

__all__ = ["Evaluation", "aevaluate", "evaluate"]


def evaluate(
    samples: str | os.PathLike[str] | Iterable[Any],
    metrics: Metric | Iterable[Metric],
    *,
    llm: AnyLLM | None = None,
    embeddings: AnyEmbeddings | None = None,
    max_concurrency: int = 16,
    on_error: Literal["record", "raise"] = "record",
    progress: Progress = True,
    limit: int | None = None,
) -> Evaluation:
    """Score samples with metrics; works in plain scripts and inside a running event loop.

    Args:
        samples: the path of a .jsonl, .json, .csv, .tsv (.gz may follow) or .parquet file; an iterable of mappings or
            ``Sample``s, pulled lazily; a pandas DataFrame; a Hugging Face ``Dataset``.
        metrics: one metric or several, of different names.
        llm: answers the questions of metrics that have no LLM of their own.
        embeddings: the same for embedding requests and comparisons.
        max_concurrency: most calls to models in flight at any time; about as many rows are read ahead.
        on_error: "record" keeps what goes wrong with one score in that score; "raise" stops at the first such error.
        progress: a progress bar on stderr if that is a terminal; "always" shows it anyway.
        limit: score the first so many samples only.

    Returns:
        An ``Evaluation``: the rows and their scores, in input order.

    Raises:
        InvalidInput: the arguments or the file cannot be used.
        ModelError: a model refuses in a way that every further call would meet (key, unknown model), or a metric needs one
            and has none.
        MissingExtra: an optional package is needed and not installed.

    Whatever stops a run carries what was finished until then: ``error.partial`` is an ``Evaluation`` (also on a
    ``KeyboardInterrupt``). Only errors of a row's data and of models are ever recorded; a bug in a metric or a model propagates.
    """
    run = Run(
        samples,
        metrics,
        models=Models(llm, embeddings),
        max_concurrency=max_concurrency,
        on_error=on_error,
        progress=progress,
        limit=limit,
    )
    return run.block()


async def aevaluate(
    samples: str | os.PathLike[str] | Iterable[Any],
    metrics: Metric | Iterable[Metric],
    *,
    llm: AnyLLM | None = None,
    embeddings: AnyEmbeddings | None = None,
    max_concurrency: int = 16,
    on_error: Literal["record", "raise"] = "record",
    progress: Progress = True,
    limit: int | None = None,
) -> Evaluation:
    """Score samples with metrics without blocking the running loop; arguments, result and errors as in ``evaluate``.

    When it is cancelled, the ``CancelledError`` carries ``partial`` too. A time limit raises an error of its own: after
    ``asyncio.wait_for`` the ``CancelledError`` is the ``__cause__`` of the ``TimeoutError`` (on Python 3.10 the
    ``__context__`` of that cause).
    """
    run = Run(
        samples,
        metrics,
        models=Models(llm, embeddings),
        max_concurrency=max_concurrency,
        on_error=on_error,
        progress=progress,
        limit=limit,
    )
    return await run.execute()


class Run:
    """One run: its arguments, checked, and what it has finished so far."""

    def __init__(
        self,
        samples: Any,
        metrics: Metric | Iterable[Metric],
        *,
        models: Models,
        max_concurrency: int,
        on_error: str,
        progress: Progress,
        limit: int | None,
    ) -> None:
        self._metrics = _metrics(metrics)
        _positive("max_concurrency", max_concurrency)
        if limit is not None:
            _positive("limit", limit)
        if on_error not in ("record", "raise"):
            raise InvalidInput(f"on_error must be 'record' or 'raise', got {on_error!r}")
        if not (isinstance(progress, bool) or progress == "always"):
            raise InvalidInput(f"progress must be True, False or 'always', got {progress!r}")
        self._progress: Progress = progress
        self._source: Source = open_source(samples, limit)
        self._engine = Engine(
            [(metric, _own_first(metric, models)) for metric in self._metrics],
            max_concurrency=max_concurrency,
            raising=on_error == "raise",
        )
        self._done: list[tuple[Row, list[Score]]] = []
        self._started: float | None = None

    async def execute(self) -> Evaluation:
        """Run to the end; an error that stops the run, or a cancellation, carries what was finished as its ``partial``."""
        self._started = time.perf_counter()
        try:
            with progress_bar(self._progress, self._source.total) as advance:

                def finished(row: Row, scores: list[Score]) -> None:
                    self._done.append((row, scores))
                    advance()

                await self._engine.run(self._source.rows, finished)
        except BaseException as error:
            # neither a bug in a metric or a model nor a time limit must cost what is already paid for
            vars(error)["partial"] = self.result()
            raise
        return self.result()

    def block(self) -> Evaluation:
        """The same from synchronous code."""
        try:
            return run_blocking(self.execute)
        except BaseException as error:
            # Ctrl-C and cancellation may arrive as errors that ``execute`` has never seen
            vars(error).setdefault("partial", self.result())
            raise

    def result(self) -> Evaluation:
        """What is finished by now, in input order."""
        done = sorted(self._done, key=lambda item: item[0].index)
        return Evaluation(
            rows=[row.sample for row, _ in done],
            places=[row.place for row, _ in done],
            scores=Scores(
                {metric.name: [scores[index] for _, scores in done] for index, metric in enumerate(self._metrics)}
            ),
            metrics=self._metrics,
            caveats=self._engine.caveats,
            source=self._source.name,
            seconds=None if self._started is None else time.perf_counter() - self._started,
        )


def _metrics(metrics: Any) -> tuple[Metric, ...]:
    several = isinstance(metrics, Iterable) and not isinstance(metrics, Metric | type | str)
    given: tuple[Any, ...] = tuple(metrics) if several else (metrics,)
    if not given:
        raise InvalidInput("metrics is empty: give at least one metric")
    for item in given:
        if isinstance(item, type) and issubclass(item, Metric):
            raise InvalidInput(f"metrics must be instances, got the class {item.__name__}: write {item.__name__}()")
        if not isinstance(item, Metric):
            raise InvalidInput(f"metrics must be Metric instances such as Faithfulness(), got {item!r}")
    names = [item.name for item in given]
    for name in names:
        if names.count(name) > 1:
            first, second = [item for item in given if item.name == name][:2]
            raise InvalidInput(
                f"two metrics are named {name!r} ({first!r} and {second!r}): give one of them another name=..."
            )
    return given


def _own_first(metric: Metric, models: Models) -> Models:
    """The models that answer a metric: its own where it has them, else those of the run."""
    own = metric.models
    llm = models.llm if own.llm is None else own.llm
    embeddings = models.embeddings if own.embeddings is None else own.embeddings
    return replace(own, llm=llm, embeddings=embeddings)


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{name} must be a whole number from 1, got {value!r}")
