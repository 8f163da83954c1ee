"""The models of jurors, as Haystack saves components: the metric's own form holds no models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from haystack.core.serialization import component_to_dict
from haystack.utils import deserialize_component_inplace

from ragmetrics_core import InvalidInput, Metric

from ._model._embeddings import HaystackEmbeddings
from ._model._llm import HaystackLLM

COMPONENTS = ("chat_generator", "embedder")


def juror_models(metric: Metric) -> list[dict[str, Any]] | None:
    """The models of Haystack that the jurors have, in the order of the jurors; None where they have none."""
    saved = [_saved(juror) for juror in _jurors(metric)] if metric.parts else []
    return saved if any(saved) else None


def with_juror_models(metric: Metric, saved: Any) -> Metric:
    """The metric with the models that ``juror_models`` wrote.

    Raises:
        DeserializationError: the class of a component is of a module that Haystack does not trust.
        InvalidInput: they are not the models of as many jurors.
    """
    if saved is None:
        return metric
    count = len(list(_jurors(metric)))
    if not isinstance(saved, Sequence) or len(saved) != count or not all(isinstance(one, Mapping) for one in saved):
        raise InvalidInput(f"MetricEvaluator: juror_models must be a list with a mapping for each of {count} jurors")
    return _equipped(metric, iter(saved))


def _jurors(metric: Metric) -> Iterator[Metric]:
    """Those that ask, also in a jury of juries."""
    for part in metric.parts:
        yield from _jurors(part) if part.parts else [part]


def _saved(juror: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(juror.llm, HaystackLLM):
        found["chat_generator"] = component_to_dict(obj=juror.llm.chat_generator, name="chat_generator")
        found["json_mode"] = juror.llm.json_mode
    if isinstance(juror.embeddings, HaystackEmbeddings):
        found["embedder"] = component_to_dict(obj=juror.embeddings.text_embedder, name="embedder")
    return found


def _equipped(metric: Any, saved: Iterator[Mapping[str, Any]]) -> Any:
    if metric.parts:
        return replace(metric, jurors=[_equipped(part, saved) for part in metric.parts])
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
