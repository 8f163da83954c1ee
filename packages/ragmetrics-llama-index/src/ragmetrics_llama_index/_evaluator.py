"""Any metric of the core as an evaluator of LlamaIndex, with its results and its prompts.

Strategy. The arguments become a sample; the program of the metric, with the templates of the user and a window that the judge can
read, is driven by the core's ``run`` or ``arun``; its score becomes a result. ``evaluate`` and ``aevaluate`` differ in the driver
alone, so both work anywhere, even inside a running loop, and exceptions stay as they were raised.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

from llama_index.core.bridge.pydantic import Field
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
    RagmetricsError,
    Sample,
    Score,
    Steps,
    Usage,
    arun,
    run,
)
from ragmetrics_core.adapters import prompts_of, run_blocking

from ._models import LlamaIndexLLM, judge_of, scorer_of
from ._responses import AnyResponse, answer_of, is_async_stream, mode_of, settle
from ._templates import Slot, Template, as_template, template_of, with_template
from ._windows import fit_window

NOT_JUDGED = "The answer could not be judged."
"""The feedback of a result whose judge failed; ``invalid_reason`` says why."""


class MetricResult(EvaluationResult):
    """An ``EvaluationResult`` with the evidence for its score.

    Attributes:
        metric: name of the metric.
        scale: lowest and highest possible score; None if the score has no bounds.
        details: the evidence, as plain JSON values: statements, verdicts, ratings, versions of the prompts.
        usage: how many calls and tokens the judge used.
        error: why the judge failed; None if it did not, even if there was nothing to score.
        label: the kind of a result without a score, such as ``no_retrieval``; None otherwise.
    """

    metric: str | None = None
    scale: tuple[float, float] | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    usage: dict[str, int] = Field(default_factory=dict)
    error: str | None = None
    label: str | None = None


def score_of(result: EvaluationResult) -> Score:
    """Return the score of the core that a result stands for."""
    details: dict[str, Any] = {}
    if isinstance(result, MetricResult):
        details = {"details": result.details, "metric": result.metric, "scale": result.scale, "label": result.label}
        details["usage"] = Usage(**result.usage)
    if result.score is not None and not result.invalid_result:
        return Score(float(result.score), passing=result.passing, reason=result.feedback, **details)
    reason = result.invalid_reason or "there is no score"
    if isinstance(result, MetricResult) and result.error is None:
        return Score(None, reason=reason, **details)
    return Score(None, error=reason, **details)


def result_of(
    score: Score, query: str | None, response: str | None, contexts: Sequence[str] | None, threshold: float | None
) -> MetricResult:
    """Return the result for a score, with the texts that were judged.

    ``threshold`` is the lowest passing value, for metrics that give no verdict; None: the middle of the scale.
    """
    invalid = score.value is None
    return MetricResult(
        query=query,
        response=response,
        contexts=None if contexts is None else list(contexts),
        score=score.value,
        passing=passes(score, threshold),
        feedback=NOT_JUDGED if score.error else score.reason or score.explain(),
        invalid_result=invalid,
        invalid_reason=(score.error or score.reason or "there is no score") if invalid else None,
        pairwise_source=score.details.get("source") if "winner" in score.details else None,
        metric=score.metric,
        scale=score.scale,
        details=dict(score.details),
        usage=score.usage.to_dict(),
        error=score.error,
        label=score.label,
    )


def passes(score: Score, threshold: float | None = None) -> bool | None:
    """Return the metric's own verdict if it has one, else whether the value reaches a threshold; None without a value, and for a
    tie.

    Args:
        score: the score.
        threshold: the lowest passing value; None: the middle of the scale.
    """
    if score.passing is not None or score.value is None or score.details.get("winner") == "tie":
        return score.passing
    return score.value >= (_middle(score.scale) if threshold is None else threshold)


def _middle(scale: tuple[float, float] | None) -> float:
    """Return the middle of the scale; half of the highest value if the scale goes below 0, as for a cosine."""
    low, high = scale or (0.0, 1.0)
    return high / 2 if low < 0 else (low + high) / 2


def check_threshold(owner: str, threshold: Any, *, positive: bool = False) -> None:
    """Refuse a threshold that is not a finite number. If scores are divided by it (``positive``), it must also be above 0."""
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold)
    if not number or (positive and threshold <= 0):
        wanted = "number above 0" if positive else "finite number"
        raise InvalidInput(f"{owner}: the threshold must be a {wanted}, got {threshold!r}")


OnError = Literal["raise", "record"]

ARGUMENTS = {"user_input": "query", "retrieved_contexts": "contexts"}
"""LlamaIndex's names for the inputs of metrics."""


