"""Haystack's ``ContextRelevanceEvaluator`` over the core's relevant statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haystack.components.evaluators import ContextRelevanceEvaluator as HaystackContextRelevanceEvaluator
from haystack.components.generators.chat.types import ChatGenerator

from haystack import component, default_from_dict, default_to_dict
from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics import RelevantStatements

from ._home import HOME
from ._llm import default_generator
from ._llm_evaluator import LLMEvaluator, loaded
from ._replies import for_row
from ._row_metric import RowMetric, as_examples, saved_examples, texts
from ._rows import RowJudge
from ._scored import extras, with_scores

__all__ = ["ContextRelevanceEvaluator"]

NAMES = {"questions": "question"}
"""Inputs of Haystack, and what the core's prompt calls them."""


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
class ContextRelevanceEvaluator(LLMEvaluator):
    """Whether the contexts of a question hold anything that helps to answer it (1 or 0); rows are judged concurrently.

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

    def __init__(
        self,
        examples: list[dict[str, Any]] | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: ChatGenerator | None = None,
        *,
        max_concurrency: int = 16,
    ) -> None:
        generator: Any = default_generator() if chat_generator is None else chat_generator
        own = HaystackContextRelevanceEvaluator(chat_generator=generator)  # says what it is made with
        self._own_examples = own.examples
        super(ContextRelevanceEvaluator, self).__init__(  # noqa: UP008  the class is made anew
            instructions=own.instructions,
            inputs=own.inputs,
            outputs=own.outputs,
            examples=examples or own.examples,
            progress_bar=progress_bar,
            raise_on_failure=raise_on_failure,
            chat_generator=generator,
            max_concurrency=max_concurrency,
        )

    @component.output_types(
        score=float, individual_scores=list[float], results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows.

        Args:
            inputs: ``questions`` and ``contexts`` (a list for each question), of the same length.

        Returns:
            ``individual_scores`` (NaN for a row that failed); ``score``, the mean of all others; ``results``, with the relevant
            statements, the score and the status of each row; ``meta`` as the generator tells it.

        Raises:
            ValueError: the inputs cannot be used; with ``raise_on_failure`` also if a row cannot be judged.
        """
        return with_scores(super(ContextRelevanceEvaluator, self).run(**inputs), self.outputs)  # noqa: UP008

    @component.output_types(
        score=float, individual_scores=list[float], results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        return with_scores(await super(ContextRelevanceEvaluator, self).run_async(**inputs), self.outputs)  # noqa: UP008

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, as Haystack saves it."""
        return default_to_dict(self, examples=saved_examples(self.examples), **self._saved())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ContextRelevanceEvaluator:
        """The component that ``to_dict`` wrote; ``data`` is left as it is."""
        return default_from_dict(cls, loaded(data))

    def _row_metric(self) -> RowMetric:
        prompt = RelevantStatements().find
        if self.examples != self._own_examples:
            prompt = prompt.replace(examples=as_examples(self.examples, dict(self.inputs), self.outputs, NAMES))
        return RelevanceOfRow(prompt)

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        statements = list(score.details["relevant_statements"])
        found = extras(judge, row, self.outputs)
        return {**found, "relevant_statements": statements, "score": int(score.value or 0.0)}
