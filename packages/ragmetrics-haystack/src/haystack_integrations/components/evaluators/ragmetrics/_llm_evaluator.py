"""Haystack's ``LLMEvaluator``: constructor, validators, life cycle, saved form, outputs, errors and warnings are Haystack's own.

Strategy. What is checked and how it is said is asked of Haystack's class itself, so there is one place for it. The questions are a
prompt of the core, whose reply is read by the core, and the rows are judged by the engine of the core. The two evaluators built on
this one exchange the metric (``_row_metric``) and what becomes of a score (``_result``).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from haystack.components.builders import PromptBuilder
from haystack.components.evaluators import LLMEvaluator as HaystackLLMEvaluator
from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.errors import SerializationError
from haystack.core.serialization import component_to_dict
from haystack.utils import deserialize_chatgenerator_inplace, deserialize_type, serialize_type

from haystack import component, default_from_dict, default_to_dict, logging
from ragmetrics_core import BadReply, ModelError, Prompt, Score
from ragmetrics_core.adapters import HomeLoop, read_in_order

from ._chat import close, close_async, warm_up, warm_up_async
from ._checks import check_calls
from ._home import HOME
from ._llm import default_generator
from ._replies import NOTICE, NamedValues, clean_object, raise_as_haystack
from ._row_metric import NamedOutputs, RowMetric, as_examples, readable, saved_examples
from ._rows import GeneratorFailed, Row, RowJudge

__all__ = ["LLMEvaluator", "loaded"]

logger = logging.getLogger(__name__)


@component
class LLMEvaluator:
    """Judges each row of its inputs by instructions of the user's own; rows are judged concurrently.

    Args:
        instructions: the question, in plain words; literal text, no template language runs over it.
        inputs: names and types of the inputs, such as ``[("predicted_answers", list[str])]``.
        outputs: names of the values that the model is to give.
        examples: ``{"inputs": {...}, "outputs": {...}}`` each.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be judged; else its result is None, and a warning is logged.
        chat_generator: any chat generator, set up to reply with JSON; by default OpenAI's.
        max_concurrency: most calls at a time; a generator without ``run_async`` is called one at a time.

    Attributes:
        builder: a ``PromptBuilder`` that words each row, in place of the prompt; None, unless a subclass overrides
            ``prepare_template`` or sets it.

    Raises:
        ValueError: see ``validate_init_parameters``; ``max_concurrency`` is no number of calls.
    """

    __module__ = HOME

    validate_init_parameters = staticmethod(HaystackLLMEvaluator.validate_init_parameters)
    prepare_template: Any = HaystackLLMEvaluator.prepare_template
    """The prompt of Haystack's own class, for those who show it; what is sent is worded by ragmetrics, unless a subclass
    overrides this: then its template is what is sent."""

    def __init__(
        self,
        instructions: str,
        inputs: list[tuple[str, type[list[Any]]]],
        outputs: list[str],
        examples: list[dict[str, Any]],
        progress_bar: bool = True,
        *,
        raise_on_failure: bool = True,
        chat_generator: ChatGenerator | None = None,
        max_concurrency: int = 16,
    ) -> None:
        self.validate_init_parameters(inputs, outputs, examples)
        check_calls(max_concurrency)
        component.set_input_types(self, **dict(inputs))
        self.instructions = instructions
        self.inputs, self.outputs, self.examples = inputs, outputs, examples
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self.max_concurrency = max_concurrency
        self._chat_generator: Any = default_generator() if chat_generator is None else chat_generator
        self._loop = HomeLoop()
        self.builder: PromptBuilder | None = None
        if type(self).prepare_template is not HaystackLLMEvaluator.prepare_template:
            self.builder = PromptBuilder(template=self.prepare_template())
        elif template := _template_in(instructions, dict(inputs)):
            logger.warning(
                "{component}: the instructions are sent as they stand, and {template} in them is no template. The inputs of each "
                "row are sent as JSON behind them. To word the whole question as a template, override prepare_template.",
                component=type(self).__name__,
                template=template,
            )

    def warm_up(self) -> None:
        """Warm up the chat generator."""
        warm_up(self._chat_generator)

    async def warm_up_async(self) -> None:
        """Warm up the chat generator on the running loop."""
        await warm_up_async(self._chat_generator)

    def close(self) -> None:
        """Release what the chat generator holds."""
        close(self._chat_generator)

    async def close_async(self) -> None:
        """Release what the chat generator holds on the running loop."""
        await close_async(self._chat_generator)

    @staticmethod
    def validate_input_parameters(expected: dict[str, Any], received: dict[str, Any]) -> None:
        """Check the inputs of ``run``.

        Raises:
            ValueError: an expected input is missing, one is not a list, or the lists differ in length.
        """
        if not received and not expected:
            raise ValueError("LLM evaluator has no inputs, so it has nothing to evaluate.")
        HaystackLLMEvaluator.validate_input_parameters(expected, received)

    @component.output_types(results=list[dict[str, Any]], meta=list[dict[str, Any]] | None)
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows.

        Args:
            inputs: one list per input, all of the same length.

        Returns:
            ``results``: the outputs for each row, None where it could not be judged; ``meta``: what the generator tells about
            each reply ({} where there was none), or None if it never tells anything.

        Raises:
            ValueError: see ``validate_input_parameters``; with ``raise_on_failure`` also if a row cannot be judged.
        """
        self.warm_up()
        rows = self._rows(inputs)
        judge = self._judge()
        try:
            scores = judge.judge(rows, self._row_metric())
        except ModelError as error:
            self._raise(error)
        return self._outputs(scores, judge)

    @component.output_types(results=list[dict[str, Any]], meta=list[dict[str, Any]] | None)
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Judge the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        await self.warm_up_async()
        rows = self._rows(inputs)
        judge = self._judge()
        try:
            scores = await judge.ajudge(rows, self._row_metric())
        except ModelError as error:
            self._raise(error)
        return self._outputs(scores, judge)

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, as Haystack saves it."""
        inputs = [[name, serialize_type(type_)] for name, type_ in self.inputs]
        return default_to_dict(
            self,
            instructions=self.instructions,
            inputs=inputs,
            outputs=self.outputs,
            examples=saved_examples(self.examples),
            **self._saved(),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LLMEvaluator:
        """The component that ``to_dict`` wrote; ``data`` is left as it is."""
        data = loaded(data)
        parameters = data["init_parameters"]
        parameters["inputs"] = [(name, deserialize_type(type_)) for name, type_ in parameters["inputs"]]
        return default_from_dict(cls, data)

    def _saved(self) -> dict[str, Any]:
        """The settings that all LLM evaluators save.

        Raises:
            SerializationError: a builder was set, which the saved form has no place for.
        """
        if self.builder is not None and type(self).__module__ == HOME:
            raise SerializationError(
                f"this {type(self).__name__} has a builder of its own, which its saved form has no place for: override "
                "prepare_template in a subclass, or set the builder in its __init__"
            )
        saved = {
            "chat_generator": component_to_dict(obj=self._chat_generator, name="chat_generator"),
            "progress_bar": self.progress_bar,
            "raise_on_failure": self.raise_on_failure,
        }
        return saved if self.max_concurrency == 16 else {**saved, "max_concurrency": self.max_concurrency}

    def _judge(self) -> RowJudge:
        return RowJudge(
            self._chat_generator,
            self._loop,
            self.max_concurrency,
            raising=bool(self.raise_on_failure),
            progress=bool(self.progress_bar),
        )

    def _rows(self, inputs: dict[str, Any]) -> list[Row]:
        expected = dict(self.inputs)
        self.validate_input_parameters(expected, inputs)
        columns = {name: [readable(value) for value in inputs[name]] for name in expected}
        rows = []
        for number in range(len(next(iter(inputs.values())))):
            given = {name: column[number] for name, column in inputs.items()}
            words = None if self.builder is None else self.builder.run(**given)["prompt"]
            rows.append(Row(number, {name: column[number] for name, column in columns.items()}, words))
        return rows

    def _row_metric(self) -> RowMetric:
        unworded = Prompt("", NamedValues(tuple(self.outputs)), name="llm_evaluator", notice=NOTICE)
        examples = as_examples(self.examples, dict(self.inputs), self.outputs)
        return NamedOutputs(unworded.replace(instructions=self.instructions, examples=examples))

    def _result(self, score: Score, judge: RowJudge, row: int) -> dict[str, Any]:
        """The outputs of a row that was judged."""
        found = clean_object(judge.replies[row].text or "")  # the details of a score hold no NaN
        return found if found is not None and found.keys() >= set(self.outputs) else dict(score.details["outputs"])

    def _outputs(self, scores: Sequence[Score], judge: RowJudge) -> dict[str, Any]:
        results: list[dict[str, Any] | None] = []
        for row, score in enumerate(scores):
            if score.error is None:
                results.append(self._result(score, judge, row))
            else:
                results.append(None)
                self._warn(score, judge, row)
        failed = results.count(None)
        if failed:
            logger.warning(
                "{component} failed for {errors} out of {total} inputs. The results for these inputs are None.",
                component=type(self).__name__,
                errors=failed,
                total=len(scores),
            )
        told = [dict(judge.replies[row].meta or {}) if row in judge.replies else {} for row in range(len(scores))]
        return {"results": results, "meta": told if any(told) else None}

    def _warn(self, score: Score, judge: RowJudge, row: int) -> None:
        if row in judge.failures and "raw" not in score.details:
            logger.warning(
                "{component} failed during chat generation for prompt: {prompt}. Setting the result for this input to None. "
                "Error: {e}",
                component=type(self).__name__,
                prompt=judge.failures[row].question,
                e=judge.failures[row].cause,
            )
        else:
            raw: list[str] = score.details.get("raw") or []
            logger.warning(
                "{component} failed to parse the ChatGenerator response: {response}. Setting the result for this input to None. "
                "Error: {error}",
                component=type(self).__name__,
                response=raw[-1] if raw else None,
                error=score.error,
            )

    def _raise(self, error: ModelError) -> NoReturn:
        """Raise the failure of a row as Haystack does."""
        if isinstance(error, GeneratorFailed):
            raise ValueError(  # noqa: TRY004  as in Haystack
                f"Error while generating response for prompt: {error.question}. Error: {error.cause}"
            ) from error.cause
        if isinstance(error, BadReply):
            raise_as_haystack(error, self.outputs)
        raise ValueError(f"Error while generating response: {error}") from error


def _template_in(instructions: str, inputs: Iterable[str]) -> str | None:
    """What Haystack would take for a template of these inputs."""
    names = "|".join(map(re.escape, inputs))
    found = re.search(rf"\{{\{{-?\s*(?:{names})\b.*?\}}\}}|\{{%.*?%\}}", instructions, re.DOTALL)
    return found[0] if found else None


def loaded(data: dict[str, Any]) -> dict[str, Any]:
    """A copy of a saved component, in which the chat generator is an object and the examples are as they were given."""
    data = copy.deepcopy(data)
    parameters = data["init_parameters"]
    if parameters.get("examples"):
        parameters["examples"] = read_in_order(parameters["examples"])
    if parameters.get("chat_generator"):
        deserialize_chatgenerator_inplace(parameters, key="chat_generator")
    return data
