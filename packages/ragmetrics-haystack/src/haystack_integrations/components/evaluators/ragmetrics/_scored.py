"""The evaluators with a score for each row: what they share beyond the rows themselves.

Strategy. What an evaluator of Haystack is made with (instructions, inputs, outputs, examples) is asked of Haystack's class. The
prompt is the core's, as long as those are Haystack's own; what the user put in their place is what is sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.errors import SerializationError

from haystack import component, default_from_dict, default_to_dict, logging
from ragmetrics_core import Prompt

from ._home import HOME
from ._llm import default_generator
from ._llm_evaluator import LLMEvaluator, loaded
from ._replies import clean_object
from ._row_metric import as_examples, saved_examples
from ._rows import RowJudge

__all__ = ["ScoredEvaluator", "extras"]

logger = logging.getLogger(__name__)

E = TypeVar("E", bound="ScoredEvaluator")


class ScoredEvaluator(LLMEvaluator):
    """Base of the evaluators with a score for each row; their own documentation names the arguments."""

    _of_haystack: ClassVar[Any]
    """The class whose place it takes."""

    _names: ClassVar[Mapping[str, str]]
    """Inputs of Haystack, and what the core's prompt calls them."""

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
        own = self._of_haystack(chat_generator=generator)
        self._own_examples, self._own_instructions = own.examples, own.instructions
        super().__init__(
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
            inputs: the inputs of Haystack's evaluator of this name, one list each, all of the same length.

        Returns:
            ``individual_scores`` (NaN for a row that failed); ``score``, the mean of all others; ``results``, with what the model
            gave, the score and the status of each row; ``meta`` as the generator tells it.

        Raises:
            ValueError: the inputs cannot be used; with ``raise_on_failure`` also if a row cannot be judged.
        """
        return with_scores(super().run(**inputs), self.outputs)

    @component.output_types(
        score=float, individual_scores=list[float], results=list[dict[str, Any]], meta=list[dict[str, Any]] | None
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        return with_scores(await super().run_async(**inputs), self.outputs)

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, as Haystack saves it.

        Raises:
            SerializationError: the instructions were changed, which the saved form has no place for.
        """
        if self.instructions != self._own_instructions and type(self).__module__ == HOME:
            raise SerializationError(
                f"the instructions of this {type(self).__name__} were changed, which its saved form has no place for: set them in "
                "the __init__ of a subclass, or use LLMEvaluator"
            )
        return default_to_dict(self, examples=saved_examples(self.examples), **self._saved())

    @classmethod
    def from_dict(cls: type[E], data: dict[str, Any]) -> E:
        """The component that ``to_dict`` wrote; ``data`` is left as it is."""
        return default_from_dict(cls, loaded(data))

    def _own_words(self, prompt: Prompt[Any]) -> Prompt[Any]:
        """The prompt with the user's examples and instructions, where there are any."""
        if self.examples != self._own_examples:
            prompt = prompt.replace(
                examples=as_examples(self.examples, dict(self.inputs), self._shown_outputs, self._names)
            )
        if self.instructions != self._own_instructions:
            prompt = prompt.replace(instructions=self.instructions)
        return prompt

    @property
    def _shown_outputs(self) -> list[str]:
        return self.outputs


def with_scores(result: Mapping[str, Any], outputs: Iterable[str]) -> dict[str, Any]:
    """The results with a status per row, the scores of all rows (NaN where a row failed) and their mean.

    Args:
        result: what the evaluator of rows returns, with a ``score`` in each row that did not fail.
        outputs: names of the lists that a failed row has, empty.
    """
    rows: list[dict[str, Any]] = [
        {**{name: [] for name in outputs}, "score": math.nan, "status": "error"}
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


def extras(judge: RowJudge, row: int, outputs: Iterable[str]) -> dict[str, Any]:
    """What the model gave for a row besides what it was asked for."""
    reply = judge.replies.get(row)
    found = clean_object(reply.text or "") if reply is not None else None
    return {name: value for name, value in (found or {}).items() if name not in {*outputs, "score", "status"}}
