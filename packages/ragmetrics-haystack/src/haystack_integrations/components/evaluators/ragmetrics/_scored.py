"""Haystack's ``FaithfulnessEvaluator`` and ``ContextRelevanceEvaluator``, which give a score to each row.

Strategy. Instructions, inputs, outputs and examples are read from an instance of Haystack's class. The prompt and the score are
those of a metric of the core. If the user changed the instructions or examples, the user's version replaces the core's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from haystack.components.evaluators import ContextRelevanceEvaluator as HaystackContextRelevanceEvaluator
from haystack.components.evaluators import FaithfulnessEvaluator as HaystackFaithfulnessEvaluator
from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.errors import SerializationError
from pydantic import BaseModel, Field

from haystack import component, logging
from ragmetrics_core import Prompt, Score, Steps
from ragmetrics_core.metrics import RelevantStatements, SinglePassFaithfulness
from ragmetrics_core.replies import JsonReply

from ._llm_evaluator import AT_ONCE, NOTICE, LLMEvaluator
from ._models import HOME, default_generator
from ._rows import Row, RowJudge, RowMetric, as_examples, clean_object

logger = logging.getLogger(__name__)

OUTPUTS: dict[str, Any] = {
    "score": float,
    "individual_scores": list[float],
    "results": list[dict[str, Any]],
    "meta": list[dict[str, Any]] | None,
}


class ScoredEvaluator(LLMEvaluator):
    """Base of the evaluators with a score for each row. The subclasses document their arguments."""

    _of_haystack: ClassVar[Any]
    """Haystack's class of the same name."""

    _names: ClassVar[Mapping[str, str]]
    """The core's names for Haystack's inputs, if they differ."""

    _number: ClassVar[type[float]] = float
    """The type of a row's score in Haystack."""

    def __init__(
        self,
        examples: list[dict[str, Any]] | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: ChatGenerator | None = None,
        *,
        max_concurrency: int = AT_ONCE,
    ) -> None:
        generator: Any = default_generator() if chat_generator is None else chat_generator
        self._own = self._of_haystack(chat_generator=generator)
        super().__init__(
            instructions=self._own.instructions,
            inputs=self._own.inputs,
            outputs=self._own.outputs,
            examples=examples or self._own.examples,
            progress_bar=progress_bar,
            raise_on_failure=raise_on_failure,
            chat_generator=generator,
            max_concurrency=max_concurrency,
        )

    @component.output_types(**OUTPUTS)
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows.

        Args:
            inputs: the inputs of Haystack's evaluator of this name, one list each, all of the same length.

        Returns:
            ``individual_scores``: one score per row, NaN for a row that failed.
            ``score``: the mean over the rows that did not fail.
            ``results``: for each row the outputs of the model, the score and the status.
            ``meta``: the generator's metadata.

        Raises:
            ValueError: the inputs cannot be used; with ``raise_on_failure`` also if a row cannot be judged.
        """
        return self._with_scores(super().run(**inputs))

    @component.output_types(**OUTPUTS)
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        return self._with_scores(await super().run_async(**inputs))

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values, as Haystack saves it.

        Raises:
            SerializationError: the instructions were changed, and the saved form cannot contain instructions.
        """
        if self.instructions != self._own.instructions and type(self).__module__ == HOME:
            raise SerializationError(
                f"the instructions of this {type(self).__name__} were changed, which cannot be saved: set them in "
                "the __init__ of a subclass, or use LLMEvaluator"
            )
        data = super().to_dict()
        for name in ("instructions", "inputs", "outputs"):
            del data["init_parameters"][name]
        return data

    def _row_metric(self) -> RowMetric:
        return RowMetric(self._prompt(), tuple(self.outputs), self._ask)

    def _with_user_words(self, prompt: Prompt[Any], outputs: list[str]) -> Prompt[Any]:
        """Return the core's prompt as one message with the user's instructions and examples. ``outputs`` gives the order of the
        outputs in an example.
        """
        prompt = prompt.replace(notice=NOTICE, version=f"haystack-{prompt.version}")
        if self.examples != self._own.examples:
            prompt = prompt.replace(examples=as_examples(self.examples, dict(self.inputs), outputs, self._names))
        if self.instructions != self._own.instructions:
            prompt = prompt.replace(instructions=self.instructions)
        return prompt

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        given = clean_object(judge.replies[row].text or "") or {}  # includes keys that were not asked for
        lists = {name: list(score.details.get(name, ())) for name in self.outputs}
        return {**given, **lists, "score": self._number(score.value or 0.0)}

    def _with_scores(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the results with a status for each row; the score of every row, NaN for a row that failed; and the mean over
        the other rows.
        """
        rows: list[dict[str, Any]] = [
            {**{name: [] for name in self.outputs}, "score": math.nan, "status": "error"}
            if row is None
            else {**row, "status": "evaluated"}
            for row in result["results"]
        ]
        scores = [row["score"] for row in rows]
        valid = [score for score in scores if not math.isnan(score)]
        skipped = len(scores) - len(valid)
        if skipped:
            logger.warning("{skipped} query(s) failed and were excluded from the score.", skipped=skipped)
        mean = sum(valid) / len(valid) if valid else math.nan
        return {**result, "results": rows, "score": mean, "individual_scores": scores}


class StatementsAndScores(BaseModel):
    """A reply without reasons, for examples that have none, as in Haystack."""

    statements: list[str]
    statement_scores: list[Literal[0, 1]] = Field(description="per statement, 1 if the contexts support it, else 0")


@component
class FaithfulnessEvaluator(ScoredEvaluator):
    """The share of an answer's statements that the contexts support (0.0 to 1.0); rows are judged concurrently.

    It takes ``questions``, ``contexts`` (a list for each question) and ``predicted_answers``. An answer without statements counts
    0, as in Haystack. A reply with more or fewer scores than statements, or with scores other than 0 and 1, cannot be read and
    fails its row. The model is asked for the reason of each score, unless examples are given that have no ``reasons``.

    Args:
        examples: ``{"inputs": {"questions", "contexts", "predicted_answers"}, "outputs": {"statements", "statement_scores"}}``
            each, instead of the built-in ones; the outputs may have ``reasons``, a text for each statement.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be judged; else its score is NaN, its status "error", and a warning is logged.
        chat_generator: any chat generator, set up to reply with JSON; by default OpenAI's.
        max_concurrency: most calls at a time; a generator without ``run_async`` takes one call at a time.

    Raises:
        ValueError: the examples have another form.
    """

    __module__ = HOME

    _of_haystack = HaystackFaithfulnessEvaluator
    _names = {"questions": "question", "predicted_answers": "answer"}  # noqa: RUF012

    def _prompt(self) -> Prompt[Any]:
        prompt: Prompt[Any] = SinglePassFaithfulness().judge
        if self.examples != self._own.examples and not any("reasons" in item["outputs"] for item in self.examples):
            without = prompt.instructions.replace("a reason and a score", "a score")
            prompt = prompt.replace(instructions=without, reply=JsonReply(StatementsAndScores))
        return self._with_user_words(prompt, ["statements", "reasons", "statement_scores"])

    def _ask(self, prompt: Prompt[Any], row: Row) -> Steps[Score]:
        return SinglePassFaithfulness(judge=prompt).measure(
            user_input=row.values["questions"],
            response=row.values["predicted_answers"],
            retrieved_contexts=_texts(row.values["contexts"]),
        )


@component
class ContextRelevanceEvaluator(ScoredEvaluator):
    """Whether the contexts of a question contain anything that helps to answer it (1 or 0); rows are judged concurrently.

    It takes ``questions`` and ``contexts`` (a list for each question).

    Args:
        examples: ``{"inputs": {"questions", "contexts"}, "outputs": {"relevant_statements"}}`` each, instead of the built-in ones.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be judged; else its score is NaN, its status "error", and a warning is logged.
        chat_generator: any chat generator, set up to reply with JSON; by default OpenAI's.
        max_concurrency: most calls at a time; a generator without ``run_async`` takes one call at a time.

    Raises:
        ValueError: the examples have another form.
    """

    __module__ = HOME

    _of_haystack = HaystackContextRelevanceEvaluator
    _names = {"questions": "question"}  # noqa: RUF012
    _number = int

    def _prompt(self) -> Prompt[Any]:
        # Haystack accepts any statements, whether a context contains them or not
        return self._with_user_words(RelevantStatements().find.replace(check=None), self.outputs)

    def _ask(self, prompt: Prompt[Any], row: Row) -> Steps[Score]:
        return RelevantStatements(find=prompt).measure(
            user_input=row.values["questions"], retrieved_contexts=_texts(row.values["contexts"])
        )


def _texts(contexts: Any) -> list[Any]:
    """Return the contexts of a row as a list, in whatever form the user gave them."""
    if contexts is None:
        return []
    return contexts if isinstance(contexts, list) else [contexts]
