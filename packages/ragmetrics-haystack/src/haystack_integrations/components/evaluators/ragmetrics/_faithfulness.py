"""Haystack's ``FaithfulnessEvaluator`` over the core's faithfulness in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from haystack.components.evaluators import FaithfulnessEvaluator as HaystackFaithfulnessEvaluator
from pydantic import BaseModel, Field

from haystack import component
from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics import SinglePassFaithfulness
from ragmetrics_core.replies import JsonReply

from ._home import HOME
from ._replies import for_row, in_one_message
from ._row_metric import RowMetric, texts
from ._rows import RowJudge
from ._scored import ScoredEvaluator, extras

__all__ = ["FaithfulnessEvaluator"]


class StatementsAndScores(BaseModel):
    """The form of examples that give no reasons, which is that of Haystack."""

    statements: list[str]
    statement_scores: list[Literal[0, 1]] = Field(description="per statement, 1 if the contexts support it, else 0")


WITHOUT_REASONS = (
    "Judge how far the answer rests on the contexts. List the statements of fact that the answer makes, each understandable on "
    "its own. Give each statement, in the same order, 1 if the contexts state it or it follows from them, and 0 if they do not. "
    "Use the contexts alone, not what you know. An answer that states no fact gives empty lists."
)


@dataclass(frozen=True)
class FaithfulnessOfRow(RowMetric):
    """The core's metric on one row."""

    def measure(self, row: Any) -> Steps[Score]:
        """Ask once."""
        values = row.values
        metric = SinglePassFaithfulness(judge=for_row(self.prompt, row, "statements", "statement_scores"))
        return (
            yield from metric.measure(
                user_input=values["questions"],
                response=values["predicted_answers"],
                retrieved_contexts=texts(values["contexts"]),
            )
        )


@component
class FaithfulnessEvaluator(ScoredEvaluator):
    """Which share of an answer's statements the contexts support (0.0 to 1.0); rows are judged concurrently.

    It takes ``questions``, ``contexts`` (a list for each question) and ``predicted_answers``. An answer without statements counts
    0, as in Haystack. A reply with another number of scores than statements, or with scores other than 0 and 1, cannot be read and
    fails its row. The model is asked for the reason of each score, unless examples are given that have no ``reasons``.

    Args:
        examples: ``{"inputs": {"questions", "contexts", "predicted_answers"}, "outputs": {"statements", "statement_scores"}}``
            each, instead of the built-in ones; the outputs may have ``reasons``, a text for each statement.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be judged; else its score is NaN, its status "error", and a warning is logged.
        chat_generator: any chat generator, set up to reply with JSON; by default OpenAI's.
        max_concurrency: most calls at a time; a generator without ``run_async`` is called one at a time.

    Raises:
        ValueError: the examples have another form.
    """

    __module__ = HOME

    _of_haystack = HaystackFaithfulnessEvaluator
    _names = {"questions": "question", "predicted_answers": "answer"}  # noqa: RUF012

    def _row_metric(self) -> RowMetric:
        prompt: Prompt[Any] = in_one_message(SinglePassFaithfulness().judge)
        if self.examples != self._own_examples and not any("reasons" in item["outputs"] for item in self.examples):
            prompt = prompt.replace(instructions=WITHOUT_REASONS, reply=JsonReply(StatementsAndScores))
        return FaithfulnessOfRow(self._own_words(prompt))

    @property
    def _shown_outputs(self) -> list[str]:
        return ["statements", "reasons", "statement_scores"]

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        read = score.details if score.value is not None else {}
        lists = {name: list(read.get(name, ())) for name in self.outputs}
        return {**extras(judge, row, self.outputs), **lists, "score": score.value or 0.0}
