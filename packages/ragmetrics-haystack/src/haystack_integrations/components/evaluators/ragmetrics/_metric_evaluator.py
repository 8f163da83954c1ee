"""Any metric of the core as a component of Haystack.

Strategy. The input sockets are the metric's own inputs, each a list with one item per row, so a new metric becomes a component
without any code here. The saved form contains the metric, by its own ``to_dict``, and the components that answer it and its
jurors. Haystack cannot save a model of the core, and the error says so. A saved pipeline may come from anywhere, so the class of
a metric that is not built in is loaded only from modules that Haystack trusts.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.errors import SerializationError
from haystack.core.serialization import component_to_dict, import_class_by_name
from haystack.utils import deserialize_component_inplace

from haystack import Document, component, default_from_dict, default_to_dict, logging
from ragmetrics_core import InvalidInput, Metric, Score, Usage, aevaluate, evaluate
from ragmetrics_core.adapters import blocking, check_calls, check_switch, kind_of, metric_paths

from ._models import HOME, HaystackEmbeddings, HaystackLLM, call_async_if_any, call_if_any

COMPONENTS = ("chat_generator", "embedder")


def juror_models(metric: Metric) -> list[dict[str, Any]] | None:
    """Return Haystack's models of the jurors, in the order of the jurors; None if the jurors have none."""
    saved = [_saved_models(juror) for juror in _jurors(metric)] if metric.parts else []
    return saved if any(saved) else None


def with_juror_models(metric: Metric, saved: Any) -> Metric:
    """Return the metric with the models that ``juror_models`` wrote.

    Raises:
        DeserializationError: the class of a component is in a module that Haystack does not trust.
        InvalidInput: ``saved`` does not contain the models of as many jurors.
    """
    if saved is None:
        return metric
    count = len(list(_jurors(metric)))
    if not isinstance(saved, Sequence) or len(saved) != count or not all(isinstance(one, Mapping) for one in saved):
        raise InvalidInput(f"MetricEvaluator: juror_models must be a list with a mapping for each of {count} jurors")
    return _with_models(metric, iter(saved))


def _jurors(metric: Metric) -> Iterator[Metric]:
    """Return the jurors that ask models, including the jurors of a jury inside a jury."""
    for part in metric.parts:
        yield from _jurors(part) if part.parts else [part]


