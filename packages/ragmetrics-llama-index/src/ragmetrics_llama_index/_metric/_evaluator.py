"""Any metric of the core as an evaluator of LlamaIndex.

Strategy. An evaluation is prepared (inputs read off the arguments, templates put in place, the window fitted to the judge), then
driven by the core's ``run`` or ``arun``, then turned into a result. Only the driving differs between ``evaluate`` and
``aevaluate``, so both work anywhere, inside a running loop too, and an exception comes as it was raised.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Literal

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode

from ragmetrics_core import (
    BadReply,
    InvalidInput,
    Metric,
    MissingInput,
    Models,
    Prompt,
    RagmetricsError,
    Sample,
    Score,
    Steps,
    arun,
    run,
)
from ragmetrics_core.adapters import run_blocking

from .._data._responses import Answer, AnyResponse, answer_of, is_async_stream, mode_of, settle
from .._embeddings import scorer_of
from .._llm import LlamaIndexLLM, judge_of
from ._context_budget import fit_window
from ._results import MetricResult, check_threshold, result_of
from ._templates import Slot, Template, as_template, is_same, shown, worded

__all__ = ["MetricEvaluator", "OnError"]

OnError = Literal["raise", "record"]

ARGUMENTS = {"user_input": "query", "retrieved_contexts": "contexts"}
"""What LlamaIndex calls the inputs of metrics."""


@dataclass(eq=False, repr=False)
class MetricEvaluator(BaseEvaluator):
    """A metric as a ``BaseEvaluator``, for every place of LlamaIndex that takes one.

    Args:
        metric: any metric; models that it has itself come first.
        llm: the judge: an LLM of LlamaIndex or of ``ragmetrics_core``. None: ``Settings.llm``, looked up when it is asked.
        embed_model: the same for metrics that embed; None: ``Settings.embed_model``.
        threshold: lowest passing score, for metrics without a verdict of their own; None: the middle of the scale.
        on_error: ``"raise"`` passes on what goes wrong with the model, the server or a missing input; ``"record"`` makes an
            invalid result of it, so that one failure does not cost a batch. An unreadable reply is always an invalid result.
        raise_error: raise a ``ValueError`` instead of returning a result that does not pass, or is invalid.
        metadata_mode: which metadata of the source nodes the judge reads with their text; by default what the generator saw.

    A metric that packs contexts into windows gets smaller ones where the judge's context window is smaller.

    Raises:
        InvalidInput: ``metric`` is no metric, or a setting has a value that it cannot have.
    """

    fills_window: ClassVar[bool] = False
    """Whether the metric's window grows to what the judge can read."""
    positional: ClassVar[tuple[str, ...]] = ()
    """What ``aevaluate`` takes by position after the contexts."""

    metric: Metric
    llm: Any = None
    embed_model: Any = None
    _: KW_ONLY
    threshold: float | None = None
    on_error: OnError = "raise"
    raise_error: bool = False
    metadata_mode: MetadataMode | str = MetadataMode.LLM

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric):
            kind = getattr(self.metric, "__name__", type(self.metric).__name__)
            raise InvalidInput(f"MetricEvaluator takes a metric such as Faithfulness(), got {kind}")
        if self.on_error not in ("raise", "record"):
            raise InvalidInput(f"MetricEvaluator: on_error must be 'raise' or 'record', got {self.on_error!r}")
        if self.threshold is not None:
            check_threshold(type(self).__name__, self.threshold)
        self.llm = judge_of(self.llm)
        self.embed_model = scorer_of(self.embed_model)
        self._mode = mode_of(type(self).__name__, self.metadata_mode)
        self._templates: dict[str, BasePromptTemplate] = {}

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        *,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> MetricResult:
        """Judge an answer.

        Args:
            query: the question.
            response: the answer.
            contexts: the texts that the answer was made from, in rank order.
            sleep_time_in_seconds: wait before the first call.
            kwargs: other inputs of the metric by name, such as ``reference``; names that it does not know are ignored.

        Raises:
            ValueError: an input that the metric needs is not given (``MissingInput``) or of the wrong type.
            ModelError: the model or its server failed.
        """
        # a subclass or an instance with an aevaluate of its own is asked there, as in LlamaIndex
        if getattr(self.aevaluate, "__func__", None) is not MetricEvaluator.aevaluate:
            waiting = {"sleep_time_in_seconds": sleep_time_in_seconds} if sleep_time_in_seconds else {}
            given: dict[str, Any] = {"query": query, "response": response, "contexts": contexts, **waiting, **kwargs}
            return run_blocking(lambda: self.aevaluate(**given))
        time.sleep(sleep_time_in_seconds)
        sample, models = self._sample(query, response, contexts, kwargs), self._models()
        try:
            score = run(self._steps(sample, models.llm), models)
        except RagmetricsError as error:
            score = self._failed(error, sample)
        return self._result(score, query, response, contexts)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        *more: Any,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> MetricResult:
        """Judge an answer without blocking the running loop; arguments and errors as in ``evaluate``."""
        kwargs |= self._by_name(more, kwargs)
        await asyncio.sleep(kwargs.pop("sleep_time_in_seconds", sleep_time_in_seconds))
        sample, models = self._sample(query, response, contexts, kwargs), self._models()
        try:
            score = await arun(self._steps(sample, models.llm), models)
        except RagmetricsError as error:
            score = self._failed(error, sample)
        return self._result(score, query, response, contexts)

    def evaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Judge the response of a query engine, a chat engine or an agent, plain or streaming, or any object that has the
        attributes ``response`` and ``source_nodes``.

        A stream is read to its end first; its text stays in the response, to be printed afterwards.
        """
        settled = run_blocking(partial(settle, response)) if is_async_stream(response) else response
        answer = answer_of(settled, self._mode)
        return self.evaluate(**self._arguments(query, answer, kwargs))

    async def aevaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Judge a response without blocking the running loop; otherwise as ``evaluate_response``."""
        answer = answer_of(await settle(response), self._mode)
        return await self.aevaluate(**self._arguments(query, answer, kwargs))

    def slots(self) -> Mapping[str, Slot]:
        """The keys of ``get_prompts`` and ``update_prompts``, and the prompt of the metric that each stands for."""
        found = (item.name for item in fields(self.metric) if isinstance(getattr(self.metric, item.name), Prompt))
        return {name: Slot(name) for name in found}

    def _get_prompts(self) -> dict[str, BasePromptTemplate]:
        return {
            key: self._templates.get(key) or shown(getattr(self.metric, slot.prompt), slot)
            for key, slot in self.slots().items()
        }

    def _update_prompts(self, prompts_dict: Mapping[str, Template]) -> None:
        slots = self.slots()
        for key in prompts_dict.keys() & slots.keys():
            template = as_template(prompts_dict[key])
            if is_same(template, shown(getattr(self.metric, slots[key].prompt), slots[key])):
                self._templates.pop(key, None)  # as get_prompts gave it: asked as the core words it
            else:
                self._templates[key] = template

    def update_prompts(self, prompts_dict: Mapping[str, Template]) -> None:
        """Word the prompts of ``get_prompts`` anew, with templates or with the texts of templates.

        Keys that are not among them are ignored, as everywhere in LlamaIndex.
        """
        super().update_prompts({key: as_template(template) for key, template in prompts_dict.items()})

    def _by_name(self, values: Sequence[Any], others: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of ``aevaluate`` that were given by position, under their names."""
        method, names = f"{type(self).__name__}.aevaluate", self.positional
        if len(values) > len(names):
            raise TypeError(f"{method} takes {len(names)} arguments by position after contexts, got {len(values)}")
        given = dict(zip(names, values, strict=False))
        for name in given.keys() & others.keys():
            raise TypeError(f"{method} got {name!r} twice, by position and by name")
        return given

    def _sample(
        self, query: str | None, response: str | None, contexts: Sequence[str] | None, kwargs: Mapping[str, Any]
    ) -> Sample:
        given = {"user_input": query, "response": response, "retrieved_contexts": contexts}
        known = set(self.metric.inputs) - given.keys()
        return Sample.from_mapping({**given, **{name: value for name, value in kwargs.items() if name in known}})

    def _models(self) -> Models:
        own = self.metric.models
        judge = own.llm or self.llm
        if self.on_error == "record" and isinstance(judge, LlamaIndexLLM):
            judge = judge.failing_softly()
        return Models(judge, own.embeddings or self.embed_model, self.metric.name)

    def _steps(self, sample: Sample, judge: Any) -> Steps[Score]:
        """The program of the metric, once its prompts are worded and its window is fitted."""
        metric, templates = self._asked()
        if templates:
            llm: LLM | None = judge.llm if isinstance(judge, LlamaIndexLLM) else None
            slots = {key: self.slots()[key] for key in templates}
            changes: dict[str, Any] = {
                slot.prompt: worded(getattr(metric, slot.prompt), templates[key], slot, llm)
                for key, slot in slots.items()
            }
            metric = replace(metric, **changes)
        if isinstance(judge, LlamaIndexLLM):
            texts = [sample.get(name) for name in metric.inputs if name != "retrieved_contexts"]
            metric = fit_window(metric, texts, judge, fill=self.fills_window)
        return (yield from metric.program(sample))

    def _asked(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        """The metric, and the templates that take the places of its prompts."""
        return self.metric, self._templates

    def _failed(self, error: RagmetricsError, sample: Sample) -> Score:
        """The failed score of an error, or the error itself where it is to be raised."""
        unreadable = isinstance(error, BadReply)
        # a blank question or reference is a fault of one row; an argument that was left out is a mistake in the code
        blank = isinstance(error, MissingInput) and sample.get(error.field) is not None
        if isinstance(error, MissingInput) and not error.cure and error.field in ARGUMENTS:
            error = MissingInput(error.metric, ARGUMENTS[error.field], error.problem)
        if unreadable or blank or self.on_error == "record":
            return replace(Score.failed(error), metric=self.metric.name, scale=self._asked()[0].scale)
        raise error

    def _result(
        self, score: Score, query: str | None, response: str | None, contexts: Sequence[str] | None
    ) -> MetricResult:
        result = result_of(score, query, response, contexts, self.threshold)
        if score.value is not None:
            result = result.model_copy(update=self._said(score.value, result))
        if self.raise_error and self._is_error(result):
            raise ValueError(f"The response is invalid: {result.feedback}")
        return result

    def _said(self, value: float, result: MetricResult) -> dict[str, Any]:  # noqa: ARG002  for those who override it
        """What a drop-in class says otherwise in a valid result."""
        return {}

    def _is_error(self, result: MetricResult) -> bool:
        """Whether ``raise_error`` applies."""
        return not result.passing

    def _arguments(self, query: str | None, answer: Answer | None, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if answer is None:
            return {"query": query, **kwargs}
        said = {"response": answer.text, "contexts": answer.contexts, "retrieved_documents": answer.documents}
        return {"query": query, **said, **kwargs}
