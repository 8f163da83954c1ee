"""Haystack's ``ContextRelevanceEvaluator`` over the core's relevant statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haystack.components.evaluators import ContextRelevanceEvaluator as HaystackContextRelevanceEvaluator

from haystack import component
from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics import RelevantStatements

from ._home import HOME
from ._replies import for_row, in_one_message
from ._row_metric import RowMetric, texts
from ._rows import RowJudge
from ._scored import ScoredEvaluator, extras

__all__ = ["ContextRelevanceEvaluator"]


@dataclass(frozen=True)
class RelevanceOfRow(RowMetric):
    """The core's metric on one row."""

    def measure(self, row: Any) -> Steps[Score]:
        """Ask once."""
        metric = RelevantStatements(find=for_row(self.prompt, row, "relevant_statements"))
        return (
            yield from metric.measure(
                user_input=row.values["questions"], retrieved_contexts=texts(row.values["contexts"])
            )
        )


@component
class ContextRelevanceEvaluator(ScoredEvaluator):
    """Whether the contexts of a question hold anything that helps to answer it (1 or 0); rows are judged concurrently.

    It takes ``questions`` and ``contexts`` (a list for each question).

    Args:
        examples: ``{"inputs": {"questions", "contexts"}, "outputs": {"relevant_statements"}}`` each, instead of the built-in ones.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be judged; else its score is NaN, its status "error", and a warning is logged.
        chat_generator: any chat generator, set up to reply with JSON; by default OpenAI's.
        max_concurrency: most calls at a time; a generator without ``run_async`` is called one at a time.

    Raises:
        ValueError: the examples have another form.
    """

    __module__ = HOME

    _of_haystack = HaystackContextRelevanceEvaluator
    _names = {"questions": "question"}  # noqa: RUF012

    def _row_metric(self) -> RowMetric:
        # Haystack takes statements as they come, whether they stand in a context or not
        return RelevanceOfRow(self._own_words(in_one_message(RelevantStatements().find.replace(check=None))))

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        statements = list(score.details["relevant_statements"])
        found = extras(judge, row, self.outputs)
        return {**found, "relevant_statements": statements, "score": int(score.value or 0.0)}
