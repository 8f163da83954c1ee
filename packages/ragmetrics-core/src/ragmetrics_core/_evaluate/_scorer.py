"""``Scorer``: metrics that score rows as often as you like, and keep what they learnt about the servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from .._engine._questions import Answers
from .._engine._reply_keys import ReplyStore
from .._engine._schedule import AskedBy
from .._gate._gates import Gate
from .._kernel._metric import Metric
from .._read._rows import open_rows
from .._show._progress import Progress
from .._support._signatures import with_arguments_of
from .._values._counts import count_of
from .._values._errors import InvalidInput, RagmetricsError
from .._values._requests import AnyEmbeddings, AnyLLM, Usage
from .._values._sample import Row
from .._values._score import Score
from ._evaluation import Evaluation
from ._options import Batch, RunOptions, ScorerOptions, Stop, options_of
from ._run import Run
from ._scoring import Scoring
from ._sinks import Outboxes, Sink

if TYPE_CHECKING:
    import os

    from typing_extensions import Self


class Scorer:
    """Metrics that score rows as often as you like. What was learnt about the servers, such as their limits, is kept. ::

        async with Scorer(metrics, llm="openai:gpt-4o-mini") as scorer:
            for rows in blocks:
                scores = await scorer.score(rows)

    Calls of ``score`` may overlap in one event loop: equal questions share one call, and all calls share one limit. ``evaluate``
    and ``aevaluate`` need no ``async with``.

    Args:
        metrics: metrics, or texts such as ``"recall,ndcg(k=3)"``; or a mapping from these to functions that select their samples.
        llm: answers for metrics without an LLM; a model, or its name: ``"openai:gpt-4o-mini"``, ``"lexical"``.
        embeddings: the same for embeddings and comparisons.
        replies: a ``ReplyStore`` that keeps the replies for ``score``, so that no question is paid for twice; it is not closed.
        max_concurrency: most calls to models in flight; fewer if a server refuses some (429).
        on_error: "record" keeps an error that concerns one score in that score; "raise" stops at the first such error.
        repeats: how often each sample is judged; the score is the mean.
        budget: most ``"calls"``, ``"tokens"`` or ``"dollars"`` for all rows together.
        timeout: seconds for one attempt of a call; by default learnt from the answers so far.
        max_retries: how often a lost call (5xx, reset, no answer in time) is made again.
        empty: rows without contexts or with a blank answer: "skip" leaves them unscored, "zero" gives the scale's worst value.
        sinks: functions that get each row with its scores in a thread when it is finished.

    Raises:
        InvalidInput: a metric, a model or an argument cannot be used.
    """

    def __init__(
        self,
        metrics: Metric | str | Iterable[Metric | str],
        *,
        llm: AnyLLM | str | None = None,
        embeddings: AnyEmbeddings | str | None = None,
        replies: ReplyStore | None = None,
        max_concurrency: int = 16,
        on_error: Literal["record", "raise"] = "record",
        repeats: int = 1,
        budget: Mapping[str, float] | None = None,
        timeout: float | None = None,
        max_retries: int = 5,
        empty: Literal["skip", "zero"] = "skip",
        sinks: Iterable[Sink] = (),
    ) -> None:
        self._scoring = Scoring(metrics, options_of(ScorerOptions, locals()))
        if replies is not None and not hasattr(replies, "keep"):
            raise InvalidInput(f"replies must be a store, such as SQLiteReplies(path), got {type(replies).__name__}")
        self._replies = replies
        self._open = AsyncExitStack()
        self._sinks = Outboxes(())
        self._answers: Answers | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """The usage of all calls that ``score`` has made so far."""
        return self._usage if self._answers is None else self._usage + self._answers.usage()

    @property
    def caveats(self) -> list[str]:
        """What users must know about the answers of ``score``, such as that the replies of a model cannot be kept."""
        of_answers = () if self._answers is None else self._answers.caveats
        return list(dict.fromkeys([*of_answers, *self._scoring.budget.caveats]))

    async def __aenter__(self) -> Self:
        if self._answers is not None:
            raise InvalidInput("this Scorer is open already: use one async with for all its calls")
        self._loop = asyncio.get_running_loop()
        self._answers = self._open.enter_context(self._scoring.answers(self._replies))
        self._sinks = await self._open.enter_async_context(Outboxes(self._scoring.options.sinks))
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._usage, self._answers = self.usage, None
        await self._open.__aexit__(*raised)  # type: ignore[arg-type]  # three of them

    async def score(self, rows: Iterable[Any]) -> list[Mapping[str, Score]]:
        """Score rows: for each row, in order, the scores by the names of the metrics.

        Args:
            rows: ``Sample``s or mappings, or any other form that ``evaluate`` takes.

        Raises:
            InvalidInput: the scorer is not open, or was opened in another event loop, or the rows have no accepted form.
            RagmetricsError: an error that concerns all rows, such as a refused key, or the budget is used up. It has the scores
                so far as ``partial``: a list like the result, with None for each row without scores. Other calls of ``score``
                go on.
        """
        if self._answers is None:
            raise InvalidInput("this Scorer is not open: write async with Scorer(...) as scorer")
        if self._loop is not asyncio.get_running_loop():
            raise InvalidInput("this Scorer was opened in another event loop: use one Scorer for each loop or thread")
        scores_by_row: dict[int, Mapping[str, Score]] = {}

        def finished(row: Row, scores: list[Score], _: list[AskedBy]) -> None:
            record = self._scoring.record(row, scores)
            scores_by_row[row.index] = record.scores
            self._sinks.add(record)

        count = 0

        def counted(opened: Iterator[Row]) -> Iterator[Row]:
            nonlocal count
            for count, row in enumerate(opened, 1):  # noqa: B007  read after the loop
                yield row

        engine = self._scoring.engine(self._answers)
        try:
            await engine.run(counted(self._scoring.with_conditions(open_rows(rows).rows)), finished)
            if engine.is_cut:
                raise RagmetricsError(f"{self._scoring.budget.used_up} after {count_of(len(scores_by_row), 'row')}")
        except BaseException as error:
            partial = [scores_by_row.get(index) for index in range(count)]
            if not isinstance(error, RagmetricsError):
                vars(error)["partial"] = partial
                raise
            own = copy(error)  # calls that wait for the same question get the same error
            vars(own)["partial"] = partial
            raise own.with_traceback(error.__traceback__) from error.__cause__
        return [scores_by_row[index] for index in range(count)]

    def evaluate(
        self,
        samples: str | os.PathLike[str] | Iterable[Any],
        *,
        run_dir: str | os.PathLike[str] | None = None,
        progress: Progress = True,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        replace: bool = False,
        encoding: str | None = None,
        at: str | None = None,
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        batch: bool | Batch = False,
        gates: str | Gate | Iterable[str | Gate] = (),
        stop: Literal["when_decided"] | Stop | None = None,
    ) -> Evaluation:
        """Score samples as ``evaluate`` does, with the same arguments. Replies are kept in ``run_dir``, not in ``replies``."""
        return self._run(locals()).block()

    @with_arguments_of(evaluate)
    async def aevaluate(self, **arguments: Any) -> Evaluation:
        """Score samples as ``aevaluate`` does, with the same arguments."""
        return await self._run(arguments).execute()

    def _run(self, arguments: Mapping[str, Any]) -> Run:
        return Run(arguments["samples"], self._scoring, options_of(RunOptions, arguments))
