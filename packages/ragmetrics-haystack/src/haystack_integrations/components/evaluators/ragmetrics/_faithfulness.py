"""Haystack's ``FaithfulnessEvaluator`` over the core's faithfulness in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haystack.components.evaluators import FaithfulnessEvaluator as HaystackFaithfulnessEvaluator
from haystack.components.generators.chat.types import ChatGenerator

from haystack import component, default_from_dict, default_to_dict
from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics import SinglePassFaithfulness

from ._home import HOME
from ._llm import default_generator
from ._llm_evaluator import LLMEvaluator, loaded
from ._replies import for_row
from ._row_metric import RowMetric, as_examples, saved_examples, texts
from ._rows import RowJudge
from ._scored import extras, with_scores

__all__ = ["FaithfulnessEvaluator"]

NAMES = {"questions": "question", "predicted_answers": "answer"}
"""Inputs of Haystack, and what the core's prompt calls them."""


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
class FaithfulnessEvaluator(LLMEvaluator):
    """Which share of an answer's statements the contexts support (0.0 to 1.0); rows are judged concurrently.

    An answer without statements counts 0, as in Haystack. A reply with another number of scores than statements, or with scores
    other than 0 and 1, cannot be read and fails its row.

    Args:
        examples: ``{"inputs": {"questions", "contexts", "predicted_answers"}, "outputs": {"statements", "statement_scores"}}``
            each, instead of the built-in ones.
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
        own = HaystackFaithfulnessEvaluator(chat_generator=generator)  # says what it is made with
        self._own_examples = own.examples
        super(FaithfulnessEvaluator, self).__init__(  # noqa: UP008  the class is made anew
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
        individual_scores=list[float], score=float, results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows.

        Args:
            inputs: ``questions``, ``contexts`` (a list for each question) and ``predicted_answers``, all of the same length.

        Returns:
            ``individual_scores`` (NaN for a row that failed); ``score``, the mean of all others; ``results``, with statements,
            their scores, the score and the status of each row; ``meta`` as the generator tells it.

        Raises:
            ValueError: the inputs cannot be used; with ``raise_on_failure`` also if a row cannot be judged.
        """
        return with_scores(super(FaithfulnessEvaluator, self).run(**inputs), self.outputs)  # noqa: UP008

    @component.output_types(
        individual_scores=list[float], score=float, results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        return with_scores(await super(FaithfulnessEvaluator, self).run_async(**inputs), self.outputs)  # noqa: UP008

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, as Haystack saves it."""
        return default_to_dict(self, examples=saved_examples(self.examples), **self._saved())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> FaithfulnessEvaluator:
        """The component that ``to_dict`` wrote; ``data`` is left as it is."""
        return default_from_dict(cls, loaded(data))

    def _row_metric(self) -> RowMetric:
        prompt = SinglePassFaithfulness().judge
        if self.examples != self._own_examples:
            prompt = prompt.replace(examples=as_examples(self.examples, dict(self.inputs), self.outputs, NAMES))
        return FaithfulnessOfRow(prompt)

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        read = score.details if score.value is not None else {}
        lists = {name: list(read.get(name, ())) for name in self.outputs}
        return {**extras(judge, row, self.outputs), **lists, "score": score.value or 0.0}
