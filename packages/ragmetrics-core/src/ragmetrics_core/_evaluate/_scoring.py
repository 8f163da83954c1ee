"""What stays the same from run to run: the metrics with their models, the budget, and what was learnt about the servers.

``evaluate`` uses it for a single run, ``Scorer`` for many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from .._engine._programs import ReadyModels
from .._engine._questions import Answers
from .._engine._reply_keys import ReplyStore
from .._engine._schedule import AskedBy, Assignment, Engine
from .._engine._tasks import no_op
from .._engine._traffic import Traffic
from .._kernel._drive import Models
from .._kernel._metric import Metric
from .._kernel._model_traits import prepared
from .._kernel._steps import Outcome
from .._names._named import embeddings_named, llm_named
from .._run._judgements import combined, with_worst_value
from .._store._prices import budget_of
from .._store._records import Record
from .._values._sample import Row
from .._values._score import Score
from ._options import ScorerOptions, checked_metrics, conditions_of, with_conditions


class Scoring:
    """Metrics with their models, and what was learnt about the servers.

    Args:
        metrics: the metrics, or their names; or a mapping from these to conditions.
        options: the other arguments of ``Scorer``.

    Attributes:
        options: the arguments.
        metrics, names: the metrics, and their names.
        assignments: each metric with its models, once for each repeat.
        budget: the budget of all runs together.

    Raises:
        InvalidInput: a metric or a model cannot be used.
    """

    def __init__(self, metrics: Metric | str | Iterable[Metric | str], options: ScorerOptions) -> None:
        self.options = options
        models = Models(llm_named(options.llm), embeddings_named(options.embeddings))
        self.metrics = tuple(metric.told_of(models) for metric in checked_metrics(metrics))
        self.names = [metric.name for metric in self.metrics]
        self._conditions = conditions_of(metrics)
        self.assignments = _assignments(self.metrics, models, options.repeats)
        self.budget = budget_of(options.budget, [item.models for item in self.assignments])
        self._traffic = self._new_traffic()

    @contextmanager
    def answers(self, journal: ReplyStore | None, heard: Callable[[Outcome], None] = no_op) -> Iterator[Answers]:
        """Return the ``Answers`` to the requests of runs in the running event loop, with its arguments.

        One loop at a time can use what was learnt about the servers. A second loop, as in another thread, starts without it.
        """
        traffic = self._traffic
        if not traffic.enter():
            traffic = self._new_traffic()
            traffic.enter()
        try:
            yield Answers(traffic, self.options.max_retries, self.budget, journal, heard)
        finally:
            traffic.leave()

    def _new_traffic(self) -> Traffic:
        return Traffic(self.options.max_concurrency, self.options.timeout)

    def with_conditions(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Return the rows, each with the metrics that are asked about it."""
        return with_conditions(rows, self._conditions, self.names)

    def engine(self, answers: Answers) -> Engine:
        """Return the engine of one run."""
        raising = self.options.on_error == "raise"
        return Engine(self.assignments, answers, max_rows=self.options.max_concurrency, raising=raising)

    def record(self, row: Row, scores: list[Score]) -> Record:
        """Return the scores of a row, one for each metric."""
        several = self.options.repeats
        if self.options.empty == "zero":
            pairs = zip(self.assignments, scores, strict=True)
            scores = [with_worst_value(assignment.metric, score) for assignment, score in pairs]
        if several > 1:
            scores = [
                combined(metric, scores[index * several : (index + 1) * several])
                for index, metric in enumerate(self.metrics)
            ]
        return Record(row.index, row.place, row.sample, dict(zip(self.names, scores, strict=True)))

    def calls(self, answers: Answers, asked_by: Iterable[AskedBy]) -> dict[str, list[str]]:
        """By metric, the questions that were asked for a row: the name of each prompt with the reply's key in the journal."""
        found: dict[str, list[str]] = {}
        for assignment, calls in asked_by:
            judgement = f", judgement {assignment.repeat + 1}" if self.options.repeats > 1 else ""
            for ask, key in answers.keys(calls):
                juror = "".join(f"juror {place + 1}, " for place in ask.to)
                found.setdefault(assignment.metric.name, []).append(f"{juror}{ask.prompt.name}{judgement} {key.hex()}")
        return found


def _assignments(metrics: Iterable[Metric], models: Models, repeats: int) -> list[Assignment]:
    """Return every metric with its models: its own models, or the run's models for kinds that it lacks."""
    ready = ReadyModels(partial(prepared, repeats=repeats))
    assignments = []
    for metric in metrics:
        own_models = metric.models
        llm = models.llm if own_models.llm is None else own_models.llm
        embeddings = models.embeddings if own_models.embeddings is None else own_models.embeddings
        all_models = replace(own_models, llm=llm, embeddings=embeddings).each(ready)
        assignments += [Assignment(metric, all_models, repeat) for repeat in range(repeats)]
    return assignments