@dataclass(eq=False, repr=False)
class MetricEvaluator(BaseEvaluator):
    """A metric as a ``BaseEvaluator``, for every place of LlamaIndex that takes one.

    Args:
        metric: any metric; its own models take precedence.
        llm: the judge: an LLM of LlamaIndex or of ``ragmetrics_core``. None: ``Settings.llm``, looked up at each call.
        embed_model: likewise, for metrics that embed; None: ``Settings.embed_model``.
        threshold: lowest passing score, for metrics that give no verdict; None: the middle of the scale.
        on_error: ``"raise"`` raises failures of the model or its server, and missing inputs; ``"record"`` turns them into invalid
            results, so that one failure does not cost a batch. An unreadable reply is always an invalid result.
        raise_error: raise a ``ValueError`` for a result that does not pass or is invalid.
        metadata_mode: which metadata of the source nodes the judge reads with their text; by default what the generator saw.

    A metric that packs contexts into windows gets smaller windows where the judge's context window demands it.

    Raises:
        InvalidInput: ``metric`` is not a metric, or a setting is invalid.
    """

    fills_window: ClassVar[bool] = False
    """Whether the metric's window grows to the largest one that fits the judge."""
    positional: ClassVar[tuple[str, ...]] = ()
    """The arguments that ``aevaluate`` takes by position after the contexts."""

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
            kwargs: other inputs of the metric by name, such as ``reference``; unknown names are ignored.

        Raises:
            ValueError: an input that the metric needs is missing (``MissingInput``) or has the wrong type.
            ModelError: the model or its server failed.
        """
        # if a subclass or an instance has its own aevaluate, evaluate calls it, as in LlamaIndex
        if getattr(self.aevaluate, "__func__", None) is not MetricEvaluator.aevaluate:
            waiting = {"sleep_time_in_seconds": sleep_time_in_seconds} if sleep_time_in_seconds else {}
            arguments: dict[str, Any] = {"query": query, "response": response, "contexts": contexts, **waiting}
            arguments |= kwargs
            return run_blocking(lambda: self.aevaluate(**arguments))
        time.sleep(sleep_time_in_seconds)
        sample, models = self._sample(query, response, contexts, kwargs), self._models()
        try:
            score = run(self._steps(sample, models), models)
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
        kwargs |= self._by_position(more, kwargs)
        await asyncio.sleep(kwargs.pop("sleep_time_in_seconds", sleep_time_in_seconds))
        sample, models = self._sample(query, response, contexts, kwargs), self._models()
        try:
            score = await arun(self._steps(sample, models), models)
        except RagmetricsError as error:
            score = self._failed(error, sample)
        return self._result(score, query, response, contexts)

    def _by_position(self, values: Sequence[Any], others: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments given by position after the contexts, under their names. ``others`` are the arguments given by
        name.
        """
        method, names = f"{type(self).__name__}.aevaluate", self.positional
        if len(values) > len(names):
            raise TypeError(f"{method} takes {len(names)} arguments by position after contexts, got {len(values)}")
        given = dict(zip(names, values, strict=False))
        twice = [name for name in given if name in others]
        if twice:
            raise TypeError(f"{method} got {twice[0]!r} twice, by position and by name")
        return given

    def evaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Judge a response of a query engine, a chat engine or an agent, or any object with ``response`` and ``source_nodes``.

        A stream is first read to its end; its text stays in the response and can still be printed.
        """
        settled = run_blocking(partial(settle, response)) if is_async_stream(response) else response
        answer = answer_of(settled, self._mode)
        return self.evaluate(**self._arguments(query, answer, kwargs))

    async def aevaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Judge a response without blocking the running loop; otherwise like ``evaluate_response``."""
        answer = answer_of(await settle(response), self._mode)
        return await self.aevaluate(**self._arguments(query, answer, kwargs))

    def slots(self) -> Mapping[str, Slot]:
        """Return the prompts of the metric that the keys of ``get_prompts`` and ``update_prompts`` stand for, by key."""
        return {name: Slot(name) for name in prompts_of(self.metric)}

    def _get_prompts(self) -> dict[str, BasePromptTemplate]:
        return {
            key: self._templates.get(key) or template_of(getattr(self.metric, slot.prompt), slot)
            for key, slot in self.slots().items()
        }

    def _update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        slots = self.slots()
        for key in prompts_dict.keys() & slots.keys():
            template = prompts_dict[key]
            if template == template_of(getattr(self.metric, slots[key].prompt), slots[key]):
                self._templates.pop(key, None)  # the template that get_prompts returned, so the core's own words
            else:
                self._templates[key] = template

    def update_prompts(self, prompts_dict: Mapping[str, Template]) -> None:
        """Replace prompts of ``get_prompts`` by templates or their texts; unknown keys are ignored, as everywhere in LlamaIndex."""
        super().update_prompts({key: as_template(template) for key, template in prompts_dict.items()})

    def _sample(
        self, query: str | None, response: str | None, contexts: Sequence[str] | None, kwargs: Mapping[str, Any]
    ) -> Sample:
        given = {"user_input": query, "response": response, "retrieved_contexts": contexts}
        known = set(self.metric.inputs) - given.keys()
        return Sample.from_mapping({**given, **{name: value for name, value in kwargs.items() if name in known}})

    def _models(self) -> Models:
        own = self.metric.models
        models = replace(own, llm=own.llm or self.llm, embeddings=own.embeddings or self.embed_model)
        return models.each(_failing_softly) if self.on_error == "record" else models

    def _steps(self, sample: Sample, models: Models) -> Steps[Score]:
        """Return the program of the metric, with the user's templates and a window that fits the judge."""
        judge = models.llm
        metric, templates = self._wording()
        if templates:
            llm: LLM | None = judge.llm if isinstance(judge, LlamaIndexLLM) else None
            slots = {key: self.slots()[key] for key in templates}
            changes: dict[str, Any] = {
                slot.prompt: with_template(getattr(metric, slot.prompt), templates[key], slot, llm)
                for key, slot in slots.items()
            }
            metric = replace(metric, **changes)
        if isinstance(judge, LlamaIndexLLM) and "window" in vars(metric):
            texts = [sample.get(name) for name in metric.inputs if name != "retrieved_contexts"]
            metric = fit_window(metric, texts, judge.room, fill=self.fills_window)
        return (yield from metric.told_of(models).program(sample))

    def _wording(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        """Return the metric, and the templates that replace its prompts."""
        return self.metric, self._templates

    def _failed(self, error: RagmetricsError, sample: Sample) -> Score:
        """Return the score that records the error, or raise the error if errors are not recorded."""
        unreadable = isinstance(error, BadReply)
        # a blank question or reference is a problem of one row; a missing argument is a mistake in the code
        blank = isinstance(error, MissingInput) and sample.get(error.field) is not None
        if isinstance(error, MissingInput) and not error.cure and error.field in ARGUMENTS:
            error = MissingInput(error.metric, ARGUMENTS[error.field], error.problem)
        if unreadable or blank or self.on_error == "record":
            return replace(Score.failed(error), metric=self.metric.name, scale=self._wording()[0].scale)
        raise error

    def _result(
        self, score: Score, query: str | None, response: str | None, contexts: Sequence[str] | None
    ) -> MetricResult:
        result = result_of(score, query, response, contexts, self.threshold)
        if score.value is not None:
            result = result.model_copy(update=self._changes(score.value, result))
        if self.raise_error and self._is_error(result):
            raise ValueError(f"The response is invalid: {result.feedback}")
        return result

    def _changes(self, value: float, result: MetricResult) -> dict[str, Any]:  # noqa: ARG002  for subclasses
        """Return the fields of a valid result that a subclass sets to other values."""
        return {}

    def _is_error(self, result: MetricResult) -> bool:
        """Whether ``raise_error`` applies to this result."""
        return not result.passing

    def _arguments(self, query: str | None, answer: Sample | None, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if answer is not None:
            contexts, documents = answer.retrieved_contexts, answer.retrieved_documents
            said = {"response": answer.response, "contexts": contexts, "retrieved_documents": documents}
        return {"query": query, **said, **kwargs}


def _failing_softly(models: Models) -> Models:
    return replace(models, llm=models.llm.failing_softly()) if isinstance(models.llm, LlamaIndexLLM) else models