def _saved_models(juror: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(juror.llm, HaystackLLM):
        found["chat_generator"] = component_to_dict(obj=juror.llm.chat_generator, name="chat_generator")
        found["json_mode"] = juror.llm.json_mode
    if isinstance(juror.embeddings, HaystackEmbeddings):
        found["embedder"] = component_to_dict(obj=juror.embeddings.text_embedder, name="embedder")
    return found


def _with_models(metric: Any, saved: Iterator[Mapping[str, Any]]) -> Any:
    if metric.parts:
        return replace(metric, jurors=[_with_models(part, saved) for part in metric.parts])
    models = dict(next(saved))
    for name in COMPONENTS:
        if name in models:
            deserialize_component_inplace(models, key=name)
    own: dict[str, Any] = {}
    if "chat_generator" in models:
        own["llm"] = HaystackLLM(models["chat_generator"], json_mode=models.get("json_mode"))
    if "embedder" in models:
        own["embeddings"] = HaystackEmbeddings(models["embedder"])
    return replace(metric, **own)


logger = logging.getLogger(__name__)

BUILT_IN = "ragmetrics_core"

BRIDGES = (HaystackLLM, HaystackEmbeddings)

SETTINGS = ("progress_bar", "raise_on_failure", "max_concurrency", "max_retries", "timeout", "json_mode")
"""Arguments that are saved unchanged."""

SOCKETS: Mapping[str, Any] = {
    "text": list[str],
    "texts": list[list[str]] | list[list[Document]],
    "documents": list[list[Document]],
    "rubric": list[dict[int, str]],
    "turns": list[list[dict[str, Any]]],
    "any": list[Any],
}
"""The type of the socket for each kind of input."""

OUTPUTS = {"score": float, "individual_scores": list[float], "results": list[dict[str, Any]], "meta": dict[str, Any]}


@component
class MetricEvaluator:
    """Scores rows with a metric. Rows are scored concurrently.

    The inputs are the inputs of the metric, each a list with one item per row: ``MetricEvaluator(ContextRecall())`` takes
    ``user_input``, ``reference`` and ``retrieved_contexts``. An optional input may be left out, or be None in some rows. Contexts
    are texts or documents, as retrievers give them.

    Args:
        metric: any metric. If it has models, these are used: its ``HaystackLLM`` then replaces ``chat_generator``, and its
            ``HaystackEmbeddings`` replaces ``embedder``.
        chat_generator: answers the metric's questions, if the metric has no LLM; by default OpenAI's.
        embedder: a text embedder or a document embedder, if the metric has no embedding model.
        progress_bar: show a progress bar on stderr, if that is a terminal.
        raise_on_failure: raise if a row cannot be scored; else its score is NaN, and a warning is logged.
        max_concurrency: most calls at a time; a generator without ``run_async`` takes one call at a time.
        max_retries: how often a lost call is retried; the components' own clients retry nothing.
        timeout: seconds for one attempt of a call; by default learnt from the answers so far.
        json_mode: whether the generator is asked to reply with JSON, as in ``HaystackLLM``.

    Raises:
        InvalidInput: ``metric`` is not a metric, a component has no suitable ``run``, or a setting has an impossible value.
    """

    __module__ = HOME

    def __init__(
        self,
        metric: Metric,
        *,
        chat_generator: ChatGenerator | None = None,
        embedder: Any = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        max_concurrency: int = 16,
        max_retries: int = 5,
        timeout: float | None = None,
        json_mode: bool | None = None,
    ) -> None:
        if not isinstance(metric, Metric):
            raise InvalidInput(f"MetricEvaluator takes a metric such as Faithfulness(), got {kind_of(metric)}")
        check_calls(max_concurrency, max_retries, timeout)
        check_switch("json_mode", json_mode)
        models = metric.models
        self._llm = models.llm if isinstance(models.llm, HaystackLLM) else None
        if self._llm is None and chat_generator is not None:
            self._llm = HaystackLLM(chat_generator, json_mode=json_mode)
        self._embeddings = models.embeddings if isinstance(models.embeddings, HaystackEmbeddings) else None
        if self._embeddings is None and embedder is not None:
            self._embeddings = HaystackEmbeddings(embedder)
        self.metric = metric
        self.chat_generator = None if self._llm is None else self._llm.chat_generator
        self.embedder = None if self._embeddings is None else self._embeddings.text_embedder
        components = [self.chat_generator, self.embedder, *_components_of_parts(metric)]
        self._given = list({id(model): model for model in components if model is not None}.values())
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self.max_concurrency = max_concurrency
        self.max_retries = max_retries
        self.timeout = timeout
        self.json_mode = json_mode if self._llm is None else self._llm.json_mode
        self._bare = _without_bridges(metric)
        component.set_input_types(self, **{item.name: SOCKETS[item.kind] for item in metric.inputs if item.required})
        for item in metric.inputs:
            if not item.required:
                component.set_input_type(self, item.name, SOCKETS[item.kind] | None, None)

    def warm_up(self) -> None:
        """Warm up the given components."""
        for model in self._given:
            call_if_any(model, "warm_up")

    async def warm_up_async(self) -> None:
        """Warm up the given components on the running loop."""
        for model in self._given:
            await call_async_if_any(model, "warm_up")

    def close(self) -> None:
        """Release the resources of the given components."""
        for model in self._given:
            call_if_any(model, "close")

    async def close_async(self) -> None:
        """Release the resources of the given components on the running loop."""
        for model in self._given:
            await call_async_if_any(model, "close")

    @component.output_types(**OUTPUTS)
    def run(self, **inputs: Any) -> dict[str, Any]:
        """Score the rows.

        Args:
            inputs: one list per input of the metric, all of the same length.

        Returns:
            ``score``: the mean over the rows that have a score; NaN if none has.
            ``individual_scores``: one score per row; NaN if there is nothing to score or the row failed.
            ``results``: one dict per row with everything that ``Score.to_dict`` writes, evidence included, and under
                ``explanation`` one sentence for human readers.
            ``meta``: under ``usage`` the calls and tokens of all rows.

        Raises:
            ValueError: an input is missing, is not a list, or the lists differ in length. With ``raise_on_failure``: a value of
                a row is missing (``MissingInput``) or of the wrong type (``InvalidInput``).
            ModelError: a model refuses all calls; with ``raise_on_failure`` also if it could not answer for one row.
        """
        rows = rows_of(self.metric, inputs)
        embeddings = None if self._embeddings is None else self._embeddings.without_retries()
        settings = self._settings(
            blocking(self._judge.chat_generator, generate=self._judge.without_retries().generate),
            None if embeddings is None else blocking(self.embedder, embed=embeddings.embed),
        )
        return self._outputs(evaluate(rows, self._bare, **settings).scores[self.metric.name] if rows else ())

    @component.output_types(**OUTPUTS)
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """Score the rows without blocking the running loop; arguments, outputs and errors as in ``run``."""
        rows = rows_of(self.metric, inputs)
        settings = self._settings(self._judge, self._embeddings)
        return self._outputs((await aevaluate(rows, self._bare, **settings)).scores[self.metric.name] if rows else ())

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values, as Haystack saves it.

        Raises:
            SerializationError: the metric, or a juror, has a model that is not a component of Haystack.
        """
        models = list(self._bare.models.leaves())
        foreign = [name for name in ("llm", "embeddings") if any(_is_foreign(getattr(one, name)) for one in models)]
        if any(
            isinstance(llm, HaystackLLM) and llm.overlap is not None
            for llm in (self._llm, *(one.llm for one in models))
        ):
            foreign.append("overlap of a HaystackLLM")
        if foreign:
            raise SerializationError(
                f"{self.metric.name} has its own {' and '.join(foreign)}, which cannot be saved: leave them out, and give the "
                "component chat_generator=... and embedder=... instead"
            )
        parts = {"chat_generator": self.chat_generator, "embedder": self.embedder}
        jurors = juror_models(self._bare)
        return default_to_dict(
            self,
            metric=self._bare.to_dict(),
            **{name: None if part is None else component_to_dict(obj=part, name=name) for name, part in parts.items()},
            **{name: getattr(self, name) for name in SETTINGS},
            **({} if jurors is None else {"juror_models": jurors}),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MetricEvaluator:
        """Make the component that ``to_dict`` wrote; ``data`` is not changed.

        Raises:
            DeserializationError: a class is in a module that Haystack does not trust.
            InvalidInput: the metric cannot be read.
        """
        data = copy.deepcopy(data)
        parameters = data["init_parameters"]
        for name in ("chat_generator", "embedder"):
            if parameters.get(name):
                deserialize_component_inplace(parameters, key=name)
        parameters["metric"] = with_juror_models(
            _load_metric(parameters.get("metric")), parameters.pop("juror_models", None)
        )
        return default_from_dict(cls, data)

    @property
    def _judge(self) -> HaystackLLM:
        if self._llm is None:
            from haystack.components.generators.chat import OpenAIChatGenerator  # noqa: PLC0415  loads OpenAI's client

            # the generator needs no key until it is called
            self._llm = HaystackLLM(OpenAIChatGenerator(), json_mode=self.json_mode)
        return self._llm

    def _settings(self, llm: Any, embeddings: Any) -> dict[str, Any]:
        """Return the arguments of ``evaluate`` for these models."""
        return {
            "llm": llm,
            "embeddings": embeddings,
            "on_error": "raise" if self.raise_on_failure else "record",
            "progress": bool(self.progress_bar),
            "max_concurrency": self.max_concurrency,
            "max_retries": self.max_retries,
            "timeout": self.timeout,
        }

    def _outputs(self, scores: Sequence[Score]) -> dict[str, Any]:
        values = [score.value for score in scores if score.value is not None]
        failed = [score.error for score in scores if score.error is not None]
        if failed:
            logger.warning(
                "{metric} failed for {errors} out of {total} rows, which are left out of the score. The first error: {error}",
                metric=self.metric.name,
                errors=len(failed),
                total=len(scores),
                error=failed[0],
            )
        return {
            "score": sum(values) / len(values) if values else math.nan,
            "individual_scores": [math.nan if score.value is None else score.value for score in scores],
            "results": [{**score.to_dict(), "explanation": score.explain()} for score in scores],
            "meta": {"usage": sum((score.usage for score in scores), Usage()).to_dict()},
        }


def rows_of(metric: Metric, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turn lists with one item per row into the rows for ``evaluate``. An optional input may be None.

    Raises:
        InvalidInput: an input is missing, unknown or not a list, or the lists differ in length.
    """
    inputs = {name: values for name, values in columns.items() if values is not None}
    kinds = {item.name: item.kind for item in metric.inputs}
    missing = [item.name for item in metric.inputs if item.required and item.name not in inputs]
    if missing:
        raise InvalidInput(f"{metric.name} needs the input '{missing[0]}': give a list with one item per row.")
    for name, values in inputs.items():
        if name not in kinds:
            raise InvalidInput(f"{metric.name} has no input '{name}'; it has {', '.join(sorted(kinds))}.")
        if not isinstance(values, list):
            kind = type(values).__name__
            raise InvalidInput(f"{metric.name}: '{name}' must be a list with one item per row, got {kind}.")
    lengths = {name: len(values) for name, values in inputs.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"{metric.name}: all inputs must be lists of the same length, got {lengths}.")
    read = {name: [_read(kinds[name], item) for item in values] for name, values in inputs.items()}
    return [dict(zip(read, row, strict=True)) for row in zip(*read.values(), strict=True)]


def _read(kind: str, item: Any) -> Any:
    """Replace documents by their contents if texts are wanted. A document without a text stays a document, and its row fails."""
    if kind != "texts" or not isinstance(item, list | tuple):
        return item
    return [part.content if isinstance(part, Document) and part.content is not None else part for part in item]


def _components_of_parts(metric: Metric) -> Iterator[Any]:
    """Return the components that answer the metrics inside a metric."""
    for models in metric.models.leaves() if metric.parts else ():
        if isinstance(models.llm, HaystackLLM):
            yield models.llm.chat_generator
        if isinstance(models.embeddings, HaystackEmbeddings):
            yield models.embeddings.text_embedder


def _without_bridges(metric: Metric) -> Metric:
    """Return the metric without its Haystack models, because the component calls and saves these itself."""
    names = ("llm", "embeddings", "model")
    changes: dict[str, Any] = {name: None for name in names if isinstance(getattr(metric, name, None), BRIDGES)}
    return replace(metric, **changes) if changes else metric


def _is_foreign(model: Any) -> bool:
    """Whether a model is not Haystack's. Only Haystack's models can be saved."""
    return model is not None and not isinstance(model, BRIDGES)


def _load_metric(data: Any) -> Any:
    """Read the metric of a saved component. The caller may already have turned it into an object."""
    if isinstance(data, Metric):
        return data
    for path in metric_paths(data):
        module, _, name = path.rpartition(":")
        if module and module.partition(".")[0] != BUILT_IN:
            import_class_by_name(f"{module}.{name}")  # refuses what Haystack does not trust
    return Metric.from_dict(data)
