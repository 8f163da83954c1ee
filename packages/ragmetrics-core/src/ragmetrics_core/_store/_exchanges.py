"""What was sent for each score, and what came back: found again in the journal of a run.

Strategy. A journal has replies, and no messages: those follow from the row and the metric, so the program of the metric runs once
more, and what it asks is looked up. Nothing is asked of a model. The metric is built from its words in ``run.json``; if its settings
or the words of its prompts are no longer the same, that is noticed by their digests, and nothing is shown rather than something
that was never sent.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._engine import question_digest
from .._kernel._errors import InvalidInput, MissingInput, ModelError, RagmetricsError
from .._kernel._inputs import Reading
from .._kernel._metric import Metric
from .._kernel._requests import Ask, Reply, Request
from .._kernel._saved_settings import built_in_metric
from .._kernel._score import Score
from .._kernel._steps import Steps, next_round
from ._journal import Journal
from ._records import Record
from ._run_dir import JOURNAL
from ._run_settings import RunSettings
from ._scored_by import MetricColumn, ScoredBy

__all__ = ["Exchanges"]

ROUNDS = 200
"""No program goes on for longer."""

WITHOUT_JOURNAL = "messages and replies are kept only by a run with a directory (run_dir, --run-dir)"


class Exchanges:
    """The messages and the replies of a run.

    Args:
        run_dir: its directory; None where it has none.
        settings: what decided about its scores; None where nobody knows.

    Attributes:
        problems: by metric, why nothing can be found for it.
    """

    def __init__(self, run_dir: Path | None, settings: RunSettings | None) -> None:
        self.problems: dict[str, str] = {}
        self._metrics: dict[str, tuple[Metric, ScoredBy]] = {}
        self._repeats = int(settings.run.get("repeats", 1)) if settings else 1
        self._journal: Journal | None = None
        columns = settings.metrics if settings else ()
        self._scored_by = (settings.scored_by if settings else None) or {}
        try:
            self._journal = None if run_dir is None or not (run_dir / JOURNAL).exists() else Journal(run_dir / JOURNAL)
        except RagmetricsError as error:
            self.problems = {item.name: str(error) for item in columns}
            return
        for column in columns:
            found = WITHOUT_JOURNAL if self._journal is None else self._rebuilt(column)
            if isinstance(found, str):
                self.problems[column.name] = found
            else:
                self._metrics[column.name] = found

    def of(self, record: Record) -> dict[str, list[dict[str, Any]]]:
        """By metric what was sent for a row, in order, each with its reply; None where that is not in the journal.

        The messages of a model that has no text to send, such as one for embeddings, are left out.
        """
        reading = Reading(record.sample)
        return {
            name: [
                exchange
                for repeat in range(self._repeats)
                for exchange in self._replayed(metric, scored_by, reading, repeat)
            ]
            for name, (metric, scored_by) in self._metrics.items()
        }

    def close(self) -> None:
        """Nothing more will be looked up."""
        if self._journal is not None:
            self._journal.close()

    def _rebuilt(self, column: MetricColumn) -> tuple[Metric, ScoredBy] | str:
        """The metric as it was; else why it cannot be had."""
        scored_by = self._scored_by.get(column.name)
        if scored_by is None or not any((scored_by.llm, scored_by.embeddings)):
            return "no model was asked" if scored_by else "run.json does not tell who gave the scores"
        if any(model is not None and model.whole is None for model in (scored_by.llm, scored_by.embeddings)):
            return "the run is of an earlier build, which kept the replies without what they answer"
        metric = _built(column.settings)
        if metric is None:
            return "the metric cannot be built again from run.json: it is your own, or has prompts of yours"
        if ScoredBy.of(metric, None, None).settings != scored_by.settings:
            return "the metric had other settings, or other words in its prompts, when it was scored"
        return metric, scored_by

    def _replayed(self, metric: Metric, scored_by: ScoredBy, reading: Reading, repeat: int) -> list[dict[str, Any]]:
        try:
            program = metric.begin(reading)
        except (MissingInput, InvalidInput):
            return []
        return [] if isinstance(program, Score) else self._walk(program, scored_by, repeat)

    def _walk(self, program: Steps[Score], scored_by: ScoredBy, repeat: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        outcomes: list[Reply[Any]] | None = None
        try:
            for _ in range(ROUNDS):
                requests = next_round(program, outcomes)
                replies = [self._reply(request, scored_by, repeat) for request in requests]
                found += [_exchange(*pair) for pair in zip(requests, replies, strict=True) if isinstance(pair[0], Ask)]
                if None in replies:
                    break  # what comes after follows from a reply that nobody has
                outcomes = [reply for reply in replies if reply is not None]
        except (StopIteration, MissingInput, InvalidInput, ModelError):
            pass  # it came to its end; a bad reply is such an end too
        finally:
            program.close()
        return found

    def _reply(self, request: Request, scored_by: ScoredBy, repeat: int) -> Reply[Any] | None:
        asked = isinstance(request, Ask)
        model = scored_by.llm if asked else scored_by.embeddings
        if self._journal is None or model is None or model.whole is None:
            return None
        return self._journal.answer_to(question_digest(model.whole, request, repeat if asked else 0))


def _exchange(request: Any, reply: Reply[Any] | None) -> dict[str, Any]:
    return {
        "prompt": request.prompt.name,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "reply": None if reply is None else reply.value,
    }


def _built(words: str) -> Metric | None:
    """The built-in metric that such words as ``NDCG(k=3)`` describe; None where they describe none."""
    try:
        call = ast.parse(words, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        settings: Mapping[str, Any] = {item.arg or "": ast.literal_eval(item.value) for item in call.keywords}
        metric = built_in_metric(call.func.id, Metric)
        return None if metric is None else metric(**settings)
    except (SyntaxError, ValueError, TypeError, InvalidInput):
        return None
